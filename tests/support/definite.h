/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of matrices that should be symmetric positive definite. */
#ifndef BISAI_TEST_DEFINITE_H
#define BISAI_TEST_DEFINITE_H

#include "support.h"

/* Fails unless A is equal to its transpose bit by bit, on a pattern that is symmetric too. */
void test_expect_symmetric(const bisai_bcsr *matrix);

/* Returns true if Cholesky's decomposition of the dense matrix meets positive pivots only. */
bool test_is_definite(const bisai_bcsr *matrix);

/* Returns the largest magnitude of the values. */
double test_scale(const bisai_bcsr *matrix);

#endif
