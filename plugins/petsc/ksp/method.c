/* SPDX-License-Identifier: BSD-3-Clause */
/* The method of the solver type "bisai". */
#include "petsc/ksp/method.h"
#include "petsc/ksp/ksp_impl.h"

PetscErrorCode bsi_ksp_is_ours(KSP ksp, bool *ours) {
  PetscBool same = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, BSI_KSP_TYPE, &same));
  *ours = same == PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *definite ← the matrix is known to be symmetric positive definite; *symmetric ← it is known to be
 * symmetric. */
static PetscErrorCode ask_matrix(KSP ksp, bool *definite, bool *symmetric) {
  Mat mat;
  PetscBool set = PETSC_FALSE, is = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(KSPGetOperators(ksp, &mat, NULL));
  PetscCall(MatIsSPDKnown(mat, &set, &is));
  *definite = set && is;
  PetscCall(MatIsSymmetricKnown(mat, &set, &is));
  *symmetric = *definite || (set && is);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ksp_asks_symmetric(KSP ksp, bool *symmetric) {
  const bsi_ksp *k = ksp->data;
  bool known = false, definite = false;
  PetscFunctionBegin;
  PetscCall(ask_matrix(ksp, &definite, &known));
  *symmetric = k->automatic ? definite : k->options.method == BISAI_CG;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Flexible GMRES saves an application at the end of each cycle, and keeps twice as many vectors. It
 * pays where cycles are short and applications dear. */
static bool takes_few_iterations(bisai_precond_kind kind) {
  return kind == BISAI_PRECOND_MULTIGRID || kind == BISAI_PRECOND_CPR ||
         kind == BISAI_PRECOND_SCHUR;
}

PetscErrorCode bsi_ksp_choose_method(KSP ksp, const bisai_precond *precond,
                                     bisai_solver_options *options) {
  const bsi_ksp *k = ksp->data;
  bisai_precond_report report = {.struct_size = sizeof report};
  bool definite = false, symmetric = false;
  PetscFunctionBegin;
  PetscCall(ask_matrix(ksp, &definite, &symmetric));
  *options = k->options;
  if (symmetric) options->cg.assume_symmetric = true;
  if (!k->automatic || bisai_precond_get_report(precond, &report))
    PetscFunctionReturn(PETSC_SUCCESS);
  const bool cg = definite && !report.nonlinear && !bsi_pc_never_symmetric(&report);
  options->method = cg ? BISAI_CG : BISAI_GMRES;
  options->gmres.flexible = !cg && (report.nonlinear || takes_few_iterations(report.kind));
  PetscFunctionReturn(PETSC_SUCCESS);
}
