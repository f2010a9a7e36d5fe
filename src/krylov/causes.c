/* SPDX-License-Identifier: BSD-3-Clause */
/* The cause of a failed solve, as far as a few products with A show it.
 *
 * Let 1 be the vector of ones and v a vector of pseudo-random numbers. A maps constants to zero if
 * A 1 is zero beside A v. The sum of every A x is zero if 1·A v is zero, because Aᵀ 1 is not
 * orthogonal to v by chance. Then no A x has the constant part of b, (1·b/n) 1. */
#include "krylov/causes.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "core/context/context_impl.h"
#include "core/csr/block_vectors.h"
#include "core/matrix/matrix_ops.h"
#include "krylov/passes/krylov_ops.h"
#include "krylov/run/operations.h"
#include "krylov/run/rounding.h"
#include "precond/application.h"

/* Sums below this share of their terms are zero but for rounding errors. A larger limit calls
 * regular matrices singular whose coefficients differ by as much: the terms are those of the stiff
 * part, and the boundary may be in the soft one. */
static const double negligible = 1e-13;

/* A smaller share of b consists of rounding errors of its entries. */
static const double least_share = 64 * DBL_EPSILON;

/* What is known of the constants. NaN: unknown. */
typedef struct constants {
  /* ‖A 1‖/‖1‖ over ‖A v‖/‖v‖ */
  double image;
  /* |1·A v|/(‖1‖ ‖A v‖) */
  double sum;
  /* |1·b|/(‖1‖ ‖b‖) */
  double share;
} constants;

/* text ← "; block column 1 is empty: the matrix is singular" if the matrix has an empty block row
 * or column, otherwise "". */
static void say_empty(const bsi_solver_run *run, size_t size, char *text) {
  const bisai_solver *s = run->solver;
  const bsi_backend *backend = s->context->backend;
  text[0] = '\0';
  for (int columns = 0; columns < 2 && run->system.op.matrix && text[0] == '\0'; columns++) {
    int64_t index = -1;
    if (backend->matrix->structures->find_empty(s->context, run->system.op.matrix, columns,
                                                s->vectors.spare, &index) ||
        index < 0)
      continue;
    snprintf(text, size, "; block %s %lld is empty: the matrix is singular",
             columns ? "column" : "row", (long long)index);
  }
}

/* text ← a warning if the preconditioner has found a null space, otherwise "". */
static void say_null_space(const bsi_solver_run *run, size_t size, char *text) {
  bisai_precond_report report = {.struct_size = sizeof report};
  text[0] = '\0';
  if (!run->system.precond || bisai_precond_get_report(run->system.precond, &report)) return;
  if (report.multigrid.coarsest_nullity > 0)
    snprintf(
        text, size,
        "; the coarsest matrix of multigrid has a null space of dimension %d: the matrix may be "
        "singular, and b inconsistent",
        (int)report.multigrid.coarsest_nullity);
}

/* text ← a warning if the preconditioner enlarges vectors beyond all digits, otherwise "". */
static void say_growth(const bsi_solver_run *run, size_t size, char *text) {
  text[0] = '\0';
  if (run->system.precond && fabs(run->cycle.growth) >= 1 / DBL_EPSILON)
    snprintf(text, size,
             "; the preconditioner enlarges vectors so much that only rounding errors are left: "
             "A M⁻¹ v is %.0e times v",
             fabs(run->cycle.growth));
}

/* *value ← x·y */
static bisai_status dot(bsi_solver_run *run, const double *x, const double *y, double *value) {
  bisai_solver *s = run->solver;
  BSI_TRY(bsi_dot(run, 1, x, y, s->scalars.norm2));
  return bsi_backend_of(run)->memory->fetch(s->context, value, s->scalars.norm2, sizeof *value);
}

static bisai_status compute_constants(bsi_solver_run *run, constants *c) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  double *ones = s->vectors.residual, *image = s->vectors.spare, *v = s->vectors.scratch;
  double of_ones = NAN, of_v = NAN, of_image = NAN, of_both = NAN;
  const bisai_bcsr *matrix = run->system.op.matrix;
  BSI_TRY(backend->vectors->set(s->context, s->n, 1, matrix ? image : ones));
  if (matrix) BSI_TRY(bsi_bcsr_to_blocks(s->context, matrix, 1, image, ones));
  BSI_TRY(bsi_norm(run, ones, &of_ones));
  BSI_TRY(bsi_multiply_given(run, ones, image));
  BSI_TRY(bsi_norm(run, image, &of_image));
  c->image = of_image / of_ones;
  BSI_TRY(backend->krylov->recurrence->shadow_vector(s->context, s->n, 0, v));
  BSI_TRY(bsi_norm(run, v, &of_v));
  BSI_TRY(bsi_multiply_given(run, v, image));
  BSI_TRY(bsi_norm(run, image, &of_image));
  c->image /= of_image / of_v;
  BSI_TRY(dot(run, ones, image, &of_both));
  c->sum = fabs(of_both) / (of_ones * of_image);
  BSI_TRY(dot(run, ones, run->system.b, &of_both));
  c->share = fabs(of_both) / (of_ones * (run->norms.b / run->scaling.vectors));
  return BISAI_OK;
}

/* Measures the constants after a failed solve. Two products are cheap beside those of the solve,
 * unless it was a short one of a fixed number of iterations. All processes decide alike. If a
 * product fails, nothing is known. */
static constants measure_constants(bsi_solver_run *run) {
  enum { FEW_ITERATIONS = 100 };
  const constants unknown = {NAN, NAN, NAN};
  const bisai_reason reason = run->reason;
  constants c = unknown;
  if (reason == BISAI_REASON_NOT_FINITE ||
      (reason == BISAI_REASON_MAX_ITERATIONS && run->counts.iterations < FEW_ITERATIONS))
    return unknown;
  const bisai_status status = compute_constants(run, &c);
  run->reason = reason;
  return status ? unknown : c;
}

/* text ← the size of the constant part of b, if no A x has it, otherwise "". */
static void say_unreachable(const bsi_solver_run *run, const constants *c, size_t size,
                            char *text) {
  text[0] = '\0';
  if (c->sum <= negligible && c->share > fmax(run->solver->options.tolerance, least_share))
    snprintf(text, size,
             "; %sno A x has the constant part of b, %.1e of its norm: b without its mean may have "
             "a solution",
             c->image <= negligible ? "A maps constants to zero, and " : "", c->share);
}

/* text ← that A is singular, if it maps constants to zero, otherwise "". */
static void say_singular(const constants *c, size_t size, char *text) {
  text[0] = '\0';
  if (c->image <= negligible)
    snprintf(text, size, "; A maps constants to zero: it is singular%s",
             c->sum <= negligible ? "" : ", and b may have a part that no A x has");
}

/* text ← why M may not be definite, if CG has found that it is not, otherwise "". */
static void say_indefinite(const bsi_solver_run *run, size_t size, char *text) {
  text[0] = '\0';
  if (run->system.precond && run->reason == BISAI_REASON_BREAKDOWN &&
      run->cycle.breakdown == BISAI_BREAKDOWN_PRECOND)
    bsi_precond_say_indefinite(run->system.precond, size, text);
}

/* *share ← the residual that rounding the entries of x alone causes, over ‖b‖. */
static bisai_status measure_rounding(bsi_solver_run *run, double *share) {
  bisai_solver *s = run->solver;
  double *lost = s->vectors.spare, *image = s->vectors.residual;
  double size = NAN;
  BSI_TRY(bsi_lost_digits(s->context, s->n, run->system.x, lost, s->vectors.scratch));
  BSI_TRY(bsi_multiply_given(run, lost, image));
  BSI_TRY(bsi_norm(run, image, &size));
  *share = BSI_ROUNDING * size / (run->norms.b / run->scaling.vectors);
  return BISAI_OK;
}

/* text ← that x is as exact as its digits allow, if rounding explains the residual, else "". */
static void say_rounding(bsi_solver_run *run, size_t size, char *text) {
  enum { MOST_OVER_ROUNDING = 16 };
  double share = NAN;
  text[0] = '\0';
  if (run->reason != BISAI_REASON_STAGNATED) return;
  const bisai_status status = measure_rounding(run, &share);
  run->reason = BISAI_REASON_STAGNATED;
  run->norms.exhausted =
      !status && run->norms.residual / run->norms.b <= MOST_OVER_ROUNDING * share;
  if (run->norms.exhausted)
    snprintf(text, size,
             "; rounding the entries of x alone changes A x by %.0e of b: double precision holds "
             "no better x of this size",
             share);
}

void bsi_say_cause(bsi_solver_run *run, size_t size, char *text) {
  const constants c = measure_constants(run);
  say_empty(run, size, text);
  if (text[0] == '\0') say_unreachable(run, &c, size, text);
  if (text[0] == '\0') say_indefinite(run, size, text);
  if (text[0] == '\0') say_singular(&c, size, text);
  if (text[0] == '\0') say_null_space(run, size, text);
  if (text[0] == '\0') say_rounding(run, size, text);
  if (text[0] == '\0') say_growth(run, size, text);
}
