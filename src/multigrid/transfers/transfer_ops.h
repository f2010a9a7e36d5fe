/* SPDX-License-Identifier: BSD-3-Clause */
/* A backend's operations for transfers between levels. Matrices A are square, in fp64, and store
 * their diagonal blocks. `inverse` has the inverses D⁻¹ of the diagonal blocks of A. Arrays are in
 * backend memory. The host waits for an operation only where its comment says so. */
#ifndef BSI_TRANSFER_OPS_H
#define BSI_TRANSFER_OPS_H

#include "core/context/backend.h"
#include "multigrid/spgemm/block_matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bsi_row_scaling; /* multigrid/transfers/row_scaling.h */

/* Values of Tᵀ ← those of T, with the rows of A scaled. */
typedef bisai_status bsi_scale_rows(bisai_context *, const struct bsi_row_scaling *,
                                    bsi_block_matrix *transposed);
bsi_scale_rows bsi_scale_rows_host, bsi_scale_rows_cuda;

/* The structures that take A to the matrix of the next level. */
typedef struct bsi_structures {
  const bsi_block_matrix *a;
  /* P is `left` times `right`. Each row of `right` has one block at most */
  const bsi_block_matrix *left, *right;
  /* R is `transposed` times A, or Pᵀ if that is NULL. Each row of Tᵀ has other columns */
  const bsi_block_matrix *transposed;
  /* the most blocks of A P, and of R A P */
  int64_t most_product, most_coarse;
  bsi_block_matrix *prolongation, *restriction, *product, *coarse;
  /* for each block of R = Pᵀ its place in P */
  int32_t **position;
} bsi_structures;

/* Makes P, R, A P and R A P without their values. *made ← false, and nothing is made, if one of
 * them is too large or has rows that this way cannot take. After a failure the caller destroys what
 * there is. Waits once, unless rows of R A P are very long. */
typedef bisai_status bsi_make_structures(bisai_context *, const bsi_structures *, bool *made);
bsi_make_structures bsi_transfer_structures_cuda;

typedef struct bsi_transfer_ops {
  /* T ← one block for each row i with aggregate[i] ≥ 0, in column aggregate[i]. `members` is the
   * number of these rows, or −1 if it is not known. Reserves t->row_ptr and t->col_idx, and sets
   * t->blocks. The caller has set the other numbers of t. After a failure the caller destroys t.
   * Waits for a number that is not known. */
  bisai_status (*list)(bisai_context *, const int32_t *aggregate, int32_t members,
                       bsi_block_matrix *t);
  /* transposed ← the structure of mᵀ and its numbers. The caller has reserved row_ptr and col_idx.
   * position[q] ← the position in m of block q of mᵀ. On a device m->blocks may count blocks behind
   * the last row of m in the column m->cols: they come behind the last row of mᵀ. */
  bisai_status (*transpose)(bisai_context *, const bsi_block_matrix *m,
                            bsi_block_matrix *transposed, int32_t *position);
  /* Block q of mᵀ ← the transpose of block position[q] of m. */
  bisai_status (*transpose_values)(bisai_context *, const bsi_block_matrix *m,
                                   const int32_t *position, bsi_block_matrix *transposed);
  /* Orthonormalises the near-null-space vectors in each aggregate, by modified Gram–Schmidt with a
   * second pass. `members` is Tᵀ. `vectors` has t->rows·t->height rows and t->width columns, stored
   * row by row. t->values ← the blocks of Q. coarse ← the factors R: t->cols·t->width rows of
   * t->width columns, row by row. A column that depends on earlier ones up to `tolerance` times its
   * norm becomes zero, in Q and on the diagonal of R, and so does a column beyond the number of
   * scalar rows of the aggregate. Squares neither overflow nor vanish. R may overflow for vectors
   * near the largest numbers, which multigrid/transfers/null_vectors.c scales. */
  bisai_status (*orthonormalise)(bisai_context *, const bsi_block_matrix *members,
                                 const double *vectors, double tolerance, bsi_block_matrix *t,
                                 double *coarse);
  /* Adds 1 to diagonal entries of rows of A that have no nonzero value. They belong to columns of
   * T that are zero. */
  bisai_status (*complete)(bisai_context *, bisai_bcsr *a);
  bsi_scale_rows *scale_rows;
  /* NULL: products are made one after the other without a wait */
  bsi_make_structures *structures;
  bsi_load_code *load;
} bsi_transfer_ops;

extern const bsi_transfer_ops bsi_transfer_host, bsi_transfer_cuda;

#ifdef __cplusplus
}
#endif

#endif
