/* SPDX-License-Identifier: BSD-3-Clause */
/* What a study finds: in matrices that can be checked by hand, against dense loops for every block
 * size, for any number of threads, and with failing allocations. */
#include "dense.h"

/* Rows as they are read; blocks_of() takes columns. */
#define ROWS(n, ...)                                                                               \
  const double rows[] = {__VA_ARGS__};                                                             \
  double a[(n) * (n)];                                                                             \
  for (int i = 0; i < (n); i++)                                                                    \
    for (int j = 0; j < (n); j++) a[j * (n) + i] = rows[i * (n) + j];

static void a_saddle_point_is_counted_by_hand(void **state) {
  (void)state;
  ROWS(5, 4, -1, 0, 1, 0, /**/ -1, 4, -1, 0, 1, /**/ 0, -1, -4, 2, 0, /**/ 1, 0, 2, 0, 0, /**/ 0, 1,
       0, 0, 0)
  const bisai_matrix_study_report s = study_dense(5, 1, a, NULL);
  assert_int_equal(5, s.entries.rows);
  assert_int_equal(13, s.entries.nonzeros);
  assert_true(s.entries.fill == 1 && s.symmetry.symmetric && s.symmetry.asymmetry == 0);
  assert_int_equal(2, s.diagonal.positive);
  assert_int_equal(1, s.diagonal.negative);
  assert_int_equal(2, s.diagonal.first_negative);
  assert_int_equal(2, s.diagonal.last_negative);
  assert_int_equal(2, s.diagonal.zero);
  assert_int_equal(2, s.diagonal.missing_blocks);
  assert_int_equal(3, s.diagonal.first_missing);
  assert_true(s.diagonal.mixed_signs && s.diagonal.condition == 1);
  assert_int_equal(2, s.saddle.rows);
  assert_int_equal(3, s.saddle.first_row);
  assert_int_equal(4, s.saddle.last_row);
  assert_true(s.saddle.zero_block && s.saddle.share == 0.4 && s.saddle.components == 0);
  assert_true(s.couplings.dominant_rows == 0.6);
  assert_true(s.scales.largest_row == 4 && s.scales.smallest_row == 1);
  assert_true(s.scales.largest_diagonal == 4 && s.scales.smallest_diagonal == 4);
  assert_int_equal(3, s.order.bandwidth);
  EXPECT_NEAR((0 + 1 + 1 + 3 + 3) / 5.0, s.order.profile, 0);
  assert_int_equal(4, s.order.levels); /* 0, 1, 2, 3 after row 2, 4 after row 1 */
  assert_int_equal(5, s.order.level_rows);
  assert_int_equal(1, s.fields.count);
}

static void entries_between_rows_with_a_zero_diagonal_are_counted(void **state) {
  (void)state;
  ROWS(4, 1, 0, 1, 0, /**/ 0, 1, 0, 1, /**/ 1, 0, 0, 3, /**/ 0, 1, 3, 0)
  bisai_matrix_study_report s = study_dense(4, 1, a, NULL);
  assert_int_equal(2, s.saddle.inner);
  assert_false(s.saddle.zero_block);
  s = study_dense(4, 2, a, NULL); /* blocks [1 0; 0 1] and [0 3; 3 0], which are regular */
  assert_int_equal(2, s.saddle.inner);
  assert_int_equal(0, s.diagonal.singular_blocks + s.diagonal.missing_blocks);
  assert_int_equal(2, s.diagonal.zero);
}

static void a_component_without_diagonal_entries_is_named(void **state) {
  (void)state;
  /* blocks [2 1; 1 0] as in a collocated flow, with and without the coupling inside */
  ROWS(4, 2, 1, -1, 0, /**/ 1, 0, 0, 0, /**/ -1, 0, 2, 0, /**/ 0, 1, 0, 0)
  const bisai_matrix_study_report s = study_dense(4, 2, a, NULL);
  assert_int_equal(2, s.saddle.components);
  assert_int_equal(2, s.saddle.rows);
  assert_int_equal(1, s.diagonal.singular_blocks);
  assert_int_equal(1, s.diagonal.first_singular);
  assert_false(s.diagonal.mixed_signs);
}

static void rows_of_zeros_and_rows_of_a_diagonal_alone_are_counted(void **state) {
  (void)state;
  ROWS(6, 1, 0, 0, 0, 0, 0, /**/ 0, 2, 1, 0, 0, 0, /**/ 0, 1, 2, 0, 0, 0, /**/ 0, 0, 0, 3, 0, 0,
       /**/ 0, 0, 0, 0, 4, 0, /**/ 0, 0, 0, 0, 0, 0)
  const bisai_matrix_study_report s = study_dense(6, 2, a, NULL);
  assert_int_equal(1, s.entries.zero_rows);
  assert_int_equal(5, s.entries.first_zero_row);
  assert_int_equal(3, s.entries.single_rows);
  assert_int_equal(0, s.entries.first_single_row);
  assert_int_equal(3, s.entries.partly_single); /* rows 0 of 0, 1; 3 of 2, 3; 4 of 4, 5 */
  assert_int_equal(0, s.saddle.rows);
}

/* A chain without ends: constants solve A x = 0. */
static void constants_of_a_singular_matrix_are_found(void **state) {
  (void)state;
  enum { N = 12 };
  double a[N * N] = {0}, b[N];
  for (int i = 0; i < N; i++) {
    b[i] = 1;
    for (int j = i - 1; j <= i + 1; j += 2)
      if (j >= 0 && j < N) a[j * N + i] = -1, a[i * N + i] += 1;
  }
  bisai_matrix_study_report s = study_dense(N, 1, a, b);
  assert_true(s.null.right.components == 1 && s.null.left.components == 1);
  EXPECT_NEAR(1, s.null.inconsistency, 1e-15);
  s = study_dense(N, 3, a, b); /* the constant of all rows, and none of a component */
  assert_true(s.null.right.ones && s.null.left.ones && s.null.left.components == 0);
  for (int i = 0; i < N; i++) b[i] = i % 2 ? -1 : 1;
  assert_true(study_dense(N, 3, a, b).null.inconsistency == 0);
  for (int i = 0; i < N; i++) a[i * N + 4] *= 8; /* A v = 0 only */
  s = study_dense(N, 1, a, b);
  assert_true(s.null.right.components == 1 && s.null.left.components == 0);
  assert_false(s.symmetry.symmetric);
  for (int i = 0; i < N; i++) { /* Aᵀ v = 0 only */
    for (int j = 0; j < i; j++) {
      const double swap = a[i * N + j];
      a[i * N + j] = a[j * N + i], a[j * N + i] = swap;
    }
  }
  b[3] = 5;
  s = study_dense(N, 1, a, b);
  assert_true(s.null.right.components == 0 && s.null.left.components == 1);
  double sum = 0, squares = 0;
  for (int i = 0; i < N; i++) sum += b[i], squares += b[i] * b[i];
  EXPECT_NEAR(fabs(sum) / sqrt(N * squares), s.null.inconsistency, 1e-15);
}

/* Two velocities for each of three cells in a row; the pressure is known up to a constant. */
static void the_constant_of_a_pressure_is_found(void **state) {
  (void)state;
  ROWS(5, 4, -1, 1, -1, 0, /**/ -1, 4, 0, 1, -1, /**/ 1, 0, 0, 0, 0, /**/ -1, 1, 0, 0, 0, /**/ 0,
       -1, 0, 0, 0)
  const double b[] = {0, 0, 1, 1, 1};
  bisai_matrix_study_report s = study_dense(5, 1, a, b);
  assert_true(s.saddle.zero_block && !s.null.right.ones && s.null.right.components == 0);
  assert_true(s.null.right.first_row == 2 && s.null.right.end_row == 5);
  assert_true(s.null.left.first_row == 2 && s.null.left.end_row == 5);
  EXPECT_NEAR(1, s.null.inconsistency, 1e-15);
  double v[5];
  assert_int_equal(1, bisai_study_constants_vectors(&s.null.left, 1, 5, NULL));
  assert_int_equal(1, bisai_study_constants_vectors(&s.null.left, 1, 5, v));
  for (int i = 0; i < 5; i++) assert_true(v[i] == (i >= 2));
  a[1 * 5 + 4] = -1.5; /* (4, 1): Aᵀ v ≠ 0 */
  s = study_dense(5, 1, a, b);
  assert_true(s.null.right.end_row == 5 && s.null.left.end_row == 0);
  assert_true(s.null.inconsistency == 0);
  a[1 * 5 + 4] = -1, a[2 * 5 + 0] = 2; /* (0, 2): A v ≠ 0 */
  s = study_dense(5, 1, a, b);
  assert_true(s.null.right.end_row == 0 && s.null.left.end_row == 5);
  const bisai_study_constants all = {.components = 5, .first_row = 0, .end_row = 0};
  double w[2 * 6];
  assert_int_equal(2, bisai_study_constants_vectors(&all, 3, 6, w));
  for (int i = 0; i < 12; i++) assert_true(w[i] == (i % 6 % 3 == (i < 6 ? 0 : 2)));
}

static void other_right_hand_sides_are_measured_by_themselves(void **state) {
  (void)state;
  ROWS(3, 1, -1, 0, /**/ -1, 2, -1, /**/ 0, -1, 1)
  bisai_bcsr *matrix = blocks_of(context, 3, 1, a);
  const bisai_matrix_study_report s = study_of(context, matrix, NULL);
  double b[] = {1, -2, 1}, part = 7;
  assert_true(s.null.inconsistency == 0);
  EXPECT_OK(context, bisai_matrix_study_rhs(context, matrix, &s, b, &part));
  assert_true(part == 0);
  b[1] = 1;
  EXPECT_OK(context, bisai_matrix_study_rhs(context, matrix, &s, b, &part));
  EXPECT_NEAR(1, part, 1e-15);
  double *there = test_vector_in_place(3, 1);
  memcpy(there, b, sizeof b);
  part = 0;
  EXPECT_OK(context, bisai_matrix_study_rhs(context, matrix, &s, there, &part));
  EXPECT_NEAR(1, part, 1e-15);
  test_vector_free(there);
  b[2] = (double)INFINITY;
  EXPECT_STATUS(context, BISAI_NOT_FINITE, bisai_matrix_study_rhs(context, matrix, &s, b, &part));
  EXPECT_MESSAGE(context, "b is not finite in row 2");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_matrix_study_rhs(context, matrix, &s, NULL, &part));
  EXPECT_MESSAGE(context, "bisai_matrix_study_rhs: rhs is NULL");
  EXPECT_NEAR(1, part, 1e-15); /* unchanged */
  bisai_bcsr_destroy(&matrix);
}

static void constants_of_a_component_are_found_and_not_in_padding(void **state) {
  (void)state;
  /* the second unknown of each block is a pressure without a level; five rows in blocks of two */
  ROWS(5, 5, 1, -1, -1, 0, /**/ 1, 1, 0, -1, -1, /**/ -1, 1, 5, -1, 1, /**/ 2, -1, 1, 1, 1, /**/ -1,
       0, 3, 0, 4)
  const bisai_matrix_study_report s = study_dense(5, 2, a, NULL);
  assert_int_equal(2, s.null.right.components);
  assert_false(s.null.right.ones);
  assert_true(s.null.left.components == 0 && !s.null.left.ones);
  assert_int_equal(5, s.entries.rows);
}

static void convection_and_diffusion_are_told_apart(void **state) {
  (void)state;
  enum { N = 9 };
  double upwind[N * N] = {0}, central[N * N] = {0}, diffusion[N * N] = {0};
  for (int i = 0; i < N; i++) {
    upwind[i * N + i] = 1, central[i * N + i] = 1, diffusion[i * N + i] = 2;
    if (i > 0) upwind[(i - 1) * N + i] = -1, central[(i - 1) * N + i] = -0.5;
    if (i + 1 < N) central[(i + 1) * N + i] = 0.5;
    if (i > 0) diffusion[(i - 1) * N + i] = -1;
    if (i + 1 < N) diffusion[(i + 1) * N + i] = -0.001;
  }
  bisai_matrix_study_report s = study_dense(N, 1, upwind, NULL);
  assert_true(s.symmetry.one_sided == 1 && s.symmetry.mirrored_blocks == 0);
  assert_true(s.couplings.opposite == 1 && s.couplings.dominant_rows == 1);
  assert_true(s.symmetry.asymmetry == 1);
  s = study_dense(N, 1, central, NULL);
  assert_true(s.symmetry.one_sided == 1 && s.symmetry.mirrored_entries == 1);
  /* rows between have one coupling of each sign, the ends the one or the other */
  EXPECT_NEAR(0.5, s.couplings.opposite, 1e-6);
  assert_true(s.symmetry.asymmetry == 1);
  s = study_dense(N, 1, diffusion, NULL);
  EXPECT_NEAR(0.5 * (N - 2) / N, s.couplings.weak, 1e-6);
}

/* --- against dense loops --- */

typedef struct expected {
  int64_t nonzeros, positive, negative, zero, zero_rows, single, saddle, inner, dominant;
  double largest, smallest;
} expected;

static double off_diagonal(int n, const double *a, int i) {
  double sum = 0;
  for (int j = 0; j < n; j++) sum += j == i ? 0 : fabs(a[j * n + i]);
  return sum;
}

static expected count(int n, const double *a) {
  expected e = {.smallest = INFINITY};
  for (int i = 0; i < n; i++) {
    const double d = a[i * n + i], off = off_diagonal(n, a, i);
    double row = 0;
    for (int j = 0; j < n; j++) {
      e.nonzeros += a[j * n + i] != 0;
      row = fmax(row, fabs(a[j * n + i]));
      e.inner += d == 0 && off > 0 && a[j * n + j] == 0 && a[j * n + i] != 0;
    }
    e.positive += d > 0, e.negative += d < 0, e.zero += d == 0;
    e.zero_rows += row == 0, e.single += d != 0 && off == 0, e.saddle += d == 0 && off > 0;
    e.dominant += d != 0 && fabs(d) >= off;
    e.largest = fmax(e.largest, row);
    if (row > 0) e.smallest = fmin(e.smallest, row);
  }
  return e;
}

/* Returns how many block rows, padded by the identity, have |D⁻¹| O 1 ≤ 1, and counts singular D.
 * *condition ← the largest κ₁. */
static int dominant_blocks(int n, int bs, const double *a, int *singular, double *condition) {
  int dominant = 0;
  *singular = 0, *condition = 0;
  for (int first = 0; first < n; first += bs) {
    double d[BISAI_MAX_BLOCK_SIZE * BISAI_MAX_BLOCK_SIZE], outside[BISAI_MAX_BLOCK_SIZE] = {0};
    bool dominates = true;
    for (int r = 0; r < bs; r++)
      for (int c = 0; c < bs; c++)
        d[c * bs + r] = first + r < n && first + c < n ? a[(first + c) * n + first + r] : r == c;
    for (int r = 0; r < bs && first + r < n; r++)
      for (int j = 0; j < n; j++)
        if (j < first || j >= first + bs) outside[r] += fabs(a[j * n + first + r]);
    double *inverse = test_dense_inverse(bs, d);
    *singular += !inverse;
    if (!inverse) continue;
    *condition = fmax(*condition, test_dense_norm1(bs, bs, d) * test_dense_norm1(bs, bs, inverse));
    for (int r = 0; r < bs; r++) {
      double sum = 0;
      for (int k = 0; k < bs; k++) sum += fabs(inverse[k * bs + r]) * outside[k];
      dominates = dominates && sum <= 1;
    }
    dominant += dominates;
    free(inverse);
  }
  return dominant;
}

/* Sparse, with zeros on the diagonal, rows of zeros, rows of a diagonal alone and dominant rows. */
static double *random_dense(int n, uint64_t seed) {
  test_random random = test_random_seed(seed);
  double *a = calloc((size_t)(n * n), sizeof *a);
  for (int i = 0; i < n; i++) {
    const int sort = i % 7;
    for (int j = 0; j < n && sort != 5 && sort != 6; j++)
      if (test_random_uniform(&random, 0, 1) < 0.15)
        a[j * n + i] = test_random_uniform(&random, -1, 1);
    a[i * n + i] = sort == 0 || sort == 6 ? 0 : test_random_uniform(&random, -1, 1);
    if (sort == 1 || sort == 2) a[i * n + i] = sort == 1 ? -40 : 40;
  }
  return a;
}

static void counts_equal_dense_loops_for_every_block_size(void **state) {
  (void)state;
  for (int bs = 1; bs <= BISAI_MAX_BLOCK_SIZE; bs += bs == 16 ? 15 : 1) {
    const int n = bs * 6 + bs / 2;
    double *a = random_dense(n, (uint64_t)bs), condition;
    const bisai_matrix_study_report s = study_dense(n, bs, a, NULL);
    const expected e = count(n, a);
    int singular;
    const int blocks = (n + bs - 1) / bs,
              dominant = dominant_blocks(n, bs, a, &singular, &condition);
    assert_int_equal(e.nonzeros, s.entries.nonzeros);
    assert_int_equal(e.positive, s.diagonal.positive);
    assert_int_equal(e.negative, s.diagonal.negative);
    assert_int_equal(e.zero, s.diagonal.zero);
    assert_int_equal(e.zero_rows, s.entries.zero_rows);
    assert_int_equal(e.single, s.entries.single_rows);
    assert_int_equal(e.saddle, s.saddle.rows);
    assert_int_equal(e.inner, s.saddle.inner);
    EXPECT_NEAR((double)e.dominant / n, s.couplings.dominant_rows, 0);
    EXPECT_NEAR((double)dominant / blocks, s.couplings.dominant_block_rows, 0);
    assert_int_equal(singular, s.diagonal.singular_blocks + s.diagonal.missing_blocks);
    EXPECT_NEAR(condition, s.diagonal.condition, 1e-6 * condition);
    assert_true(e.largest == s.scales.largest_row && e.smallest == s.scales.smallest_row);
    free(a);
  }
}

/* --- threads, memory, arguments --- */

static void the_bits_do_not_depend_on_threads(void **state) {
  (void)state;
  for (int bs = 1; bs <= 9; bs += 4) {
    test_bcsr arrays = test_bcsr_random(test_shape_square(6000, bs, 3));
    bisai_matrix_study_report first;
    for (int threads = 1; threads <= 4; threads++) {
      bisai_context *own = test_context(threads);
      bisai_bcsr *matrix = test_bcsr_make(own, &arrays);
      const bisai_matrix_study_report s = study_of(own, matrix, NULL);
      if (threads == 1) first = s;
      assert_memory_equal(&first, &s, sizeof s);
      bisai_bcsr_destroy(&matrix);
      bisai_context_destroy(&own);
    }
    test_bcsr_free(&arrays);
  }
}

/* Of a matrix with left constants, so that every allocation is made. */
static void every_allocation_may_fail(void **state) {
  (void)state;
  enum { N = 9 };
  double a[N * N] = {0}, b[N] = {1};
  for (int i = 0; i < N; i++) {
    a[i * N + (i + 1) % N] = -1, a[i * N + i] = 1;
    a[i * N + (i + 4) % N] += 2, a[i * N + (i + 3) % N] -= 2;
  }
  a[0] = 0, a[1] = 0; /* row 0 has a zero, and columns add up to zero */
  for (int bs = 1; bs <= 3; bs += 2)
    for (long long fail_at = 1;; fail_at++) {
      test_allocator allocator;
      test_allocator_reset(&allocator, 0);
      bisai_context *own = test_context_on(&allocator, 2);
      bisai_bcsr *matrix = blocks_of(own, N, bs, a);
      const long long live = allocator.live_blocks, calls = allocator.calls;
      bisai_matrix_study_report report = {.struct_size = sizeof report};
      allocator.fail_at = allocator.calls + fail_at;
      const bisai_status status = bisai_matrix_study(own, matrix, 0, b, &report);
      const bool failed = allocator.calls - calls >= fail_at;
      assert_int_equal(failed ? BISAI_OUT_OF_MEMORY : BISAI_OK, status);
      assert_int_equal(failed ? 0 : N, report.entries.rows);
      assert_int_equal(live, allocator.live_blocks);
      bisai_bcsr_destroy(&matrix);
      bisai_context_destroy(&own);
      if (!failed) break;
      assert_true(fail_at < 40);
    }
}

static void bad_arguments_are_refused_by_name(void **state) {
  (void)state;
  bisai_matrix_study_report report = {.struct_size = sizeof report};
  test_bcsr arrays = test_bcsr_tridiagonal(4, 2, 2, -1);
  bisai_bcsr *matrix = test_bcsr_make(context, &arrays),
             *narrow = test_bcsr_single(context, &arrays);
  assert_int_equal(BISAI_INVALID_ARGUMENT, bisai_matrix_study(NULL, matrix, 0, NULL, &report));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_matrix_study(context, NULL, 0, NULL, &report));
  EXPECT_MESSAGE(context, "bisai_matrix_study: matrix is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_matrix_study(context, matrix, 0, NULL, NULL));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_matrix_study(context, matrix, 9, NULL, &report));
  EXPECT_MESSAGE(context, "bisai_matrix_study: rows is 9, and the matrix has 8");
  EXPECT_STATUS(context, BISAI_UNSUPPORTED, bisai_matrix_study(context, narrow, 0, NULL, &report));
  EXPECT_MESSAGE(context, "bisai_matrix_study: the values are fp32, and only fp64 can be studied");
  report.struct_size = 1;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_matrix_study(context, matrix, 0, NULL, &report));
  assert_int_equal(0, report.entries.rows);
  bisai_bcsr_destroy(&matrix), bisai_bcsr_destroy(&narrow);
  test_bcsr_free(&arrays);
}

static void an_empty_matrix_has_nothing_to_say(void **state) {
  (void)state;
  const bisai_matrix_study_report s = study_dense(0, 1, NULL, NULL);
  assert_true(s.entries.rows == 0 && s.symmetry.symmetric && s.order.levels == 0);
  assert_int_equal(-1, s.saddle.first_row);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_saddle_point_is_counted_by_hand),
      cmocka_unit_test(entries_between_rows_with_a_zero_diagonal_are_counted),
      cmocka_unit_test(a_component_without_diagonal_entries_is_named),
      cmocka_unit_test(rows_of_zeros_and_rows_of_a_diagonal_alone_are_counted),
      cmocka_unit_test(constants_of_a_singular_matrix_are_found),
      cmocka_unit_test(the_constant_of_a_pressure_is_found),
      cmocka_unit_test(other_right_hand_sides_are_measured_by_themselves),
      cmocka_unit_test(constants_of_a_component_are_found_and_not_in_padding),
      cmocka_unit_test(convection_and_diffusion_are_told_apart),
      cmocka_unit_test(counts_equal_dense_loops_for_every_block_size),
      cmocka_unit_test(the_bits_do_not_depend_on_threads),
      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(bad_arguments_are_refused_by_name),
      cmocka_unit_test(an_empty_matrix_has_nothing_to_say),
  };
  return cmocka_run_group_tests_name("study", tests, setup, teardown);
}
