/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of an approximate inverse N of a triangular factor T, both in host memory and fp64. */
#ifndef BISAI_TEST_ISAI_H
#define BISAI_TEST_ISAI_H

#include "support.h"

/* The largest ‖T(J, J) N(J, j) − I(J, j)‖₁ over all block columns, by itself and divided by κ =
 * max(1, ‖T(J, J)‖₁‖N(J, j)‖₁). */
typedef struct test_isai_residual {
  double absolute, relative;
} test_isai_residual;

test_isai_residual test_isai_check(const bisai_bcsr *t, const bisai_bcsr *n);

/* Fails unless every column equals the dense elimination of its small system. */
void test_isai_expect_solved(const bisai_bcsr *t, const bisai_bcsr *n);

/* A preconditioner made of these factors. */
bisai_precond *test_isai_of(bisai_context *context, const bisai_bcsr *matrix,
                            const bisai_factors *factors, int power, bisai_value_type storage);

/* Its NL or NU. */
const bisai_bcsr *test_inverse_of(const bisai_precond *precond, bisai_triangle triangle);

#endif
