/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices of diagonal blocks of 1 to 32 rows, and what block-Jacobi in each form makes of them. */
#ifndef BISAI_TEST_BATCH_H
#define BISAI_TEST_BATCH_H

#include "support.h"

enum { TEST_FORMS = 4, TEST_MOST_ROWS = 32 };

typedef enum test_batch_kind {
  TEST_BATCH_RANDOM,
  TEST_BATCH_GRADED,
  TEST_BATCH_PERMUTED,
  TEST_BATCH_SCALED,
  TEST_BATCH_TINY_PIVOTS,
  TEST_BATCH_KINDS
} test_batch_kind;

typedef struct test_batch {
  /* block i has the rows start[i] … start[i + 1] − 1 */
  int32_t blocks, rows;
  int32_t *start;
  /* dense, column-major */
  double **block;
  /* block size 1, with entries outside of the blocks too */
  test_bcsr csr;
} test_batch;

/* Every size 1 … 32, `times` times, in random order. */
test_batch test_batch_of(test_batch_kind kind, int32_t times, uint64_t seed);
void test_batch_free(test_batch *b);

/* Block-Jacobi in a form, on given blocks, or if `start` is NULL on those that the library
 * chooses. */
bisai_precond_options test_form_options(int form, int32_t blocks, const int32_t *start);

/* Fails unless z solves D z = v for a block D of m rows, as well as the form can. */
void test_expect_block_solved(int form, int32_t m, const double *block, const double *v,
                              const double *z);

#endif
