/* SPDX-License-Identifier: BSD-3-Clause */
/* Refuses preconditioners that a solver of PETSc cannot take, as the solvers of bisai do, and
 * vectors that the matrix cannot multiply. PETSc tells a preconditioner its solver before each
 * solve. A solver that is further away, for example that of a PCBJACOBI around it, is not known
 * here. */
#include <string.h>

#include "petsc/ksp/method.h"
#include "petsc/pc_impl.h"

/* Solvers that take a preconditioner that changes from one application to the next. KSPPREONLY and
 * KSPNONE apply it once. */
static const char *const flexible[] = {KSPFGMRES,  KSPPIPEFGMRES, KSPGCR,       KSPPIPEGCR,
                                       KSPFCG,     KSPPIPEFCG,    KSPFBCGS,     KSPFBCGSR,
                                       KSPPREONLY, KSPNONE,       KSPRICHARDSON};

/* Solvers that apply the transpose of the preconditioner. */
static const char *const transposing[] = {KSPBICG, KSPCGNE, KSPTCQMR};

/* Solvers for a symmetric A, which need a symmetric M. */
static const char *const symmetric[] = {KSPCG,       KSPGROPPCG, KSPPIPECG, KSPPIPECGRR, KSPPIPELCG,
                                        KSPPIPEPRCG, KSPPIPECG2, KSPCR,     KSPPIPECR,   KSPMINRES,
                                        KSPSYMMLQ,   KSPNASH,    KSPSTCG,   KSPGLTR};

static PetscErrorCode contains(const char *const *types, size_t count, KSPType type,
                               PetscBool *found) {
  PetscFunctionBegin;
  *found = PETSC_FALSE;
  for (size_t i = 0; i < count && !*found; i++) PetscCall(PetscStrcmp(types[i], type, found));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses vectors of the host with a matrix of type aijcusparse. An optimised PETSc multiplies them
 * without a check, and the result is wrong: docs/petsc.md. */
static PetscErrorCode check_vector(PC pc, Vec v) {
  Mat mat;
  MatType mat_type;
  VecType vec_type;
  PetscBool gpu, right;
  PetscFunctionBegin;
  PetscCall(PCGetOperators(pc, &mat, NULL));
  PetscCall(
      PetscObjectTypeCompareAny((PetscObject)mat, &gpu, MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, ""));
  if (!gpu) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompareAny((PetscObject)v, &right, VECSEQCUDA, VECMPICUDA, ""));
  PetscCall(MatGetType(mat, &mat_type));
  PetscCall(VecGetType(v, &vec_type));
  PetscCheck(
      right, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
      "bisai: a Mat of type %s cannot multiply a Vec of type %s, and PETSc may compute wrong "
      "results without saying so: take -vec_type cuda, and VecSetFromOptions() for each Vec "
      "(VecLoad() ignores -vec_type)",
      mat_type, vec_type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode refuse_nonlinear(const char *what, KSPType type, PetscErrorCode *code,
                                       char *message) {
  PetscFunctionBegin;
  *code = PETSC_ERR_ARG_INCOMP;
  PetscCall(PetscSNPrintf(
      message, BSI_PETSC_MESSAGE,
      "bisai: the preconditioner is not linear (%s), and -ksp_type %s is not flexible: take "
      "-ksp_type fgmres, gcr or fcg",
      what, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for one hierarchy of all processes. That of a matrix that is not symmetric is not
 * refused, as that of one process is not. */
static PetscErrorCode judge_ranks(const bsi_pc *m, KSP ksp, PetscErrorCode *code, char *message) {
  const bool uneven = m->options.multigrid.pre != m->options.multigrid.post;
  KSPType type;
  PetscBool is_symmetric, estimates, is_flexible;
  PetscFunctionBegin;
  PetscCall(KSPGetType(ksp, &type));
  PetscCall(contains(flexible, PETSC_STATIC_ARRAY_LENGTH(flexible), type, &is_flexible));
  if (m->options.multigrid.cycle == BISAI_CYCLE_K && !is_flexible) {
    PetscCall(refuse_nonlinear("cycle=k", type, code, message));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(contains(symmetric, PETSC_STATIC_ARRAY_LENGTH(symmetric), type, &is_symmetric));
  PetscCall(KSPGetComputeSingularValues(ksp, &estimates));
  if (!is_symmetric || estimates || !uneven) PetscFunctionReturn(PETSC_SUCCESS);
  *code = PETSC_ERR_ARG_INCOMP;
  PetscCall(PetscSNPrintf(message, BSI_PETSC_MESSAGE,
                          "bisai: -ksp_type %s needs a symmetric preconditioner: take as many "
                          "smoothings -pc_bisai_mg_pre as -pc_bisai_mg_post",
                          type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *code ← an error, and its message, if this process has a preconditioner that the solver cannot
 * take. The solvers of bisai judge by themselves. */
static PetscErrorCode judge(const bsi_pc *m, KSP ksp, PetscErrorCode *code, char *message) {
  bisai_precond_report report = {.struct_size = sizeof report};
  KSPType type;
  PetscBool is_flexible, is_symmetric, estimates;
  bool ours;
  PetscFunctionBegin;
  if (m->ranks.hierarchy) {
    PetscCall(judge_ranks(m, ksp, code, message));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(bsi_ksp_is_ours(ksp, &ours));
  if (ours) PetscFunctionReturn(PETSC_SUCCESS);
  if (!m->precond || bisai_precond_get_report(m->precond, &report))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetType(ksp, &type));
  PetscCall(contains(flexible, PETSC_STATIC_ARRAY_LENGTH(flexible), type, &is_flexible));
  PetscCall(contains(symmetric, PETSC_STATIC_ARRAY_LENGTH(symmetric), type, &is_symmetric));
  /* A few steps of CG estimate the eigenvalues for PETSc's Chebyshev smoothers. */
  PetscCall(KSPGetComputeSingularValues(ksp, &estimates));
  if (report.nonlinear && !is_flexible) {
    PetscCall(refuse_nonlinear(bisai_precond_describe(m->precond), type, code, message));
  } else if (is_symmetric && !estimates && bsi_pc_never_symmetric(&report)) {
    *code = PETSC_ERR_ARG_INCOMP;
    PetscCall(PetscSNPrintf(
        message, BSI_PETSC_MESSAGE,
        "bisai: -ksp_type %s needs a symmetric preconditioner, and %s is not: take "
        "-pc_bisai_symmetric (isai), -pc_bisai_type ilu, sweeps or mg, or -ksp_type gmres",
        type, bisai_precond_describe(m->precond)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_pc_solver_of(KSP ksp, bsi_pc_solver *solver, bool *known) {
  static const char *const once[] = {KSPPREONLY, KSPNONE, KSPRICHARDSON}, *const flexible_cg[] = {
                                                                              KSPFCG, KSPPIPEFCG};
  KSPType type;
  KSPNormType norm;
  const char *prefix;
  PetscBool found[6] = {PETSC_FALSE};
  bool ours, asks = false;
  PetscFunctionBegin;
  PetscCall(bsi_ksp_is_ours(ksp, &ours));
  if (ours) PetscCall(bsi_ksp_asks_symmetric(ksp, &asks));
  PetscCall(KSPGetType(ksp, &type));
  PetscCall(KSPGetNormType(ksp, &norm));
  PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
  PetscCall(contains(symmetric, PETSC_STATIC_ARRAY_LENGTH(symmetric), type, &found[0]));
  PetscCall(contains(flexible_cg, PETSC_STATIC_ARRAY_LENGTH(flexible_cg), type, &found[1]));
  PetscCall(contains(once, PETSC_STATIC_ARRAY_LENGTH(once), type, &found[2]));
  PetscCall(contains(transposing, PETSC_STATIC_ARRAY_LENGTH(transposing), type, &found[3]));
  PetscCall(PetscStrcmp(type, KSPCHEBYSHEV, &found[4]));
  PetscCall(PetscStrcmp(type, KSPRICHARDSON, &found[5]));
  const char *const estimator = prefix ? strstr(prefix, "esteig_") : NULL;
  *known = !estimator || estimator[strlen("esteig_")] != '\0';
  *solver = BSI_PC_SOLVER_GENERAL;
  if (found[0] || found[1] || asks) *solver = BSI_PC_SOLVER_SYMMETRIC;
  if (found[2]) *solver = BSI_PC_SOLVER_ONCE;
  if (found[3]) *solver = BSI_PC_SOLVER_TRANSPOSED;
  if (found[4] || (found[5] && norm == KSP_NORM_NONE) || !*known) *solver = BSI_PC_SOLVER_SMOOTHER;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A process without rows has no preconditioner, and ends with the others. */
PetscErrorCode bsi_pc_presolve(PC pc, KSP ksp, Vec b, Vec x) {
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PetscErrorCode code = PETSC_SUCCESS;
  char message[BSI_PETSC_MESSAGE] = "";
  bsi_pc *m = pc->data;
  bsi_pc_solver solver;
  KSPNormType norm;
  bool known;
  PetscFunctionBegin;
  PetscCall(check_vector(pc, b));
  PetscCall(check_vector(pc, x));
  PetscCall(bsi_pc_solver_of(ksp, &solver, &known));
  if (known || m->choice.pending) PetscCall(bsi_pc_choose(pc, solver));
  PetscCall(KSPGetNormType(ksp, &norm));
  m->choice.norms = norm != KSP_NORM_NONE;
  PetscCall(judge(m, ksp, &code, message));
  PetscCall(bsi_petsc_agree(comm, &code, message));
  PetscCheck(!code, comm, code, "%s", message);
  PetscFunctionReturn(PETSC_SUCCESS);
}
