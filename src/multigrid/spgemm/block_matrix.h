/* SPDX-License-Identifier: BSD-3-Clause */
/* Sparse matrices of rectangular blocks: transfers between levels, and their products. */
#ifndef BSI_BLOCK_MATRIX_H
#define BSI_BLOCK_MATRIX_H

#include "core/matrix/bcsr_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is known about a product C = A B beside its structure, in backend memory. Zeros: nothing. A
 * host knows `halved` alone. */
typedef struct bsi_product_slots {
  /* C is symmetric but for the errors of products: values may be computed on one side of its
   * diagonal alone */
  bool halved;
  /* for each row of a halved C: the number of blocks on the diagonal and to its right in the
   * rows before it. NULL: the whole rows are computed */
  int32_t *upper;
  /* the most blocks of a row of C; 0: unknown */
  int32_t longest;
  /* the number of products A_ik B_kj of blocks */
  int64_t count;
  /* for each row i of A: the number of products of the rows before it */
  int32_t *before;
  /* for each product: the slot of block (i, j) in row i of C. NULL: the slots are not known */
  uint8_t *of;
} bsi_product_slots;

/* A sparse matrix of height × width blocks. The arrays are in backend memory. The columns of a row
 * ascend, and blocks are stored column by column. */
typedef struct bsi_block_matrix {
  /* block rows and block columns */
  int32_t rows, cols;
  /* the scalar rows and columns of a block, at most BISAI_MAX_BLOCK_SIZE */
  int height, width;
  int32_t blocks;
  int32_t *row_ptr, *col_idx;
  /* NULL: every stored block is the identity */
  double *values;
  bsi_product_slots slots;
  /* the values are those of multiples of the identity */
  bool multiples;
  /* NULL, or what products with vectors read in the place of the values */
  const float *narrow;
} bsi_block_matrix;

/* Returns the number of values before block `block`. */
static inline size_t bsi_block_matrix_offset(const bsi_block_matrix *m, int64_t block) {
  return (size_t)block * (size_t)(m->height * m->width);
}

/* Returns a view of a matrix, which owns nothing. The matrix is in fp64 and implies no diagonal. */
bsi_block_matrix bsi_block_matrix_of(const bisai_bcsr *matrix);

/* Reserves the values of a structure. They are not set. */
bisai_status bsi_block_matrix_reserve_values(bisai_context *context, bsi_block_matrix *m);

/* *matrix ← a square matrix of a structure, with values that are not set. Takes over the arrays of
 * the structure, also after a failure. */
bisai_status bsi_block_matrix_adopt(bisai_context *context, bsi_block_matrix *s,
                                    bisai_bcsr **matrix);

/* Returns the bytes of all arrays. */
int64_t bsi_block_matrix_memory(const bsi_block_matrix *m);
/* Returns the bytes of the arrays of the slots alone. */
int64_t bsi_product_slots_memory(const bsi_block_matrix *m);

/* Releases the slots. Accepts a struct of zeros. */
void bsi_product_slots_destroy(bisai_context *context, bsi_product_slots *slots);
/* The same, but `longest` and the symmetry stay known. */
void bsi_product_slots_release(bisai_context *context, bsi_product_slots *slots);

/* Releases the values of a matrix that owns them, or reserves them again. They are not set. The
 * second does nothing if there are values. */
void bsi_matrix_release_values(bisai_bcsr *matrix);
bisai_status bsi_matrix_renew_values(bisai_bcsr *matrix);

/* Releases the arrays. Accepts a struct of zeros. */
void bsi_block_matrix_destroy(bisai_context *context, bsi_block_matrix *m);

#ifdef __cplusplus
}
#endif

#endif
