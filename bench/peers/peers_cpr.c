/* SPDX-License-Identifier: BSD-3-Clause */
/* CPR of PETSc's parts, the constrained pressure residual (Wallis 1983; Cao et al. 2005):
 *
 *   z = M₁⁻¹ W v,   x = E z + M₂⁻¹ (v − C z),   C = A E
 *
 * E puts a pressure into each block. Row i of W has the weights w_i of block row i, with
 * D_iᵀ w_i = e_p (quasi-IMPES), scaled to max |w_i| = 1 and a positive diagonal of the pressure
 * matrix W A E. M₁ is a preconditioner of this matrix, and M₂ one of A. */
#include "peers_cpr.h"

typedef struct cpr {
  PetscInt pressure, block_size, rows;
  /* block_size for each block row of this rank */
  PetscScalar *weights;
  Mat pressures, columns;
  Vec weighted, change, rest;
  PC first, second;
} cpr;

/* --- set-up --- */

/* The weights are row p of D⁻¹. */
static PetscErrorCode make_weights(cpr *c, Mat a) {
  const PetscScalar *inverse;
  const PetscInt bs = c->block_size;
  PetscFunctionBegin;
  PetscCall(MatInvertBlockDiagonal(a, &inverse));
  for (PetscInt i = 0; i < c->rows; i++) {
    PetscScalar *w = c->weights + i * bs, most = 0;
    for (PetscInt k = 0; k < bs; k++) {
      w[k] = inverse[i * bs * bs + k * bs + c->pressure]; /* blocks are stored by columns */
      most = PetscMax(most, PetscAbsScalar(w[k]));
    }
    /* wᵀ D e_p = 1, and therefore positive */
    for (PetscInt k = 0; k < bs; k++) w[k] /= most;
  }
  PetscFunctionReturn(0);
}

/* The most blocks of a block row. */
static PetscErrorCode widest_block_row(const cpr *c, Mat a, PetscInt begin, PetscInt *width) {
  PetscFunctionBegin;
  *width = 0;
  for (PetscInt i = 0; i < c->rows; i++) {
    const PetscInt row = begin + i * c->block_size;
    PetscInt count;
    PetscCall(MatGetRow(a, row, &count, NULL, NULL));
    *width = PetscMax(*width, count / c->block_size);
    PetscCall(MatRestoreRow(a, row, &count, NULL, NULL));
  }
  PetscFunctionReturn(0);
}

/* Makes the row of both matrices that belongs to a block row. */
static PetscErrorCode add_block_row(cpr *c, Mat a, PetscInt row, PetscInt local, PetscInt width,
                                    PetscInt *columns, PetscScalar *sum, PetscScalar *values) {
  const PetscInt bs = c->block_size;
  PetscInt blocks = 0;
  PetscFunctionBegin;
  for (PetscInt k = 0; k < bs; k++) {
    const PetscInt *at;
    const PetscScalar *entries;
    const PetscInt scalar_row = row * bs + k;
    PetscInt count, found = 0;
    PetscCall(MatGetRow(a, scalar_row, &count, &at, &entries));
    for (PetscInt q = 0; q < count; q++) {
      if (at[q] % bs != c->pressure) continue;
      PetscCheck(k == 0 ? found < width : found < blocks && columns[found] == at[q] / bs,
                 PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
                 "the blocks of row %d are not full: use -mat_type baij", (int)row);
      columns[found] = at[q] / bs;
      sum[found] = (k == 0 ? 0 : sum[found]) + c->weights[local * bs + k] * entries[q];
      values[found++] = entries[q];
    }
    PetscCall(MatRestoreRow(a, scalar_row, &count, &at, &entries));
    PetscCheck(k == 0 || found == blocks, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
               "the blocks of row %d are not full: use -mat_type baij", (int)row);
    blocks = found;
    PetscCall(MatSetValues(c->columns, 1, &scalar_row, blocks, columns, values, INSERT_VALUES));
  }
  PetscCall(MatSetValues(c->pressures, 1, &row, blocks, columns, sum, INSERT_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode make_matrices(cpr *c, Mat a) {
  PetscInt begin, width, *columns;
  PetscScalar *sum, *values;
  const PetscInt bs = c->block_size;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(a, &begin, NULL));
  PetscCall(widest_block_row(c, a, begin, &width));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, c->rows, c->rows, PETSC_DETERMINE, PETSC_DETERMINE,
                         width, NULL, width, NULL, &c->pressures));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, c->rows * bs, c->rows, PETSC_DETERMINE, PETSC_DETERMINE,
                         width, NULL, width, NULL, &c->columns));
  PetscCall(PetscMalloc3(width, &columns, width, &sum, width, &values));
  for (PetscInt i = 0; i < c->rows; i++)
    PetscCall(add_block_row(c, a, begin / bs + i, i, width, columns, sum, values));
  PetscCall(PetscFree3(columns, sum, values));
  PetscCall(MatAssemblyBegin(c->pressures, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(c->pressures, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyBegin(c->columns, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(c->columns, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* Makes a preconditioner whose options begin with -cpr_first_ or -cpr_second_. */
static PetscErrorCode make_stage(Mat a, const char *prefix, PCType type, PC *pc) {
  PetscFunctionBegin;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetOptionsPrefix(*pc, prefix));
  PetscCall(PCSetType(*pc, type));
  PetscCall(PCSetOperators(*pc, a, a));
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(PCSetUp(*pc));
  PetscCall(PCSetUpOnBlocks(*pc));
  PetscFunctionReturn(0);
}

static PetscErrorCode set_up(PC pc) {
  Mat a;
  cpr *c;
  PetscInt local;
  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &c));
  PetscCall(PCGetOperators(pc, NULL, &a));
  PetscCall(MatGetLocalSize(a, &local, NULL));
  PetscCall(MatGetBlockSize(a, &c->block_size));
  PetscCheck(c->pressure >= 0 && c->pressure < c->block_size, PETSC_COMM_WORLD,
             PETSC_ERR_ARG_OUTOFRANGE, "-cpr %d: blocks have %d unknowns", (int)c->pressure,
             (int)c->block_size);
  c->rows = local / c->block_size;
  PetscCall(PetscMalloc1(local, &c->weights));
  PetscCall(make_weights(c, a));
  PetscCall(make_matrices(c, a));
  PetscCall(MatCreateVecs(c->columns, &c->change, &c->rest));
  PetscCall(VecDuplicate(c->change, &c->weighted));
  PetscCall(make_stage(c->pressures, "cpr_first_", PCHYPRE, &c->first));
  PetscCall(make_stage(a, "cpr_second_", PCBJACOBI, &c->second));
  PetscFunctionReturn(0);
}

/* --- application --- */

static PetscErrorCode apply(PC pc, Vec v, Vec x) {
  cpr *c;
  const PetscScalar *from;
  PetscScalar *to;
  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &c));
  PetscCall(VecGetArrayRead(v, &from));
  PetscCall(VecGetArrayWrite(c->weighted, &to));
  for (PetscInt i = 0; i < c->rows; i++) {
    to[i] = 0;
    for (PetscInt k = i * c->block_size; k < (i + 1) * c->block_size; k++)
      to[i] += c->weights[k] * from[k];
  }
  PetscCall(VecRestoreArrayWrite(c->weighted, &to));
  PetscCall(VecRestoreArrayRead(v, &from));

  PetscCall(PCApply(c->first, c->weighted, c->change));
  PetscCall(MatMult(c->columns, c->change, c->rest));
  PetscCall(VecAYPX(c->rest, -1, v));
  PetscCall(PCApply(c->second, c->rest, x));

  PetscCall(VecGetArrayRead(c->change, &from));
  PetscCall(VecGetArray(x, &to));
  for (PetscInt i = 0; i < c->rows; i++) to[i * c->block_size + c->pressure] += from[i];
  PetscCall(VecRestoreArray(x, &to));
  PetscCall(VecRestoreArrayRead(c->change, &from));
  PetscFunctionReturn(0);
}

static PetscErrorCode destroy(PC pc) {
  cpr *c;
  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &c));
  PetscCall(PCDestroy(&c->first));
  PetscCall(PCDestroy(&c->second));
  PetscCall(MatDestroy(&c->pressures));
  PetscCall(MatDestroy(&c->columns));
  PetscCall(VecDestroy(&c->weighted));
  PetscCall(VecDestroy(&c->change));
  PetscCall(VecDestroy(&c->rest));
  PetscCall(PetscFree(c->weights));
  PetscCall(PetscFree(c));
  PetscFunctionReturn(0);
}

PetscErrorCode peers_cpr(PC pc, PetscInt pressure) {
  cpr *c;
  PetscFunctionBegin;
  PetscCall(PetscNew(&c));
  c->pressure = pressure;
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetContext(pc, c));
  PetscCall(PCShellSetSetUp(pc, set_up));
  PetscCall(PCShellSetApply(pc, apply));
  PetscCall(PCShellSetDestroy(pc, destroy));
  PetscFunctionReturn(0);
}
