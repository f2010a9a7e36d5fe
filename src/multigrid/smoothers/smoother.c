/* SPDX-License-Identifier: BSD-3-Clause */
/* The smoothers of multigrid. */
#include <math.h>

#include "apply/apply_ops.h"
#include "factor/factor_impl.h"
#include "factor/factor_ops.h"
#include "multigrid/hierarchy.h"
#include "multigrid/multigrid_ops.h"

/* level->relaxation ← the inverses of the diagonal blocks of l1. */
static bisai_status update_l1(bsi_hierarchy *h, bsi_level *level) {
  bsi_invert_stats stats = BSI_INVERT_STATS_NONE;
  BSI_TRY(
      bsi_ops_of(h)->l1->diagonal(h->context, level->matrix, level->l1_blocks, level->l1_position));
  bisai_bcsr view = *level->matrix;
  view.blocks = view.block_rows;
  view.row_ptr = level->l1_position; /* one block in each row */
  view.values = level->l1_blocks;
  BSI_TRY(bsi_ops_of(h)->inversion->invert(h->context, &view, level->l1_position,
                                           bsi_shift_of(h, level), level->relaxation, NULL, NULL,
                                           &stats, NULL));
  BSI_TRY(bsi_level_judge(h, level, "l1 smoother: ", &stats));
  return bsi_rounding_drop(h, level, level->relaxation);
}

static bisai_status create_l1(bsi_hierarchy *h, bsi_level *level) {
  const bisai_bcsr *a = level->matrix;
  const int64_t values = (int64_t)bsi_block_offset(a, a->block_rows);
  level->l1_blocks = bsi_hierarchy_reserve_vector(h, values);
  level->l1_position =
      bsi_hierarchy_reserve(h, (int64_t)a->block_rows + 1, sizeof *level->l1_position);
  double *inverse = bsi_hierarchy_reserve_vector(h, values);
  if (inverse) level->relaxation = inverse;
  if (!level->l1_blocks || !level->l1_position || !inverse) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(h->context->backend->memory->upload(h->context, level->l1_position + a->block_rows,
                                              &a->block_rows, sizeof a->block_rows));
  return update_l1(h, level);
}

/* Notes what the smoother's factors held for a time, beside the other memory of the hierarchy. */
static void note_peak_of_factors(bsi_hierarchy *h, const bsi_level *level) {
  bisai_precond_report report = {.struct_size = sizeof report};
  bisai_precond_get_report(level->smoother, &report);
  bsi_hierarchy_note_peak(h,
                          bisai_precond_factors(level->smoother)->peak_bytes - report.memory_bytes);
}

bisai_status bsi_smoother_create(bsi_hierarchy *h, bsi_level *level) {
  if (h->setup.options.smoother == BISAI_SMOOTHER_L1) return create_l1(h, level);
  if (!bsi_smoother_is_nested(h)) return BISAI_OK;
  bisai_precond_options o = *h->setup.smoother;
  if (!h->mirrored) o.isai.symmetric = false;
  if (level != h->levels) {
    o.shift = BISAI_SHIFT_IN_BLOCKS;
    o.shift_amount = BSI_COARSE_SHIFT;
    /* R A P is symmetric with A: its asymmetry is rounding, which small couplings may be too */
    if (o.isai.symmetric) bsi_bcsr_call_symmetric(level->own);
  }
  BSI_TRY(bsi_level_fail(h, level,
                         bisai_precond_create(h->context, level->matrix, &o, &level->smoother)));
  note_peak_of_factors(h, level);
  return BISAI_OK;
}

bisai_status bsi_smoother_update(bsi_hierarchy *h, bsi_level *level) {
  if (level->l1_blocks) return update_l1(h, level);
  if (!level->smoother) return BISAI_OK;
  return bsi_level_fail(h, level, bisai_precond_update(level->smoother, level->matrix));
}

/* Returns where a step writes its iterate. Steps write to `to` and to level->y in turn. The last
 * one writes to `to`. */
static double *place_of(const bsi_level *level, int32_t step, int32_t steps, double *to) {
  return (steps - step) % 2 == 1 ? to : level->y;
}

/* Coefficients of the next step of relax(), of `degree` steps (Saad, Iterative Methods, Algorithm
 * 12.1). */
typedef struct chebyshev {
  double centre, half_width, rho;
} chebyshev;

static chebyshev chebyshev_of(const bsi_hierarchy *h, const bsi_level *level) {
  const double high = bsi_radius_bound(h, level), low = high / h->setup.options.ratio;
  return (chebyshev){0.5 * (high + low), 0.5 * (high - low), 0.0};
}

static void next_coefficients(chebyshev *c, bool first, double *alpha, double *beta) {
  const double sigma = c->centre / c->half_width;
  if (first) {
    c->rho = 1.0 / sigma;
    *alpha = 0.0;
    *beta = 1.0 / c->centre;
    return;
  }
  const double rho = 1.0 / (2.0 * sigma - c->rho);
  *alpha = rho * c->rho;
  *beta = 2.0 * rho / c->half_width;
  c->rho = rho;
}

/* ω of Jacobi and l1. The few power steps may find too small a ρ, which is 2 on level 0 for most
 * discretisations. On coarser levels it is about 1.5. With the diagonal blocks of l1, ρ is at most
 * 1 for a symmetric definite A. */
static double jacobi_damping(const bsi_hierarchy *h, const bsi_level *level) {
  const double damping = h->setup.options.damping;
  const double least = level == h->levels ? 2.0 : 1.5;
  return h->setup.options.smoother == BISAI_SMOOTHER_L1
             ? damping
             : 2.0 * damping / fmax(level->radius, least);
}

/* An infinite estimate of ρ leaves x as it is: alpha and beta are 0. */
static bisai_status relax(bsi_hierarchy *h, bsi_level *level, int32_t count, const double *b,
                          const double *from, double *to) {
  const bool jacobi = h->setup.options.smoother != BISAI_SMOOTHER_CHEBYSHEV;
  const int32_t degree = jacobi ? 1 : h->setup.options.degree, steps = count * degree;
  chebyshev c = chebyshev_of(h, level);
  const double *x = from, *previous = NULL;
  for (int32_t step = 0; step < steps; step++) {
    double alpha = 0.0, beta = jacobi_damping(h, level);
    if (!jacobi && isfinite(level->radius))
      next_coefficients(&c, step % degree == 0, &alpha, &beta);
    double *y = place_of(level, step, steps, to);
    BSI_TRY(bsi_step_do(h, level,
                        &(bsi_step){.kind = BSI_STEP_RELAX,
                                    .matrix = bsi_cycle_matrix(level),
                                    .inverse = level->relaxation,
                                    .alpha = alpha,
                                    .beta = beta,
                                    .b = b,
                                    .x = x,
                                    .previous = previous,
                                    .y = y}));
    previous = x;
    x = y;
  }
  return BISAI_OK;
}

/* x ← x + M⁻¹(b − A x) */
static bisai_status apply_nested(bsi_hierarchy *h, bsi_level *level, int32_t count, const double *b,
                                 const double *from, double *to) {
  const bsi_backend *backend = h->context->backend;
  const int64_t n = bsi_level_rows(level);
  const double *x = from;
  BSI_TRY(bsi_steps_end(h));
  for (int32_t step = 0; step < count; step++) {
    double *y = place_of(level, step, count, to);
    if (x)
      BSI_TRY(bsi_multiply_vector(h->context, bsi_cycle_matrix(level), -1.0, x, 1.0, b,
                                  level->residual));
    BSI_TRY(bisai_precond_apply(level->smoother, x ? level->residual : b, y));
    if (x) BSI_TRY(backend->vectors->add(h->context, n, x, y));
    x = y;
  }
  return BISAI_OK;
}

bisai_status bsi_smooth(bsi_hierarchy *h, bsi_level *level, int32_t count, const double *b,
                        const double *from, double *to) {
  if (count == 0 && !from)
    return bsi_step_do(h, level,
                       &(bsi_step){.kind = BSI_STEP_SET, .n = bsi_level_rows(level), .y = to});
  return level->smoother ? apply_nested(h, level, count, b, from, to)
                         : relax(h, level, count, b, from, to);
}
