/* SPDX-License-Identifier: BSD-3-Clause */
#include "definite.h"

#include <math.h>

void test_expect_symmetric(const bisai_bcsr *matrix) {
  double asymmetry = NAN;
  bool mirrored = false;
  assert_int_equal(BISAI_OK, bisai_bcsr_asymmetry(matrix, &asymmetry, &mirrored));
  EXPECT_NEAR(0, asymmetry, 0);
  assert_true(mirrored);
}

bool test_is_definite(const bisai_bcsr *matrix) {
  const int64_t n = bisai_bcsr_rows(matrix);
  double *a = test_dense(matrix);
  bool definite = true;
  for (int64_t k = 0; k < n && definite; k++) {
    definite = a[k + k * n] > 0;
    for (int64_t j = k + 1; j < n && definite; j++) {
      const double factor = a[j + k * n] / a[k + k * n];
      for (int64_t i = j; i < n; i++) a[i + j * n] -= factor * a[i + k * n];
    }
  }
  free(a);
  return definite;
}

double test_scale(const bisai_bcsr *matrix) {
  const int64_t bs = bisai_bcsr_block_size(matrix);
  const void *values;
  bisai_bcsr_arrays(matrix, NULL, NULL, &values);
  return test_largest(bs * bs * bisai_bcsr_blocks(matrix), values);
}
