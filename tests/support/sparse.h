/* SPDX-License-Identifier: BSD-3-Clause */
/* Random matrices of rectangular blocks in backend memory, and their dense copies. The host sees
 * the arrays too. */
#ifndef BISAI_TEST_SPARSE_H
#define BISAI_TEST_SPARSE_H

#include "multigrid/level/multigrid_ops.h"
#include "multigrid/spgemm/spgemm_ops.h"
#include "multigrid/transfers/transfer_ops.h"
#include "multigrid/unit/scalar_copy.h"
#include "support.h"

/* The block shape of a matrix. */
typedef struct test_shape_of_blocks {
  int32_t rows, cols;
  int height, width;
  /* mean number of blocks; every fifth row is empty */
  double blocks_per_row;
  /* without values: identity blocks */
  bool identity;
} test_shape_of_blocks;

bsi_block_matrix test_sparse_random(bisai_context *context, test_shape_of_blocks shape,
                                    uint64_t seed);

/* A copy of arrays in host memory, as a matrix of `width`×`height` blocks. NULL values: identity
 * blocks. */
bsi_block_matrix test_sparse_make(bisai_context *context, bsi_block_matrix arrays);

/* The matrix as a dense one, column-major. */
double *test_sparse_dense(const bsi_block_matrix *m);

/* a·b by the operations of the context, values filled with NaN beforehand. */
bsi_block_matrix test_sparse_product(bisai_context *context, const bsi_block_matrix *a,
                                     const bsi_block_matrix *b);

/* mᵀ by the operations of the context; `position` as there, to be freed by
 * test_sparse_free_integers(), or NULL. */
bsi_block_matrix test_sparse_transposed(bisai_context *context, const bsi_block_matrix *m,
                                        int32_t **position);

/* Integers in backend memory, copied from `from` unless it is NULL. */
int32_t *test_sparse_integers(bisai_context *context, size_t count, const int32_t *from);
void test_sparse_free_integers(bisai_context *context, int32_t *integers);

/* Fails unless both have the same structure. */
void test_sparse_expect_structure(const bsi_block_matrix *expected, const bsi_block_matrix *got);

#endif
