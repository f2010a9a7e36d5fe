/* SPDX-License-Identifier: BSD-3-Clause */
/* PETSc's "asm" and "bjacobi" with the near-null space of the whole Mat on the blocks, as the types
 * "bisai_asm" and "bisai_bjacobi". PETSc's own types leave it out, and a preconditioner of a block
 * does not know the Mat that the block is from. */
#include "petsc/pc_blocks.h"

#include <petsc/private/pcimpl.h>

#include "petsc/calls.h"
#include "petsc/null_space.h"

/* PETSc's constructors of the two types. */
PETSC_EXTERN PetscErrorCode PCCreate_ASM(PC pc);
PETSC_EXTERN PetscErrorCode PCCreate_BJacobi(PC pc);

/* Vectors of a near-null space, row by row. */
typedef struct vectors {
  int count;
  const double *values;
} vectors;

/* The name by which the near-null space of a block knows that of the whole Mat, and the one by
 * which a PC knows PETSc's set-up. */
static const char whole[] = "bisai_near_null_space", set_up[] = "bisai_set_up_of_petsc";

/* *wanted ← whether a block needs a near-null space. One of the caller stays, and so does one from
 * the same space of the whole Mat: multigrid is made again for another one. */
static PetscErrorCode is_wanted(MatNullSpace space, Mat block, bool *wanted) {
  MatNullSpace own = NULL;
  PetscObject of = NULL;
  PetscFunctionBegin;
  PetscCall(MatGetNearNullSpace(block, &own));
  if (own) PetscCall(PetscObjectQuery((PetscObject)own, whole, &of));
  *wanted = !own || (of && of != (PetscObject)space);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* basis[0 … *count) ← an orthonormal basis of the vectors, as PETSc wants it. Those of a small
 * block may depend on each other. */
static PetscErrorCode make_basis(Mat block, const vectors *v, Vec *basis, PetscInt *count) {
  PetscScalar *to;
  PetscReal before, after;
  PetscInt n;
  PetscFunctionBegin;
  *count = 0;
  PetscCall(MatGetLocalSize(block, &n, NULL));
  for (int k = 0; k < v->count; k++) {
    Vec next;
    PetscScalar products[BISAI_MULTIGRID_VECTORS];
    PetscCall(MatCreateVecs(block, NULL, &next));
    PetscCall(VecGetArrayWrite(next, &to));
    for (PetscInt i = 0; i < n; i++) to[i] = v->values[i * v->count + k];
    PetscCall(VecRestoreArrayWrite(next, &to));
    PetscCall(VecNorm(next, NORM_2, &before));
    for (int turn = 0; turn < 2; turn++) { /* once more for rounding errors */
      PetscCall(VecMDot(next, *count, basis, products));
      for (PetscInt j = 0; j < *count; j++) products[j] = -products[j];
      PetscCall(VecMAXPY(next, *count, products, basis));
    }
    PetscCall(VecNormalize(next, &after));
    if (after > 1e-10 * before)
      basis[(*count)++] = next;
    else
      PetscCall(VecDestroy(&next));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives a block the vectors of its rows. */
static PetscErrorCode attach(MatNullSpace space, const vectors *v, Mat block) {
  MatNullSpace own;
  Vec basis[BISAI_MULTIGRID_VECTORS];
  PetscInt count;
  PetscFunctionBegin;
  PetscCall(make_basis(block, v, basis, &count));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_FALSE, count, basis, &own));
  PetscCall(PetscObjectCompose((PetscObject)own, whole, (PetscObject)space));
  PetscCall(MatSetNearNullSpace(block, own));
  PetscCall(MatNullSpaceDestroy(&own));
  for (PetscInt k = 0; k < count; k++) PetscCall(VecDestroy(&basis[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- asm --- */

/* *rows ← the rows of all blocks of this process, in their order. */
static PetscErrorCode join(PetscInt blocks, const IS row[], PetscInt *count, PetscInt **rows) {
  PetscInt n, at = 0;
  const PetscInt *from;
  PetscFunctionBegin;
  *count = 0;
  for (PetscInt k = 0; k < blocks; k++) {
    PetscCall(ISGetLocalSize(row[k], &n));
    *count += n;
  }
  PetscCall(PetscMalloc1(*count, rows));
  for (PetscInt k = 0; k < blocks; k++) {
    PetscCall(ISGetLocalSize(row[k], &n));
    PetscCall(ISGetIndices(row[k], &from));
    for (PetscInt i = 0; i < n; i++) (*rows)[at++] = from[i];
    PetscCall(ISRestoreIndices(row[k], &from));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *taken ← the vectors in the rows of all blocks of this process. */
static PetscErrorCode scatter(Mat mat, const vectors *own, PetscInt blocks, const IS row[],
                              Vec *taken) {
  MPI_Comm comm = PetscObjectComm((PetscObject)mat);
  PetscInt n, count, *rows;
  VecScatter to_blocks;
  Vec from;
  IS is;
  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(mat, &n, NULL));
  PetscCall(join(blocks, row, &count, &rows));
  PetscCall(ISCreateBlock(PETSC_COMM_SELF, own->count, count, rows, PETSC_OWN_POINTER, &is));
  PetscCall(
      VecCreateMPIWithArray(comm, own->count, n * own->count, PETSC_DETERMINE, own->values, &from));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, count * own->count, taken));
  PetscCall(VecScatterCreate(from, is, *taken, NULL, &to_blocks));
  PetscCall(VecScatterBegin(to_blocks, from, *taken, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(to_blocks, from, *taken, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&to_blocks));
  PetscCall(VecDestroy(&from));
  PetscCall(ISDestroy(&is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives all blocks of all processes their vectors. */
static PetscErrorCode attach_overlapping(PC pc, MatNullSpace space, PetscInt blocks, const IS row[],
                                         Mat block[]) {
  double *values;
  const PetscScalar *all;
  vectors v;
  Vec taken;
  PetscInt n;
  PetscFunctionBegin;
  PetscCall(bsi_petsc_near_null_space(pc->pmat, &v.count, &values));
  if (v.count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  v.values = values;
  PetscCall(scatter(pc->pmat, &v, blocks, row, &taken));
  PetscCall(PetscFree(values));
  PetscCall(VecGetArrayRead(taken, &all));
  v.values = all;
  for (PetscInt k = 0; k < blocks; k++) {
    PetscCall(attach(space, &v, block[k]));
    PetscCall(ISGetLocalSize(row[k], &n));
    v.values += n * v.count;
  }
  PetscCall(VecRestoreArrayRead(taken, &all));
  PetscCall(VecDestroy(&taken));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows are numbers of the whole Mat. */
static PetscErrorCode modify_overlapping(PC pc, PetscInt blocks, const IS row[], const IS column[],
                                         Mat block[], void *context) {
  MatNullSpace space = NULL;
  int any = 0;
  PetscFunctionBegin;
  (void)column, (void)context;
  PetscCall(MatGetNearNullSpace(pc->pmat, &space));
  if (!space) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < blocks && !any; k++) {
    bool wanted = false;
    PetscCall(is_wanted(space, block[k], &wanted));
    any = wanted;
  }
  PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  if (any) PetscCall(attach_overlapping(pc, space, blocks, row, block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode create_asm(PC pc) {
  PetscFunctionBegin;
  PetscCall(PCCreate_ASM(pc));
  PetscCall(PCSetModifySubMatrices(pc, modify_overlapping, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- bjacobi --- */

/* Gives blocks of the own rows, which follow each other, their vectors. */
static PetscErrorCode attach_own(PC pc, MatNullSpace space, PetscInt blocks, Mat block[]) {
  double *values;
  vectors v;
  PetscInt n;
  PetscFunctionBegin;
  PetscCall(bsi_petsc_near_null_space(pc->pmat, &v.count, &values));
  if (v.count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  v.values = values;
  for (PetscInt k = 0; k < blocks; k++) {
    bool wanted = false;
    PetscCall(is_wanted(space, block[k], &wanted));
    if (wanted) PetscCall(attach(space, &v, block[k]));
    PetscCall(MatGetLocalSize(block[k], &n, NULL));
    v.values += n * v.count;
  }
  PetscCall(PetscFree(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc calls this if a process has several blocks. */
static PetscErrorCode modify_own(PC pc, PetscInt blocks, const IS row[], const IS column[],
                                 Mat block[], void *context) {
  MatNullSpace space = NULL;
  PetscFunctionBegin;
  (void)row, (void)column, (void)context;
  PetscCall(MatGetNearNullSpace(pc->pmat, &space));
  if (space) PetscCall(attach_own(pc, space, blocks, block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A single block of a process is the diagonal block of the Mat. */
static PetscErrorCode set_up_bjacobi(PC pc) {
  PetscErrorCode (*petsc)(PC);
  MatNullSpace space = NULL;
  PetscBool has = PETSC_FALSE;
  Mat block;
  PetscFunctionBegin;
  PetscCall(MatGetNearNullSpace(pc->pmat, &space));
  PetscCall(MatHasOperation(pc->pmat, MATOP_GET_DIAGONAL_BLOCK, &has));
  if (space && has) {
    PetscCall(MatGetDiagonalBlock(pc->pmat, &block));
    PetscCall(attach_own(pc, space, 1, &block));
  }
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, set_up, &petsc));
  PetscCall((*petsc)(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode create_bjacobi(PC pc) {
  PetscFunctionBegin;
  PetscCall(PCCreate_BJacobi(pc));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, set_up, pc->ops->setup));
  pc->ops->setup = set_up_bjacobi;
  PetscCall(PCSetModifySubMatrices(pc, modify_own, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_pc_register_blocks(void) {
  PetscFunctionBegin;
  PetscCall(PCRegister("bisai_asm", create_asm));
  PetscCall(PCRegister("bisai_bjacobi", create_bjacobi));
  PetscFunctionReturn(PETSC_SUCCESS);
}
