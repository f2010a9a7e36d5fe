/* SPDX-License-Identifier: BSD-3-Clause */
/* Symmetric ISAI, M⁻¹ = Wᵀ D⁻¹ W with W = NL (I + R + … + Rʳ), R = I − L NL: against dense
 * formulas, for every block size, storage, power and number of relaxation sweeps.
 *
 * All of it is a handful of products with matrices of norm near 1 (dominant diagonals): 1e-13 of
 * the largest entry is some hundred eps for sums of up to a few hundred terms. */
#include "fixture.h"
#include "systems.h"

#include <math.h>

enum { N = 30 };

static const int32_t block_sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16};
enum { BLOCK_SIZES = sizeof block_sizes / sizeof block_sizes[0] };

static bisai_precond_options symmetric_isai(int power, int relax, bisai_value_type storage) {
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = BISAI_PRECOND_ISAI;
  options.isai.symmetric = true;
  options.isai.power = power;
  options.isai.relax = relax;
  options.isai.storage = storage;
  return options;
}

static bisai_precond *make_symmetric(bisai_context *c, const bisai_bcsr *matrix, int power,
                                     int relax, bisai_value_type storage) {
  const bisai_precond_options options = symmetric_isai(power, relax, storage);
  return test_precond_with(c, matrix, &options);
}

/* The inverses of U's diagonal blocks as a dense matrix. */
static double *dense_inverse_diagonal(const bisai_factors *factors, int64_t n, int32_t bs) {
  double *dense = calloc((size_t)(n * n), sizeof *dense);
  const double *blocks = bisai_factors_inverse_diagonal(factors);
  for (int64_t j = 0; j < n; j++)
    for (int32_t r = 0; r < bs; r++) dense[j * n + j / bs * bs + r] = blocks[j * bs + r];
  return dense;
}

/* Wᵀ D⁻¹ W */
static double *dense_application(const bisai_precond *precond, int64_t n, int32_t bs, int relax) {
  const bisai_factors *factors = bisai_precond_factors(precond);
  double *inverse = test_dense(bisai_precond_lower_inverse(precond)),
         *l = test_dense(bisai_factors_lower(factors));
  double *w = test_dense(bisai_precond_lower_inverse(precond));
  for (int sweep = 0; sweep < relax; sweep++) {
    double *rest = test_dense_multiply(n, n, n, l, w);
    for (int64_t i = 0; i < n * n; i++) rest[i] = (i % (n + 1) == 0) - rest[i];
    double *step = test_dense_multiply(n, n, n, inverse, rest);
    for (int64_t i = 0; i < n * n; i++) w[i] += step[i];
    free(rest);
    free(step);
  }
  double *d = dense_inverse_diagonal(factors, n, bs), *half = test_dense_multiply(n, n, n, d, w);
  double *transposed = test_dense_transpose(n, n, w),
         *all = test_dense_multiply(n, n, n, transposed, half);
  free(inverse);
  free(l);
  free(w);
  free(d);
  free(half);
  free(transposed);
  return all;
}

static void application_equals_the_dense_formula_and_is_symmetric(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int32_t bs = block_sizes[s], rows = 6 + 48 / bs; /* dense products cost n³ */
    const int64_t n = rows * bs;
    bisai_bcsr *matrix =
        test_bcsr_take(context, test_bcsr_definite(rows, bs, (uint64_t)(300 + bs)));
    double *x = test_random_vector(n, 5), *y = test_random_vector(n, 6),
           *mx = malloc((size_t)n * sizeof *mx), *my = malloc((size_t)n * sizeof *my);
    for (int storage = BISAI_FP64; storage <= BISAI_BF16; storage++)
      for (int power = 1; power <= 3; power++)
        for (int relax = 0; relax <= 2; relax++) {
          bisai_precond *precond =
              make_symmetric(context, matrix, power, relax, (bisai_value_type)storage);
          EXPECT_OK(context, bisai_precond_apply(precond, x, mx));
          EXPECT_OK(context, bisai_precond_apply(precond, y, my));
          double *m = dense_application(precond, n, bs, relax),
                 *expected = test_dense_multiply(n, n, 1, m, x);
          EXPECT_CLOSE(n, expected, mx, 1e-13 * fmax(1.0, test_norm2(n, expected)));
          double one = 0, other = 0;
          for (int64_t i = 0; i < n; i++) {
            one += y[i] * mx[i];
            other += x[i] * my[i];
          }
          EXPECT_NEAR(one, other, 1e-14 * test_norm2(n, y) * test_norm2(n, mx));
          assert_null(bisai_precond_upper_inverse(precond));
          free(m);
          free(expected);
          bisai_precond_destroy(&precond);
        }
    bisai_bcsr_destroy(&matrix);
    free(x);
    free(y);
    free(mx);
    free(my);
  }
}

/* A tridiagonal L has an inverse that is full; with its whole pattern M is A itself. */
static void with_a_full_pattern_it_solves_exactly(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_tridiagonal(N, 2, 4.0, -1.0));
  bisai_precond *precond = make_symmetric(context, matrix, N, 0, BISAI_FP64);
  double *x = test_random_vector(2 * N, 1), *b = malloc(2 * N * sizeof *b),
         *z = malloc(2 * N * sizeof *z);
  EXPECT_OK(context, bisai_bcsr_multiply(matrix, x, b));
  EXPECT_OK(context, bisai_precond_apply(precond, b, z));
  EXPECT_CLOSE(2 * N, x, z, 1e-14);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  free(x);
  free(b);
  free(z);
}

/* 4 vectors at a time and the rest one by one, with gaps between them that stay as they were. */
static void several_vectors_are_applied_as_each_alone(void **state) {
  (void)state;
  enum { COUNT = 6 };
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int64_t n = N * block_sizes[s], ld = n + 3;
    bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_definite(N, block_sizes[s], 17));
    for (int storage = BISAI_FP64; storage <= BISAI_BF16; storage++) {
      bisai_precond *precond = make_symmetric(context, matrix, 2, 1, (bisai_value_type)storage);
      double *v = test_random_vector(COUNT * ld, 8), *z = test_random_vector(COUNT * ld, 9),
             *alone = malloc((size_t)n * 8);
      double *before = malloc((size_t)(COUNT * ld) * sizeof *before);
      memcpy(before, z, (size_t)(COUNT * ld) * sizeof *before);
      EXPECT_OK(context, bisai_precond_apply_many(precond, COUNT, v, ld, z, ld));
      for (int c = 0; c < COUNT; c++) {
        EXPECT_OK(context, bisai_precond_apply(precond, v + c * ld, alone));
        EXPECT_CLOSE(n, alone, z + c * ld, 1e-14 * test_norm2(n, alone));
        if (c + 1 < COUNT) assert_memory_equal(before + c * ld + n, z + c * ld + n, 3 * sizeof *z);
      }
      bisai_precond_destroy(&precond);
      free(v);
      free(z);
      free(alone);
      free(before);
    }
    bisai_bcsr_destroy(&matrix);
  }
}

/* x of one application, which the caller frees. */
static double *applied(bisai_precond *precond, bisai_context *c) {
  const int64_t n = bisai_precond_rows(precond);
  double *v = test_random_vector(n, 12), *z = malloc((size_t)n * sizeof *z);
  EXPECT_OK(c, bisai_precond_apply(precond, v, z));
  free(v);
  return z;
}

static void an_update_equals_creation_to_the_bit(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 8; bs++)
    for (int equilibrate = 0; equilibrate < 2; equilibrate++) {
      test_bcsr arrays = test_bcsr_definite(N, bs, (uint64_t)(90 + bs));
      bisai_bcsr *matrix = test_bcsr_make(context, &arrays);
      bisai_precond_options options = symmetric_isai(2, 1, BISAI_FP32);
      options.factor.equilibrate = equilibrate;
      bisai_precond *updated = test_precond_with(context, matrix, &options);
      for (int32_t p = 0; p < test_bcsr_blocks(&arrays) * bs * bs; p++) arrays.values[p] *= 1.5;
      for (int32_t i = 0; i < N; i++) *test_bcsr_block(&arrays, i, i) += 0.25 * i;
      EXPECT_OK(context, bisai_bcsr_update(matrix, arrays.values, BISAI_COLUMN_MAJOR));
      EXPECT_OK(context, bisai_precond_update(updated, matrix));
      bisai_precond *created = test_precond_with(context, matrix, &options);
      double *one = applied(updated, context), *other = applied(created, context);
      assert_memory_equal(one, other, (size_t)(N * bs) * sizeof *one);
      free(one);
      free(other);
      bisai_precond_destroy(&created);
      bisai_precond_destroy(&updated);
      bisai_bcsr_destroy(&matrix);
      test_bcsr_free(&arrays);
    }
}

static void bits_do_not_depend_on_threads(void **state) {
  (void)state;
  test_bcsr arrays = test_bcsr_grid(90, 90, 3, 2);
  for (int32_t i = 0; i < arrays.block_rows; i++) /* symmetric by copying the upper triangle */
    for (int32_t p = arrays.row_ptr[i]; p < arrays.row_ptr[i + 1]; p++)
      for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
          if (arrays.col_idx[p] > i || (arrays.col_idx[p] == i && c > r))
            test_bcsr_block(&arrays, arrays.col_idx[p], i)[r * 3 + c] =
                arrays.values[9 * p + c * 3 + r];
  double *first = NULL;
  for (int threads = 1; threads <= 4; threads++) {
    bisai_context *own = test_context(threads);
    bisai_bcsr *matrix = test_bcsr_make(own, &arrays);
    bisai_precond *precond = make_symmetric(own, matrix, 2, 1, BISAI_FP64);
    double *z = applied(precond, own);
    if (!first) first = z;
    assert_memory_equal(first, z, (size_t)(3 * arrays.block_rows) * sizeof *z);
    if (first != z) free(z);
    bisai_precond_destroy(&precond);
    bisai_bcsr_destroy(&matrix);
    bisai_context_destroy(&own);
  }
  free(first);
  test_bcsr_free(&arrays);
}

/* NL alone is made and held, of as many blocks as NU has. */
static void it_takes_half_of_the_inverses(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_definite(200, 3, 2));
  bisai_precond_options options = symmetric_isai(2, 0, BISAI_FP64);
  bisai_precond *half = test_precond_with(context, matrix, &options);
  options.isai.symmetric = false;
  bisai_precond *whole = test_precond_with(context, matrix, &options);
  const bisai_precond_report of_half = test_report_of(context, half),
                             of_whole = test_report_of(context, whole);
  assert_int_equal(of_whole.isai.blocks, 2 * of_half.isai.blocks);
  /* of the one that is not there, besides its indices */
  const int64_t values = 72 * of_half.isai.blocks;
  assert_true(of_whole.memory_bytes - of_half.memory_bytes > values + 12 * of_half.isai.blocks);
  assert_int_equal(BISAI_SYMMETRY_PATTERN, of_half.symmetry);
  assert_true(of_half.isai.asymmetry == 0 && isnan(of_whole.isai.asymmetry));
  assert_string_equal("isai k=2 symmetric relax=0 storage=fp64",
                      strtok((char *)(uintptr_t)bisai_precond_describe(half), ","));
  bisai_precond_destroy(&half);
  bisai_precond_destroy(&whole);
  bisai_bcsr_destroy(&matrix);
}

static int iterations_with(bisai_precond_options options, const bisai_bcsr *matrix) {
  const int64_t n = (int64_t)bisai_bcsr_block_rows(matrix) * bisai_bcsr_block_size(matrix);
  bisai_precond *precond = test_precond_with(context, matrix, &options);
  bisai_solver_options how = bisai_solver_options_default();
  how.method = BISAI_CG;
  double *b = test_random_vector(n, 21), *x = malloc((size_t)n * sizeof *x);
  bisai_solver_report report = test_report();
  EXPECT_OK(context, test_solve(context, &how, matrix, precond, b, x, &report));
  assert_true(test_relative_residual(matrix, x, b) <= 2e-8);
  free(b);
  free(x);
  bisai_precond_destroy(&precond);
  return report.iterations;
}

/* 100 × 100 points, −Δ: the larger the pattern and the more sweeps, the fewer iterations, and never
 * fewer than exact solves take. */
static void cg_takes_fewer_iterations_the_closer_it_comes_to_ilu(void **state) {
  (void)state;
  enum { SIDE = 100 };
  test_bcsr arrays = test_bcsr_grid(SIDE, SIDE, 1, 1);
  for (int32_t i = 0; i < SIDE * SIDE; i++)
    for (int32_t p = arrays.row_ptr[i]; p < arrays.row_ptr[i + 1]; p++)
      arrays.values[p] = arrays.col_idx[p] == i ? 4 : -1;
  bisai_bcsr *matrix = test_bcsr_take(context, arrays);
  bisai_precond_options ilu = bisai_precond_options_default(), none = ilu;
  ilu.kind = BISAI_PRECOND_ILU;
  none.kind = BISAI_PRECOND_NONE;
  const int exact = iterations_with(ilu, matrix), without = iterations_with(none, matrix);
  const int first = iterations_with(symmetric_isai(1, 0, BISAI_FP64), matrix),
            second = iterations_with(symmetric_isai(2, 0, BISAI_FP64), matrix),
            third = iterations_with(symmetric_isai(3, 0, BISAI_FP64), matrix),
            relaxed = iterations_with(symmetric_isai(1, 1, BISAI_FP64), matrix);
  assert_true(exact <= third && third < second && second < first && first < without);
  assert_true(exact <= relaxed && relaxed < first);
  bisai_bcsr_destroy(&matrix);
}

/* Values of 1e±9 leave fp16's range unless Dr = Dc bring them near 1; the matrix is symmetric but
 * for rounding, so that exponents of rows and of columns may differ. */
static void orderings_and_equilibration_keep_it_symmetric(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 8; bs++) {
    test_bcsr arrays = test_bcsr_definite(N, bs, (uint64_t)(700 + bs));
    test_random random = test_random_seed(3);
    for (int32_t i = 0; i < N; i++)
      for (int32_t p = arrays.row_ptr[i]; p < arrays.row_ptr[i + 1]; p++)
        for (int v = 0; v < bs * bs; v++)
          arrays.values[(size_t)p * (size_t)(bs * bs) + (size_t)v] *=
              ldexp(1 + test_random_uniform(&random, -1e-15, 1e-15),
                    (7 * i) % 30 + (7 * arrays.col_idx[p]) % 30 - 30);
    bisai_bcsr *matrix = test_bcsr_take(context, arrays);
    static const bisai_ordering orderings[] = {BISAI_ORDERING_NATURAL, BISAI_ORDERING_RCM,
                                               BISAI_ORDERING_COLOUR};
    for (size_t k = 0; k < sizeof orderings / sizeof orderings[0]; k++) {
      bisai_precond_options options = symmetric_isai(2, 1, BISAI_FP16);
      options.factor.ordering = orderings[k];
      options.factor.equilibrate = true;
      bisai_precond *precond = test_precond_with(context, matrix, &options);
      const int64_t n = N * bs;
      double *x = test_random_vector(n, 5), *y = test_random_vector(n, 6), one = 0, other = 0,
             size = 0;
      double *mx = malloc((size_t)n * sizeof *mx), *my = malloc((size_t)n * sizeof *my);
      EXPECT_OK(context, bisai_precond_apply(precond, x, mx));
      EXPECT_OK(context, bisai_precond_apply(precond, y, my));
      for (int64_t i = 0; i < n; i++) {
        one += y[i] * mx[i];
        other += x[i] * my[i];
        size += fabs(y[i] * mx[i]);
      }
      EXPECT_NEAR(one, other, 1e-13 * size);
      iterations_with(options, matrix);
      bisai_precond_destroy(&precond);
      free(x);
      free(y);
      free(mx);
      free(my);
    }
    bisai_bcsr_destroy(&matrix);
  }
}

static void what_is_not_symmetric_is_refused(void **state) {
  (void)state;
  test_bcsr arrays = test_bcsr_definite(N, 2, 4);
  bisai_bcsr *matrix = test_bcsr_make(context, &arrays);
  bisai_precond_options options = symmetric_isai(1, 0, BISAI_FP64);
  bisai_precond *precond = test_precond_with(context, matrix, &options), *none = NULL;
  double *before = applied(precond, context);
  test_bcsr_block(&arrays, 5, 5)[2] += 3;
  EXPECT_OK(context, bisai_bcsr_update(matrix, arrays.values, BISAI_COLUMN_MAJOR));
  EXPECT_STATUS(context, BISAI_NOT_SYMMETRIC,
                bisai_precond_create(context, matrix, &options, &none));
  assert_null(none);
  EXPECT_IN_MESSAGE(context,
                    "symmetric isai needs a symmetric matrix, and the asymmetry of this one is ");
  /* An update that is refused leaves what was there. */
  EXPECT_STATUS(context, BISAI_NOT_SYMMETRIC, bisai_precond_update(precond, matrix));
  double *after = applied(precond, context);
  assert_memory_equal(before, after, 2 * N * sizeof *before);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  test_bcsr_free(&arrays);
  free(before);
  free(after);

  int32_t row_ptr[] = {0, 2, 3}, col_idx[] = {0, 1, 1};
  double values[] = {1, 0, 1};
  matrix = test_bcsr_make(context, &(test_bcsr){2, 2, 1, row_ptr, col_idx, values});
  EXPECT_STATUS(context, BISAI_NOT_SYMMETRIC,
                bisai_precond_create(context, matrix, &options, &none));
  EXPECT_MESSAGE(context, "symmetric isai needs a stored block (j, i) for each stored block (i, "
                          "j), which this matrix lacks");
  bisai_bcsr_destroy(&matrix);
}

static void arguments_that_do_not_go_with_it_are_refused(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_tridiagonal(4, 1, 4.0, -1.0));
  bisai_precond *none = NULL;
  bisai_precond_options options = symmetric_isai(1, 0, BISAI_FP64);
  bisai_pattern *upper = NULL, *lower = NULL;
  EXPECT_OK(context, bisai_pattern_power(context, matrix, BISAI_UPPER, 1, &upper));
  EXPECT_OK(context, bisai_pattern_power(context, matrix, BISAI_LOWER, 2, &lower));
  options.isai.upper_pattern = upper;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_precond_create(context, matrix, &options, &none));
  EXPECT_MESSAGE(context, "upper_pattern: symmetric isai has no NU");
  options.isai.upper_pattern = NULL;
  for (int kind = BISAI_PRECOND_NONE; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    if (kind == BISAI_PRECOND_ISAI) continue;
    options.kind = (bisai_precond_kind)kind;
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                  bisai_precond_create(context, matrix, &options, &none));
  }
  EXPECT_MESSAGE(context,
                 "sweeps does not take the option symmetric, which is for isai, cpr, auto, schur");
  options.kind = BISAI_PRECOND_ISAI;
  /* A lower pattern that is given is used; L with diagonal blocks is not the L of L D Lᵀ. */
  options.isai.lower_pattern = lower;
  bisai_precond *precond = test_precond_with(context, matrix, &options);
  assert_int_equal(bisai_pattern_blocks(lower), test_report_of(context, precond).isai.blocks);
  bisai_precond_destroy(&precond);
  options.isai.lower_pattern = NULL;
  int32_t l_ptr[] = {0, 1, 3, 5, 7}, l_idx[] = {0, 0, 1, 1, 2, 2, 3}, u_ptr[] = {0, 2, 4, 6, 7},
          u_idx[] = {0, 1, 1, 2, 2, 3, 3};
  double l_values[] = {2, -1, 2, -1, 2, -1, 2}, u_values[] = {2, -1, 2, -1, 2, -1, 2};
  bisai_bcsr *l = test_bcsr_make(context, &(test_bcsr){4, 4, 1, l_ptr, l_idx, l_values});
  bisai_bcsr *u = test_bcsr_make(context, &(test_bcsr){4, 4, 1, u_ptr, u_idx, u_values});
  bisai_factors *factors = NULL;
  EXPECT_OK(context, bisai_factors_from_matrices(context, l, u, &factors));
  options.factor.factors = factors;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_precond_create(context, matrix, &options, &none));
  EXPECT_MESSAGE(context, "symmetric isai needs factors whose L implies its diagonal blocks");
  bisai_factors_destroy(&factors);
  EXPECT_OK(context, bisai_factors_create(context, matrix, NULL, &factors));
  options.factor.factors = factors;
  precond = test_precond_with(context, matrix, &options);
  assert_int_equal(BISAI_SYMMETRY_CALLER, test_report_of(context, precond).symmetry);
  bisai_precond_destroy(&precond);
  bisai_factors_destroy(&factors);
  bisai_pattern_destroy(&lower);
  bisai_pattern_destroy(&upper);
  bisai_bcsr_destroy(&l);
  bisai_bcsr_destroy(&u);
  bisai_bcsr_destroy(&matrix);
}

static void every_failed_allocation_is_an_error_and_leaks_nothing(void **state) {
  (void)state;
  test_bcsr arrays = test_bcsr_definite(12, 2, 4);
  bisai_precond_options options = symmetric_isai(2, 1, BISAI_FP32);
  options.factor.ordering = BISAI_ORDERING_RCM;
  options.factor.equilibrate = true;
  bool done = false;
  for (int fail = 1; !done; fail++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *own = test_context_on(&allocator, 2);
    bisai_bcsr *matrix = test_bcsr_make(own, &arrays);
    bisai_precond *precond = NULL;
    allocator.fail_at = allocator.calls + fail;
    const long long live = allocator.live_blocks;
    const bisai_status status = bisai_precond_create(own, matrix, &options, &precond);
    done = status == BISAI_OK;
    if (!done) {
      assert_int_equal(BISAI_OUT_OF_MEMORY, status);
      assert_null(precond);
      assert_int_equal(live, allocator.live_blocks);
    } else {
      const long long calls = allocator.calls;
      double *v = test_vector_in_place(24, 1), *z = test_vector_in_place(24, 2);
      EXPECT_OK(own, bisai_precond_update(precond, matrix));
      EXPECT_OK(own, bisai_precond_apply(precond, v, z));
      assert_int_equal(calls, allocator.calls);
      test_vector_free(v);
      test_vector_free(z);
      assert_true(fail > 20);
    }
    bisai_precond_destroy(&precond);
    bisai_bcsr_destroy(&matrix);
    bisai_context_destroy(&own);
    assert_int_equal(0, allocator.live_blocks);
  }
  test_bcsr_free(&arrays);
}

/* No block below the diagonal: L is the identity, M⁻¹ = D⁻¹; and no rows at all. */
static void block_diagonal_and_empty_matrices_are_fine(void **state) {
  (void)state;
  for (int32_t n = 0; n <= 5; n += 5) {
    test_shape shape = test_shape_square(n, 3, 1);
    shape.blocks_per_row = 0;
    test_bcsr arrays = test_bcsr_random(shape);
    for (int32_t p = 0; p < n; p++)
      for (int v = 0; v < 9; v++) arrays.values[9 * p + v] = v % 4 == 0 ? 2 : 0;
    bisai_bcsr *matrix = test_bcsr_take(context, arrays);
    bisai_precond *precond = make_symmetric(context, matrix, 2, 2, BISAI_FP64);
    double *v = test_random_vector(15, 1), z[15] = {0};
    EXPECT_OK(context, bisai_precond_apply(precond, v, z));
    for (int i = 0; i < 3 * n; i++) assert_true(z[i] == 0.5 * v[i]);
    free(v);
    bisai_precond_destroy(&precond);
    bisai_bcsr_destroy(&matrix);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(application_equals_the_dense_formula_and_is_symmetric),
      cmocka_unit_test(with_a_full_pattern_it_solves_exactly),
      cmocka_unit_test(several_vectors_are_applied_as_each_alone),
      cmocka_unit_test(an_update_equals_creation_to_the_bit),
      cmocka_unit_test(bits_do_not_depend_on_threads),
      cmocka_unit_test(it_takes_half_of_the_inverses),
      cmocka_unit_test(cg_takes_fewer_iterations_the_closer_it_comes_to_ilu),
      cmocka_unit_test(orderings_and_equilibration_keep_it_symmetric),
      cmocka_unit_test(what_is_not_symmetric_is_refused),
      cmocka_unit_test(arguments_that_do_not_go_with_it_are_refused),
      cmocka_unit_test(every_failed_allocation_is_an_error_and_leaks_nothing),
      cmocka_unit_test(block_diagonal_and_empty_matrices_are_fine),
  };
  return cmocka_run_group_tests_name("isai_symmetric", tests, setup, teardown);
}
