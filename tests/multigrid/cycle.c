/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of cycles against plain loops: relaxation, products of rectangular blocks, two steps of
 * flexible GCR. */
#include <math.h>

#include "core/context/context_impl.h"
#include "core/vector/row_list.h"
#include "fixture.h"
#include "multigrid/cycle/cycle_ops.h"
#include "multigrid/level/multigrid_ops.h"

static const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 32};
enum { SIZES = sizeof sizes / sizeof *sizes };

static const bsi_cycle_ops *ops(const bisai_context *c) { return c->backend->multigrid->cycle; }

/* A copy in backend memory. */
static void *placed(bisai_context *c, const void *from, size_t count, size_t size) {
  void *to = c->backend->memory->allocate(c, count + 1, size);
  assert_non_null(to);
  if (count > 0) EXPECT_OK(c, c->backend->memory->upload(c, to, from, count * size));
  return to;
}

static double *vector(bisai_context *c, int64_t n, const double *from) {
  return placed(c, from, (size_t)n, sizeof *from);
}

static double *random_values(bisai_context *c, int64_t n, uint64_t seed) {
  double *values = test_random_vector(n, seed), *there = vector(c, n, values);
  free(values);
  return there;
}

static void drop(bisai_context *c, void *array) { c->backend->memory->release(c, array); }

/* --- relaxation --- */

static void a_relaxation_of_three_rows_by_hand(void **state) {
  (void)state;
  /* A = tridiag(−1, 2, −1), b − A x = (2, 0, −3), D⁻¹ = 1/2 */
  test_bcsr a = test_bcsr_tridiagonal(3, 1, 2.0, -1.0);
  bisai_bcsr *matrix = test_bcsr_take(context, a);
  double *inverse = vector(context, 3, (double[]){0.5, 0.5, 0.5}),
         *b = vector(context, 3, (double[]){2, 0, 1}), *x = vector(context, 3, (double[]){1, 2, 3}),
         *y = vector(context, 3, (double[]){0, 1, 2}); /* the iterate before x */
  EXPECT_OK(context, ops(context)->relax(context, &(bsi_operation){.matrix = matrix,
                                                                   .alpha = 3.0,
                                                                   .beta = 4.0,
                                                                   .inverse = {inverse, NULL},
                                                                   .x = bsi_wide(x),
                                                                   .previous = bsi_wide(y),
                                                                   .b = bsi_wide(b),
                                                                   .y = bsi_wide(y)}));
  EXPECT_CLOSE(3, ((double[]){8, 5, 0}), y, 0);
  drop(context, inverse), drop(context, b), drop(context, x), drop(context, y);
  bisai_bcsr_destroy(&matrix);
}

typedef struct system_of_rows {
  test_bcsr a;
  bisai_bcsr *matrix;
  int64_t n;
  double *inverse, *b, *x, *previous;
} system_of_rows;

static system_of_rows make_system(bisai_context *c, test_shape shape) {
  system_of_rows s = {.a = test_bcsr_random(shape)};
  s.n = (int64_t)shape.block_rows * shape.block_size;
  s.matrix = test_bcsr_make(c, &s.a);
  s.inverse = random_values(c, s.n * shape.block_size, 2);
  s.b = random_values(c, s.n, 3);
  s.x = random_values(c, s.n, 4);
  s.previous = random_values(c, s.n, 5);
  return s;
}

static void free_system(bisai_context *c, system_of_rows *s) {
  drop(c, s->inverse), drop(c, s->b), drop(c, s->x), drop(c, s->previous);
  bisai_bcsr_destroy(&s->matrix);
  test_bcsr_free(&s->a);
}

/* What relax() computes, one row after the other. */
static void plain_relaxation(const system_of_rows *s, double alpha, double beta, const double *x,
                             const double *previous, double *y) {
  const int bs = s->a.block_size;
  for (int32_t i = 0; i < s->a.block_rows; i++) {
    double residual[32];
    for (int r = 0; r < bs; r++) residual[r] = s->b[i * bs + r];
    for (int32_t q = s->a.row_ptr[i]; x && q < s->a.row_ptr[i + 1]; q++)
      for (int c = 0; c < bs; c++)
        for (int r = 0; r < bs; r++)
          residual[r] -= s->a.values[(q * bs + c) * bs + r] * x[s->a.col_idx[q] * bs + c];
    for (int r = 0; r < bs; r++) {
      double step = 0.0;
      for (int c = 0; c < bs; c++) step += s->inverse[(i * bs + c) * bs + r] * residual[c];
      step *= beta;
      if (alpha != 0.0) step += alpha * (x[i * bs + r] - (previous ? previous[i * bs + r] : 0.0));
      y[i * bs + r] = step + (x ? x[i * bs + r] : 0.0);
    }
  }
}

/* Where the iterate before x is. */
typedef enum place { NOT_READ, ZERO, APART, IN_Y } place;

static void expect_relaxation(bisai_context *c, const system_of_rows *s, bool zero, place where) {
  const double alpha = where == NOT_READ ? 0.0 : 0.3, beta = -0.75, *x = zero ? NULL : s->x;
  const size_t bytes = (size_t)(s->n + 1) * sizeof(double);
  double *expected = malloc(bytes), *nan = calloc(1, bytes);
  for (int64_t i = 0; i < s->n; i++) nan[i] = NAN;
  double *unread = vector(c, s->n, nan), *y = vector(c, s->n, where == IN_Y ? s->previous : nan);
  const double *previous = where == NOT_READ ? unread
                           : where == ZERO   ? NULL
                           : where == IN_Y   ? y
                                             : s->previous;
  plain_relaxation(s, alpha, beta, x, where == ZERO ? NULL : s->previous, expected);
  EXPECT_OK(c, ops(c)->relax(c, &(bsi_operation){.matrix = s->matrix,
                                                 .alpha = alpha,
                                                 .beta = beta,
                                                 .inverse = {s->inverse, NULL},
                                                 .x = bsi_wide(x),
                                                 .previous = bsi_wide(previous),
                                                 .b = bsi_wide(s->b),
                                                 .y = bsi_wide(y)}));
  /* rows have up to 60 blocks of 32 values below 1 (the diagonal below 2,000), times 32 of D⁻¹ */
  const double bs = s->a.block_size, tolerance = 2.3e-16 * 64.0 * bs * bs * 4.0 * bs;
  EXPECT_CLOSE(s->n, expected, y, tolerance);
  drop(c, unread), drop(c, y);
  free(expected), free(nan);
}

static void relaxations_equal_plain_loops_for_every_block_size(void **state) {
  (void)state;
  static const double lengths[] = {0.0, 2.5, 6.0, 12.0, 26.0, 50.0};
  for (int k = 0; k < SIZES; k++)
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
      test_shape shape = {67, 67, sizes[k], lengths[l], 7, TEST_DIAGONAL_DOMINANT, TEST_FULL, 1};
      system_of_rows s = make_system(context, shape);
      expect_relaxation(context, &s, true, NOT_READ);
      expect_relaxation(context, &s, false, NOT_READ);
      expect_relaxation(context, &s, false, ZERO);
      expect_relaxation(context, &s, false, APART);
      expect_relaxation(context, &s, false, IN_Y);
      free_system(context, &s);
    }
}

/* beta·D⁻¹A x is what a relaxation of a right-hand side 0 takes from x. */
static void relaxations_without_a_right_hand_side_are_scaled_products(void **state) {
  (void)state;
  for (int k = 0; k < SIZES; k++)
    for (int length = 0; length < 14; length += 6) {
      test_shape shape = {67, 67, sizes[k], length, 7, TEST_DIAGONAL_DOMINANT, TEST_FULL, 1};
      system_of_rows s = make_system(context, shape);
      double *expected = malloc((size_t)s.n * sizeof *expected),
             *y = random_values(context, s.n, 6);
      for (int64_t i = 0; i < s.n; i++) s.b[i] = 0.0;
      plain_relaxation(&s, 0.0, -0.75, s.x, NULL, expected);
      for (int64_t i = 0; i < s.n; i++) expected[i] -= s.x[i];
      EXPECT_OK(context, ops(context)->relax(context, &(bsi_operation){.matrix = s.matrix,
                                                                       .beta = 0.75,
                                                                       .inverse = {s.inverse, NULL},
                                                                       .x = bsi_wide(s.x),
                                                                       .y = bsi_wide(y)}));
      /* as in expect_relaxation() */
      const double bs = sizes[k], tolerance = 2.3e-16 * 64.0 * bs * bs * 4.0 * bs;
      EXPECT_CLOSE(s.n, expected, y, tolerance);
      drop(context, y);
      free(expected);
      free_system(context, &s);
    }
}

static void relaxations_have_the_same_bits_for_every_number_of_threads(void **state) {
  (void)state;
  for (int k = 0; k < SIZES; k++) {
    double *first = NULL;
    int64_t n = 0;
    for (int threads = 1; threads <= 3; threads++) {
      bisai_context *c = test_context(threads);
      const int32_t rows = 40000 / (sizes[k] * sizes[k]) + 50;
      test_shape shape = {rows, rows, sizes[k], 8.0, 0, TEST_DIAGONAL_DOMINANT, TEST_FULL, 1};
      system_of_rows s = make_system(c, shape);
      double *y = random_values(c, s.n, 9);
      n = s.n;
      EXPECT_OK(c, ops(c)->relax(c, &(bsi_operation){.matrix = s.matrix,
                                                     .alpha = 0.5,
                                                     .beta = 0.7,
                                                     .inverse = {s.inverse, NULL},
                                                     .x = bsi_wide(s.x),
                                                     .previous = bsi_wide(s.previous),
                                                     .b = bsi_wide(s.b),
                                                     .y = bsi_wide(y)}));
      if (!first) {
        first = malloc((size_t)n * sizeof *first);
        memcpy(first, y, (size_t)n * sizeof *first);
      }
      assert_memory_equal(first, y, (size_t)n * sizeof *first);
      drop(c, y);
      free_system(c, &s);
      bisai_context_destroy(&c);
    }
    free(first);
  }
}

/* --- products --- */

/* Rows of 0 … 2·length blocks. */
static bsi_block_matrix random_sparse(bisai_context *c, int32_t rows, int32_t cols, int height,
                                      int width, int length, bool identities) {
  test_random random = test_random_seed((uint64_t)(100 * height + width));
  int32_t *row_ptr = calloc((size_t)rows + 1, sizeof *row_ptr),
          *col_idx = malloc((size_t)(rows * 2 * length + 1) * sizeof *col_idx);
  for (int32_t i = 0; i < rows; i++) {
    int32_t q = row_ptr[i], left = test_random_integer(&random, 0, 2 * length);
    for (int32_t j = 0; j < cols; j++)
      if (test_random_integer(&random, 0, cols - j - 1) < left) {
        col_idx[q++] = j;
        left--;
      }
    row_ptr[i + 1] = q;
  }
  bsi_block_matrix m = {rows, cols, height, width, row_ptr[rows], NULL,
                        NULL, NULL, {0},    false, NULL};
  m.row_ptr = placed(c, row_ptr, (size_t)rows + 1, sizeof *row_ptr);
  m.col_idx = placed(c, col_idx, (size_t)m.blocks, sizeof *col_idx);
  if (!identities) m.values = random_values(c, (int64_t)bsi_block_matrix_offset(&m, m.blocks), 1);
  free(row_ptr), free(col_idx);
  return m;
}

static void plain_product(const bsi_block_matrix *m, const double *x, double beta, double *y) {
  for (int32_t i = 0; i < m->rows; i++)
    for (int r = 0; r < m->height; r++) {
      double sum = 0.0;
      for (int32_t q = m->row_ptr[i]; q < m->row_ptr[i + 1]; q++)
        for (int c = 0; c < m->width; c++) {
          const double value = m->values ? m->values[((int64_t)q * m->width + c) * m->height + r]
                                         : (r == c ? 1.0 : 0.0);
          sum += value * x[(int64_t)m->col_idx[q] * m->width + c];
        }
      double *out = y + (int64_t)i * m->height + r;
      *out = beta == 0.0 ? sum : sum + beta * *out;
    }
}

/* Fails unless the rows of two lists, one after the other, get the bits that all rows together
 * have. */
static void expect_product_of_lists(bisai_context *c, const bsi_block_matrix *m, const double *x,
                                    double beta, double *y, const double *all) {
  const int64_t n = (int64_t)m->rows * m->height;
  for (int part = 0; part < 2; part++) {
    int32_t *rows = malloc((size_t)m->rows * sizeof *rows + 1);
    bsi_row_list list = {0, NULL};
    for (int32_t i = 0; i < m->rows; i++)
      if ((i % 7 < 4) == (part == 0)) rows[list.count++] = i;
    int32_t *there = placed(c, rows, (size_t)list.count, sizeof *there);
    list.rows = there;
    EXPECT_OK(c, ops(c)->multiply(c, m, &list, bsi_wide(x), beta, bsi_wide(y)));
    EXPECT_OK(c, bisai_context_synchronize(c));
    drop(c, there);
    free(rows);
  }
  assert_memory_equal(all, y, (size_t)n * sizeof *y);
}

static void expect_product(bisai_context *c, bsi_block_matrix m, double beta) {
  const int64_t n = (int64_t)m.rows * m.height;
  double *x = random_values(c, (int64_t)m.cols * m.width, 6), *expected = test_random_vector(n, 7);
  if (beta == 0.0)
    for (int64_t i = 0; i < n; i++) expected[i] = NAN;
  double *y = vector(c, n, expected), *again = vector(c, n, expected);
  plain_product(&m, x, beta, expected);
  EXPECT_OK(c, ops(c)->multiply(c, &m, NULL, bsi_wide(x), beta, bsi_wide(y)));
  EXPECT_OK(c, bisai_context_synchronize(c));
  /* up to 80 blocks of 32 products below 1 in a row */
  EXPECT_CLOSE(n, expected, y, 2.3e-16 * 80.0 * 32.0);
  expect_product_of_lists(c, &m, x, beta, again, y);
  drop(c, x), drop(c, y), drop(c, again);
  free(expected);
}

static void products_equal_plain_loops_for_every_shape_of_blocks(void **state) {
  (void)state;
  for (int h = 0; h < SIZES; h++)
    for (int w = 0; w < SIZES; w++)
      for (int length = 1; length <= 40; length += length == 1 ? 7 : 32) {
        bsi_block_matrix m = random_sparse(context, 41, 90, sizes[h], sizes[w], length, false);
        expect_product(context, m, 0.0);
        expect_product(context, m, 1.0);
        bsi_block_matrix_destroy(context, &m);
      }
}

static void products_with_identities_equal_plain_loops(void **state) {
  (void)state;
  for (int k = 0; k < SIZES; k++)
    for (int length = 1; length <= 40; length += length == 1 ? 7 : 32) {
      bsi_block_matrix m = random_sparse(context, 41, 90, sizes[k], sizes[k], length, true);
      expect_product(context, m, 0.0);
      expect_product(context, m, -0.5);
      bsi_block_matrix_destroy(context, &m);
    }
}

static void products_without_blocks_leave_zeros(void **state) {
  (void)state;
  bsi_block_matrix m = random_sparse(context, 20, 30, 3, 6, 0, false);
  expect_product(context, m, 0.0);
  expect_product(context, m, 1.0);
  bsi_block_matrix_destroy(context, &m);
  m = random_sparse(context, 0, 30, 3, 6, 0, false);
  expect_product(context, m, 0.0);
  bsi_block_matrix_destroy(context, &m);
}

static void products_have_the_same_bits_for_every_number_of_threads(void **state) {
  (void)state;
  for (int identities = 0; identities <= 1; identities++) {
    double *first = NULL;
    for (int threads = 1; threads <= 3; threads++) {
      bisai_context *c = test_context(threads);
      bsi_block_matrix m = random_sparse(c, 3000, 500, 6, identities ? 6 : 3, 9, identities);
      const int64_t n = (int64_t)m.rows * m.height;
      double *x = random_values(c, (int64_t)m.cols * m.width, 6), *y = random_values(c, n, 7);
      EXPECT_OK(c, ops(c)->multiply(c, &m, NULL, bsi_wide(x), 1.0, bsi_wide(y)));
      if (!first) {
        first = malloc((size_t)n * sizeof *first);
        memcpy(first, y, (size_t)n * sizeof *first);
      }
      assert_memory_equal(first, y, (size_t)n * sizeof *first);
      drop(c, x), drop(c, y);
      bsi_block_matrix_destroy(c, &m);
      bisai_context_destroy(&c);
    }
    free(first);
  }
}

/* --- K-cycles --- */

typedef struct directions {
  int64_t n;
  double *c, *v, *c2, *v2, *r, *work;
} directions;

static directions random_directions(bisai_context *c, int64_t n) {
  return (directions){n,
                      random_values(c, n, 11),
                      random_values(c, n, 12),
                      random_values(c, n, 13),
                      random_values(c, n, 14),
                      random_values(c, n, 15),
                      random_values(c, BSI_K_WORK, 16)};
}

static void free_directions(bisai_context *c, directions *d) {
  drop(c, d->c), drop(c, d->v), drop(c, d->c2), drop(c, d->v2), drop(c, d->r), drop(c, d->work);
}

static void two_steps(bisai_context *c, const directions *d) {
  const bsi_operation first = {.n = d->n, .v = d->v, .y = bsi_wide(d->r), .work = d->work},
                      second = {.n = d->n,
                                .y = bsi_wide(d->c),
                                .v = d->v,
                                .x = bsi_wide(d->c2),
                                .v2 = d->v2,
                                .b = bsi_wide(d->r),
                                .work = d->work};
  EXPECT_OK(c, ops(c)->first_step(c, &first, BSI_K_WHOLE));
  EXPECT_OK(c, ops(c)->second_step(c, &second, BSI_K_WHOLE));
}

static long double dot(int64_t n, const double *x, const double *y) {
  long double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += (long double)x[i] * y[i];
  return sum;
}

/* c ← a c + b c2 where ‖r − a v − b v2‖ is least; r ← r − v (v·r)/(v·v) */
static void plain_steps(const directions *d, double *c, double *r) {
  const long double vv = dot(d->n, d->v, d->v), vw = dot(d->n, d->v, d->v2),
                    ww = dot(d->n, d->v2, d->v2), vr = dot(d->n, d->v, d->r),
                    wr = dot(d->n, d->v2, d->r), determinant = vv * ww - vw * vw;
  const double a = (double)((vr * ww - vw * wr) / determinant),
               b = (double)((vv * wr - vw * vr) / determinant);
  for (int64_t i = 0; i < d->n; i++) {
    c[i] = a * d->c[i] + b * d->c2[i];
    r[i] = d->r[i] - (double)(vr / vv) * d->v[i];
  }
}

static void two_steps_solve_the_least_squares_problem(void **state) {
  (void)state;
  static const int64_t lengths[] = {2, 3, 31, 255, 256, 257, 4096, 4097, 70001, 300001};
  for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
    directions d = random_directions(context, lengths[k]);
    double *c = test_random_vector(d.n, 1), *r = test_random_vector(d.n, 2);
    plain_steps(&d, c, r);
    two_steps(context, &d);
    /* random vectors are far from parallel; two values are the worst case */
    EXPECT_CLOSE(d.n, r, d.r, 1e-13);
    EXPECT_CLOSE(d.n, c, d.c, 1e-12);
    free(c), free(r);
    free_directions(context, &d);
  }
}

static void steps_have_the_same_bits_for_every_number_of_threads(void **state) {
  (void)state;
  double *first = NULL;
  for (int threads = 1; threads <= 3; threads++) {
    bisai_context *c = test_context(threads);
    directions d = random_directions(c, 150001);
    two_steps(c, &d);
    double *both = malloc(2 * (size_t)d.n * sizeof *both);
    memcpy(both, d.c, (size_t)d.n * sizeof *both);
    memcpy(both + d.n, d.r, (size_t)d.n * sizeof *both);
    if (first) {
      assert_memory_equal(first, both, 2 * (size_t)d.n * sizeof *both);
      free(both);
    } else {
      first = both;
    }
    free_directions(c, &d);
    bisai_context_destroy(&c);
  }
  free(first);
}

/* Sets values of v in one case and of v2 in the other, and expects the step of the other vector. */
static void expect_dropped(double value, bool whole) {
  for (int second = 0; second <= 1; second++) {
    directions d = random_directions(context, 5000);
    double *changed = second ? d.v2 : d.v, *kept = second ? d.v : d.v2,
           *direction = second ? d.c : d.c2, *c = test_random_vector(d.n, 1);
    double *image = second ? d.c2 : d.c;
    for (int64_t i = 0; i < (whole ? d.n : 1); i++) changed[i] = value;
    image[3] = NAN; /* is not read */
    const double a = (double)(dot(d.n, kept, d.r) / dot(d.n, kept, kept));
    for (int64_t i = 0; i < d.n; i++) c[i] = a * direction[i];
    two_steps(context, &d);
    EXPECT_CLOSE(d.n, c, d.c, 1e-13);
    free(c);
    free_directions(context, &d);
  }
}

static void directions_of_zero_infinity_or_nan_are_dropped(void **state) {
  (void)state;
  expect_dropped(0.0, true);
  expect_dropped(NAN, false);
  expect_dropped(INFINITY, false);
  expect_dropped(1e200, false); /* its square overflows */
}

static void a_parallel_second_direction_is_dropped(void **state) {
  (void)state;
  directions d = random_directions(context, 5000);
  double *c = test_random_vector(d.n, 1);
  for (int64_t i = 0; i < d.n; i++) d.v2[i] = -3.7 * d.v[i];
  const double a = (double)(dot(d.n, d.v, d.r) / dot(d.n, d.v, d.v));
  for (int64_t i = 0; i < d.n; i++) c[i] = a * d.c[i];
  two_steps(context, &d);
  EXPECT_CLOSE(d.n, c, d.c, 1e-13);
  free(c);
  free_directions(context, &d);
}

static void two_dropped_directions_leave_zero(void **state) {
  (void)state;
  directions d = random_directions(context, 400);
  for (int64_t i = 0; i < d.n; i++) d.v[i] = d.v2[i] = 0.0;
  double *zeros = calloc((size_t)d.n, sizeof *zeros);
  two_steps(context, &d);
  EXPECT_CLOSE(d.n, zeros, d.c, 0);
  free(zeros);
  free_directions(context, &d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_relaxation_of_three_rows_by_hand),
      cmocka_unit_test(relaxations_equal_plain_loops_for_every_block_size),
      cmocka_unit_test(relaxations_without_a_right_hand_side_are_scaled_products),
      cmocka_unit_test(relaxations_have_the_same_bits_for_every_number_of_threads),
      cmocka_unit_test(products_equal_plain_loops_for_every_shape_of_blocks),
      cmocka_unit_test(products_with_identities_equal_plain_loops),
      cmocka_unit_test(products_without_blocks_leave_zeros),
      cmocka_unit_test(products_have_the_same_bits_for_every_number_of_threads),
      cmocka_unit_test(two_steps_solve_the_least_squares_problem),
      cmocka_unit_test(steps_have_the_same_bits_for_every_number_of_threads),
      cmocka_unit_test(directions_of_zero_infinity_or_nan_are_dropped),
      cmocka_unit_test(a_parallel_second_direction_is_dropped),
      cmocka_unit_test(two_dropped_directions_leave_zero)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
