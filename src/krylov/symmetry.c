/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether A and M are symmetric, as conjugate gradients need them: A is measured, M is known by its
 * kind. */
#include <math.h>
#include <string.h>

#include "krylov/method.h"

static bisai_status refuse_matrix(const bisai_solver *s, double asymmetry) {
  return bsi_fail(s->context, BISAI_NOT_SYMMETRIC,
                  "cg needs a symmetric matrix, and the asymmetry of this one is %.1e: gmres, "
                  "bicgstab and idr take it; "
                  "with assume_symmetric (cg:force in the program) cg does",
                  asymmetry);
}

/* `where`: what more is said of M, and `others`: which preconditioners are symmetric there. */
static bisai_status refuse_precond(const bisai_solver *s, const bisai_precond *precond,
                                   const char *where, const char *others) {
  const char *text = bisai_precond_describe(precond);
  return bsi_fail(s->context, BISAI_NOT_SYMMETRIC,
                  "cg needs a symmetric preconditioner, which %.*s is not%s: %s are; with "
                  "assume_symmetric (cg:force in "
                  "the program) cg takes it",
                  (int)strcspn(text, ","), text, where, others);
}

bisai_status bisai_solver_check(const bisai_solver *solver, const bisai_bcsr *matrix,
                                const bisai_precond *precond, double *asymmetry) {
  if (!solver) return BISAI_INVALID_ARGUMENT;
  const bisai_solver_options *o = &solver->options;
  double measured = NAN;
  bool mirrored = true;
  bisai_status status = BISAI_OK;
  if (asymmetry) *asymmetry = NAN;
  if (o->method != BISAI_CG || o->assume_symmetric) return BISAI_OK;
  /* Where processes add up, a matrix is only a part of A, and one process must not refuse what
   * others go on with. */
  if (matrix && !o->reduce)
    status = bsi_bcsr_asymmetry(solver->context, matrix, &measured, &mirrored);
  if (status) return status;
  if (asymmetry) *asymmetry = measured;
  if (measured > BISAI_SYMMETRY_LIMIT) return refuse_matrix(solver, measured);
  if (!precond) return BISAI_OK;
  bisai_precond_report report = {.struct_size = sizeof report};
  status = bisai_precond_get_report(precond, &report);
  if (status) return status;
  if (report.symmetry == BISAI_SYMMETRY_NONE)
    return refuse_precond(solver, precond, "",
                          "none, bjacobi (fp64 or inverses), ilu, sweeps and symmetric isai");
  if (report.symmetry == BISAI_SYMMETRY_PATTERN && !mirrored)
    return refuse_precond(solver, precond, " where a block (i, j) is stored without (j, i)",
                          "none and bjacobi");
  return BISAI_OK;
}
