/* SPDX-License-Identifier: BSD-3-Clause */
/* A small matrix for the tests of the handle, and what a preconditioner says of itself. */
#ifndef BISAI_TEST_SMALL_H
#define BISAI_TEST_SMALL_H

#include "fixture.h"
#include "systems.h"

enum { ROWS = 20, SCALARS = 60 };

/* 5 × 4 grid of 3 × 3 blocks: 20 + 2·31 blocks; S(|L|) has 20 + 31, S(|L|²) 12 + 12 + 10 more. */
static inline bisai_bcsr *small_grid(uint64_t seed) {
  return test_bcsr_take(context, test_bcsr_grid(5, 4, 3, seed));
}

/* The grid with a zero block (0, 0). */
static inline bisai_bcsr *singular_grid(void) {
  test_bcsr a = test_bcsr_grid(5, 4, 3, 1);
  memset(a.values, 0, 9 * sizeof *a.values);
  return test_bcsr_take(context, a);
}

static inline void expect_described(const bisai_bcsr *matrix, bisai_precond_options options,
                                    const char *text) {
  bisai_precond *precond = test_precond_with(context, matrix, &options);
  assert_string_equal(bisai_precond_describe(precond), text);
  bisai_precond_destroy(&precond);
}

#endif
