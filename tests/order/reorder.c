/* SPDX-License-Identifier: BSD-3-Clause */
/* Orderings inside a preconditioner: against the same made explicitly, to the last bit. Updates and
 * threads of preconditioners that reorder and equilibrate. */
#include "preconds.h"
#include "reordered.h"

/* permuted ← the blocks of v in the order of `permutation`. */
static void permute_vector(const int32_t *permutation, int32_t bs, const double *v,
                           double *permuted) {
  for (int32_t i = 0; i < ROWS; i++)
    memcpy(permuted + i * bs, v + permutation[i] * bs, (size_t)bs * sizeof *v);
}

/* To the last bit; a device sums the products of several vectors in another order than those of
 * one. */
static void expect_same_vector(int32_t n, const double *a, const double *b) {
  if (!test_on_device()) {
    assert_memory_equal(a, b, (size_t)n * sizeof *a);
    return;
  }
  double largest = 0.0;
  for (int32_t i = 0; i < n; i++) largest = fmax(largest, fabs(a[i]));
  EXPECT_CLOSE(n, a, b, 1e-12 * largest);
}

/* --- orderings --- */

/* permutation ← the ordering of a matrix, or a random one for BISAI_ORDERING_GIVEN. Returns false
 * if the ordering is not available. */
static bool find_permutation(const bisai_bcsr *matrix, bisai_ordering ordering, uint64_t seed,
                             int32_t *permutation) {
  if (ordering == BISAI_ORDERING_GIVEN) {
    int32_t *random = test_random_permutation(ROWS, seed);
    memcpy(permutation, random, ROWS * sizeof *permutation);
    free(random);
    return true;
  }
  const bisai_status status = bisai_order_compute(context, matrix, ordering, permutation);
  if (status == BISAI_UNAVAILABLE) return false;
  EXPECT_OK(context, status);
  return true;
}

static void expect_same_factors(const bisai_precond *a, const bisai_precond *b, bool inverses) {
  const bisai_factors *f = bisai_precond_factors(a), *g = bisai_precond_factors(b);
  test_expect_same(bisai_factors_lower(f), bisai_factors_lower(g));
  test_expect_same(bisai_factors_upper(f), bisai_factors_upper(g));
  if (!inverses) return;
  test_expect_same(bisai_precond_lower_inverse(a), bisai_precond_lower_inverse(b));
  test_expect_same(bisai_precond_upper_inverse(a), bisai_precond_upper_inverse(b));
}

/* Applies `reordered` to several vectors at once and to each of them, and `explicitly` to each of
 * them permuted. */
static void expect_same_applications(bisai_precond *reordered, bisai_precond *explicitly,
                                     const int32_t *permutation, int32_t bs, uint64_t seed) {
  const int32_t n = ROWS * bs, ld = n + 3;
  double *v = test_random_vector(MANY * ld, seed), *z = test_random_vector(MANY * ld, 2);
  double *pv = test_random_vector(n, 3), *pz = test_random_vector(n, 4),
         *expected = test_random_vector(n, 5);
  EXPECT_OK(context, bisai_precond_apply_many(reordered, MANY, v, ld, z, ld));
  for (int c = 0; c < MANY; c++) {
    permute_vector(permutation, bs, v + c * ld, pv);
    EXPECT_OK(context, bisai_precond_apply(explicitly, pv, expected));
    permute_vector(permutation, bs, z + c * ld, pz);
    expect_same_vector(n, expected, pz);
    EXPECT_OK(context, bisai_precond_apply(reordered, v + c * ld, pv));
    expect_same_vector(n, pv, z + c * ld);
  }
  free(v), free(z), free(pv), free(pz), free(expected);
}

static void expect_as_explicitly_permuted(bisai_precond_options options, int32_t bs,
                                          uint64_t seed) {
  test_bcsr a = random_matrix(bs, seed);
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  int32_t permutation[ROWS];
  if (find_permutation(matrix, options.factor.ordering, seed, permutation)) {
    if (options.factor.ordering == BISAI_ORDERING_GIVEN) options.factor.permutation = permutation;
    bisai_precond *reordered = test_precond_with(context, matrix, &options);
    assert_memory_equal(bisai_precond_permutation(reordered), permutation, sizeof permutation);

    bisai_bcsr *permuted = test_bcsr_take(context, test_bcsr_permuted(&a, permutation));
    options.factor.ordering = BISAI_ORDERING_NATURAL;
    options.factor.permutation = NULL;
    bisai_precond *explicitly = test_precond_with(context, permuted, &options);
    assert_null(bisai_precond_permutation(explicitly));

    expect_same_factors(reordered, explicitly, options.kind == BISAI_PRECOND_ISAI);
    expect_same_applications(reordered, explicitly, permutation, bs, seed);
    bisai_precond_destroy(&reordered);
    bisai_precond_destroy(&explicitly);
    bisai_bcsr_destroy(&permuted);
  }
  test_bcsr_free(&a);
  bisai_bcsr_destroy(&matrix);
}

static void an_ordering_is_the_permuted_matrix(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 9; bs++) {
    for (int kind = 0; kind < KINDS; kind++) {
      for (int ordering = BISAI_ORDERING_RCM; ordering <= BISAI_ORDERING_GIVEN; ordering++) {
        bisai_precond_options options = options_of(kinds[kind]);
        options.factor.ordering = (bisai_ordering)ordering;
        options.factor.level = bs % 3;
        expect_as_explicitly_permuted(options, bs, (uint64_t)(bs + ordering));
      }
    }
  }
}

static void every_ordering_solves_the_system(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(12, 9, 3, 1));
  const int32_t n = 12 * 9 * 3;
  double *b = test_random_vector(n, 1), *x = test_random_vector(n, 2), *a = test_dense(matrix);
  double *solution = test_dense_solve(n, a, b);
  for (int ordering = BISAI_ORDERING_NATURAL; ordering <= BISAI_ORDERING_COLOUR; ordering++) {
    for (int kind = 0; kind < KINDS; kind++) {
      bisai_precond_options options = options_of(kinds[kind]);
      options.factor.ordering = (bisai_ordering)ordering;
      options.factor.equilibrate = kind % 2 == 1;
      bisai_precond *precond = NULL;
      bisai_solver *solver = NULL;
      bisai_solver_options how = bisai_solver_options_default();
      how.tolerance = 1e-12;
      const bisai_status status = bisai_precond_create(context, matrix, &options, &precond);
      if (ordering == BISAI_ORDERING_ND && status == BISAI_UNAVAILABLE) continue;
      EXPECT_OK(context, status);
      EXPECT_OK(context, bisai_solver_create(context, n, &how, &solver));
      memset(x, 0, (size_t)n * sizeof *x);
      EXPECT_OK(context, bisai_solver_solve(solver, matrix, precond, b, x, NULL));
      EXPECT_CLOSE(n, solution, x, 1e-10 * test_norm2(n, solution)); /* κ of these is below 100 */
      bisai_solver_destroy(&solver);
      bisai_precond_destroy(&precond);
    }
  }
  free(a), free(b), free(x), free(solution);
  bisai_bcsr_destroy(&matrix);
}

/* The lower triangle of P A Pᵀ as NL's pattern, S(|L|), is what k = 1 takes by itself. */
static void given_patterns_are_in_the_new_ordering(void **state) {
  (void)state;
  test_bcsr a = random_matrix(2, 4);
  int32_t *permutation = test_random_permutation(ROWS, 4);
  test_bcsr b = test_bcsr_permuted(&a, permutation);
  bisai_bcsr *matrix = test_bcsr_make(context, &a), *permuted = test_bcsr_make(context, &b);
  bisai_precond_options options = options_of(BISAI_PRECOND_ISAI);
  options.isai.power = 1;
  options.factor.ordering = BISAI_ORDERING_GIVEN;
  options.factor.permutation = permutation;
  bisai_precond *by_power = test_precond_with(context, matrix, &options);
  bisai_pattern *lower = NULL, *upper = NULL;
  EXPECT_OK(context, bisai_pattern_power(context, permuted, BISAI_LOWER, 1, &lower));
  EXPECT_OK(context, bisai_pattern_power(context, permuted, BISAI_UPPER, 1, &upper));
  options.isai.lower_pattern = lower;
  options.isai.upper_pattern = upper;
  bisai_precond *by_pattern = test_precond_with(context, matrix, &options);
  bisai_pattern_destroy(&lower);
  bisai_pattern_destroy(&upper);
  memset(permutation, 0xff, ROWS * sizeof *permutation); /* read during creation only */
  test_expect_same(bisai_precond_lower_inverse(by_power), bisai_precond_lower_inverse(by_pattern));
  test_expect_same(bisai_precond_upper_inverse(by_power), bisai_precond_upper_inverse(by_pattern));
  assert_true(test_same_bits(context, by_power, by_pattern));
  bisai_precond_destroy(&by_power);
  bisai_precond_destroy(&by_pattern);
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&permuted);
  test_bcsr_free(&a);
  test_bcsr_free(&b);
  free(permutation);
}

static bisai_status triple(void *user, int64_t n, const double *v, double *z) {
  test_synchronize();
  (void)user;
  for (int64_t i = 0; i < n; i++) z[i] = 3.0 * v[i];
  return BISAI_OK;
}

static void kinds_without_factors_ignore_it(void **state) {
  (void)state;
  test_bcsr a = random_matrix(3, 1);
  bisai_bcsr *matrix = test_bcsr_take(context, a);
  static const bisai_precond_kind without[] = {BISAI_PRECOND_NONE, BISAI_PRECOND_BJACOBI,
                                               BISAI_PRECOND_CALLBACK};
  for (int kind = 0; kind < 3; kind++) {
    bisai_precond_options options = options_of(without[kind]);
    TEST_SET_OPTION(options, callback.apply, triple);
    bisai_precond *plain = test_precond_with(context, matrix, &options);
    options.factor.ordering = BISAI_ORDERING_RCM;
    options.factor.equilibrate = true;
    bisai_precond *ordered = test_precond_with(context, matrix, &options);
    assert_string_equal(bisai_precond_describe(plain), bisai_precond_describe(ordered));
    const bisai_precond_report report = test_report_of(context, ordered);
    assert_int_equal(report.factor.ordering, BISAI_ORDERING_NATURAL);
    assert_false(report.factor.equilibrated);
    assert_int_equal(report.memory_bytes, test_report_of(context, plain).memory_bytes);
    assert_true(test_same_bits(context, plain, ordered));
    bisai_precond_destroy(&plain);
    bisai_precond_destroy(&ordered);
  }
  bisai_bcsr_destroy(&matrix);
}

static void no_rows_and_one_row_are_reordered(void **state) {
  (void)state;
  for (int32_t n = 0; n <= 1; n++) {
    bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_tridiagonal(n, 2, 4.0, 0.0));
    for (int ordering = BISAI_ORDERING_NATURAL; ordering <= BISAI_ORDERING_COLOUR; ordering++) {
      bisai_precond_options options = options_of(BISAI_PRECOND_ISAI);
      options.factor.ordering = (bisai_ordering)ordering;
      options.factor.equilibrate = true;
      bisai_precond *precond = NULL;
      const bisai_status status = bisai_precond_create(context, matrix, &options, &precond);
      if (ordering == BISAI_ORDERING_ND && status == BISAI_UNAVAILABLE) continue;
      EXPECT_OK(context, status);
      const double v[2] = {8.0, 4.0};
      double z[2] = {0.0, 0.0};
      EXPECT_OK(context, bisai_precond_apply(precond, v, z));
      EXPECT_NEAR(n ? 2.0 : 0.0, z[0], 0.0);
      EXPECT_NEAR(n ? 1.0 : 0.0, z[1], 0.0);
      bisai_precond_destroy(&precond);
    }
    bisai_bcsr_destroy(&matrix);
  }
}

/* --- updates --- */

enum { VARIANTS = 4 * KINDS };

/* Every kind, reordered and not, equilibrated and not. */
static bisai_precond_options variant_of(int variant) {
  bisai_precond_options options = options_of(kinds[variant % KINDS]);
  options.factor.ordering = variant / KINDS % 2 ? BISAI_ORDERING_RCM : BISAI_ORDERING_NATURAL;
  options.factor.equilibrate = variant / KINDS >= 2;
  return options;
}

static void update_is_a_fresh_creation(void **state) {
  (void)state;
  for (int variant = 0; variant < VARIANTS; variant++) {
    test_bcsr a = badly_scaled(3, 1), b = badly_scaled(3, 1);
    for (int32_t v = 0; v < 9 * test_bcsr_blocks(&b); v++) b.values[v] *= 1.0 + 0.001 * (v % 7);
    for (int32_t p = b.row_ptr[4]; p < b.row_ptr[5]; p++)
      for (int32_t v = 0; v < 9; v++) b.values[9 * p + v] *= 1e9; /* another scaling, too */
    bisai_bcsr *first = test_bcsr_take(context, a), *second = test_bcsr_take(context, b);
    const bisai_precond_options options = variant_of(variant);
    bisai_precond *updated = test_precond_with(context, first, &options),
                  *fresh = test_precond_with(context, second, &options);
    EXPECT_OK(context, bisai_precond_update(updated, second));
    const bisai_factors *f = bisai_precond_factors(updated), *g = bisai_precond_factors(fresh);
    test_expect_same(bisai_factors_lower(f), bisai_factors_lower(g));
    test_expect_same(bisai_factors_upper(f), bisai_factors_upper(g));
    assert_true(test_same_bits(context, updated, fresh));
    assert_string_equal(bisai_precond_describe(updated), bisai_precond_describe(fresh));
    assert_true(test_report_of(context, updated).factor.largest_scale ==
                test_report_of(context, fresh).factor.largest_scale);
    assert_int_equal(test_report_of(context, updated).factor.profile,
                     test_report_of(context, fresh).factor.profile);
    bisai_precond_destroy(&updated);
    bisai_precond_destroy(&fresh);
    bisai_bcsr_destroy(&first);
    bisai_bcsr_destroy(&second);
  }
}

static void update_refuses_another_pattern(void **state) {
  (void)state;
  static const int32_t row_ptr[] = {0, 2, 4, 6}, columns[] = {0, 2, 0, 1, 1, 2},
                       moved[] = {0, 1, 1, 2, 0, 2};
  static const int32_t longer_ptr[] = {0, 3, 4, 6}, longer[] = {0, 1, 2, 1, 1, 2};
  const double values[] = {4, 1, 1, 4, 1, 4};
  for (int variant = 0; variant < 2; variant++) {
    bisai_bcsr *matrices[4] = {NULL};
    for (int k = 0; k < 4; k++) {
      bisai_bcsr_desc desc = bisai_bcsr_desc_default();
      desc.block_rows = desc.block_cols = 3;
      desc.block_size = 1;
      desc.row_ptr = k == 2 ? longer_ptr : row_ptr;
      desc.col_idx = k == 1 ? moved : k == 2 ? longer : columns;
      desc.values = values;
      EXPECT_OK(context, bisai_bcsr_create(context, &desc, &matrices[k]));
    }
    bisai_bcsr *fewer = test_bcsr_take(context, test_bcsr_tridiagonal(3, 1, 1.0, 0.0));
    bisai_precond_options options = options_of(BISAI_PRECOND_ILU);
    options.factor.ordering = variant ? BISAI_ORDERING_COLOUR : BISAI_ORDERING_NATURAL;
    options.factor.equilibrate = true;
    bisai_precond *precond = test_precond_with(context, matrices[0], &options);
    const bisai_bcsr *others[] = {matrices[1], matrices[2], fewer};
    double v[3] = {1, 2, 3}, z[3];
    for (int k = 0; k < 3; k++) {
      EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_update(precond, others[k]));
      EXPECT_MESSAGE(context, "the pattern changed: other blocks than at creation");
      EXPECT_OK(context, bisai_precond_apply(precond, v, z)); /* as before */
    }
    EXPECT_OK(context, bisai_precond_update(precond, matrices[3]));
    EXPECT_OK(context, bisai_precond_apply(precond, v, z));
    bisai_precond_destroy(&precond);
    bisai_bcsr_destroy(&fewer);
    for (int k = 0; k < 4; k++) bisai_bcsr_destroy(&matrices[k]);
  }
}

/* Expects that a refused update changes nothing. */
static void expect_update_refused(const bisai_bcsr *matrix, const bisai_bcsr *other,
                                  const char *message) {
  double *v = test_random_vector(2 * ROWS, 1), x[2 * ROWS], y[2 * ROWS];
  for (int variant = 0; variant < VARIANTS; variant++) {
    const bisai_precond_options options = variant_of(variant);
    bisai_precond *precond = test_precond_with(context, matrix, &options);
    EXPECT_OK(context, bisai_precond_apply(precond, v, x));
    EXPECT_STATUS(context, BISAI_UNSUPPORTED, bisai_precond_update(precond, other));
    EXPECT_MESSAGE(context, message);
    EXPECT_OK(context, bisai_precond_apply(precond, v, y));
    assert_memory_equal(x, y, sizeof x);
    bisai_precond_destroy(&precond);
  }
  free(v);
}

static void update_refuses_narrower_values(void **state) {
  (void)state;
  test_bcsr a = random_matrix(2, 6);
  bisai_bcsr *narrow = test_bcsr_single(context, &a), *matrix = test_bcsr_take(context, a);
  expect_update_refused(matrix, narrow, "the matrix must hold fp64 values to be factorised");
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&narrow);
}

static void update_refuses_an_implied_diagonal(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, random_matrix(2, 6));
  bisai_factors *factors = NULL;
  EXPECT_OK(context, bisai_factors_create(context, matrix, NULL, &factors));
  expect_update_refused(matrix, bisai_factors_lower(factors),
                        "the matrix implies its diagonal blocks: block ILU needs them stored");
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&matrix);
}

/* --- threads --- */

/* Large enough for several threads to have work. */
static void threads_do_not_change_a_bit(void **state) {
  (void)state;
  enum { SIDE = 130, BS = 3, N = SIDE * SIDE * BS };
  test_bcsr a = test_bcsr_grid(SIDE, SIDE, BS, 7);
  for (int32_t v = 0; v < 9 * test_bcsr_blocks(&a); v++) a.values[v] *= ldexp(1.0, v / 900 % 13);
  double *v = test_random_vector(2 * N, 1), *expected = test_random_vector(2 * N, 2),
         *z = test_random_vector(2 * N, 3);
  for (int ordering = BISAI_ORDERING_RCM; ordering <= BISAI_ORDERING_COLOUR; ordering += 2) {
    double smallest = 0.0;
    for (int threads = 1; threads <= 4; threads++) {
      bisai_context *c = test_context(threads);
      bisai_bcsr *matrix = test_bcsr_make(c, &a);
      bisai_precond_options options = options_of(BISAI_PRECOND_ISAI);
      options.isai.power = 1;
      options.factor.ordering = (bisai_ordering)ordering;
      options.factor.equilibrate = true;
      options.isai.storage = BISAI_FP32;
      bisai_precond *precond = test_precond_with(c, matrix, &options);
      EXPECT_OK(c, bisai_precond_apply_many(precond, 2, v, N, threads == 1 ? expected : z, N));
      if (threads == 1) smallest = test_report_of(context, precond).factor.smallest_scale;
      if (threads > 1) assert_memory_equal(z, expected, 2 * N * sizeof *z);
      assert_true(test_report_of(context, precond).factor.smallest_scale == smallest);
      bisai_precond_destroy(&precond);
      bisai_bcsr_destroy(&matrix);
      bisai_context_destroy(&c);
    }
  }
  free(v), free(expected), free(z);
  test_bcsr_free(&a);
}

static void threads_do_not_change_the_memory(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(9, 8, 3, 7);
  int64_t memory[2];
  for (int many = 0; many < 2; many++) {
    bisai_context *c = test_context(many ? 64 : 1);
    bisai_bcsr *matrix = test_bcsr_make(c, &a);
    bisai_precond_options options = options_of(BISAI_PRECOND_ILU);
    options.factor.equilibrate = true;
    bisai_precond *precond = test_precond_with(c, matrix, &options);
    memory[many] = test_report_of(context, precond).memory_bytes;
    bisai_precond_destroy(&precond);
    bisai_bcsr_destroy(&matrix);
    bisai_context_destroy(&c);
  }
  assert_int_equal(memory[0], memory[1]);
  test_bcsr_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_ordering_is_the_permuted_matrix),
      cmocka_unit_test(every_ordering_solves_the_system),
      cmocka_unit_test(given_patterns_are_in_the_new_ordering),
      cmocka_unit_test(kinds_without_factors_ignore_it),
      cmocka_unit_test(no_rows_and_one_row_are_reordered),
      cmocka_unit_test(update_is_a_fresh_creation),
      cmocka_unit_test(update_refuses_another_pattern),
      cmocka_unit_test(update_refuses_narrower_values),
      cmocka_unit_test(update_refuses_an_implied_diagonal),
      cmocka_unit_test(threads_do_not_change_a_bit),
      cmocka_unit_test(threads_do_not_change_the_memory),
  };
  return cmocka_run_group_tests_name("reorder", tests, setup, teardown);
}
