/* SPDX-License-Identifier: BSD-3-Clause */
/* Block-ISAI checked column by column: T(J, J) N(J, j) = I(J, j) for the rows J of block column
 * j. */
#include "isai.h"

#include <math.h>

static void *checked(size_t count, size_t size) {
  void *memory = calloc(count + 1, size);
  assert_non_null(memory);
  return memory;
}

typedef struct columns {
  int32_t n, *col_ptr, *row_idx, *position;
} columns;

static columns columns_of(const bisai_bcsr *matrix) {
  const int32_t n = bisai_bcsr_block_rows(matrix), *row_ptr, *col_idx;
  bisai_bcsr_arrays(matrix, &row_ptr, &col_idx, NULL);
  columns c = {n, checked((size_t)n + 2, sizeof(int32_t)),
               checked((size_t)row_ptr[n], sizeof(int32_t)),
               checked((size_t)row_ptr[n], sizeof(int32_t))};
  for (int32_t p = 0; p < row_ptr[n]; p++) c.col_ptr[col_idx[p] + 2]++;
  for (int32_t j = 0; j < n; j++) c.col_ptr[j + 2] += c.col_ptr[j + 1];
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
  for (int32_t c = 0; c < bs; c++)
    for (int32_t r = 0; r < bs; r++) sums[c] += fabs(block[c * bs + r]);
}

/* residual ← residual + block·n */
static void multiply_add(int32_t bs, const double *block, const double *n, double *residual) {
  for (int32_t c = 0; c < bs; c++) {
    for (int32_t k = 0; k < bs; k++)
      for (int32_t r = 0; r < bs; r++) residual[c * bs + r] += block[k * bs + r] * n[c * bs + k];
  }
}

typedef struct residual_check {
  const bisai_bcsr *t, *n;
  /* where a block row stands in J, −1: not at all */
  int32_t *slot;
  /* scalar column sums of T(J, J), bs a block of J */
  double *t_sums;
  /* the largest residual/κ */
  double worst;
  /* the largest residual */
  double most;
} residual_check;

static double largest(int64_t count, const double *values) {
  double most = 0.0;
  for (int64_t i = 0; i < count; i++)
    most = values[i] > most || isnan(values[i]) ? values[i] : most;
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
  for (int32_t s = 0; s < length; s++) check->slot[c->row_idx[begin + s]] = s;
  for (int32_t s = 0; s < length; s++) {
    const int32_t i = c->row_idx[begin + s];
    const double *own = n + (size_t)c->position[begin + s] * area;
    double residual[1024] = {0};
    for (int32_t k = 0; k < bs; k++) {
      residual[k * bs + k] = i == j ? -1.0 : 0.0;
      check->t_sums[s * bs + k] += bisai_bcsr_unit_diagonal(check->t) ? 1.0 : 0.0;
    }
    for (size_t k = 0; k < area && bisai_bcsr_unit_diagonal(check->t); k++) residual[k] += own[k];
    for (int32_t q = row_ptr[i]; q < row_ptr[i + 1]; q++) {
      const int32_t at = check->slot[col_idx[q]];
      if (at >= 0) {
        multiply_add(bs, t + (size_t)q * area, n + (size_t)c->position[begin + at] * area,
                     residual);
        add_column_sums(bs, t + (size_t)q * area, check->t_sums + at * bs);
      }
    }
    add_column_sums(bs, residual, residual_sums);
    add_column_sums(bs, own, n_sums);
  }
  const double kappa =
      fmax(1.0, largest((int64_t)length * bs, check->t_sums) * largest(bs, n_sums));
  const double residual_norm = largest(bs, residual_sums), found = residual_norm / kappa;
  check->most = residual_norm > check->most || isnan(residual_norm) ? residual_norm : check->most;
  check->worst = found > check->worst || isnan(found) ? found : check->worst;
  for (int32_t s = 0; s < length; s++) check->slot[c->row_idx[begin + s]] = -1;
}

test_isai_residual test_isai_check(const bisai_bcsr *t, const bisai_bcsr *n) {
  const int32_t rows = bisai_bcsr_block_rows(t), bs = bisai_bcsr_block_size(t);
  columns c = columns_of(n);
  residual_check check = {.t = t, .n = n};
  check.slot = checked((size_t)rows, sizeof(int32_t));
  check.t_sums = checked((size_t)rows * (size_t)bs, sizeof(double));
  memset(check.slot, 0xff, (size_t)rows * sizeof(int32_t));
  for (int32_t j = 0; j < rows; j++) check_column(&check, &c, j);
  free(check.slot);
  free(check.t_sums);
  columns_free(&c);
  return (test_isai_residual){check.most, check.worst};
}

void test_isai_expect_solved(const bisai_bcsr *t, const bisai_bcsr *n) {
  const int32_t bs = bisai_bcsr_block_size(t);
  const int64_t rows = (int64_t)bisai_bcsr_block_rows(t) * bs;
  double *dense = test_dense(t);
  columns c = columns_of(n);
  for (int32_t j = 0; j < c.n; j++) {
    const int32_t begin = c.col_ptr[j], length = c.col_ptr[j + 1] - begin;
    const int64_t m = (int64_t)length * bs;
    double *small = checked((size_t)(m * m), sizeof *small),
           *identity = checked((size_t)m, sizeof *identity);
    for (int64_t v = 0; v < m * m; v++) {
      const int64_t r = v % m, col = v / m;
      small[v] = dense[((int64_t)c.row_idx[begin + col / bs] * bs + col % bs) * rows +
                       (int64_t)c.row_idx[begin + r / bs] * bs + r % bs];
    }
    for (int32_t column = 0; column < bs; column++) {
      for (int64_t r = 0; r < m; r++)
        identity[r] = c.row_idx[begin + r / bs] == j && r % bs == column ? 1.0 : 0.0;
      double *expected = test_dense_solve(m, small, identity);
      for (int64_t r = 0; r < m; r++) {
        const double *block = blocks_of(n) + (size_t)c.position[begin + r / bs] * (size_t)(bs * bs);
        /* entries of dominant or scaled triangles' inverses are at most 1 or so; two ways of
         * summing a few hundred terms */
        EXPECT_NEAR(expected[r], block[column * bs + r % bs],
                    1e-13 * fmax(1.0, test_norm2(m, expected)));
      }
      free(expected);
    }
    free(small);
    free(identity);
  }
  columns_free(&c);
  free(dense);
}

bisai_precond *test_isai_of(bisai_context *context, const bisai_bcsr *matrix,
                            const bisai_factors *factors, int power, bisai_value_type storage) {
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = BISAI_PRECOND_ISAI;
  options.isai.power = power;
  options.isai.storage = storage;
  options.factor.factors = factors;
  bisai_precond *precond = NULL;
  EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &precond));
  return precond;
}

const bisai_bcsr *test_inverse_of(const bisai_precond *precond, bisai_triangle triangle) {
  return triangle == BISAI_LOWER ? bisai_precond_lower_inverse(precond)
                                 : bisai_precond_upper_inverse(precond);
}
