/* SPDX-License-Identifier: BSD-3-Clause */
/* ρ(D⁻¹A) of a level of several pieces (multigrid/diagonal/radius.h). */
#include <math.h>
#include <string.h>

#include "core/context/context_impl.h"
#include "core/vector/start_value.h"
#include "multigrid/diagonal/lanczos.h"
#include "multigrid/piece/piece_impl.h"

/* A piece at work: its vectors, and n of their values. */
typedef struct work {
  bisai_piece *piece;
  const bisai_piece_calls *calls;
  int64_t n;
  /* Lanczos: p, q and then z, and r. Power steps: two iterates and a product */
  double *p, *q, *r;
} work;

static bisai_status multiply(const work *w, const double *x, double *y) {
  const unsigned before = w->piece->context->failures;
  const bisai_status status = w->calls->multiply(w->calls->user, x, y);
  return status ? bsi_fail_callback(w->piece->context, "multiply", status, before) : BISAI_OK;
}

static bisai_status add(const work *w, int count, double *values) {
  const unsigned before = w->piece->context->failures;
  const bisai_status status = w->calls->add(w->calls->user, count, values);
  return status ? bsi_fail_callback(w->piece->context, "add", status, before) : BISAI_OK;
}

static double dot(int64_t n, const double *a, const double *b) {
  double sum = 0.0;
  for (int64_t k = 0; k < n; k++) sum += a[k] * b[k];
  return sum;
}

/* Returns value k of the first residual, as bsi_lanczos_start() does for the row of all
 * processes. */
static double start_value(const bisai_piece *p, int64_t k) {
  const int bs = p->rows->block_size;
  const double reciprocal = fabs(p->inverse[k * bs + k % bs]);
  return reciprocal > 0.0 ? bsi_start_value(p->options.first_row + k) / sqrt(reciprocal) : 0.0;
}

/* q ← D⁻¹r, and then p ← q + βₖ p */
static bisai_status next_direction(const work *w, int k, double *scalars) {
  bisai_piece_scale(w->piece, w->r, w->q);
  scalars[BSI_LANCZOS_SUM] = dot(w->n, w->r, w->q);
  BSI_TRY(add(w, 1, scalars + BSI_LANCZOS_SUM));
  bsi_lanczos_beta(k, scalars);
  const double beta = scalars[BSI_LANCZOS_STEP];
  for (int64_t i = 0; i < w->n; i++) w->p[i] = beta == 0.0 ? w->q[i] : w->q[i] + beta * w->p[i];
  return BISAI_OK;
}

static bisai_status next_residual(const work *w, int k, double *scalars) {
  BSI_TRY(multiply(w, w->p, w->q));
  scalars[BSI_LANCZOS_SUM] = dot(w->n, w->p, w->q);
  BSI_TRY(add(w, 1, scalars + BSI_LANCZOS_SUM));
  bsi_lanczos_alpha(k, scalars);
  for (int64_t i = 0; i < w->n; i++) w->r[i] -= scalars[BSI_LANCZOS_STEP] * w->q[i];
  return BISAI_OK;
}

/* *found ← false if D⁻¹A has eigenvalues that are not positive. */
static bisai_status lanczos(const work *w, bool *found) {
  double scalars[BSI_LANCZOS_WORK] = {0.0};
  for (int64_t k = 0; k < w->n; k++) w->r[k] = start_value(w->piece, k);
  BSI_TRY(next_direction(w, -1, scalars));
  for (int k = 0; k < BSI_LANCZOS_STEPS; k++) {
    BSI_TRY(next_residual(w, k, scalars));
    BSI_TRY(next_direction(w, k, scalars));
  }
  *found = bsi_radius_from_lanczos(scalars, &w->piece->radius);
  return BISAI_OK;
}

static bisai_status power_steps(work *w, int steps) {
  double norms[2];
  for (int64_t k = 0; k < w->n; k++) w->p[k] = bsi_start_value(w->piece->options.first_row + k);
  for (int step = 0; step < steps; step++) {
    double *const before = w->p;
    BSI_TRY(multiply(w, w->p, w->r));
    bisai_piece_scale(w->piece, w->r, w->q);
    w->p = w->q;
    w->q = before;
  }
  norms[0] = dot(w->n, w->q, w->q);
  norms[1] = dot(w->n, w->p, w->p);
  BSI_TRY(add(w, 2, norms));
  norms[0] = sqrt(norms[0]);
  norms[1] = sqrt(norms[1]);
  w->piece->radius = bsi_radius_from_power(w->piece->options.symmetric, norms);
  return BISAI_OK;
}

static bisai_status estimate(work *w, bisai_smoother smoother) {
  const bisai_piece_options *o = &w->piece->options;
  bool found = false;
  if (o->symmetric) BSI_TRY(lanczos(w, &found));
  if (found) return BISAI_OK;
  return power_steps(
      w, bsi_power_steps(o->symmetric, o->level == 0 || smoother == BISAI_SMOOTHER_JACOBI));
}

bisai_status bisai_piece_radius(bisai_piece *piece, bisai_smoother smoother,
                                const bisai_piece_calls *calls, double *radius) {
  if (!piece) return BISAI_INVALID_ARGUMENT;
  if (!calls || !calls->multiply || !calls->add)
    return bsi_fail(piece->context, BISAI_INVALID_ARGUMENT,
                    "bisai_piece_radius: calls, or one of its functions, is NULL");
  const int64_t n = bsi_piece_values(piece);
  work w = {piece, calls, n, piece->work, piece->work + n, piece->work + 2 * n};
  const bisai_status status = estimate(&w, smoother);
  if (!status && radius) *radius = piece->radius.radius;
  return status;
}
