/* SPDX-License-Identifier: BSD-3-Clause */
/* Multigrid for sums of elements whose coefficients jump: conjugate gradients find M definite, and
 * null spaces are found. */
#include <math.h>
#include <stdlib.h>

#include "api.h"

/* Options with which a cycle for a definite matrix is definite: smoothers that damp all errors, as
 * often before the coarse correction as after it. */
static bisai_precond_options choose(fuzz_choices *choices) {
  static const int coarsest[] = {10, -1, 1, 40};
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_MULTIGRID;
  o.multigrid.smoother = (bisai_smoother)fuzz_pick(choices, BISAI_SMOOTHER_CHEBYSHEV + 1);
  o.multigrid.cycle = (bisai_cycle)fuzz_pick(choices, BISAI_CYCLE_K);
  o.multigrid.pre = o.multigrid.post = fuzz_between(choices, 1, 3);
  o.multigrid.nodes = (bisai_aggregation_unit)fuzz_pick(choices, 3);
  o.multigrid.coarsest = coarsest[fuzz_pick(choices, 4)];
  fuzz_scene(SCENE_PRECOND, "multigrid: smoother %d, cycle %d, pre %d, nodes %d, coarsest %d",
             (int)o.multigrid.smoother, (int)o.multigrid.cycle, (int)o.multigrid.pre,
             (int)o.multigrid.nodes, (int)o.multigrid.coarsest);
  return o;
}

/* Returns true if a block row has no couplings. Its diagonal block is singular in a matrix whose
 * rows add up to zero. */
static bool has_row_alone(const fuzz_system *s) {
  bool found = false;
  for (int32_t i = 0; i < s->block_rows; i++) found |= s->row_ptr[i + 1] - s->row_ptr[i] == 1;
  return found;
}

/* Rounding errors grow from level to level. In systems of more rows, whose coefficients jump, they
 * may hide a null space on the coarsest one. So may aggregates that form a weak chain themselves,
 * on the third level and below. */
enum { MOST_ROWS = 10000, MOST_LEVELS = 3 };

/* Returns the largest magnitude in the diagonal block of row i, or 0 if there is none. */
static double diagonal_of(const fuzz_system *s, int32_t i) {
  const int32_t size = s->block_size * s->block_size;
  double largest = 0.0;
  for (int32_t p = s->row_ptr[i]; p < s->row_ptr[i + 1]; p++)
    for (int32_t k = 0; k < size && s->col_idx[p] == i; k++)
      largest = fmax(largest, fabs(s->values[0][(int64_t)p * size + k]));
  return largest;
}

/* Returns true if row i is much softer or stiffer than each row to which it is coupled. */
static bool is_weakly_coupled(const fuzz_system *s, int32_t i) {
  const double here = diagonal_of(s, i);
  for (int32_t p = s->row_ptr[i]; p < s->row_ptr[i + 1]; p++) {
    const double there = diagonal_of(s, s->col_idx[p]);
    if (s->col_idx[p] != i && there < 30.0 * here && here < 30.0 * there) return false;
  }
  return true;
}

/* Returns true if a row and all to which it is coupled are coupled weakly, as in a chain of rows of
 * which each is much stiffer than the one before. Such a row has nobody to follow into an
 * aggregate, so that constants are not in the coarse space. */
static bool has_weak_chain(const fuzz_system *s) {
  for (int32_t i = 0; i < s->block_rows; i++) {
    bool weak = is_weakly_coupled(s, i);
    for (int32_t p = s->row_ptr[i]; p < s->row_ptr[i + 1] && weak; p++)
      weak = is_weakly_coupled(s, s->col_idx[p]);
    if (weak) return true;
  }
  return false;
}

static void expect_null_space(const fuzz_system *s, const bisai_precond_report *report) {
  fuzz_property(s->rows == 0 || s->rows > MOST_ROWS || report->multigrid.levels > MOST_LEVELS ||
                    !report->multigrid.coarsest_inverted ||
                    report->multigrid.coarsest_nullity > 0 || has_weak_chain(s),
                "the null space of a matrix whose rows add up to zero is found (%d levels)",
                (int)report->multigrid.levels);
}

/* b = A x̂, so that there is a solution. 10^-6: far from what rounding leaves. */
static void expect_definite(const fuzz_system *s, fuzz_world *world, const bisai_bcsr *matrix,
                            bisai_precond *precond, uint64_t seed) {
  double *b = fuzz_vector(s->rows), *x = fuzz_vector(s->rows);
  for (int32_t i = 0; i < s->rows; i++) x[i] = fuzz_noise(seed, i, 13);
  bisai_status status = bisai_bcsr_multiply(matrix, x, b);
  bisai_solver_options options = bisai_solver_options_default();
  options.method = BISAI_CG;
  options.tolerance = 1e-6;
  options.max_iterations = 100;
  bisai_solver *solver = NULL;
  bisai_solver_report report = {.struct_size = sizeof report};
  if (!status) status = bisai_solver_create(world->context, s->rows, &options, &solver);
  if (fuzz_property(!status, "a solver can be made (status %d)", (int)status)) {
    status = bisai_solver_solve(solver, matrix, precond, b, x, &report);
    fuzz_property(status != BISAI_BREAKDOWN && status != BISAI_NOT_SYMMETRIC,
                  "conjugate gradients take multigrid for a sum of elements (status %d, %s, after "
                  "%d iterations, residual %g)",
                  (int)status, bisai_breakdown_string(report.breakdown), report.iterations,
                  report.relative_residual);
  }
  bisai_solver_destroy(&solver);
  free(b);
  free(x);
}

void fuzz_definite_properties(fuzz_choices *choices, const fuzz_system *s, fuzz_world *world,
                              const bisai_bcsr *matrix) {
  const bisai_precond_options options = choose(choices);
  bisai_precond *precond = NULL;
  const bisai_status status = bisai_precond_create(world->context, matrix, &options, &precond);
  fuzz_property(status != BISAI_NOT_SYMMETRIC && (!status || s->neumann),
                "multigrid for a sum of elements can be made (status %d: %s)", (int)status,
                bisai_context_error(world->context));
  if (status) return;
  bisai_precond_report report = {.struct_size = sizeof report};
  fuzz_property(!bisai_precond_get_report(precond, &report), "a report is given");
  if (s->neumann) expect_null_space(s, &report);
  /* smoothers invert diagonal blocks, and where these are singular they invert rounding errors: in
   * rows without couplings, and on a coarsest level of a singular matrix that is only smoothed */
  if (s->definite || (report.multigrid.coarsest_inverted && !has_row_alone(s)))
    expect_definite(s, world, matrix, precond, fuzz_seed(choices));
  bisai_precond_destroy(&precond);
}
