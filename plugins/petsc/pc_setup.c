/* SPDX-License-Identifier: BSD-3-Clause */
/* Set-up of the preconditioner type "bisai". */
#include <bisai/pressure.h>

#include "petsc/device.h"
#include "petsc/null_space.h"
#include "petsc/pc_impl.h"

/* Returns true if the kind takes a near-null space, be it for a candidate of a choice. */
static bool takes_null_space(const bisai_precond_options *o) {
  return o->kind == BISAI_PRECOND_MULTIGRID || o->kind == BISAI_PRECOND_AUTO;
}

/* Multigrid gets the near-null space of the Mat, unless its options have vectors. */
PetscErrorCode bsi_pc_create_precond(PC pc, bisai_status *status) {
  bsi_pc *m = pc->data;
  Mat mat = pc->pmat;
  bisai_precond_options o = m->used;
  double *vectors = NULL;
  PetscFunctionBegin;
  if (takes_null_space(&o) && !o.multigrid.null_vectors) {
    PetscCall(bsi_petsc_near_null_space(mat, &o.multigrid.null_count, &vectors));
    o.multigrid.null_vectors = vectors;
  }
  m->null_space.count = o.multigrid.null_count;
  *status = bisai_precond_create(m->context, bsi_pc_matrix_get(&m->matrix), &o, &m->precond);
  PetscCall(PetscFree(vectors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the id of the near-null space, or 0. */
static PetscErrorCode null_space_id(Mat mat, PetscObjectId *id) {
  MatNullSpace space = NULL;
  PetscFunctionBegin;
  *id = 0;
  PetscCall(MatGetNearNullSpace(mat, &space));
  if (space) PetscCall(PetscObjectGetId((PetscObject)space, id));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Updates the preconditioner if only values have changed, which keeps the patterns and the
 * workspace. It is made again if an update fails, because the pattern is another one or the values
 * are no longer symmetric, for example. Multigrid is made again for another near-null space. A
 * choice waits for the solver. */
static PetscErrorCode update_or_create(PC pc, bisai_status *status) {
  bsi_pc *m = pc->data;
  PetscObjectId id;
  PetscFunctionBegin;
  PetscCall(null_space_id(pc->pmat, &id));
  const bool other_space = takes_null_space(&m->options) && id != m->null_space.id;
  if (other_space || m->choice.worse) bisai_precond_destroy(&m->precond);
  m->null_space.id = id;
  if (m->precond) {
    *status = bisai_precond_update(m->precond, bsi_pc_matrix_get(&m->matrix));
    if (!*status) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscInfo(NULL, "bisai: made again: %s\n", bsi_petsc_message(m->context, *status)));
    bisai_precond_destroy(&m->precond);
  }
  *status = BISAI_OK;
  m->used = m->options;
  if (m->ranks.stage) m->used = bisai_pressure_stage_options(m->context, &m->options, 0, 1);
  if (m->options.kind != BISAI_PRECOND_AUTO) PetscCall(bsi_pc_create_precond(pc, status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the context for the backend on which the preconditioner works. */
static PetscErrorCode make_context(PC pc, Mat block) {
  bsi_pc *m = pc->data;
  bisai_backend backend;
  bisai_status status = BISAI_OK;
  int threads;
  PetscFunctionBegin;
  PetscCall(bsi_pc_backend(block, m->place.backend, &backend));
  if (m->context &&
      (bisai_context_backend(m->context) != backend || m->place.made != m->place.threads))
    PetscCall(bsi_pc_reset(pc));
  if (m->context) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(bsi_petsc_narrow("-pc_bisai_threads", m->place.threads, &threads));
  PetscCall(bsi_petsc_context(backend, threads, &m->context, &status));
  PetscCheck(status != BISAI_INVALID_ARGUMENT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "bisai: -pc_bisai_threads is %d, outside 0 … 4096", threads);
  PetscCheck(status != BISAI_UNAVAILABLE, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "bisai: -pc_bisai_backend cuda: %s", bisai_backend_missing(BISAI_BACKEND_CUDA, -1));
  BSI_PC_CALL(m, status);
  m->place.made = m->place.threads;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns true if applications read the matrix, or if a choice may need it later. */
static bool reads_matrix(const bisai_precond_options *o) {
  switch (o->kind) {
  case BISAI_PRECOND_MULTIGRID:
  case BISAI_PRECOND_AUTO: return true;
  case BISAI_PRECOND_BJACOBI:
  case BISAI_PRECOND_CPR: return o->bjacobi.relax > 0;
  default: return false;
  }
}

/* Reads the own diagonal block and sets up its preconditioner. Vectors of a near-null space are
 * parts of the vectors of the whole Mat. */
static PetscErrorCode read_and_set_up(PC pc, Mat block, bisai_status *status) {
  bsi_pc *m = pc->data;
  bsi_pc_matrix old;
  PetscFunctionBegin;
  PetscCall(bsi_pc_begin(BSI_PC_CONVERT, pc));
  PetscCall(bsi_pc_matrix_read(&m->matrix, m->context, block, &old, status));
  PetscCall(bsi_pc_end(BSI_PC_CONVERT, pc));
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  const bisai_bcsr *matrix = bsi_pc_matrix_get(&m->matrix);
  m->counts.block_size = bisai_bcsr_block_size(matrix);
  m->counts.blocks = bisai_bcsr_blocks(matrix);
  const PetscErrorCode code = update_or_create(pc, status);
  /* After a failed update multigrid and relaxation still read the old matrix. */
  if ((code || *status) && bsi_pc_matrix_get(&old)) bisai_precond_destroy(&m->precond);
  bsi_pc_matrix_destroy(&old);
  if (!reads_matrix(&m->options)) bsi_mat_release(&m->matrix.shared);
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On several processes each takes the diagonal block of its own rows, as block-Jacobi. A process
 * may have no rows, for example on a coarse level of PETSc's multigrid. */
static PetscErrorCode set_up_own(PC pc, bisai_status *status) {
  bsi_pc *m = pc->data;
  Mat block = NULL;
  PetscInt rows;
  PetscFunctionBegin;
  m->transpose_ready = false;
  PetscCall(MatGetLocalSize(pc->pmat, &rows, NULL));
  PetscCall(bsi_pc_own_block(pc->pmat, &block));
  PetscCall(make_context(pc, block));
  if (m->ranks.stage && m->ranks.layers > 0) {
    PetscCheck(bisai_context_backend(m->context) == BISAI_BACKEND_HOST,
               PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
               "bisai: -pc_bisai_cpr_overlap needs -pc_bisai_backend host");
    PetscCall(bsi_overlap_take(pc->pmat, m->ranks.layers, &m->ranks.overlap, &block));
  }
  if (rows > 0) PetscCall(read_and_set_up(pc, block, status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next step of the others would wait for a process that has failed. */
PetscErrorCode bsi_pc_settle(PC pc, PetscErrorCode own, bisai_status status) {
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  bsi_pc *m = pc->data;
  char message[BSI_PETSC_MESSAGE] = "bisai: the set-up failed on another process";
  PetscFunctionBegin;
  const PCFailedReason reason = bsi_pc_reason_of(status);
  PetscErrorCode code = own;
  if (!own && status && (!reason || pc->erroriffailure)) {
    code = bsi_petsc_error(status);
    PetscCall(
        PetscSNPrintf(message, sizeof message, "bisai: %s", bsi_petsc_message(m->context, status)));
  }
  PetscCall(bsi_petsc_agree(comm, &code, message));
  PetscCall(own);
  PetscCheck(!code, comm, code, "%s", message);
  if (reason) {
    PetscCall(PetscStrncpy(m->failure, bsi_petsc_message(m->context, status), sizeof m->failure));
    PetscCall(PetscInfo(pc, "bisai: %s\n", m->failure));
    PetscCall(PCSetFailedReason(pc, reason));
  }
  PetscCall(bsi_pc_log_set_up(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If one process has to choose, all wait for the solver. */
static PetscErrorCode find_pending(PC pc) {
  bsi_pc *m = pc->data;
  PetscInt rows;
  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(pc->pmat, &rows, NULL));
  int pending = rows > 0 && !m->precond;
  PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, &pending, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  m->choice.pending = pending > 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If the second stage failed on a process, all have failed. */
static PetscErrorCode set_up_first_stage(PC pc) {
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  bsi_pc *m = pc->data;
  char message[BSI_PETSC_MESSAGE] = "";
  PetscMPIInt rank;
  PetscFunctionBegin;
  PetscErrorCode failed = *m->failure ? PETSC_ERR_LIB : PETSC_SUCCESS;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (failed)
    PetscCall(PetscSNPrintf(message, sizeof message, "process %d, counting its own rows: %s",
                            (int)rank, m->failure));
  PetscCall(bsi_petsc_agree(comm, &failed, message));
  if (failed) {
    PetscCall(PetscStrncpy(m->failure, message, sizeof m->failure));
    PetscCall(bsi_pc_destroy_ranks(pc));
  } else
    PetscCall(bsi_pc_set_up_ranks(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_pc_set_up(PC pc) {
  bsi_pc *m = pc->data;
  bisai_status status = BISAI_OK;
  bool distributed;
  PetscFunctionBegin;
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  *m->failure = '\0';
  PetscCall(bsi_pc_is_distributed(pc, &distributed));
  m->ranks.stage = distributed && m->options.kind == BISAI_PRECOND_CPR;
  if (distributed && !m->ranks.stage) {
    bisai_context_destroy(&m->context); /* the hierarchy has its own */
    PetscCall(bsi_pc_set_up_ranks(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const PetscErrorCode own = set_up_own(pc, &status);
  PetscCall(bsi_pc_settle(pc, own, status));
  if (m->ranks.stage) PetscCall(set_up_first_stage(pc));
  if (m->options.kind == BISAI_PRECOND_AUTO) PetscCall(find_pending(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}
