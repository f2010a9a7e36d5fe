/* SPDX-License-Identifier: BSD-3-Clause */
/* The case `atmosphere`: nothing appears and nothing is lost but by decay and at the boundary. */
#include <math.h>

#include "cases.h"
#include "support.h"

enum { NX = 8, NY = 6, NZ = 5, N = NX * NY * NZ };

static const double decay = 1e-5;

static bisai_bcsr *make(bisai_context *context, double **rhs) {
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(context, case_atmosphere(context, NX, NY, NZ, 0, &matrix, rhs));
  assert_int_equal(CASE_ATMOSPHERE_BLOCK_SIZE, bisai_bcsr_block_size(matrix));
  assert_int_equal(N, bisai_bcsr_rows(matrix));
  return matrix;
}

/* Values are below 0.1, so that sums of 7 of them have roundings below 1e-16. */
static const double rounding = 1e-16;

/* The wind has no sources: a uniform concentration only decays, but for the ground and the top, and
 * where clean air comes in. */
static void a_uniform_concentration_decays(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  double *rhs = NULL, ones[N], product[N];
  bisai_bcsr *matrix = make(context, &rhs);
  for (int i = 0; i < N; i++) ones[i] = 1;
  EXPECT_OK(context, bisai_bcsr_multiply(matrix, ones, product));
  for (int i = 0; i < N; i++) {
    const int x = i % NX, y = i / NX % NY, z = i / NX / NY;
    if (x > 0 && y > 0 && z > 0 && z < NZ - 1)
      EXPECT_NEAR(decay, product[i], rounding);
    else
      assert_true(product[i] > decay + 1e-8);
  }
  free(rhs);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* What leaves a cell enters its neighbours: columns have the same sum. */
static void cells_exchange_what_they_lose(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  double *rhs = NULL, unit[N] = {0}, product[N];
  bisai_bcsr *matrix = make(context, &rhs);
  for (int i = 0; i < N; i++) {
    const int x = i % NX, y = i / NX % NY, z = i / NX / NY;
    double sum = 0;
    unit[i] = 1;
    EXPECT_OK(context, bisai_bcsr_multiply(matrix, unit, product));
    unit[i] = 0;
    for (int k = 0; k < N; k++) {
      sum += product[k];
      assert_true(k == i ? product[k] > 0 : product[k] <= 0);
    }
    if (x < NX - 1 && y < NY - 1 && z > 0 && z < NZ - 1)
      EXPECT_NEAR(decay, sum, rounding);
    else
      assert_true(sum > decay + 1e-8);
  }
  free(rhs);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* 0.15 < (i + ½)/8 < 0.35 for i = 1 and 2, and 0.15 < (j + ½)/6 < 0.35 for j = 1. */
static void the_source_is_a_town_on_the_ground(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  double *rhs = NULL;
  bisai_bcsr *matrix = make(context, &rhs);
  for (int i = 0; i < N; i++)
    EXPECT_NEAR(i == NX + 1 || i == NX + 2 ? 1e-6 / 232 : 0, rhs[i], 1e-24);
  free(rhs);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

static void sizes_out_of_range_are_refused(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  static const int32_t refused[][3] = {{0, 4, 4}, {4, 4, 0}, {700, 700, 700}, {INT32_MAX, 2, 2}};
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    const int32_t *n = refused[i];
    bisai_bcsr *matrix = NULL;
    double *rhs = NULL;
    assert_non_null(case_atmosphere_refusal(n[0], n[1], n[2]));
    assert_int_equal(BISAI_INVALID_ARGUMENT,
                     case_atmosphere(context, n[0], n[1], n[2], 0, &matrix, &rhs));
    assert_null(matrix);
    assert_null(rhs);
  }
  assert_null(case_atmosphere_refusal(148, 148, 58));
  bisai_context_destroy(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_uniform_concentration_decays),
      cmocka_unit_test(cells_exchange_what_they_lose),
      cmocka_unit_test(the_source_is_a_town_on_the_ground),
      cmocka_unit_test(sizes_out_of_range_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
