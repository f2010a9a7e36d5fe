/* SPDX-License-Identifier: BSD-3-Clause */
/* Block-ISAI: for every block column j with rows J of the pattern, T(J, J) N(J, j) = I(J, j).
 *
 * Checked in two ways: against a dense elimination of every small system, and by the residual of
 * the equation itself, whose bound is 1e-12·κ with κ = max(1, ‖T(J, J)‖₁‖N(J, j)‖₁): substitution
 * is backward stable (Higham, section 8.1), which leaves some thousand eps for columns of hundreds
 * of blocks and for the inverted diagonal blocks. Badly scaled files have κ up to 1e14, where that
 * bound says nothing: the residual itself must be ≤ 1e-10 too, ten times what was seen at worst. */
#include "fixture.h"
#include "isai.h"

#include <math.h>

static const int32_t block_sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16};
enum { BLOCK_SIZES = sizeof block_sizes / sizeof block_sizes[0] };

static void *checked(size_t count, size_t size) {
  void *memory = calloc(count + 1, size);
  assert_non_null(memory);
  return memory;
}

static const double *blocks_of(const bisai_bcsr *matrix) {
  const void *values;
  bisai_bcsr_arrays(matrix, NULL, NULL, &values);
  return values;
}

static const bisai_bcsr *factor_of(const bisai_precond *precond, bisai_triangle triangle) {
  const bisai_factors *factors = bisai_precond_factors(precond);
  return triangle == BISAI_LOWER ? bisai_factors_lower(factors) : bisai_factors_upper(factors);
}

static void expect_isai(const char *what, const bisai_precond *precond) {
  for (int triangle = BISAI_LOWER; triangle <= BISAI_UPPER; triangle++) {
    const bisai_bcsr *n = test_inverse_of(precond, (bisai_triangle)triangle);
    const test_isai_residual found =
        test_isai_check(factor_of(precond, (bisai_triangle)triangle), n);
    if (!(found.relative <= 1e-12) || !(found.absolute <= 1e-10)) {
      fail_msg("%s, %s: residual %.3g, %.3g of kappa", what, triangle == BISAI_LOWER ? "NL" : "NU",
               found.absolute, found.relative);
    }
  }
}

static void expect_pattern_of_power(const bisai_bcsr *t, bisai_triangle triangle, int power,
                                    const bisai_bcsr *n) {
  bisai_pattern *pattern = NULL;
  const int32_t *p_ptr, *p_idx, *n_ptr, *n_idx;
  EXPECT_OK(context, bisai_pattern_power(context, t, triangle, power, &pattern));
  bisai_pattern_arrays(pattern, &p_ptr, &p_idx);
  bisai_bcsr_arrays(n, &n_ptr, &n_idx, NULL);
  assert_int_equal(bisai_bcsr_blocks(n), bisai_pattern_blocks(pattern));
  assert_false(bisai_bcsr_unit_diagonal(n));
  assert_memory_equal(n_ptr, p_ptr, (size_t)(bisai_bcsr_block_rows(t) + 1) * sizeof *n_ptr);
  assert_memory_equal(n_idx, p_idx, (size_t)bisai_bcsr_blocks(n) * sizeof *n_idx);
  bisai_pattern_destroy(&pattern);
}

static void columns_solve_their_small_systems(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int32_t bs = block_sizes[s];
    for (int kind = 0; kind < 2; kind++) {
      test_shape shape = test_shape_square(bs > 8 ? 14 : 24, bs, (uint64_t)(10 + bs));
      shape.empty_every = 5;
      bisai_bcsr *matrix = test_bcsr_take(context, kind == 0 ? test_bcsr_random(shape)
                                                             : test_bcsr_grid(6, 4, bs, 1));
      for (int power = 1; power <= 4; power++) {
        bisai_precond *precond = test_isai_of(context, matrix, NULL, power, BISAI_FP64);
        for (int triangle = BISAI_LOWER; triangle <= BISAI_UPPER; triangle++) {
          const bisai_bcsr *t = factor_of(precond, (bisai_triangle)triangle);
          const bisai_bcsr *n = test_inverse_of(precond, (bisai_triangle)triangle);
          assert_int_equal(bisai_bcsr_block_size(n), bs);
          assert_int_equal(bisai_bcsr_value_type(n), BISAI_FP64);
          expect_pattern_of_power(t, (bisai_triangle)triangle, power, n);
          test_isai_expect_solved(t, n);
        }
        expect_isai("random", precond);
        bisai_precond_destroy(&precond);
      }
      bisai_bcsr_destroy(&matrix);
    }
  }
}

/* The measuring itself must be able to fail: one entry of N changed by 1e-9. */
static void the_residual_sees_a_small_error(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(6, 6, 3, 1));
  bisai_precond *precond = test_isai_of(context, matrix, NULL, 2, BISAI_FP64);
  const bisai_bcsr *n = bisai_precond_upper_inverse(precond);
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  const size_t count = (size_t)bisai_bcsr_blocks(n) * 9;
  double *values = checked(count, sizeof *values);
  memcpy(values, blocks_of(n), count * sizeof *values);
  values[count / 2] += 1e-9;
  desc.block_rows = desc.block_cols = bisai_bcsr_block_rows(n);
  desc.block_size = 3;
  desc.values = values;
  bisai_bcsr_arrays(n, &desc.row_ptr, &desc.col_idx, NULL);
  bisai_bcsr *wrong = NULL;
  EXPECT_OK(context, bisai_bcsr_create(context, &desc, &wrong));
  assert_true(test_isai_check(factor_of(precond, BISAI_UPPER), wrong).relative > 1e-12);
  bisai_bcsr_destroy(&wrong);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  free(values);
}

static bisai_bcsr *triangle_matrix(int32_t n, int32_t bs, test_part part, double blocks_per_row,
                                   uint64_t seed) {
  test_shape shape = test_shape_square(n, bs, seed);
  shape.part = part;
  shape.blocks_per_row = blocks_per_row;
  test_bcsr arrays = test_bcsr_random(shape);
  /* a unit triangle is not dominant: scaled so that its inverse stays of size 1 */
  const size_t count = (size_t)test_bcsr_blocks(&arrays) * (size_t)(bs * bs);
  for (size_t i = 0; part == TEST_STRICTLY_LOWER && i < count; i++)
    arrays.values[i] /= 4.0 * blocks_per_row * bs;
  return test_bcsr_take(context, arrays);
}

static void given_factors_with_unit_and_general_diagonals_are_inverted(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int32_t bs = block_sizes[s];
    for (int unit = 0; unit < 2; unit++) {
      bisai_bcsr *lower = triangle_matrix(18, bs, unit ? TEST_STRICTLY_LOWER : TEST_LOWER, 3.0,
                                          (uint64_t)(30 + bs));
      bisai_bcsr *upper = triangle_matrix(18, bs, TEST_UPPER, 3.0, (uint64_t)(60 + bs));
      bisai_factors *factors = NULL;
      EXPECT_OK(context, bisai_factors_from_matrices(context, lower, upper, &factors));
      for (int power = 1; power <= 4; power++) {
        bisai_precond *precond = test_isai_of(context, upper, factors, power, BISAI_FP64);
        assert_ptr_equal(bisai_precond_factors(precond), factors);
        test_isai_expect_solved(factor_of(precond, BISAI_LOWER),
                                test_inverse_of(precond, BISAI_LOWER));
        test_isai_expect_solved(factor_of(precond, BISAI_UPPER),
                                test_inverse_of(precond, BISAI_UPPER));
        expect_isai("given factors", precond);
        bisai_precond_destroy(&precond);
      }
      bisai_factors_destroy(&factors);
      bisai_bcsr_destroy(&lower);
      bisai_bcsr_destroy(&upper);
    }
  }
}

/* With as many steps as there are rows, S(|T|^k) holds the whole inverse. */
static void isai_with_full_pattern_equals_inverse(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int32_t bs = block_sizes[s], blocks = bs > 8 ? 8 : 16;
    for (int kind = 0; kind < 3; kind++) {
      bisai_bcsr *lower = triangle_matrix(blocks, bs, kind == 0 ? TEST_STRICTLY_LOWER : TEST_LOWER,
                                          4.0, (uint64_t)(90 + bs));
      bisai_bcsr *upper = triangle_matrix(blocks, bs, TEST_UPPER, 4.0, (uint64_t)(120 + bs));
      bisai_factors *factors = NULL;
      EXPECT_OK(context, bisai_factors_from_matrices(context, lower, upper, &factors));
      bisai_precond *precond =
          test_isai_of(context, upper, factors, kind == 2 ? 100000 : blocks - 1, BISAI_FP64);
      const int64_t n = (int64_t)blocks * bs;
      for (int triangle = BISAI_LOWER; triangle <= BISAI_UPPER; triangle++) {
        double *t = test_dense(factor_of(precond, (bisai_triangle)triangle));
        double *expected = test_dense_inverse(n, t),
               *got = test_dense(test_inverse_of(precond, (bisai_triangle)triangle));
        EXPECT_CLOSE(n * n, expected, got, 1e-13 * fmax(1.0, test_dense_norm1(n, n, expected)));
        free(t);
        free(expected);
        free(got);
      }
      bisai_precond_destroy(&precond);
      bisai_factors_destroy(&factors);
      bisai_bcsr_destroy(&lower);
      bisai_bcsr_destroy(&upper);
    }
  }
}

/* L = [1; −2 1], U = [2 3; 0 4]: NL = [1; 2 1], NU = [1/2 −3/8; 0 1/4]. */
static void two_by_two_factors_have_the_inverses_known_by_hand(void **state) {
  (void)state;
  int32_t l_ptr[] = {0, 0, 1}, l_idx[] = {0}, u_ptr[] = {0, 2, 3}, u_idx[] = {0, 1, 1};
  double l[] = {-2}, u[] = {2, 3, 4};
  bisai_bcsr *lower = test_bcsr_make(context, &(test_bcsr){2, 2, 1, l_ptr, l_idx, l}),
             *upper = test_bcsr_make(context, &(test_bcsr){2, 2, 1, u_ptr, u_idx, u});
  bisai_factors *factors = NULL;
  EXPECT_OK(context, bisai_factors_from_matrices(context, lower, upper, &factors));
  bisai_precond *precond = test_isai_of(context, upper, factors, 1, BISAI_FP64);
  static const double nl[] = {1, 2, 1}, nu[] = {0.5, -0.375, 0.25};
  assert_memory_equal(blocks_of(bisai_precond_lower_inverse(precond)), nl, sizeof nl);
  assert_memory_equal(blocks_of(bisai_precond_upper_inverse(precond)), nu, sizeof nu);
  bisai_precond_destroy(&precond);
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&lower);
  bisai_bcsr_destroy(&upper);
}

/* --- patterns of the caller --- */

/* A random triangle with full diagonal that has nothing to do with the factors. */
static bisai_pattern *random_pattern(int32_t n, bisai_triangle triangle, double blocks_per_row,
                                     uint64_t seed) {
  test_shape shape = test_shape_square(n, 1, seed);
  shape.part = triangle == BISAI_LOWER ? TEST_LOWER : TEST_UPPER;
  shape.blocks_per_row = blocks_per_row;
  test_bcsr arrays = test_bcsr_random(shape);
  bisai_pattern *pattern = NULL;
  EXPECT_OK(context,
            bisai_pattern_create(context, triangle, n, arrays.row_ptr, arrays.col_idx, &pattern));
  test_bcsr_free(&arrays);
  return pattern;
}

static void patterns_of_the_caller_are_solved_on(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 9; bs++) {
    bisai_bcsr *matrix =
        test_bcsr_take(context, test_bcsr_random(test_shape_square(20, bs, (uint64_t)(150 + bs))));
    for (int given = 1; given <= 3; given++) {
      bisai_pattern *lower =
          (given & 1) != 0 ? random_pattern(20, BISAI_LOWER, 0.5 * bs, (uint64_t)bs) : NULL;
      bisai_pattern *upper =
          (given & 2) != 0 ? random_pattern(20, BISAI_UPPER, 0.5 * bs, (uint64_t)(9 + bs)) : NULL;
      bisai_precond_options options = bisai_precond_options_default();
      options.kind = BISAI_PRECOND_ISAI;
      options.isai.lower_pattern = lower;
      options.isai.upper_pattern = upper;
      bisai_precond *precond = NULL;
      EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &precond));
      if (lower != NULL) {
        assert_int_equal(bisai_bcsr_blocks(bisai_precond_lower_inverse(precond)),
                         bisai_pattern_blocks(lower));
      }
      if (upper != NULL) {
        assert_int_equal(bisai_bcsr_blocks(bisai_precond_upper_inverse(precond)),
                         bisai_pattern_blocks(upper));
      }
      bisai_pattern_destroy(&lower); /* read during creation */
      bisai_pattern_destroy(&upper);
      test_isai_expect_solved(factor_of(precond, BISAI_LOWER),
                              test_inverse_of(precond, BISAI_LOWER));
      test_isai_expect_solved(factor_of(precond, BISAI_UPPER),
                              test_inverse_of(precond, BISAI_UPPER));
      EXPECT_OK(context, bisai_precond_update(precond, matrix));
      expect_isai("given pattern", precond);
      bisai_precond_destroy(&precond);
    }
    bisai_bcsr_destroy(&matrix);
  }
}

/* --- update and threads --- */

static void expect_same_inverses(const bisai_precond *a, const bisai_precond *b) {
  for (int triangle = BISAI_LOWER; triangle <= BISAI_UPPER; triangle++) {
    const bisai_bcsr *x = test_inverse_of(a, (bisai_triangle)triangle),
                     *y = test_inverse_of(b, (bisai_triangle)triangle);
    const size_t bs = (size_t)bisai_bcsr_block_size(x);
    static const size_t bytes[] = {8, 4, 2, 2};
    const void *x_values, *y_values;
    bisai_bcsr_arrays(x, NULL, NULL, &x_values);
    bisai_bcsr_arrays(y, NULL, NULL, &y_values);
    assert_int_equal(bisai_bcsr_blocks(x), bisai_bcsr_blocks(y));
    assert_memory_equal(x_values, y_values,
                        (size_t)bisai_bcsr_blocks(x) * bs * bs * bytes[bisai_bcsr_value_type(x)]);
  }
}

static void update_recomputes_the_same_bits_and_allocates_nothing(void **state) {
  (void)state;
  for (int storage = BISAI_FP64; storage <= BISAI_BF16; storage++) {
    for (int32_t bs = 1; bs <= 9; bs += 2) {
      test_allocator allocator;
      test_allocator_reset(&allocator, 0);
      bisai_context *counted = test_context_on(&allocator, 3);
      test_bcsr arrays = test_bcsr_random(test_shape_square(300, bs, (uint64_t)bs));
      bisai_bcsr *first = test_bcsr_make(counted, &arrays);
      test_random random = test_random_seed(3);
      for (size_t i = 0; i < (size_t)test_bcsr_blocks(&arrays) * (size_t)(bs * bs); i++)
        arrays.values[i] *= test_random_uniform(&random, 0.9, 1.1);
      bisai_bcsr *second = test_bcsr_take(counted, arrays);
      bisai_precond *updated = test_isai_of(counted, first, NULL, 2, (bisai_value_type)storage);
      bisai_precond *fresh = test_isai_of(counted, second, NULL, 2, (bisai_value_type)storage);
      const long long calls = atomic_load(&allocator.calls);
      EXPECT_OK(counted, bisai_precond_update(updated, second));
      assert_int_equal(atomic_load(&allocator.calls), calls);
      expect_same_inverses(updated, fresh);
      bisai_precond_destroy(&updated);
      bisai_precond_destroy(&fresh);
      bisai_bcsr_destroy(&first);
      bisai_bcsr_destroy(&second);
      bisai_context_destroy(&counted);
    }
  }
}

static void thread_counts_give_the_same_bits(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 9; bs++) {
    test_bcsr arrays =
        test_bcsr_random(test_shape_square(bs > 4 ? 400 : 1000, bs, (uint64_t)(250 + bs)));
    bisai_context *contexts[3];
    bisai_precond *preconds[3];
    static const int threads[] = {1, 2, 4};
    for (size_t t = 0; t < 3; t++) {
      contexts[t] = test_context(threads[t]);
      bisai_bcsr *matrix = test_bcsr_make(contexts[t], &arrays);
      preconds[t] =
          test_isai_of(contexts[t], matrix, NULL, 2, bs % 2 == 0 ? BISAI_FP32 : BISAI_FP64);
      bisai_bcsr_destroy(&matrix);
      expect_same_inverses(preconds[0], preconds[t]);
    }
    for (size_t t = 0; t < 3; t++) {
      bisai_precond_destroy(&preconds[t]);
      bisai_context_destroy(&contexts[t]);
    }
    test_bcsr_free(&arrays);
  }
}

/* --- real matrices --- */

static void expect_isai_of_file(const char *name) {
  for (int32_t bs = TEST_SANITIZED ? 3 : 1; bs <= 8; bs += TEST_SANITIZED ? 4 : 1) {
    bisai_bcsr *matrix = test_matrix_read(context, name, bs);
    bisai_factors *factors = NULL;
    EXPECT_OK(context, bisai_factors_create(context, matrix, NULL, &factors));
    for (int power = 1; power <= 4; power++) {
      char what[128];
      snprintf(what, sizeof what, "%s, block size %d, power %d", name, bs, power);
      bisai_precond *precond = test_isai_of(context, matrix, factors, power, BISAI_FP64);
      expect_isai(what, precond);
      bisai_precond_destroy(&precond);
    }
    bisai_factors_destroy(&factors);
    bisai_bcsr_destroy(&matrix);
  }
}

static void isai_of_bcsstk16_satisfies_its_equations(void **state) {
  (void)state;
  expect_isai_of_file("bcsstk16");
}

static void isai_of_sherman5_satisfies_its_equations(void **state) {
  (void)state;
  expect_isai_of_file("sherman5");
}

static void isai_of_opm_spe9_satisfies_its_equations(void **state) {
  (void)state;
  expect_isai_of_file("opm_spe9_s7");
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columns_solve_their_small_systems),
      cmocka_unit_test(the_residual_sees_a_small_error),
      cmocka_unit_test(given_factors_with_unit_and_general_diagonals_are_inverted),
      cmocka_unit_test(isai_with_full_pattern_equals_inverse),
      cmocka_unit_test(two_by_two_factors_have_the_inverses_known_by_hand),
      cmocka_unit_test(patterns_of_the_caller_are_solved_on),
      cmocka_unit_test(update_recomputes_the_same_bits_and_allocates_nothing),
      cmocka_unit_test(thread_counts_give_the_same_bits),
  };
  const struct CMUnitTest real[] = {
      cmocka_unit_test(isai_of_bcsstk16_satisfies_its_equations),
      cmocka_unit_test(isai_of_sherman5_satisfies_its_equations),
      cmocka_unit_test(isai_of_opm_spe9_satisfies_its_equations),
  };
  if (test_wants_real(argc, argv))
    return test_real_matrices(cmocka_run_group_tests_name("solve_real", real, setup, teardown));
  return cmocka_run_group_tests_name("solve", tests, setup, teardown);
}
