/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices that are written, and names of files in every format. */
#ifndef BISAI_TEST_WRITTEN_H
#define BISAI_TEST_WRITTEN_H

#include <math.h>

#include "folder_fixture.h"

static const char *const names[] = {"A.mtx",      "A.mtx.gz",  "A.mtx.xz", "A.mtx.bz2", "A.mtx.zst",
                                    "A.petsc",    "A.bin",     "A.bin.gz", "A.tar",     "A.tar.gz",
                                    "A.tgz",      "A.tar.xz",  "A.txz",    "A.tbz2",    "A.tzst",
                                    "A.petsc.xz", "A.b.mtx.gz"};
enum { NAMES = sizeof names / sizeof *names };

static inline bisai_bcsr *read_back(const char *path, int32_t block_size) {
  bisai_read_options options = bisai_read_options_default();
  options.block_size = block_size;
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(context, bisai_read_matrix(context, path, &options, &matrix));
  return matrix;
}

/* Random blocks with zeros in them, one block of zeros only, values of every magnitude. */
static inline bisai_bcsr *sample(int32_t block_rows, int32_t bs) {
  test_bcsr a = test_bcsr_random(test_shape_square(block_rows, bs, 7 + (uint64_t)bs));
  test_random random = test_random_seed(99);
  const int32_t blocks = test_bcsr_blocks(&a), size = bs * bs;
  for (int32_t p = 0; p < blocks * size; p++) {
    a.values[p] *= pow(2.0, test_random_integer(&random, -1040, 1000));
    if (test_random_integer(&random, 0, 4) == 0) a.values[p] = 0.0;
  }
  for (int32_t k = 0; k < size; k++) a.values[size + k] = 0.0;
  return test_bcsr_take(context, a);
}

/* By hand: 1 0 | 0 0; −2 and nothing else stored beside it; a block of zeros at the end. */
static inline bisai_bcsr *by_hand(void) {
  int32_t row_ptr[] = {0, 1, 3}, col_idx[] = {0, 0, 1};
  double values[] = {1, 0, 0, 0.1, /**/ 0, -2, 0, 0, /**/ 0, 0, 0, 0};
  return test_bcsr_make(context, &(test_bcsr){2, 2, 2, row_ptr, col_idx, values});
}

#endif
