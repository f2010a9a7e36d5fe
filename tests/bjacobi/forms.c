/* SPDX-License-Identifier: BSD-3-Clause */
/* Block-Jacobi in every form, on blocks of every size, against dense solves. */
#include <float.h>
#include <math.h>

#include "batch.h"
#include "fixture.h"
#include "systems.h"

static void every_form_solves_blocks_of_every_size(void **state) {
  (void)state;
  for (int kind = TEST_BATCH_RANDOM; kind < TEST_BATCH_KINDS; kind++) {
    test_batch b = test_batch_of((test_batch_kind)kind, 3, 40 + (uint64_t)kind);
    bisai_bcsr *matrix = test_bcsr_make(context, &b.csr);
    double *v = test_random_vector(b.rows, 1);
    for (int form = 0; form < TEST_FORMS; form++) {
      const bisai_precond_options options = test_form_options(form, b.blocks, b.start);
      bisai_precond *precond = test_precond_with(context, matrix, &options);
      double *z = test_nan_vector(b.rows);
      EXPECT_OK(context, bisai_precond_apply(precond, v, z));
      for (int32_t i = 0; i < b.blocks; i++)
        test_expect_block_solved(form, b.start[i + 1] - b.start[i], b.block[i], v + b.start[i],
                                 z + b.start[i]);
      free(z);
      bisai_precond_destroy(&precond);
    }
    free(v);
    bisai_bcsr_destroy(&matrix);
    test_batch_free(&b);
  }
}

/* Compares every form on given blocks of a matrix with dense solves. */
static void expect_solved(const test_bcsr *a, int32_t blocks, const int32_t *start) {
  const int64_t n = (int64_t)a->block_rows * a->block_size;
  double *dense = test_dense_from_arrays(a), *v = test_random_vector(n, 1), *z = test_nan_vector(n);
  bisai_bcsr *matrix = test_bcsr_make(context, a);
  for (int form = 0; form < TEST_FORMS; form++) {
    const bisai_precond_options options = test_form_options(form, blocks, start);
    bisai_precond *precond = test_precond_with(context, matrix, &options);
    EXPECT_OK(context, bisai_precond_apply(precond, v, z));
    for (int32_t i = 0; i < blocks; i++) {
      const int32_t m = start[i + 1] - start[i];
      double block[TEST_MOST_ROWS * TEST_MOST_ROWS];
      for (int32_t c = 0; c < m; c++)
        for (int32_t r = 0; r < m; r++) block[c * m + r] = dense[(start[i] + c) * n + start[i] + r];
      test_expect_block_solved(form, m, block, v + start[i], z + start[i]);
    }
    bisai_precond_destroy(&precond);
  }
  bisai_bcsr_destroy(&matrix);
  free(dense);
  free(v);
  free(z);
}

/* Blocks of one size, so that they lie side by side without gaps, the last one shorter. */
static void every_form_solves_blocks_of_one_size(void **state) {
  (void)state;
  for (int32_t m = 1; m <= TEST_MOST_ROWS; m++) {
    test_bcsr a = test_bcsr_random(test_shape_square(7 * m + (m + 1) / 2, 1, (uint64_t)m));
    int32_t start[10] = {0}, blocks = 0;
    while (start[blocks] < a.block_rows) {
      start[blocks + 1] = start[blocks] + m < a.block_rows ? start[blocks] + m : a.block_rows;
      blocks++;
    }
    expect_solved(&a, blocks, start);
    test_bcsr_free(&a);
  }
}

/* Blocks of a BCSR matrix are cut where its own blocks are not. */
static void blocks_may_cross_those_of_the_matrix(void **state) {
  (void)state;
  static const int32_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 11, 32};
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    const int32_t bs = sizes[s], block_rows = 200 / bs, n = block_rows * bs;
    test_bcsr a = test_bcsr_random(test_shape_square(block_rows, bs, (uint64_t)bs));
    test_random random = test_random_seed((uint64_t)bs);
    int32_t start[201] = {0}, blocks = 0;
    while (start[blocks] < n) {
      const int32_t m = test_random_integer(&random, 1, 32);
      start[blocks + 1] = n - start[blocks] < m ? n : start[blocks] + m;
      blocks++;
    }
    expect_solved(&a, blocks, start);
    test_bcsr_free(&a);
  }
}

static void scalar_jacobi_divides_by_the_diagonal(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(6, 5, 4, 1);
  double *dense = test_dense_from_arrays(&a), *v = test_random_vector(120, 1), z[120];
  bisai_bcsr *matrix = test_bcsr_take(context, a);
  bisai_precond_options options = test_form_options(BISAI_FORM_INVERSE, 0, NULL);
  options.bjacobi.max_block = 1;
  bisai_precond *precond = test_precond_with(context, matrix, &options);
  EXPECT_OK(context, bisai_precond_apply(precond, v, z));
  for (int i = 0; i < 120; i++)
    EXPECT_NEAR(v[i] / dense[i * 121], z[i], 4 * DBL_EPSILON * fabs(z[i]));
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  free(dense);
  free(v);
}

static void the_description_tells_what_it_is(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(5, 4, 3, 1));
  bisai_precond_options options = test_form_options(BISAI_FORM_GAUSS_HUARD_TRANSPOSED, 0, NULL);
  options.bjacobi.max_block = 4;
  options.bjacobi.storage = BISAI_FP11_20;
  bisai_precond *precond = test_precond_with(context, matrix, &options);
  assert_string_equal(bisai_precond_describe(precond),
                      "bjacobi max=4 form=ght storage=fp11_20, 20 blocks of up to 3 rows");
  const bisai_precond_report report = test_report_of(context, precond);
  assert_int_equal(report.bjacobi.by_format[BISAI_FP11_20], 20);
  assert_int_equal(report.bjacobi.value_bytes, 20 * 9 * 4);
  /* not known */
  assert_true(report.largest_condition == 0.0 && report.largest_condition_row == -1);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_form_solves_blocks_of_every_size),
      cmocka_unit_test(every_form_solves_blocks_of_one_size),
      cmocka_unit_test(blocks_may_cross_those_of_the_matrix),
      cmocka_unit_test(scalar_jacobi_divides_by_the_diagonal),
      cmocka_unit_test(the_description_tells_what_it_is),
  };
  return cmocka_run_group_tests_name("bjacobi_forms", tests, setup, teardown);
}
