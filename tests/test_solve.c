/* Block-ISAI: for every block column j with rows J of the pattern, T(J, J) N(J, j) = I(J, j).
 *
 * Checked in two ways: against a dense elimination of every small system, and by the residual of the equation itself, whose bound is
 * 1e-12·κ with κ = max(1, ‖T(J, J)‖₁‖N(J, j)‖₁): substitution is backward stable (Higham, section 8.1), which leaves some thousand eps
 * for columns of hundreds of blocks and for the inverted diagonal blocks. Badly scaled files have κ up to 1e14, where that bound says
 * nothing: the residual itself must be ≤ 1e-10 too, ten times what was seen at worst. */
#include "support.h"

#include <float.h>
#include <math.h>

static bisai_context *context;

static int setup(void **state) {
  (void)state;
  context = test_context(2);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  bisai_context_destroy(&context);
  return 0;
}

static const int32_t block_sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16};
enum { BLOCK_SIZES = sizeof block_sizes / sizeof block_sizes[0] };

static void *checked(size_t count, size_t size) {
  void *memory = calloc(count + 1, size);
  assert_non_null(memory);
  return memory;
}

static bisai_precond *isai_of(bisai_context *c, const bisai_bcsr *matrix, const bisai_factors *factors, int power,
                              bisai_value_type storage) {
  bisai_precond_options options = bisai_precond_options_default();
  options.power = power;
  options.storage = storage;
  options.factors = factors;
  bisai_precond *precond = NULL;
  EXPECT_OK(c, bisai_precond_create(c, matrix, &options, &precond));
  return precond;
}

static const bisai_bcsr *inverse_of(const bisai_precond *precond, bisai_triangle triangle) {
  return triangle == BISAI_LOWER ? bisai_precond_lower_inverse(precond) : bisai_precond_upper_inverse(precond);
}

static const bisai_bcsr *factor_of(const bisai_precond *precond, bisai_triangle triangle) {
  const bisai_factors *factors = bisai_precond_factors(precond);
  return triangle == BISAI_LOWER ? bisai_factors_lower(factors) : bisai_factors_upper(factors);
}

/* --- one block column of N at a time --- */

typedef struct columns {
  int32_t n, *col_ptr, *row_idx, *position;
} columns;

static columns columns_of(const bisai_bcsr *matrix) {
  const int32_t n = bisai_bcsr_block_rows(matrix), *row_ptr, *col_idx;
  bisai_bcsr_arrays(matrix, &row_ptr, &col_idx, NULL);
  columns c = {n, checked((size_t)n + 2, sizeof(int32_t)), checked((size_t)row_ptr[n], sizeof(int32_t)),
               checked((size_t)row_ptr[n], sizeof(int32_t))};
  for (int32_t p = 0; p < row_ptr[n]; p++) {
    c.col_ptr[col_idx[p] + 2]++;
  }
  for (int32_t j = 0; j < n; j++) {
    c.col_ptr[j + 2] += c.col_ptr[j + 1];
  }
  for (int32_t i = 0; i < n; i++) {
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++) {
      const int32_t to = c.col_ptr[col_idx[p] + 1]++;
      c.row_idx[to] = i;
      c.position[to] = p;
    }
  }
  return c;
}

static void columns_free(columns *c) {
  free(c->col_ptr);
  free(c->row_idx);
  free(c->position);
}

static const double *blocks_of(const bisai_bcsr *matrix) {
  const void *values;
  bisai_bcsr_arrays(matrix, NULL, NULL, &values);
  return values;
}

/* Sums of absolute values over the scalar columns of a block, added to sums[0 … bs − 1]. */
static void add_column_sums(int32_t bs, const double *block, double *sums) {
  for (int32_t c = 0; c < bs; c++) {
    for (int32_t r = 0; r < bs; r++) {
      sums[c] += fabs(block[c * bs + r]);
    }
  }
}

/* residual ← residual + block·n */
static void multiply_add(int32_t bs, const double *block, const double *n, double *residual) {
  for (int32_t c = 0; c < bs; c++) {
    for (int32_t k = 0; k < bs; k++) {
      for (int32_t r = 0; r < bs; r++) {
        residual[c * bs + r] += block[k * bs + r] * n[c * bs + k];
      }
    }
  }
}

typedef struct residual_check {
  const bisai_bcsr *t, *n;
  int32_t *slot;  /* where a block row stands in J, −1: not at all */
  double *t_sums; /* scalar column sums of T(J, J), bs a block of J */
  double worst;   /* the largest residual/κ */
  double most;    /* the largest residual */
} residual_check;

static double largest(int64_t count, const double *values) {
  double most = 0.0;
  for (int64_t i = 0; i < count; i++) {
    most = values[i] > most || isnan(values[i]) ? values[i] : most;
  }
  return most;
}

static void check_column(residual_check *check, const columns *c, int32_t j) {
  const int32_t bs = bisai_bcsr_block_size(check->t), *row_ptr, *col_idx;
  const int32_t begin = c->col_ptr[j], length = c->col_ptr[j + 1] - begin;
  const size_t area = (size_t)(bs * bs);
  const double *t = blocks_of(check->t), *n = blocks_of(check->n);
  double residual_sums[32] = {0}, n_sums[32] = {0};
  bisai_bcsr_arrays(check->t, &row_ptr, &col_idx, NULL);
  memset(check->t_sums, 0, (size_t)(length * bs) * sizeof(double));
  for (int32_t s = 0; s < length; s++) {
    check->slot[c->row_idx[begin + s]] = s;
  }
  for (int32_t s = 0; s < length; s++) {
    const int32_t i = c->row_idx[begin + s];
    const double *own = n + (size_t)c->position[begin + s] * area;
    double residual[1024] = {0};
    for (int32_t k = 0; k < bs; k++) {
      residual[k * bs + k] = i == j ? -1.0 : 0.0;
      check->t_sums[s * bs + k] += bisai_bcsr_unit_diagonal(check->t) ? 1.0 : 0.0;
    }
    for (size_t k = 0; k < area && bisai_bcsr_unit_diagonal(check->t); k++) {
      residual[k] += own[k];
    }
    for (int32_t q = row_ptr[i]; q < row_ptr[i + 1]; q++) {
      const int32_t at = check->slot[col_idx[q]];
      if (at >= 0) {
        multiply_add(bs, t + (size_t)q * area, n + (size_t)c->position[begin + at] * area, residual);
        add_column_sums(bs, t + (size_t)q * area, check->t_sums + at * bs);
      }
    }
    add_column_sums(bs, residual, residual_sums);
    add_column_sums(bs, own, n_sums);
  }
  const double kappa = fmax(1.0, largest((int64_t)length * bs, check->t_sums) * largest(bs, n_sums));
  const double residual_norm = largest(bs, residual_sums), found = residual_norm / kappa;
  check->most = residual_norm > check->most || isnan(residual_norm) ? residual_norm : check->most;
  check->worst = found > check->worst || isnan(found) ? found : check->worst;
  for (int32_t s = 0; s < length; s++) {
    check->slot[c->row_idx[begin + s]] = -1;
  }
}

/* The largest ‖T(J, J) N(J, j) − I(J, j)‖₁, by itself and divided by κ, over all block columns. */
static residual_check worst_residual(const bisai_bcsr *t, const bisai_bcsr *n) {
  const int32_t rows = bisai_bcsr_block_rows(t), bs = bisai_bcsr_block_size(t);
  columns c = columns_of(n);
  residual_check check = {.t = t, .n = n};
  check.slot = checked((size_t)rows, sizeof(int32_t));
  check.t_sums = checked((size_t)rows * (size_t)bs, sizeof(double));
  memset(check.slot, 0xff, (size_t)rows * sizeof(int32_t));
  for (int32_t j = 0; j < rows; j++) {
    check_column(&check, &c, j);
  }
  free(check.slot);
  free(check.t_sums);
  columns_free(&c);
  return check;
}

static void expect_isai(const char *what, const bisai_precond *precond) {
  for (int triangle = BISAI_LOWER; triangle <= BISAI_UPPER; triangle++) {
    const bisai_bcsr *n = inverse_of(precond, (bisai_triangle)triangle);
    const residual_check found = worst_residual(factor_of(precond, (bisai_triangle)triangle), n);
    if (!(found.worst <= 1e-12) || !(found.most <= 1e-10)) {
      fail_msg("%s, %s: residual %.3g, %.3g of kappa", what, triangle == BISAI_LOWER ? "NL" : "NU", found.most,
               found.worst);
    }
  }
}

/* Every column against a dense elimination of its small system. */
static void expect_columns_solved(const bisai_bcsr *t, const bisai_bcsr *n) {
  const int32_t bs = bisai_bcsr_block_size(t);
  const int64_t rows = (int64_t)bisai_bcsr_block_rows(t) * bs;
  double *dense = test_dense(t);
  columns c = columns_of(n);
  for (int32_t j = 0; j < c.n; j++) {
    const int32_t begin = c.col_ptr[j], length = c.col_ptr[j + 1] - begin;
    const int64_t m = (int64_t)length * bs;
    double *small = checked((size_t)(m * m), sizeof *small), *identity = checked((size_t)m, sizeof *identity);
    for (int64_t v = 0; v < m * m; v++) {
      const int64_t r = v % m, col = v / m;
      small[v] = dense[((int64_t)c.row_idx[begin + col / bs] * bs + col % bs) * rows +
                       (int64_t)c.row_idx[begin + r / bs] * bs + r % bs];
    }
    for (int32_t column = 0; column < bs; column++) {
      for (int64_t r = 0; r < m; r++) {
        identity[r] = c.row_idx[begin + r / bs] == j && r % bs == column ? 1.0 : 0.0;
      }
      double *expected = test_dense_solve(m, small, identity);
      for (int64_t r = 0; r < m; r++) {
        const double *block = blocks_of(n) + (size_t)c.position[begin + r / bs] * (size_t)(bs * bs);
        /* entries of dominant or scaled triangles' inverses are at most 1 or so; two ways of summing a few hundred terms */
        EXPECT_NEAR(expected[r], block[column * bs + r % bs], 1e-13 * fmax(1.0, test_norm2(m, expected)));
      }
      free(expected);
    }
    free(small);
    free(identity);
  }
  columns_free(&c);
  free(dense);
}

static void expect_pattern_of_power(const bisai_bcsr *t, bisai_triangle triangle, int power, const bisai_bcsr *n) {
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
      bisai_bcsr *matrix = test_bcsr_take(context, kind == 0 ? test_bcsr_random(shape) : test_bcsr_grid(6, 4, bs, 1));
      for (int power = 1; power <= 4; power++) {
        bisai_precond *precond = isai_of(context, matrix, NULL, power, BISAI_FP64);
        for (int triangle = BISAI_LOWER; triangle <= BISAI_UPPER; triangle++) {
          const bisai_bcsr *t = factor_of(precond, (bisai_triangle)triangle);
          const bisai_bcsr *n = inverse_of(precond, (bisai_triangle)triangle);
          assert_int_equal(bisai_bcsr_block_size(n), bs);
          assert_int_equal(bisai_bcsr_value_type(n), BISAI_FP64);
          expect_pattern_of_power(t, (bisai_triangle)triangle, power, n);
          expect_columns_solved(t, n);
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
  bisai_precond *precond = isai_of(context, matrix, NULL, 2, BISAI_FP64);
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
  assert_true(worst_residual(factor_of(precond, BISAI_UPPER), wrong).worst > 1e-12);
  bisai_bcsr_destroy(&wrong);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  free(values);
}

static bisai_bcsr *triangle_matrix(int32_t n, int32_t bs, test_part part, double blocks_per_row, uint64_t seed) {
  test_shape shape = test_shape_square(n, bs, seed);
  shape.part = part;
  shape.blocks_per_row = blocks_per_row;
  test_bcsr arrays = test_bcsr_random(shape);
  /* a unit triangle is not dominant: scaled so that its inverse stays of size 1 */
  const size_t count = (size_t)test_bcsr_blocks(&arrays) * (size_t)(bs * bs);
  for (size_t i = 0; part == TEST_STRICTLY_LOWER && i < count; i++) {
    arrays.values[i] /= 4.0 * blocks_per_row * bs;
  }
  return test_bcsr_take(context, arrays);
}

static void given_factors_with_unit_and_general_diagonals_are_inverted(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int32_t bs = block_sizes[s];
    for (int unit = 0; unit < 2; unit++) {
      bisai_bcsr *lower = triangle_matrix(18, bs, unit ? TEST_STRICTLY_LOWER : TEST_LOWER, 3.0, (uint64_t)(30 + bs));
      bisai_bcsr *upper = triangle_matrix(18, bs, TEST_UPPER, 3.0, (uint64_t)(60 + bs));
      bisai_factors *factors = NULL;
      EXPECT_OK(context, bisai_factors_from_matrices(context, lower, upper, &factors));
      for (int power = 1; power <= 4; power++) {
        bisai_precond *precond = isai_of(context, upper, factors, power, BISAI_FP64);
        assert_ptr_equal(bisai_precond_factors(precond), factors);
        expect_columns_solved(factor_of(precond, BISAI_LOWER), inverse_of(precond, BISAI_LOWER));
        expect_columns_solved(factor_of(precond, BISAI_UPPER), inverse_of(precond, BISAI_UPPER));
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
      bisai_bcsr *lower =
          triangle_matrix(blocks, bs, kind == 0 ? TEST_STRICTLY_LOWER : TEST_LOWER, 4.0, (uint64_t)(90 + bs));
      bisai_bcsr *upper = triangle_matrix(blocks, bs, TEST_UPPER, 4.0, (uint64_t)(120 + bs));
      bisai_factors *factors = NULL;
      EXPECT_OK(context, bisai_factors_from_matrices(context, lower, upper, &factors));
      bisai_precond *precond = isai_of(context, upper, factors, kind == 2 ? 100000 : blocks - 1, BISAI_FP64);
      const int64_t n = (int64_t)blocks * bs;
      for (int triangle = BISAI_LOWER; triangle <= BISAI_UPPER; triangle++) {
        double *t = test_dense(factor_of(precond, (bisai_triangle)triangle));
        double *expected = test_dense_inverse(n, t), *got = test_dense(inverse_of(precond, (bisai_triangle)triangle));
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
  static const int32_t l_ptr[] = {0, 0, 1}, l_idx[] = {0}, u_ptr[] = {0, 2, 3}, u_idx[] = {0, 1, 1};
  static const double l[] = {-2}, u[] = {2, 3, 4};
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  bisai_bcsr *lower = NULL, *upper = NULL;
  bisai_factors *factors = NULL;
  desc.block_rows = desc.block_cols = 2;
  desc.block_size = 1;
  desc.row_ptr = l_ptr;
  desc.col_idx = l_idx;
  desc.values = l;
  EXPECT_OK(context, bisai_bcsr_create(context, &desc, &lower));
  desc.row_ptr = u_ptr;
  desc.col_idx = u_idx;
  desc.values = u;
  EXPECT_OK(context, bisai_bcsr_create(context, &desc, &upper));
  EXPECT_OK(context, bisai_factors_from_matrices(context, lower, upper, &factors));
  bisai_precond *precond = isai_of(context, upper, factors, 1, BISAI_FP64);
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
static bisai_pattern *random_pattern(int32_t n, bisai_triangle triangle, double blocks_per_row, uint64_t seed) {
  test_shape shape = test_shape_square(n, 1, seed);
  shape.part = triangle == BISAI_LOWER ? TEST_LOWER : TEST_UPPER;
  shape.blocks_per_row = blocks_per_row;
  test_bcsr arrays = test_bcsr_random(shape);
  bisai_pattern *pattern = NULL;
  EXPECT_OK(context, bisai_pattern_create(context, triangle, n, arrays.row_ptr, arrays.col_idx, &pattern));
  test_bcsr_free(&arrays);
  return pattern;
}

static void patterns_of_the_caller_are_solved_on(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 9; bs++) {
    bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_random(test_shape_square(20, bs, (uint64_t)(150 + bs))));
    for (int given = 1; given <= 3; given++) {
      bisai_pattern *lower = (given & 1) != 0 ? random_pattern(20, BISAI_LOWER, 0.5 * bs, (uint64_t)bs) : NULL;
      bisai_pattern *upper = (given & 2) != 0 ? random_pattern(20, BISAI_UPPER, 0.5 * bs, (uint64_t)(9 + bs)) : NULL;
      bisai_precond_options options = bisai_precond_options_default();
      options.lower_pattern = lower;
      options.upper_pattern = upper;
      bisai_precond *precond = NULL;
      EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &precond));
      if (lower != NULL) {
        assert_int_equal(bisai_bcsr_blocks(bisai_precond_lower_inverse(precond)), bisai_pattern_blocks(lower));
      }
      if (upper != NULL) {
        assert_int_equal(bisai_bcsr_blocks(bisai_precond_upper_inverse(precond)), bisai_pattern_blocks(upper));
      }
      bisai_pattern_destroy(&lower); /* read during creation */
      bisai_pattern_destroy(&upper);
      expect_columns_solved(factor_of(precond, BISAI_LOWER), inverse_of(precond, BISAI_LOWER));
      expect_columns_solved(factor_of(precond, BISAI_UPPER), inverse_of(precond, BISAI_UPPER));
      EXPECT_OK(context, bisai_precond_update(precond, matrix));
      expect_isai("given pattern", precond);
      bisai_precond_destroy(&precond);
    }
    bisai_bcsr_destroy(&matrix);
  }
}

/* --- storage --- */

/* The stored value is the nearest to x; where its neighbour is as near, its last bit is even. */
static void expect_nearest(bisai_value_type type, const void *values, size_t i, double x) {
  if (type == BISAI_FP32) {
    assert_true(((const float *)values)[i] == (float)x);
    return;
  }
  const uint16_t bits = ((const uint16_t *)values)[i];
  const double error = fabs(test_value(type, &bits, 0) - x);
  for (int step = -1; step <= 1; step += 2) {
    if ((bits & 0x7fff) == 0 && step < 0) {
      continue;
    }
    const uint16_t neighbour = (uint16_t)(bits + step);
    const double other = fabs(test_value(type, &neighbour, 0) - x);
    assert_true(error < other || (error <= other && (bits & 1) == 0));
  }
}

static void narrow_storage_holds_the_nearest_values(void **state) {
  (void)state;
  static const bisai_value_type types[] = {BISAI_FP32, BISAI_FP16, BISAI_BF16};
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int32_t bs = block_sizes[s];
    bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_random(test_shape_square(40, bs, (uint64_t)(200 + bs))));
    bisai_precond *wide = isai_of(context, matrix, NULL, 3, BISAI_FP64);
    for (size_t t = 0; t < 3; t++) {
      bisai_precond *narrow = isai_of(context, matrix, NULL, 3, types[t]);
      for (int triangle = BISAI_LOWER; triangle <= BISAI_UPPER; triangle++) {
        const bisai_bcsr *n = inverse_of(narrow, (bisai_triangle)triangle);
        const double *exact = blocks_of(inverse_of(wide, (bisai_triangle)triangle));
        const void *values;
        bisai_bcsr_arrays(n, NULL, NULL, &values);
        assert_int_equal(bisai_bcsr_value_type(n), types[t]);
        for (size_t i = 0; i < (size_t)bisai_bcsr_blocks(n) * (size_t)(bs * bs); i++) {
          expect_nearest(types[t], values, i, exact[i]);
        }
      }
      bisai_precond_destroy(&narrow);
    }
    bisai_precond_destroy(&wide);
    bisai_bcsr_destroy(&matrix);
  }
}

/* Block-diagonal matrix whose block `row` is `value`·I: NU's block is I/value. */
static bisai_bcsr *diagonal_with(int32_t n, int32_t bs, int32_t row, double value) {
  test_bcsr arrays = test_bcsr_tridiagonal(n, bs, 1.0, 0.0);
  int32_t p = arrays.row_ptr[row];
  while (arrays.col_idx[p] != row) {
    p++;
  }
  for (int32_t r = 0; r < bs; r++) {
    arrays.values[(size_t)p * (size_t)(bs * bs) + (size_t)(r * bs + r)] = value;
  }
  return test_bcsr_take(context, arrays);
}

static void expect_refused_storage(bisai_bcsr *matrix, bisai_value_type storage, bisai_status status,
                                   const char *message) {
  bisai_precond *const untouched = (bisai_precond *)(uintptr_t)64;
  bisai_precond *precond = untouched;
  bisai_precond_options options = bisai_precond_options_default();
  options.storage = storage;
  EXPECT_STATUS(context, status, bisai_precond_create(context, matrix, &options, &precond));
  EXPECT_MESSAGE(context, message);
  assert_ptr_equal(precond, untouched);
}

static void overflow_on_narrowing_names_the_block(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 9; bs += 2) {
    bisai_bcsr *matrix = diagonal_with(200, bs, 137, 1e-5);
    bisai_precond *precond = isai_of(context, matrix, NULL, 1, BISAI_BF16);
    bisai_precond_destroy(&precond);
    expect_refused_storage(matrix, BISAI_FP16, BISAI_OVERFLOW, "NU: block (137, 137) does not fit its storage type");
    bisai_bcsr_destroy(&matrix);
    matrix = diagonal_with(200, bs, 61, 1e-39);
    expect_refused_storage(matrix, BISAI_FP32, BISAI_OVERFLOW, "NU: block (61, 61) does not fit its storage type");
    expect_refused_storage(matrix, BISAI_BF16, BISAI_OVERFLOW, "NU: block (61, 61) does not fit its storage type");
    precond = isai_of(context, matrix, NULL, 1, BISAI_FP64);
    bisai_precond_destroy(&precond);
    bisai_bcsr_destroy(&matrix);
  }
}

/* The largest half is 65504; 65520 is the first double that rounds beyond it. */
static void the_largest_half_is_stored_and_the_next_is_not(void **state) {
  (void)state;
  static const int32_t ptr[] = {0, 1, 2}, idx[] = {0, 1}, l_ptr[] = {0, 0, 1}, l_idx[] = {0};
  static const double ones[] = {1.0, 1.0};
  for (int beyond = 0; beyond < 2; beyond++) {
    const double entry = beyond == 0 ? -65519.0 : -65520.0; /* NL = [1; −entry 1] */
    bisai_bcsr_desc desc = bisai_bcsr_desc_default();
    bisai_bcsr *lower = NULL, *upper = NULL;
    bisai_factors *factors = NULL;
    desc.block_rows = desc.block_cols = 2;
    desc.block_size = 1;
    desc.row_ptr = ptr;
    desc.col_idx = idx;
    desc.values = ones;
    EXPECT_OK(context, bisai_bcsr_create(context, &desc, &upper));
    desc.row_ptr = l_ptr;
    desc.col_idx = l_idx;
    desc.values = &entry;
    EXPECT_OK(context, bisai_bcsr_create(context, &desc, &lower));
    EXPECT_OK(context, bisai_factors_from_matrices(context, lower, upper, &factors));
    bisai_precond_options options = bisai_precond_options_default();
    options.factors = factors;
    options.storage = BISAI_FP16;
    bisai_precond *precond = NULL;
    const bisai_status status = bisai_precond_create(context, upper, &options, &precond);
    if (beyond == 0) {
      EXPECT_OK(context, status);
      const void *values;
      bisai_bcsr_arrays(bisai_precond_lower_inverse(precond), NULL, NULL, &values);
      assert_int_equal(((const uint16_t *)values)[1], 0x7bff);
      bisai_precond_destroy(&precond);
    } else {
      EXPECT_STATUS(context, BISAI_OVERFLOW, status);
      EXPECT_MESSAGE(context, "NL: block (1, 0) does not fit its storage type");
      assert_null(precond);
    }
    bisai_factors_destroy(&factors);
    bisai_bcsr_destroy(&lower);
    bisai_bcsr_destroy(&upper);
  }
}

/* U = [1e-200 1e200; 0 1e-200]: NU's corner would be −1e600. */
static void values_beyond_doubles_are_not_finite(void **state) {
  (void)state;
  static const int32_t u_ptr[] = {0, 2, 3}, u_idx[] = {0, 1, 1}, l_ptr[] = {0, 0, 0};
  static const double u[] = {1e-200, 1e200, 1e-200};
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  bisai_bcsr *lower = NULL, *upper = NULL;
  bisai_factors *factors = NULL;
  bisai_precond *precond = NULL;
  desc.block_rows = desc.block_cols = 2;
  desc.block_size = 1;
  desc.row_ptr = u_ptr;
  desc.col_idx = u_idx;
  desc.values = u;
  EXPECT_OK(context, bisai_bcsr_create(context, &desc, &upper));
  desc.row_ptr = l_ptr;
  EXPECT_OK(context, bisai_bcsr_create(context, &desc, &lower));
  EXPECT_OK(context, bisai_factors_from_matrices(context, lower, upper, &factors));
  bisai_precond_options options = bisai_precond_options_default();
  options.factors = factors;
  EXPECT_STATUS(context, BISAI_NOT_FINITE, bisai_precond_create(context, upper, &options, &precond));
  EXPECT_MESSAGE(context, "NU: block (0, 1) is not finite");
  assert_null(precond);
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&lower);
  bisai_bcsr_destroy(&upper);
}

/* --- update and threads --- */

static void expect_same_inverses(const bisai_precond *a, const bisai_precond *b) {
  for (int triangle = BISAI_LOWER; triangle <= BISAI_UPPER; triangle++) {
    const bisai_bcsr *x = inverse_of(a, (bisai_triangle)triangle), *y = inverse_of(b, (bisai_triangle)triangle);
    const size_t bs = (size_t)bisai_bcsr_block_size(x);
    static const size_t bytes[] = {8, 4, 2, 2};
    const void *x_values, *y_values;
    bisai_bcsr_arrays(x, NULL, NULL, &x_values);
    bisai_bcsr_arrays(y, NULL, NULL, &y_values);
    assert_int_equal(bisai_bcsr_blocks(x), bisai_bcsr_blocks(y));
    assert_memory_equal(x_values, y_values, (size_t)bisai_bcsr_blocks(x) * bs * bs * bytes[bisai_bcsr_value_type(x)]);
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
      for (size_t i = 0; i < (size_t)test_bcsr_blocks(&arrays) * (size_t)(bs * bs); i++) {
        arrays.values[i] *= test_random_uniform(&random, 0.9, 1.1);
      }
      bisai_bcsr *second = test_bcsr_take(counted, arrays);
      bisai_precond *updated = isai_of(counted, first, NULL, 2, (bisai_value_type)storage);
      bisai_precond *fresh = isai_of(counted, second, NULL, 2, (bisai_value_type)storage);
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
    test_bcsr arrays = test_bcsr_random(test_shape_square(bs > 4 ? 400 : 1000, bs, (uint64_t)(250 + bs)));
    bisai_context *contexts[3];
    bisai_precond *preconds[3];
    static const int threads[] = {1, 2, 4};
    for (size_t t = 0; t < 3; t++) {
      contexts[t] = test_context(threads[t]);
      bisai_bcsr *matrix = test_bcsr_make(contexts[t], &arrays);
      preconds[t] = isai_of(contexts[t], matrix, NULL, 2, bs % 2 == 0 ? BISAI_FP32 : BISAI_FP64);
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
      bisai_precond *precond = isai_of(context, matrix, factors, power, BISAI_FP64);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_by_two_factors_have_the_inverses_known_by_hand),
      cmocka_unit_test(columns_solve_their_small_systems),
      cmocka_unit_test(the_residual_sees_a_small_error),
      cmocka_unit_test(given_factors_with_unit_and_general_diagonals_are_inverted),
      cmocka_unit_test(isai_with_full_pattern_equals_inverse),
      cmocka_unit_test(patterns_of_the_caller_are_solved_on),
      cmocka_unit_test(narrow_storage_holds_the_nearest_values),
      cmocka_unit_test(overflow_on_narrowing_names_the_block),
      cmocka_unit_test(the_largest_half_is_stored_and_the_next_is_not),
      cmocka_unit_test(values_beyond_doubles_are_not_finite),
      cmocka_unit_test(update_recomputes_the_same_bits_and_allocates_nothing),
      cmocka_unit_test(thread_counts_give_the_same_bits),
      cmocka_unit_test(isai_of_bcsstk16_satisfies_its_equations),
      cmocka_unit_test(isai_of_sherman5_satisfies_its_equations),
      cmocka_unit_test(isai_of_opm_spe9_satisfies_its_equations),
  };
  return cmocka_run_group_tests_name("solve", tests, setup, teardown);
}
