/* SPDX-License-Identifier: BSD-3-Clause */
/* Applications of the preconditioner type "bisai". On several processes each applies the
 * preconditioner of its diagonal block to its own part of a vector. */
#include <math.h>

#include "petsc/device.h"
#include "petsc/pc_impl.h"

/* As PETSc's own preconditioners, a failed one gives infinity. The solver then asks for the reason.
 * VecSet() would need all processes, and the others may have succeeded. */
static void fill(PetscInt n, double *z) {
  for (PetscInt i = 0; i < n; i++) z[i] = INFINITY;
}

/* z ← M⁻¹ v of the second stage of CPR. A process without rows has none, and takes part in the
 * exchange. */
static PetscErrorCode apply_second(const bsi_pc *m, const double *v, double *z) {
  const bsi_overlap *overlap = &m->ranks.overlap;
  const double *from = v;
  double *to = z;
  bisai_status status = BISAI_OK;
  PetscFunctionBegin;
  if (overlap->rows) PetscCall(bsi_overlap_gather(overlap, v, &from));
  if (overlap->rows) PetscCall(bsi_overlap_result(overlap, &to));
  if (m->precond) status = bisai_precond_apply(m->precond, from, to);
  /* the first stage may work on another stream */
  if (m->precond && !status) status = bisai_context_synchronize(m->context);
  if (overlap->rows) PetscCall(bsi_overlap_restrict(overlap, &from, &to, z));
  BSI_PC_CALL(m, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z ← M⁻¹ v of one hierarchy of all processes, for the own values. */
static PetscErrorCode apply_ranks(const bsi_pc *m, const double *v, double *z) {
  const double *rest;
  PetscFunctionBegin;
  if (m->ranks.hierarchy) {
    PetscCall(bsi_ranks_apply(m->ranks.hierarchy, v, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(bsi_ranks_cpr_begin(m->ranks.cpr, v, &rest));
  PetscCall(apply_second(m, rest, z));
  PetscCall(bsi_ranks_cpr_end(m->ranks.cpr, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a GPU the arrays of the vectors may be there. */
static PetscErrorCode apply_ranks_vec(const bsi_pc *m, Vec v, Vec z) {
  bisai_context *context = m->ranks.hierarchy ? bsi_ranks_context(m->ranks.hierarchy)
                                              : bsi_ranks_cpr_context(m->ranks.cpr);
  bisai_status status = BISAI_OK;
  bsi_petsc_arrays arrays;
  PetscFunctionBegin;
  PetscCall(bsi_petsc_take(context, v, z, &arrays));
  PetscCall(apply_ranks(m, arrays.from, arrays.to));
  PetscCall(bsi_petsc_give_back(&arrays, &status));
  PetscCheck(!status, PETSC_COMM_SELF, bsi_petsc_error(status), "bisai: %s",
             bsi_petsc_message(context, status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether one hierarchy of all processes is the preconditioner or a part of it. */
static bool has_ranks(const bsi_pc *m) { return m->ranks.hierarchy || m->ranks.cpr; }

/* A process without rows calls this too. PETSc keeps norms until a vector changes, and all
 * processes must see the change. */
static PetscErrorCode fill_vec(Vec z, PetscInt n) {
  PetscScalar *to;
  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(z, &to));
  fill(n, to);
  PetscCall(VecRestoreArrayWrite(z, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_pc_apply(PC pc, Vec v, Vec z) {
  bsi_pc *m = pc->data;
  bsi_petsc_arrays arrays;
  PetscInt n;
  PetscFunctionBegin;
  if (m->choice.pending) PetscCall(bsi_pc_choose(pc, m->choice.solver));
  PetscCall(bsi_pc_begin(BSI_PC_APPLY, pc));
  PetscCall(VecGetLocalSize(z, &n));
  if (has_ranks(m)) {
    PetscCall(apply_ranks_vec(m, v, z));
  } else if (*m->failure || n == 0) {
    PetscCall(fill_vec(z, n));
  } else {
    PetscCall(bsi_petsc_take(m->context, v, z, &arrays));
    bisai_status status = bisai_precond_apply(m->precond, arrays.from, arrays.to);
    PetscCall(bsi_petsc_give_back(&arrays, &status));
    BSI_PC_CALL(m, status);
    PetscCall(bsi_petsc_log_flops(m->context, m->counts.flops));
  }
  PetscCall(bsi_pc_end(BSI_PC_APPLY, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z ← M⁻ᵀ v of this process. */
static PetscErrorCode apply_transpose(const bsi_pc *m, Vec v, Vec z, bisai_status *status) {
  bsi_petsc_arrays arrays;
  PetscFunctionBegin;
  PetscCall(bsi_petsc_take(m->context, v, z, &arrays));
  *status = bisai_precond_apply_transpose(m->precond, arrays.from, arrays.to);
  PetscCall(bsi_petsc_give_back(&arrays, status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first application after a set-up, in which a kind may refuse on some processes. */
static PetscErrorCode agree_on_transpose(PC pc, bisai_status status) {
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  bsi_pc *m = pc->data;
  PetscErrorCode code = status ? bsi_petsc_error(status) : PETSC_SUCCESS;
  char message[BSI_PETSC_MESSAGE] = "another process has no transposed application";
  PetscFunctionBegin;
  if (code)
    PetscCall(PetscSNPrintf(message, sizeof message, "%s", bsi_petsc_message(m->context, status)));
  PetscCall(bsi_petsc_agree(comm, &code, message));
  PetscCheck(!code, comm, code, "bisai: %s", message);
  m->transpose_ready = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z ← M⁻ᵀ v of one hierarchy of all processes. All of them refuse it, or none. */
static PetscErrorCode apply_ranks_transpose(PC pc, Vec v, Vec z) {
  bsi_pc *m = pc->data;
  bisai_status status = BISAI_OK;
  bsi_petsc_arrays arrays;
  PetscFunctionBegin;
  PetscCheck(m->ranks.hierarchy, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "bisai: cpr has no transposed application, on any number of processes: "
             "-pc_bisai_type mg and ilu have one, and a PC of the transposed matrix needs none");
  bisai_context *context = bsi_ranks_context(m->ranks.hierarchy);
  PetscCall(bsi_pc_begin(BSI_PC_APPLY_TRANSPOSE, pc));
  PetscCall(bsi_petsc_take(context, v, z, &arrays));
  status = bsi_ranks_apply_transpose(m->ranks.hierarchy, arrays.from, arrays.to);
  PetscCall(bsi_petsc_give_back(&arrays, &status));
  PetscCheck(status != BISAI_UNSUPPORTED, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "bisai: %s: take -pc_bisai_mg_cycle v or w", bsi_petsc_message(context, status));
  PetscCheck(!status, PETSC_COMM_SELF, bsi_petsc_error(status), "bisai: %s",
             bsi_petsc_message(context, status));
  PetscCall(bsi_pc_end(BSI_PC_APPLY_TRANSPOSE, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_pc_apply_transpose(PC pc, Vec v, Vec z) {
  bsi_pc *m = pc->data;
  bisai_status status = BISAI_OK;
  PetscInt n;
  PetscFunctionBegin;
  if (has_ranks(m)) {
    PetscCall(apply_ranks_transpose(pc, v, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!m->transpose_ready) PetscCall(bsi_pc_choose(pc, BSI_PC_SOLVER_TRANSPOSED));
  PetscCall(bsi_pc_begin(BSI_PC_APPLY_TRANSPOSE, pc));
  PetscCall(VecGetLocalSize(z, &n));
  if (*m->failure || n == 0)
    PetscCall(fill_vec(z, n));
  else
    PetscCall(apply_transpose(m, v, z, &status));
  if (!m->transpose_ready) PetscCall(agree_on_transpose(pc, status));
  BSI_PC_CALL(m, status);
  PetscCall(bsi_petsc_log_flops(m->context, m->counts.flops));
  PetscCall(bsi_pc_end(BSI_PC_APPLY_TRANSPOSE, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All columns in one call, which reads the preconditioner once for several of them. */
PetscErrorCode bsi_pc_apply_many(PC pc, Mat v, Mat z) {
  bsi_pc *m = pc->data;
  bsi_petsc_columns arrays;
  PetscInt n, columns, ldv, ldz;
  int count;
  PetscFunctionBegin;
  if (m->choice.pending) PetscCall(bsi_pc_choose(pc, m->choice.solver));
  PetscCall(bsi_pc_begin(BSI_PC_APPLY, pc));
  PetscCall(MatGetLocalSize(z, &n, NULL));
  PetscCall(MatGetSize(z, NULL, &columns));
  PetscCall(bsi_petsc_narrow("the number of columns", columns, &count));
  PetscCall(MatDenseGetLDA(v, &ldv));
  PetscCall(MatDenseGetLDA(z, &ldz));
  if (has_ranks(m)) {
    const PetscScalar *from;
    PetscScalar *to;
    PetscCall(MatDenseGetArrayRead(v, &from));
    PetscCall(MatDenseGetArrayWrite(z, &to));
    for (PetscInt c = 0; c < columns; c++)
      PetscCall(apply_ranks(m, from + (size_t)c * (size_t)ldv, to + (size_t)c * (size_t)ldz));
    PetscCall(MatDenseRestoreArrayWrite(z, &to));
    PetscCall(MatDenseRestoreArrayRead(v, &from));
  } else if (*m->failure || n == 0) {
    PetscScalar *to;
    PetscCall(MatDenseGetArrayWrite(z, &to));
    for (PetscInt c = 0; c < columns; c++) fill(n, to + (size_t)c * (size_t)ldz);
    PetscCall(MatDenseRestoreArrayWrite(z, &to));
  } else {
    PetscCall(bsi_petsc_take_columns(m->context, v, z, &arrays));
    bisai_status status =
        bisai_precond_apply_many(m->precond, count, arrays.from, ldv, arrays.to, ldz);
    PetscCall(bsi_petsc_give_columns_back(&arrays, &status));
    BSI_PC_CALL(m, status);
    PetscCall(bsi_petsc_log_flops(m->context, (PetscLogDouble)columns * m->counts.flops));
  }
  PetscCall(bsi_pc_end(BSI_PC_APPLY, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *reason ← whether ‖M⁻¹ (b − A x)‖ is small or large enough to end Richardson's iteration. */
static PetscErrorCode judge(Vec change, const PetscReal limits[3], PetscReal *first,
                            PCRichardsonConvergedReason *reason) {
  PetscReal norm;
  PetscFunctionBegin;
  PetscCall(VecNorm(change, NORM_2, &norm));
  if (*first < 0) *first = norm;
  *reason = (PCRichardsonConvergedReason)0;
  if (norm <= limits[0] * *first) *reason = PCRICHARDSON_CONVERGED_RTOL;
  if (norm <= limits[1]) *reason = PCRICHARDSON_CONVERGED_ATOL;
  if (!(norm <= limits[2] * *first)) *reason = PCRICHARDSON_DIVERGED_DTOL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x ← x + M⁻¹ (b − A x). The first step from x = 0 computes x ← M⁻¹ b alone, without the sums and
 * copies of KSPRICHARDSON: this is a smoother of one step. If the solver computes norms, those of
 * M⁻¹ (b − A x) end the iteration. */
PetscErrorCode bsi_pc_apply_richardson(PC pc, Vec b, Vec x, Vec w, PetscReal rtol, PetscReal abstol,
                                       PetscReal dtol, PetscInt steps, PetscBool zero,
                                       PetscInt *done, PCRichardsonConvergedReason *reason) {
  bsi_pc *m = pc->data;
  const PetscReal limits[] = {rtol, abstol, dtol};
  PetscReal first = -1;
  PetscFunctionBegin;
  *reason = (PCRichardsonConvergedReason)0;
  for (*done = 0; *done < steps && !*reason; ++*done) {
    if (*done == 0 && zero) {
      PetscCall(bsi_pc_apply(pc, b, x));
      if (m->choice.norms) PetscCall(judge(x, limits, &first, reason));
      continue;
    }
    if (!m->correction) PetscCall(VecDuplicate(x, &m->correction));
    PetscCall(MatResidual(pc->mat, b, x, w));
    PetscCall(bsi_pc_apply(pc, w, m->correction));
    PetscCall(VecAXPY(x, 1, m->correction));
    if (m->choice.norms) PetscCall(judge(m->correction, limits, &first, reason));
  }
  if (!*reason) *reason = PCRICHARDSON_CONVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}
