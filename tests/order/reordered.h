/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices of a few rows, and the kinds of preconditioner that reorder and equilibrate them. */
#ifndef BISAI_TEST_REORDERED_H
#define BISAI_TEST_REORDERED_H

#include <math.h>

#include "fixture.h"
#include "systems.h"

enum { ROWS = 40, MANY = 5 };

static const bisai_precond_kind kinds[] = {BISAI_PRECOND_ILU, BISAI_PRECOND_ISAI,
                                           BISAI_PRECOND_SWEEPS};
enum { KINDS = sizeof kinds / sizeof *kinds };

static inline bisai_precond_options options_of(bisai_precond_kind kind) {
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = kind;
  TEST_SET_OPTION(options, isai.power, 2);
  TEST_SET_OPTION(options, isai.relax, 1);
  TEST_SET_OPTION(options, sweeps.count, 2);
  return options;
}

static inline test_bcsr random_matrix(int32_t block_size, uint64_t seed) {
  test_shape shape = test_shape_square(ROWS, block_size, seed);
  shape.empty_every = 9;
  return test_bcsr_random(shape);
}

/* Rows and columns scaled by anything from 1e-6 to 1e6, block by block. */
static inline test_bcsr badly_scaled(int32_t bs, uint64_t seed) {
  test_bcsr a = random_matrix(bs, seed);
  test_random random = test_random_seed(seed);
  double rows[ROWS], cols[ROWS];
  for (int32_t i = 0; i < ROWS; i++) {
    rows[i] = pow(10.0, test_random_uniform(&random, -6.0, 6.0));
    cols[i] = pow(10.0, test_random_uniform(&random, -6.0, 6.0));
  }
  for (int32_t i = 0; i < ROWS; i++) {
    for (int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; p++) {
      for (int32_t v = 0; v < bs * bs; v++)
        a.values[p * bs * bs + v] *= rows[i] * cols[a.col_idx[p]];
    }
  }
  return a;
}

#endif
