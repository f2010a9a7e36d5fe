/* SPDX-License-Identifier: BSD-3-Clause */
/* The check that A and M are symmetric, which conjugate gradients need. The asymmetry of A is
 * measured, and M is judged by its kind. */
#include <math.h>
#include <string.h>

#include "core/context/context_impl.h"
#include "krylov/run/symmetry.h"

static bisai_status refuse_matrix(const bisai_solver *s, double asymmetry) {
  return bsi_fail(s->context, BISAI_NOT_SYMMETRIC,
                  "cg needs a symmetric matrix, and the asymmetry of this one is %.1e: gmres, "
                  "bicgstab and idr take it; "
                  "with assume_symmetric (cg:force in the program) cg does",
                  asymmetry);
}

/* Returns the length of a description without its figures. Messages are cut after 255 characters,
 * and what to take instead comes last. */
static int length_of_name(const char *description) {
  size_t length = strcspn(description, ",;(");
  while (length > 0 && description[length - 1] == ' ') length--;
  return (int)length;
}

/* `where` is a condition under which M is not symmetric, and `others` are the preconditioners that
 * are symmetric then. */
static bisai_status refuse_precond(const bisai_solver *s, const bisai_precond *precond,
                                   const char *where, const char *others) {
  const char *text = bisai_precond_describe(precond);
  return bsi_fail(s->context, BISAI_NOT_SYMMETRIC,
                  "cg needs a symmetric preconditioner, which %.*s is not%s: %s are; with "
                  "assume_symmetric (cg:force in "
                  "the program) cg takes it",
                  length_of_name(text), text, where, others);
}

bisai_status bsi_check_symmetry(const bisai_solver *s, const bisai_bcsr *matrix,
                                const bisai_precond *precond, double *asymmetry) {
  double measured = NAN;
  bool mirrored = true;
  if (s->options.cg.assume_symmetric) return BISAI_OK;
  /* With a reduction hook a matrix is only a part of A. One process must not refuse what others go
   * on with. */
  if (matrix && !s->options.reduce)
    BSI_TRY(bsi_bcsr_asymmetry(s->context, matrix, &measured, &mirrored));
  *asymmetry = measured;
  if (measured > BISAI_SYMMETRY_LIMIT) return refuse_matrix(s, measured);
  if (!precond) return BISAI_OK;
  bisai_precond_report report = {.struct_size = sizeof report};
  BSI_TRY(bisai_precond_get_report(precond, &report));
  if (report.symmetry == BISAI_SYMMETRY_NONE)
    return refuse_precond(s, precond, "",
                          "none, bjacobi (fp64 or inverses), ilu, sweeps, symmetric isai "
                          "and, with pre = post, mg");
  if (report.symmetry == BISAI_SYMMETRY_PATTERN && !mirrored)
    return refuse_precond(s, precond, " where a block (i, j) is stored without (j, i)",
                          "none and bjacobi");
  return BISAI_OK;
}
