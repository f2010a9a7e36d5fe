/* SPDX-License-Identifier: BSD-3-Clause */
/* PETSc's block ILU(level) of a SeqBAIJ matrix, with MatSolve() as a preconditioner of bisai's
 * solver. */
#include "petsc/calls.h"
#include "petsc/matrix.h"

struct bisai_petsc_ilu {
  bisai_context *context;
  Mat factored;
  /* vectors without memory; an application places the caller's arrays in them */
  Vec v, z;
  int64_t n, blocks;
  double seconds;
};

typedef struct making {
  bisai_context *context;
  const bisai_bcsr *matrix;
  int level;
  Mat mat;
  IS order;
  bisai_petsc_ilu *ilu;
} making;

static PetscErrorCode factor(making *m, Mat mat) {
  MatFactorInfo info;
  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  info.levels = m->level;
  info.fill = 1; /* PETSc leaves it at 0 and refuses 0 later */
  PetscCall(ISCreateStride(PETSC_COMM_SELF, bisai_bcsr_block_rows(m->matrix), 0, 1, &m->order));
  const double start = bsi_petsc_now();
  PetscCall(MatGetFactor(mat, MATSOLVERPETSC, MAT_FACTOR_ILU, &m->ilu->factored));
  PetscCall(MatILUFactorSymbolic(m->ilu->factored, mat, m->order, m->order, &info));
  PetscCall(MatLUFactorNumeric(m->ilu->factored, mat, &info));
  m->ilu->seconds = bsi_petsc_now() - start;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make(void *arguments, bisai_status *status) {
  making *m = arguments;
  MatInfo info;
  MatFactorError error;
  PetscFunctionBegin;
  PetscCall(PetscNew(&m->ilu));
  const PetscInt bs = bisai_bcsr_block_size(m->matrix);
  m->ilu->context = m->context;
  m->ilu->n = (int64_t)bisai_bcsr_block_rows(m->matrix) * bs;
  PetscCall(bsi_petsc_mat(m->matrix, &m->mat));
  PetscCall(factor(m, m->mat));
  PetscCall(MatFactorGetError(m->ilu->factored, &error));
  if (error) {
    *status = bisai_context_fail(m->context, BISAI_SINGULAR_BLOCK,
                                 "PETSc's block ILU found a zero pivot");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetInfo(m->ilu->factored, MAT_LOCAL, &info));
  m->ilu->blocks = (int64_t)(info.nz_used / (double)(bs * bs));
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, bs, (PetscInt)m->ilu->n, NULL, &m->ilu->v));
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, bs, (PetscInt)m->ilu->n, NULL, &m->ilu->z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode tidy(void *arguments, bisai_status *status) {
  making *m = arguments;
  (void)status;
  PetscFunctionBegin;
  PetscCall(MatDestroy(&m->mat));
  PetscCall(ISDestroy(&m->order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bisai_status bisai_petsc_ilu_create(bisai_context *context, const bisai_bcsr *matrix, int level,
                                    bisai_petsc_ilu **ilu) {
  if (!ilu) return bisai_context_fail(context, BISAI_INVALID_ARGUMENT, "ilu is NULL");
  bisai_status status = bsi_petsc_check_factorable(context, matrix, level);
  if (status) return status;
  making m = {.context = context, .matrix = matrix, .level = level};
  status = bsi_petsc_run(context, make, &m);
  if (m.mat || m.order) bsi_petsc_run(context, tidy, &m);
  if (!status)
    *ilu = m.ilu;
  else
    bisai_petsc_ilu_destroy(&m.ilu);
  return status;
}

static PetscErrorCode destroy(void *arguments, bisai_status *status) {
  bisai_petsc_ilu *ilu = arguments;
  (void)status;
  PetscFunctionBegin;
  PetscCall(MatDestroy(&ilu->factored));
  PetscCall(VecDestroy(&ilu->v));
  PetscCall(VecDestroy(&ilu->z));
  PetscCall(PetscFree(ilu));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void bisai_petsc_ilu_destroy(bisai_petsc_ilu **ilu) {
  if (!ilu || !*ilu) return;
  bsi_petsc_run((*ilu)->context, destroy, *ilu);
  *ilu = NULL;
}

typedef struct solving {
  const bisai_petsc_ilu *ilu;
  const double *v;
  double *z;
} solving;

static PetscErrorCode solve(void *arguments, bisai_status *status) {
  solving *s = arguments;
  (void)status;
  PetscFunctionBegin;
  PetscCall(VecPlaceArray(s->ilu->v, s->v));
  PetscCall(VecPlaceArray(s->ilu->z, s->z));
  PetscCall(MatSolve(s->ilu->factored, s->ilu->v, s->ilu->z));
  PetscCall(VecResetArray(s->ilu->v));
  PetscCall(VecResetArray(s->ilu->z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bisai_status bisai_petsc_ilu_apply(void *ilu, int64_t n, const double *v, double *z) {
  solving s = {ilu, v, z};
  if (!ilu) return BISAI_INVALID_ARGUMENT;
  if (!v || !z || n != s.ilu->n)
    return bsi_petsc_fail(s.ilu->context, BISAI_INVALID_ARGUMENT,
                          "the vectors have %lld values; %lld are needed", (long long)n,
                          (long long)s.ilu->n);
  return bsi_petsc_run(s.ilu->context, solve, &s);
}

bisai_status bisai_petsc_ilu_factors(const bisai_petsc_ilu *ilu, bisai_factors **factors) {
  return ilu ? bisai_petsc_factors(ilu->context, ilu->factored, factors) : BISAI_INVALID_ARGUMENT;
}

double bisai_petsc_ilu_seconds(const bisai_petsc_ilu *ilu) { return ilu->seconds; }

int64_t bisai_petsc_ilu_blocks(const bisai_petsc_ilu *ilu) { return ilu->blocks; }
