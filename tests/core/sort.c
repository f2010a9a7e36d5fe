/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorted integers against qsort(). */
#include "support.h"

#include "core/matrix/sort.h"

enum { MOST = 700 };

static int compare(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* Returns distinct numbers from `least` on, at most `apart` apart from each other, in any order. */
static void fill(int32_t *v, int32_t count, int32_t least, int32_t apart, uint64_t seed) {
  test_random random = test_random_seed(seed);
  for (int32_t i = 0; i < count; i++) {
    v[i] = least;
    least += test_random_integer(&random, 1, apart);
  }
  for (int32_t i = count - 1; i > 0; i--) {
    const int32_t j = test_random_integer(&random, 0, i), swap = v[i];
    v[i] = v[j];
    v[j] = swap;
  }
}

/* Few numbers, and many that lie close together or far apart. */
static void distinct_numbers_are_sorted(void **state) {
  (void)state;
  static const int32_t counts[] = {0, 1, 2, 24, 25, 64, 65, MOST},
                       distances[] = {1, 2, 64, 900, 5000, 3000000};
  int32_t v[MOST], expected[MOST];
  for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
    for (size_t d = 0; d < sizeof distances / sizeof distances[0]; d++)
      for (int negative = 0; negative < 2; negative++) {
        const size_t bytes = (size_t)counts[c] * sizeof *v;
        fill(v, counts[c], negative ? INT32_MIN : 0, distances[d], 10 * c + d);
        memcpy(expected, v, bytes);
        qsort(expected, (size_t)counts[c], sizeof *v, compare);
        bsi_sort_distinct(v, counts[c]);
        assert_memory_equal(v, expected, bytes);
      }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(distinct_numbers_are_sorted)};
  return cmocka_run_group_tests_name("core_sort", tests, NULL, NULL);
}
