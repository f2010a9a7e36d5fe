/* SPDX-License-Identifier: BSD-3-Clause */
/* Matchings inside a preconditioner: systems whose rows are shuffled are solved, and updates,
 * reports and refusals are as documented. */
#include "matching.h"
#include "preconds.h"
#include "systems.h"

enum { ROWS = 24, MANY = 3 };

static const bisai_precond_kind kinds[] = {BISAI_PRECOND_ILU, BISAI_PRECOND_ISAI,
                                           BISAI_PRECOND_SWEEPS};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Factors without any dropping. The inverses are complete, and the sweeps are as many as levels. */
static bisai_precond_options exact(bisai_precond_kind kind, bisai_matching matching) {
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = kind;
  options.factor.level = 1000;
  options.factor.matching = matching;
  TEST_SET_OPTION(options, isai.power, 1000);
  TEST_SET_OPTION(options, sweeps.count, 200);
  return options;
}

/* x_j ← x_j / max_i |a_ij|, so that unknowns are as the scaled matrix has them. */
static void scale_unknowns(int32_t n, const double *dense, double *x) {
  for (int32_t j = 0; j < n; j++) x[j] /= test_largest(n, dense + (int64_t)j * n);
}

/* Fails unless M⁻¹ v is A⁻¹ v. */
static void expect_inverse(bisai_precond *m, const bisai_bcsr *matrix) {
  const int32_t n = (int32_t)bisai_precond_rows(m), ld = n + 2;
  double *x = test_random_vector(MANY * ld, 1), *v = test_random_vector(MANY * ld, 2),
         *z = test_random_vector(MANY * ld, 3), *dense = test_dense(matrix);
  for (int c = 0; c < MANY; c++) {
    scale_unknowns(n, dense, x + c * ld);
    double *product = test_dense_multiply(n, n, 1, dense, x + c * ld);
    memcpy(v + c * ld, product, (size_t)n * sizeof *v);
    free(product);
  }
  EXPECT_OK(context, bisai_precond_apply_many(m, MANY, v, ld, z, ld));
  /* rounding errors of a row, times the condition of the scaled matrix (below 1e5) and the growth
     of pivots that no rule chose */
  for (int c = 0; c < MANY; c++) {
    double *back = test_dense_multiply(n, n, 1, dense, z + c * ld);
    for (int32_t i = 0; i < n; i++) {
      double row = 0.0;
      for (int32_t j = 0; j < n; j++) row += fabs(dense[j * n + i] * x[c * ld + j]);
      EXPECT_NEAR(v[c * ld + i], back[i], 1e-8 * row);
    }
    free(back);
  }
  free(x), free(v), free(z), free(dense);
}

static void expect_solved(const bisai_bcsr *matrix, bisai_matching matching) {
  for (int kind = 0; kind < KINDS; kind++) {
    for (int how = 0; how < 6; how++) {
      bisai_precond_options options = exact(kinds[kind], matching);
      options.factor.ordering = how % 3 == 0   ? BISAI_ORDERING_NATURAL
                                : how % 3 == 1 ? BISAI_ORDERING_RCM
                                               : BISAI_ORDERING_COLOUR;
      options.factor.equilibrate = how >= 3;
      bisai_precond *m = test_precond_with(context, matrix, &options);
      expect_inverse(m, matrix);
      bisai_precond_destroy(&m);
    }
  }
}

static void shuffled_rows_are_solved_through_entries(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 5; bs++) {
    bisai_bcsr *matrix = test_bcsr_take(context, matching_shuffled(ROWS / bs, bs, 1, 20, 3));
    expect_solved(matrix, BISAI_MATCHING_ENTRIES);
    bisai_bcsr_destroy(&matrix);
  }
}

static void shuffled_block_rows_are_solved_through_blocks(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 9; bs += 2) {
    bisai_bcsr *matrix = test_bcsr_take(context, matching_shuffled(ROWS / 2, bs, bs, 20, 5));
    expect_solved(matrix, BISAI_MATCHING_BLOCKS);
    bisai_bcsr_destroy(&matrix);
  }
}

static void a_given_order_goes_with_a_matching(void **state) {
  (void)state;
  int32_t *given = test_random_permutation(ROWS / 2, 4);
  bisai_bcsr *matrix = test_bcsr_take(context, matching_shuffled(ROWS / 2, 2, 1, 20, 7));
  bisai_precond_options options = exact(BISAI_PRECOND_ILU, BISAI_MATCHING_ENTRIES);
  options.factor.ordering = BISAI_ORDERING_GIVEN;
  options.factor.permutation = given;
  bisai_precond *m = test_precond_with(context, matrix, &options);
  const int32_t *columns = bisai_precond_permutation(m);
  for (int32_t i = 0; i < ROWS; i++) assert_int_equal(columns[i], given[i / 2] * 2 + i % 2);
  expect_inverse(m, matrix);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&matrix);
  free(given);
}

/* --- updates --- */

/* Other values of the same zeros and the same best matching. */
static test_bcsr changed(test_bcsr a) {
  for (int32_t v = 0; v < test_bcsr_blocks(&a) * a.block_size * a.block_size; v++)
    a.values[v] *= 1.5 + 0.125 * (v % 3);
  return a;
}

static void updates_are_as_creation(void **state) {
  (void)state;
  for (int how = 0; how < 8; how++) {
    const int32_t bs = how % 2 + 1;
    const bisai_matching matching = how & 2 ? BISAI_MATCHING_BLOCKS : BISAI_MATCHING_ENTRIES;
    const int32_t group = matching == BISAI_MATCHING_BLOCKS ? bs : 1;
    bisai_bcsr *a = test_bcsr_take(context, matching_shuffled(ROWS, bs, group, 20, 2)),
               *b = test_bcsr_take(context, changed(matching_shuffled(ROWS, bs, group, 20, 2)));
    bisai_precond_options options = exact(BISAI_PRECOND_ILU, matching);
    options.factor.ordering = BISAI_ORDERING_RCM;
    options.factor.equilibrate = how & 4;
    test_expect_update_as_creation(context, a, b, &options);
    bisai_bcsr_destroy(&a);
    bisai_bcsr_destroy(&b);
  }
}

static void updates_keep_the_permutation(void **state) {
  (void)state;
  static const double before[] = {1, 5, 5, 1}, after[] = {5, 1, 1, 5};
  static const int32_t rows[] = {1, 0};
  bisai_bcsr *a = test_bcsr_take(context, matching_blocks_of(2, 1, before)),
             *b = test_bcsr_take(context, matching_blocks_of(2, 1, after));
  const bisai_precond_options options = exact(BISAI_PRECOND_ILU, BISAI_MATCHING_ENTRIES);
  bisai_precond *m = test_precond_with(context, a, &options);
  assert_memory_equal(bisai_precond_row_permutation(m), rows, sizeof rows);
  EXPECT_OK(context, bisai_precond_update(m, b));
  assert_memory_equal(bisai_precond_row_permutation(m), rows, sizeof rows);
  expect_inverse(m, b);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&b);
}

static void updates_refuse_what_the_matching_cannot_have(void **state) {
  (void)state;
  test_bcsr a = matching_shuffled(ROWS / 2, 2, 1, 20, 9);
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  const bisai_precond_options options = exact(BISAI_PRECOND_ILU, BISAI_MATCHING_ENTRIES);
  bisai_precond *m = test_precond_with(context, matrix, &options);
  int32_t zero = a.row_ptr[7] * 4;
  while (a.values[zero] != 0.0) zero++;
  a.values[zero] = 1e-9;
  int32_t row = 7;
  while (a.row_ptr[row + 1] * 4 <= zero) row++;
  char message[160];
  snprintf(message, sizeof message,
           "block row %d has a nonzero where creation left out a zero: the matching of entries "
           "needs a new preconditioner",
           row);
  bisai_bcsr *other = test_bcsr_make(context, &a);
  test_expect_update_failed(context, m, other, BISAI_INVALID_STRUCTURE, message);
  EXPECT_OK(context, bisai_precond_update(m, matrix));
  expect_inverse(m, matrix);
  bisai_bcsr_destroy(&other);
  a.values[zero] = 0.0;
  for (int32_t p = a.row_ptr[3] * 4; p < a.row_ptr[4] * 4; p += 2) a.values[p] = 0.0;
  other = test_bcsr_make(context, &a);
  test_expect_update_failed(context, m, other, BISAI_SINGULAR_BLOCK,
                            "row 6 has no nonzeros: it cannot be matched");
  EXPECT_OK(context, bisai_precond_update(m, matrix));
  bisai_bcsr_destroy(&other);
  other = test_bcsr_take(context, test_bcsr_tridiagonal(ROWS / 2, 2, 1.0, 0.0));
  test_expect_update_refused(context, m, other, BISAI_INVALID_ARGUMENT, "the pattern changed");
  bisai_bcsr_destroy(&other);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&matrix);
  test_bcsr_free(&a);
}

/* --- reports and refusals --- */

static void a_matching_is_reported(void **state) {
  (void)state;
  static const double dense[] = {0, 4, 0, 2, 0, 0, 0, 0, 1};
  bisai_bcsr *matrix = test_bcsr_take(context, matching_blocks_of(3, 1, dense));
  bisai_precond_options options = exact(BISAI_PRECOND_ILU, BISAI_MATCHING_ENTRIES);
  options.factor.level = 0;
  bisai_precond *m = test_precond_with(context, matrix, &options);
  const bisai_precond_report report = test_report_of(context, m);
  assert_int_equal(report.factor.matching, BISAI_MATCHING_ENTRIES);
  assert_int_equal(report.factor.moved_rows, 2);
  assert_true(report.factor.equilibrated);
  assert_int_equal(report.symmetry, BISAI_SYMMETRY_NONE);
  assert_int_equal(report.factor.natural_bandwidth, 1);
  assert_int_equal(report.factor.bandwidth, 0);
  assert_string_equal(bisai_precond_describe(m),
                      "ilu schedule=auto, 3 blocks in L + U, matching=entries, 2 rows moved");
  bisai_precond_destroy(&m);
  options.factor.equilibrate = true;
  options.factor.matching = BISAI_MATCHING_BLOCKS;
  m = test_precond_with(context, matrix, &options);
  assert_string_equal(
      bisai_precond_describe(m),
      "ilu schedule=auto, 3 blocks in L + U, matching=blocks, 2 rows moved, equilibrated");
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&matrix);
}

/* Rows 0 and 2 are equal: the factorisation finds it in the last of the two, wherever it is. */
static void a_singular_block_is_named_by_the_callers_row(void **state) {
  (void)state;
  static const double dense[] = {0, 0, 0, 7, 1, 0, 1, 0, 0, 3, 0, 0, 1, 0, 1, 0};
  bisai_bcsr *matrix = test_bcsr_take(context, matching_blocks_of(4, 1, dense)),
             *blocks = test_bcsr_take(context, matching_blocks_of(2, 2, dense));
  const bisai_precond_options options = exact(BISAI_PRECOND_ILU, BISAI_MATCHING_ENTRIES);
  test_expect_refused(context, matrix, &options, BISAI_SINGULAR_BLOCK,
                      "block row 2: the diagonal block is singular");
  test_expect_refused(context, blocks, &options, BISAI_SINGULAR_BLOCK,
                      "block row 1: the diagonal block is singular");
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&blocks);
}

static void what_has_no_matching_refuses_it(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_definite(4, 2, 1));
  bisai_precond_options options = exact(BISAI_PRECOND_ISAI, BISAI_MATCHING_BLOCKS);
  options.isai.symmetric = true;
  test_expect_refused(context, matrix, &options, BISAI_INVALID_ARGUMENT,
                      "symmetric isai takes no matching, which permutes rows alone");
  options.isai.symmetric = false;
  options.factor.matching = (bisai_matching)3;
  test_expect_refused(context, matrix, &options, BISAI_INVALID_ARGUMENT, "matching");
  options = bisai_precond_options_default();
  options.kind = BISAI_PRECOND_BJACOBI;
  options.factor.matching = BISAI_MATCHING_BLOCKS;
  test_expect_refused(context, matrix, &options, BISAI_INVALID_ARGUMENT,
                      "bjacobi does not take the option matching, which is for ilu, isai, sweeps");
  bisai_bcsr_destroy(&matrix);
}

static void a_matching_gives_the_same_bits_for_any_number_of_threads(void **state) {
  (void)state;
  for (int how = 0; how < 4; how++) {
    const bisai_matching matching = how & 1 ? BISAI_MATCHING_BLOCKS : BISAI_MATCHING_ENTRIES;
    double *expected = NULL;
    for (int threads = 1; threads <= 3; threads += 2) {
      bisai_context *own = test_context(threads);
      const int32_t group = matching == BISAI_MATCHING_BLOCKS ? 4 : 1;
      bisai_bcsr *matrix = test_bcsr_take(own, matching_shuffled(120, 4, group, 20, 2));
      bisai_precond_options options = exact(BISAI_PRECOND_ILU, matching);
      options.factor.level = 1;
      options.factor.equilibrate = how & 2;
      bisai_precond *m = test_precond_with(own, matrix, &options);
      double *z = test_applied(own, m);
      if (expected) assert_memory_equal(expected, z, 480 * sizeof *z);
      free(expected);
      expected = z;
      bisai_precond_destroy(&m);
      bisai_bcsr_destroy(&matrix);
      bisai_context_destroy(&own);
    }
    free(expected);
  }
}

/* --- real matrices --- */

static void real_matrices_with_zeros_on_the_diagonal_are_solved(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int32_t block_size, level;
    bisai_ordering ordering;
    double least_pivot;
  } systems[] = {{"bayer10", 1, 2, BISAI_ORDERING_RCM, 1e-4},
                 {"lhr01", 1, 2, BISAI_ORDERING_RCM, 1e-4},
                 {"lnsp3937", 1, 2, BISAI_ORDERING_NATURAL, 0.0},
                 {"mhd3200a", 1, 4, BISAI_ORDERING_RCM, 0.0},
                 {"mhd3200a", 2, 4, BISAI_ORDERING_RCM, 0.0},
                 {"gemat12", 1, 2, BISAI_ORDERING_RCM, 1e-4},
                 {"impcol_d", 1, 2, BISAI_ORDERING_RCM, 1e-4},
                 {"basker_matrix1", 1, 2, BISAI_ORDERING_RCM, 1e-4},
                 {"basker_matrix1", 5, 2, BISAI_ORDERING_RCM, 1e-4}};
  for (size_t s = 0; s < sizeof systems / sizeof *systems; s++) {
    bisai_bcsr *matrix = test_matrix_read(context, systems[s].name, systems[s].block_size);
    bisai_precond_options options = exact(BISAI_PRECOND_ILU, BISAI_MATCHING_ENTRIES);
    options.factor.level = systems[s].level;
    options.factor.ordering = systems[s].ordering;
    options.factor.least_pivot = systems[s].least_pivot;
    bisai_precond *m = test_precond_with(context, matrix, &options);
    const int64_t n = bisai_precond_rows(m);
    double *ones = malloc((size_t)n * sizeof *ones), *b = malloc((size_t)n * sizeof *b),
           *x = calloc((size_t)n, sizeof *x);
    for (int64_t i = 0; i < n; i++) ones[i] = 1.0;
    EXPECT_OK(context, bisai_bcsr_multiply(matrix, ones, b));
    bisai_solver_options how = bisai_solver_options_default();
    how.gmres.restart = 100;
    how.tolerance = 1e-8;
    bisai_solver *solver = NULL;
    bisai_solver_report report = {.struct_size = sizeof report};
    EXPECT_OK(context, bisai_solver_create(context, n, &how, &solver));
    EXPECT_OK(context, bisai_solver_solve(solver, matrix, m, b, x, &report));
    assert_int_equal(report.reason, BISAI_REASON_CONVERGED);
    assert_true(test_relative_residual(matrix, x, b) < 2e-8);
    free(ones), free(b), free(x);
    bisai_solver_destroy(&solver);
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&matrix);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shuffled_rows_are_solved_through_entries),
      cmocka_unit_test(shuffled_block_rows_are_solved_through_blocks),
      cmocka_unit_test(a_given_order_goes_with_a_matching),
      cmocka_unit_test(updates_are_as_creation),
      cmocka_unit_test(updates_keep_the_permutation),
      cmocka_unit_test(updates_refuse_what_the_matching_cannot_have),
      cmocka_unit_test(a_matching_is_reported),
      cmocka_unit_test(a_singular_block_is_named_by_the_callers_row),
      cmocka_unit_test(what_has_no_matching_refuses_it),
      cmocka_unit_test(a_matching_gives_the_same_bits_for_any_number_of_threads),
  };
  const struct CMUnitTest real[] = {
      cmocka_unit_test(real_matrices_with_zeros_on_the_diagonal_are_solved),
  };
  if (test_wants_real(argc, argv))
    return test_real_matrices(cmocka_run_group_tests_name("matched_real", real, setup, teardown));
  return cmocka_run_group_tests_name("matched", tests, setup, teardown);
}
