/* SPDX-License-Identifier: BSD-3-Clause */
#include "petsc/ranks/smoother.h"

typedef struct smoother {
  const bisai_piece *piece;
  bisai_multigrid_options options;
  Mat matrix;
  /* steps of an application, and their coefficients */
  PetscInt steps;
  double *alpha, *beta;
  /* x − x before, which steps with α ≠ 0 need */
  Vec direction;
} smoother;

static PetscErrorCode destroy(PC pc) {
  smoother *s;
  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &s));
  PetscCall(VecDestroy(&s->direction));
  PetscCall(PetscFree2(s->alpha, s->beta));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y ← D⁻¹ x */
static PetscErrorCode scale(const smoother *s, Vec x, Vec y) {
  const PetscScalar *from;
  PetscScalar *to;
  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(x, &from));
  PetscCall(VecGetArrayWrite(y, &to));
  bisai_piece_scale(s->piece, from, to);
  PetscCall(VecRestoreArrayWrite(y, &to));
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z ← D⁻¹ b, with the factor of the first step: what PCApply() may be called for. */
static PetscErrorCode apply(PC pc, Vec b, Vec z) {
  smoother *s;
  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &s));
  PetscCall(scale(s, b, z));
  PetscCall(VecScale(z, s->beta[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *zero ← whether x is known to be zero. PETSc keeps norms that it knows, as that of a vector that
 * it has set to zero: the product with such a vector is left out. */
static PetscErrorCode is_zero(Vec x, bool *zero) {
  PetscBool known = PETSC_FALSE;
  PetscReal norm = 1;
  PetscFunctionBegin;
  PetscCall(VecNormAvailable(x, NORM_2, &known, &norm));
  *zero = known && norm == 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x ← x + α d + β D⁻¹(b − A x), where d is the last change of x, and receives this one. */
static PetscErrorCode step(const smoother *s, PetscInt k, bool zero, Vec b, Vec x, Vec w) {
  PetscFunctionBegin;
  if (zero)
    PetscCall(scale(s, b, w));
  else {
    PetscCall(MatMult(s->matrix, x, w));
    PetscCall(VecAYPX(w, -1, b));
    PetscCall(scale(s, w, w));
  }
  if (s->steps == 1) {
    PetscCall(VecAXPY(x, s->beta[k], w));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (k == 0) PetscCall(VecSet(s->direction, 0));
  PetscCall(VecAXPBY(s->direction, s->beta[k], s->alpha[k], w));
  PetscCall(VecAXPY(x, 1, s->direction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode smooth(PC pc, Vec b, Vec x, Vec w, PetscReal rtol, PetscReal abstol,
                             PetscReal dtol, PetscInt count, PetscBool guess_zero, PetscInt *done,
                             PCRichardsonConvergedReason *reason) {
  bool zero = guess_zero == PETSC_TRUE;
  smoother *s;
  PetscFunctionBegin;
  (void)rtol, (void)abstol, (void)dtol;
  PetscCall(PCShellGetContext(pc, &s));
  if (guess_zero) PetscCall(VecSet(x, 0));
  if (!zero) PetscCall(is_zero(x, &zero));
  PetscCall(bisai_piece_coefficients(s->piece, &s->options, s->alpha, s->beta) ? PETSC_ERR_LIB
                                                                               : PETSC_SUCCESS);
  if (s->steps > 1 && !s->direction) PetscCall(VecDuplicate(x, &s->direction));
  for (PetscInt k = 0; k < count * s->steps; k++)
    PetscCall(step(s, k % s->steps, zero && k == 0, b, x, w));
  *done = count;
  *reason = PCRICHARDSON_CONVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make(const bsi_ranks_setup *setup, const bsi_ranks_level *level, PC pc) {
  const bool chebyshev = setup->options.smoother == BISAI_SMOOTHER_CHEBYSHEV;
  smoother *s;
  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  s->piece = level->piece;
  s->options = setup->options;
  s->matrix = level->matrix;
  s->steps = chebyshev ? setup->options.degree : 1;
  PetscCall(PetscCalloc2(s->steps, &s->alpha, s->steps, &s->beta));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetContext(pc, s));
  PetscCall(PCShellSetName(pc, bisai_smoother_string(setup->options.smoother)));
  PetscCall(PCShellSetApply(pc, apply));
  PetscCall(PCShellSetApplyRichardson(pc, smooth));
  PetscCall(PCShellSetDestroy(pc, destroy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_smoother_set(const bsi_ranks_setup *setup, const bsi_ranks_level *level,
                                      PetscInt steps, KSP ksp) {
  PC pc;
  PetscFunctionBegin;
  PetscCall(KSPSetType(ksp, KSPRICHARDSON));
  PetscCall(KSPSetOperators(ksp, level->matrix, level->matrix));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
  PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
  PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, steps));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(make(setup, level, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}
