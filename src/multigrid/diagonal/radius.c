/* SPDX-License-Identifier: BSD-3-Clause */
/* ρ(D⁻¹A) of a level.
 *
 * For a symmetric A it must not be too low: Chebyshev's polynomial is negative above its interval,
 * so that the cycle would not be definite, and CG breaks down. Power steps miss modes of a few
 * rows, as jumps of coefficients have them. The bound therefore is that of a Lanczos process.
 *
 * For a nonsymmetric A few power steps tell whether ρ is far above 2. P does not use estimates
 * below 2, and Jacobi none below 1.5 or 2. */
#include "multigrid/diagonal/radius.h"

#include <math.h>

#include "apply/apply_ops.h"
#include "core/vector/power.h"
#include "multigrid/cycle/cycle_ops.h"
#include "multigrid/cycle/fp32_copy.h"
#include "multigrid/cycle/operations.h"
#include "multigrid/diagonal/diagonal_ops.h"
#include "multigrid/diagonal/lanczos.h"
#include "multigrid/halo/agreement.h"
#include "multigrid/level/records.h"

enum { POWER_STEPS = 10, FEW_POWER_STEPS = 5 };
/* The estimate of ρ below which it is not used for nonsymmetric matrices: hierarchy.h. */
#define LEAST_RADIUS 2.0
/* An estimate by power steps, which is from below, is multiplied by this for an upper bound. */
#define POWER_MARGIN 1.1
/* The bound of the Lanczos process is multiplied by this. Without it, it was too low by up to 1 %
 * on some systems whose coefficients jump between elements. */
#define LANCZOS_MARGIN 1.05
/* Bounds are rounded up to this many bits, so that the sums of all backends give the same bound. */
enum { BITS = 10 };

/* y ← D⁻¹A x, where `a` is the matrix of the level or its copy in fp32 */
static bisai_status scaled_product(const bsi_hierarchy *h, const bsi_level *level,
                                   const bisai_bcsr *a, const double *x, double *y) {
  return bsi_operation_run(h->context, &(bsi_operation){.kind = BSI_OPERATION_RELAX,
                                                        .matrix = a,
                                                        .ranks.halo = level->halo,
                                                        .inverse = {level->diagonal.inverse, NULL},
                                                        .beta = 1.0,
                                                        .x = bsi_wide(x),
                                                        .y = bsi_wide(y)});
}

bisai_status bsi_scaled_product(const bsi_hierarchy *h, const bsi_level *level, const double *x,
                                double *y) {
  return scaled_product(h, level, level->matrix, x, y);
}

/* Returns A, or its copy in fp32 if that fits or if the host does not yet know. */
static const bisai_bcsr *matrix_to_read(const bsi_level *level) {
  const bsi_level_fp32 *c = &level->fp32;
  return c->fits[BSI_COPY_OF_MATRIX] || c->recorded[BSI_COPY_OF_MATRIX] ? c->matrix : level->matrix;
}

/* --- Lanczos --- */

/* z ← D⁻¹r */
static bisai_status scale(const bsi_hierarchy *h, const bsi_level *level, const double *r,
                          double *z) {
  return bsi_ops_of(h)->cycle->relax(h->context,
                                     &(bsi_operation){.matrix = level->matrix,
                                                      .inverse = {level->diagonal.inverse, NULL},
                                                      .beta = 1.0,
                                                      .b = bsi_wide(r),
                                                      .y = bsi_wide(z)});
}

/* q ← D⁻¹r, and then p ← q + βₖ p */
static bisai_status next_direction(const bsi_hierarchy *h, const bsi_level *level, int k,
                                   const bsi_lanczos_vectors *v) {
  BSI_TRY(scale(h, level, v->r, v->q));
  return bsi_ops_of(h)->lanczos->direct(h->context, k, bsi_level_rows(level), v->r, v->q, v->p,
                                        h->lanczos.work);
}

/* y ← A x */
static bisai_status multiply(const bsi_hierarchy *h, const bsi_level *level, const double *x,
                             double *y) {
  return bsi_operation_run(h->context, &(bsi_operation){.kind = BSI_OPERATION_MULTIPLY,
                                                        .matrix = matrix_to_read(level),
                                                        .ranks.halo = level->halo,
                                                        .alpha = 1.0,
                                                        .x = bsi_wide(x),
                                                        .y = bsi_wide(y)});
}

/* Step k of one rank, or what comes before the first one with k = −1. */
static bisai_status step_of_one(const bsi_hierarchy *h, const bsi_level *level, int k,
                                const bsi_lanczos_vectors *v) {
  const bsi_lanczos_ops *ops = bsi_ops_of(h)->lanczos;
  const bisai_bcsr *a = level->matrix;
  if (k >= 0) BSI_TRY(multiply(h, level, v->p, v->q));
  if (a->block_size <= ops->largest)
    return ops->advance(h->context, k, a->block_rows, a->block_size, level->diagonal.inverse, v,
                        h->lanczos.work);
  if (k >= 0)
    BSI_TRY(ops->reduce(h->context, k, bsi_level_rows(level), v->p, v->q, v->r, h->lanczos.work));
  return next_direction(h, level, k, v);
}

/* Returns the smallest number of BITS bits that is not below x > 0. */
static double round_up(double x) {
  int exponent;
  const double mantissa = frexp(x, &exponent);
  return ldexp(ceil(ldexp(mantissa, BITS)), exponent - BITS);
}

bool bsi_radius_from_lanczos(const double coefficients[BSI_LANCZOS_COEFFICIENTS],
                             bsi_radius_estimates *estimates) {
  bsi_radius radius = {0.0, 0.0};
  if (!bsi_lanczos_radius(coefficients, &radius)) return false;
  *estimates =
      (bsi_radius_estimates){round_up(LANCZOS_MARGIN * radius.bound), round_up(radius.growth)};
  return true;
}

static bisai_status start(const bsi_hierarchy *h, const bsi_level *level, double *r) {
  return bsi_ops_of(h)->lanczos->start(h->context, bsi_level_rows(level), level->matrix->block_size,
                                       level->diagonal.inverse, r);
}

static bisai_status enqueue_steps(const bsi_hierarchy *h, const bsi_level *level) {
  const bsi_lanczos_vectors v = {level->work.x, level->work.y, level->work.residual};
  BSI_TRY(start(h, level, v.r));
  for (int k = -1; k < BSI_LANCZOS_STEPS; k++) BSI_TRY(step_of_one(h, level, k, &v));
  return BISAI_OK;
}

static bisai_status steps_of_one(const bsi_hierarchy *h, const bsi_level *level,
                                 double coefficients[BSI_LANCZOS_COEFFICIENTS]) {
  BSI_TRY(enqueue_steps(h, level));
  return h->context->backend->memory->fetch(h->context, coefficients, h->lanczos.work,
                                            BSI_LANCZOS_COEFFICIENTS * sizeof *coefficients);
}

/* sums ← r·z and, unless w is NULL, z·w over all ranks. */
static bisai_status add_up(const bsi_hierarchy *h, const bsi_level *level, const double *r,
                           const double *z, const double *w, double sums[2]) {
  const bsi_lanczos_ops *ops = bsi_ops_of(h)->lanczos;
  const int64_t n = bsi_level_rows(level);
  const int count = w ? 2 : 1;
  BSI_TRY(ops->dot(h->context, n, r, z, BSI_LANCZOS_SUM, h->lanczos.work));
  if (w) BSI_TRY(ops->dot(h->context, n, z, w, BSI_LANCZOS_SECOND_SUM, h->lanczos.work));
  BSI_TRY(h->context->backend->memory->fetch(h->context, sums, h->lanczos.work + BSI_LANCZOS_SUM,
                                             (size_t)count * sizeof *sums));
  return bsi_sum_over_ranks(h->context, h->setup.transport, count, sums);
}

static bisai_status steps_of_ranks(const bsi_hierarchy *h, const bsi_level *level,
                                   double coefficients[BSI_LANCZOS_COEFFICIENTS]) {
  const bsi_vector_ops *vectors = h->context->backend->vectors;
  const int64_t n = bsi_level_rows(level);
  double *z = level->work.x, *w = level->work.y, *r = level->work.residual, *s = level->work.b,
         sums[2];
  bsi_lanczos_step step = {0.0, 0.0, 0.0};
  BSI_TRY(start(h, level, r));
  for (int k = 0; k <= BSI_LANCZOS_STEPS; k++) {
    const bool last = k == BSI_LANCZOS_STEPS;
    BSI_TRY(scale(h, level, r, z));
    if (!last) BSI_TRY(multiply(h, level, z, w));
    BSI_TRY(add_up(h, level, r, z, last ? NULL : w, sums));
    bsi_lanczos_both(k, sums, &step, coefficients);
    if (last) break;
    BSI_TRY(vectors->combine(h->context, n, 1.0, w, step.beta, s));
    BSI_TRY(vectors->combine(h->context, n, -step.alpha, s, 1.0, r));
  }
  return BISAI_OK;
}

static void take(bsi_level *level, const bsi_radius_estimates *e) {
  level->diagonal.radius = e->radius;
  level->diagonal.growth = e->growth;
}

/* Takes the estimates of a Lanczos process. Returns false if D⁻¹A has negative eigenvalues. */
static bool take_lanczos(bsi_level *level, const double coefficients[BSI_LANCZOS_COEFFICIENTS]) {
  bsi_radius_estimates e = {0.0, 0.0};
  const bool found = bsi_radius_from_lanczos(coefficients, &e);
  if (found) take(level, &e);
  return found;
}

static bisai_status lanczos(const bsi_hierarchy *h, bsi_level *level, bool *found) {
  double coefficients[BSI_LANCZOS_COEFFICIENTS];
  BSI_TRY(h->setup.transport ? steps_of_ranks(h, level, coefficients)
                             : steps_of_one(h, level, coefficients));
  *found = take_lanczos(level, coefficients);
  return BISAI_OK;
}

/* --- power steps --- */

typedef struct scaled_level {
  const bsi_hierarchy *h;
  const bsi_level *level;
} scaled_level;

static bisai_status power_step(void *user, const double *x, double *y) {
  const bsi_level *level = ((const scaled_level *)user)->level;
  return scaled_product(((const scaled_level *)user)->h, level, matrix_to_read(level), x, y);
}

int bsi_power_steps(bool symmetric, bool few) {
  return few && !symmetric ? FEW_POWER_STEPS : POWER_STEPS;
}

bsi_radius_estimates bsi_radius_from_power(bool symmetric, const double norms[2]) {
  const double growth = norms[0] == 0.0 ? LEAST_RADIUS : bsi_power_growth(norms);
  return (bsi_radius_estimates){symmetric ? POWER_MARGIN * growth : growth, growth};
}

static bisai_status run_power_steps(const bsi_hierarchy *h, const bsi_level *level,
                                    const double *last[2]) {
  const bool symmetric = h->setup.symmetric;
  const bool few = bsi_is_finest(h, level) || h->setup.options.smoother == BISAI_SMOOTHER_JACOBI;
  return bsi_power_run(h->context, bsi_level_rows(level), bsi_power_steps(symmetric, few),
                       power_step, &(scaled_level){h, level}, level->work.x, level->work.residual,
                       last);
}

static void take_norms(const bsi_hierarchy *h, bsi_level *level, const double norms[2]) {
  const bsi_radius_estimates e = bsi_radius_from_power(h->setup.symmetric, norms);
  take(level, &e);
}

static bisai_status power_steps(const bsi_hierarchy *h, bsi_level *level) {
  double norms[2] = {0.0, 0.0};
  const double *last[2];
  BSI_TRY(run_power_steps(h, level, last));
  BSI_TRY(h->context->backend->vectors->norms(h->context, 2, bsi_level_rows(level), last, norms));
  BSI_TRY(bsi_norms_over_ranks(h->context, h->setup.transport, 2, norms));
  take_norms(h, level, norms);
  return BISAI_OK;
}

/* --- both --- */

bisai_status bsi_radius_estimate(bsi_hierarchy *h, bsi_level *level) {
  bool found = false;
  if (h->setup.symmetric) BSI_TRY(lanczos(h, level, &found));
  return found ? BISAI_OK : power_steps(h, level);
}

bisai_status bsi_radius_begin(bsi_hierarchy *h, bsi_level *level) {
  const double *last[2];
  if (!h->records.there) return bsi_radius_estimate(h, level);
  if (h->setup.symmetric) return enqueue_steps(h, level);
  BSI_TRY(run_power_steps(h, level, last));
  return h->context->backend->vectors->record_norms(h->context, 2, bsi_level_rows(level), last,
                                                    bsi_record_there(h, level, BSI_RECORD_RADIUS));
}

bisai_status bsi_radius_end(bsi_hierarchy *h, bsi_level *level) {
  const void *record = bsi_record_here(h, level, BSI_RECORD_RADIUS);
  const bool copy = level->fp32.recorded[BSI_COPY_OF_MATRIX];
  double norms[2];
  if (!record) return BISAI_OK;
  bsi_fp32_copy_complete_level(h, level);
  if (copy && !level->fp32.fits[BSI_COPY_OF_MATRIX]) return bsi_radius_estimate(h, level);
  if (h->setup.symmetric) return take_lanczos(level, record) ? BISAI_OK : power_steps(h, level);
  h->context->backend->vectors->read_norms(record, 2, norms);
  take_norms(h, level, norms);
  return BISAI_OK;
}

double bsi_radius_bound_of(bool symmetric, double radius) {
  return symmetric ? radius : POWER_MARGIN * radius;
}

double bsi_damping_of(bool symmetric, double growth) {
  return 4.0 / (3.0 * (symmetric ? growth : fmax(growth, LEAST_RADIUS)));
}

double bsi_radius_bound(const bsi_hierarchy *h, const bsi_level *level) {
  return bsi_radius_bound_of(h->setup.symmetric, level->diagonal.radius);
}

double bsi_transfer_damping(const bsi_hierarchy *h, const bsi_level *level) {
  return bsi_damping_of(h->setup.symmetric, level->diagonal.growth);
}
