/* SPDX-License-Identifier: BSD-3-Clause */
/* Block-Jacobi in every form and on blocks of every size, against dense solves; what is singular;
 * updates, threads, many vectors. */
#include "fixture.h"

#include <float.h>
#include <math.h>

enum { FORMS = 4, MOST = 32, EPSILONS = 64 };

static const char *const form_names[FORMS] = {"inverse", "gh", "ght", "lu"};

/* --- matrices --- */

typedef enum kind { RANDOM, GRADED, PERMUTED, SCALED, TINY_PIVOTS, KINDS } kind;

/* One dense block, column-major. */
static void fill_block(test_random *random, kind what, int32_t m, double *block) {
  int32_t order[MOST];
  for (int32_t r = 0; r < m; r++) order[r] = r;
  for (int32_t r = m - 1; r > 0; r--) {
    const int32_t other = test_random_integer(random, 0, r), keep = order[r];
    order[r] = order[other];
    order[other] = keep;
  }
  double row_scale[MOST];
  for (int32_t r = 0; r < m; r++) row_scale[r] = pow(10.0, test_random_uniform(random, -6.0, 6.0));
  for (int32_t c = 0; c < m; c++) {
    for (int32_t r = 0; r < m; r++) {
      double value = test_random_uniform(random, -1.0, 1.0);
      switch (what) {
      case GRADED: value = (value + (r == c ? 2.0 : 0.0)) * pow(10.0, -0.25 * (r + c)); break;
      case PERMUTED: value = order[r] == c ? 4.0 * m : r == c ? 0.0 : value; break;
      case SCALED: value = (value + (r == c ? m : 0.0)) * row_scale[r]; break;
      case TINY_PIVOTS: value = r == c ? 1e-14 * value : value + (order[r] == c ? 3.0 : 0.0); break;
      case RANDOM:
      case KINDS: break;
      }
      block[c * m + r] = value;
    }
  }
  if (what == PERMUTED || what == TINY_PIVOTS) return;
  if (m == 1) block[0] += block[0] < 0 ? -0.5 : 0.5; /* away from zero */
}

typedef struct batch {
  int32_t blocks, rows;
  int32_t *start;
  /* dense, column-major */
  double **block;
  /* block size 1, with entries outside of the blocks too */
  test_bcsr csr;
} batch;

/* Every size 1 … 32, `times` times, in random order. */
static batch batch_of(kind what, int32_t times, uint64_t seed) {
  test_random random = test_random_seed(seed);
  batch b = {.blocks = MOST * times};
  b.start = malloc(((size_t)b.blocks + 1) * sizeof *b.start);
  b.block = malloc((size_t)b.blocks * sizeof *b.block);
  int32_t *order = test_random_permutation(b.blocks, seed + 1);
  b.start[0] = 0;
  int64_t stored = 0;
  for (int32_t i = 0; i < b.blocks; i++) {
    const int32_t m = 1 + order[i] % MOST;
    b.start[i + 1] = b.start[i] + m;
    b.block[i] = malloc((size_t)(m * m) * sizeof **b.block);
    fill_block(&random, what, m, b.block[i]);
    stored += m * (m + 2);
  }
  free(order);
  b.rows = b.start[b.blocks];
  b.csr = (test_bcsr){b.rows,
                      b.rows,
                      1,
                      malloc(((size_t)b.rows + 1) * 4),
                      malloc((size_t)stored * 4),
                      malloc((size_t)stored * 8)};
  int32_t count = 0;
  b.csr.row_ptr[0] = 0;
  for (int32_t i = 0; i < b.blocks; i++) {
    const int32_t from = b.start[i], m = b.start[i + 1] - from;
    for (int32_t r = 0; r < m; r++) {
      if (from > 0) {
        b.csr.col_idx[count] = from - 1;
        b.csr.values[count++] = 1e3;
      }
      for (int32_t c = 0; c < m; c++) {
        if (b.block[i][c * m + r] == 0.0) continue; /* not stored */
        b.csr.col_idx[count] = from + c;
        b.csr.values[count++] = b.block[i][c * m + r];
      }
      if (from + m < b.rows) {
        b.csr.col_idx[count] = from + m;
        b.csr.values[count++] = -1e3;
      }
      b.csr.row_ptr[from + r + 1] = count;
    }
  }
  return b;
}

static void batch_free(batch *b) {
  for (int32_t i = 0; i < b->blocks; i++) free(b->block[i]);
  free(b->block);
  free(b->start);
  test_bcsr_free(&b->csr);
}

static bisai_precond_options options_of(const batch *b, int form) {
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = BISAI_PRECOND_BJACOBI;
  options.bjacobi.form = (bisai_form)form;
  if (b) {
    options.bjacobi.block_ptr = b->start;
    options.bjacobi.block_count = b->blocks;
  }
  return options;
}

static bisai_precond *precond_of(bisai_context *c, const bisai_bcsr *matrix,
                                 const bisai_precond_options *options) {
  bisai_precond *precond = NULL;
  EXPECT_OK(c, bisai_precond_create(c, matrix, options, &precond));
  return precond;
}

/* ‖z − D⁻¹v‖₂ ≤ 64 m ε κ₁ ‖z‖₂, of which the reference may have lost as much again; a decomposition
 * with pivoting is backward stable too: ‖D z − v‖₂ ≤ 64 m ε ‖D‖₁ ‖z‖₂ whatever κ₁ is, up to the
 * growth of its elements, which for such blocks is below 16. */
static void expect_solution(int form, int32_t m, const double *block, const double *v,
                            const double *z) {
  double *expected = test_dense_solve(m, block, v), *back = test_dense_multiply(m, m, 1, block, z),
         worst = 0.0;
  assert_non_null(expected);
  const double condition = test_dense_condition1(m, block), size = test_norm2(m, expected);
  EXPECT_CLOSE(m, expected, z, EPSILONS * m * DBL_EPSILON * condition * size);
  for (int32_t r = 0; r < m; r++) worst = fmax(worst, fabs(back[r] - v[r]));
  const double backward =
      EPSILONS * m * DBL_EPSILON * test_dense_norm1(m, m, block) * test_norm2(m, z);
  if (form != BISAI_FORM_INVERSE && !(worst <= backward))
    fail_msg("%s of %d rows: residual %.3e, at most %.3e", form_names[form], m, worst, backward);
  free(expected);
  free(back);
}

static double *nan_vector(int64_t n) {
  double *v = malloc((size_t)n * sizeof *v);
  for (int64_t i = 0; i < n; i++) v[i] = (double)NAN;
  return v;
}

/* --- right answers --- */

static void every_form_solves_blocks_of_every_size(void **state) {
  (void)state;
  for (int what = RANDOM; what < KINDS; what++) {
    batch b = batch_of((kind)what, 3, 40 + (uint64_t)what);
    bisai_bcsr *matrix = test_bcsr_make(context, &b.csr);
    double *v = test_random_vector(b.rows, 1);
    for (int form = 0; form < FORMS; form++) {
      const bisai_precond_options options = options_of(&b, form);
      bisai_precond *precond = precond_of(context, matrix, &options);
      double *z = nan_vector(b.rows);
      EXPECT_OK(context, bisai_precond_apply(precond, v, z));
      for (int32_t i = 0; i < b.blocks; i++)
        expect_solution(form, b.start[i + 1] - b.start[i], b.block[i], v + b.start[i],
                        z + b.start[i]);
      free(z);
      bisai_precond_destroy(&precond);
    }
    free(v);
    bisai_bcsr_destroy(&matrix);
    batch_free(&b);
  }
}

/* Blocks of one size, so that they lie side by side without gaps, the last one shorter. */
static void every_form_solves_blocks_of_one_size(void **state) {
  (void)state;
  for (int32_t m = 1; m <= MOST; m++) {
    test_bcsr a = test_bcsr_random(test_shape_square(7 * m + (m + 1) / 2, 1, (uint64_t)m));
    double *dense = test_dense_from_arrays(&a);
    int32_t start[10] = {0}, blocks = 0;
    while (start[blocks] < a.block_rows) {
      start[blocks + 1] = start[blocks] + m < a.block_rows ? start[blocks] + m : a.block_rows;
      blocks++;
    }
    bisai_bcsr *matrix = test_bcsr_make(context, &a);
    double *v = test_random_vector(a.block_rows, 1), *z = nan_vector(a.block_rows);
    for (int form = 0; form < FORMS; form++) {
      bisai_precond_options options = options_of(NULL, form);
      options.bjacobi.block_ptr = start;
      options.bjacobi.block_count = blocks;
      bisai_precond *precond = precond_of(context, matrix, &options);
      EXPECT_OK(context, bisai_precond_apply(precond, v, z));
      for (int32_t i = 0; i < blocks; i++) {
        const int32_t size = start[i + 1] - start[i];
        double block[MOST * MOST];
        for (int32_t c = 0; c < size; c++)
          for (int32_t r = 0; r < size; r++)
            block[c * size + r] = dense[(int64_t)(start[i] + c) * a.block_rows + start[i] + r];
        expect_solution(form, size, block, v + start[i], z + start[i]);
      }
      bisai_precond_destroy(&precond);
    }
    free(v);
    free(z);
    free(dense);
    bisai_bcsr_destroy(&matrix);
    test_bcsr_free(&a);
  }
}

/* Blocks of a BCSR matrix are cut where its own blocks are not. */
static void blocks_may_cross_those_of_the_matrix(void **state) {
  (void)state;
  static const int32_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 11, 32};
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    const int32_t bs = sizes[s], block_rows = 200 / bs;
    test_bcsr a = test_bcsr_random(test_shape_square(block_rows, bs, (uint64_t)bs));
    const int32_t n = block_rows * bs;
    double *dense = test_dense_from_arrays(&a), *v = test_random_vector(n, 1), *z = nan_vector(n);
    bisai_bcsr *matrix = test_bcsr_make(context, &a);
    test_random random = test_random_seed((uint64_t)bs);
    int32_t start[201] = {0}, blocks = 0;
    while (start[blocks] < n) {
      const int32_t m = test_random_integer(&random, 1, 32);
      start[blocks + 1] = n - start[blocks] < m ? n : start[blocks] + m;
      blocks++;
    }
    for (int form = 0; form < FORMS; form++) {
      bisai_precond_options options = options_of(NULL, form);
      options.bjacobi.block_ptr = start;
      options.bjacobi.block_count = blocks;
      bisai_precond *precond = precond_of(context, matrix, &options);
      EXPECT_OK(context, bisai_precond_apply(precond, v, z));
      for (int32_t i = 0; i < blocks; i++) {
        const int32_t m = start[i + 1] - start[i];
        double block[MOST * MOST];
        for (int32_t c = 0; c < m; c++)
          for (int32_t r = 0; r < m; r++)
            block[c * m + r] = dense[(int64_t)(start[i] + c) * n + start[i] + r];
        expect_solution(form, m, block, v + start[i], z + start[i]);
      }
      bisai_precond_destroy(&precond);
    }
    bisai_bcsr_destroy(&matrix);
    test_bcsr_free(&a);
    free(dense);
    free(v);
    free(z);
  }
}

static void scalar_jacobi_divides_by_the_diagonal(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(6, 5, 4, 1);
  double *dense = test_dense_from_arrays(&a), *v = test_random_vector(120, 1), z[120];
  bisai_bcsr *matrix = test_bcsr_take(context, a);
  bisai_precond_options options = options_of(NULL, BISAI_FORM_INVERSE);
  options.bjacobi.max_block = 1;
  bisai_precond *precond = precond_of(context, matrix, &options);
  EXPECT_OK(context, bisai_precond_apply(precond, v, z));
  for (int i = 0; i < 120; i++)
    EXPECT_NEAR(v[i] / dense[i * 121], z[i], 4 * DBL_EPSILON * fabs(z[i]));
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  free(dense);
  free(v);
}

/* --- singular blocks --- */

/* Sizes 1, 2, … 32 and then `extra` rows for the block that is tested. */
static void expect_singular(const double *block, int32_t m, bool refused) {
  batch b = batch_of(RANDOM, 1, 9);
  int32_t which = 0;
  while (b.start[which + 1] - b.start[which] != m) which++;
  memcpy(b.block[which], block, (size_t)(m * m) * sizeof *block);
  for (int32_t r = 0, row = b.start[which]; r < m; r++)
    for (int32_t p = b.csr.row_ptr[row + r]; p < b.csr.row_ptr[row + r + 1]; p++) {
      const int32_t c = b.csr.col_idx[p] - row;
      if (c >= 0 && c < m) b.csr.values[p] = block[c * m + r];
    }
  bisai_bcsr *matrix = test_bcsr_make(context, &b.csr);
  for (int form = 0; form < FORMS; form++) {
    bisai_precond_options options = options_of(&b, form);
    bisai_precond *precond = NULL;
    if (refused) {
      char message[128];
      snprintf(message, sizeof message, "block %d (rows %d … %d): the diagonal block is singular",
               which, b.start[which], b.start[which + 1] - 1);
      EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK,
                    bisai_precond_create(context, matrix, &options, &precond));
      EXPECT_MESSAGE(context, message);
      options.shift = BISAI_SHIFT_IN_BLOCKS;
      options.shift_amount = 0.125;
      precond = precond_of(context, matrix, &options);
      const bisai_precond_report report = test_report_of(context, precond);
      assert_int_equal(report.repairs, 1);
      assert_int_equal(report.first_repair_row, which);
      /* what is solved with then: D + s I, s = amount·‖rows‖∞, the entries outside of the block
       * counting too */
      double norm = 0.0, shifted[MOST * MOST], *v = test_random_vector(b.rows, 1),
             *z = nan_vector(b.rows);
      for (int32_t row = b.start[which]; row < b.start[which + 1]; row++) {
        double sum = 0.0;
        for (int32_t p = b.csr.row_ptr[row]; p < b.csr.row_ptr[row + 1]; p++)
          sum += fabs(b.csr.values[p]);
        norm = fmax(norm, sum);
      }
      memcpy(shifted, block, (size_t)(m * m) * sizeof *block);
      for (int32_t r = 0; r < m; r++) shifted[r * m + r] += 0.125 * norm;
      EXPECT_OK(context, bisai_precond_apply(precond, v, z));
      expect_solution(form, m, shifted, v + b.start[which], z + b.start[which]);
      free(v);
      free(z);
    } else {
      precond = precond_of(context, matrix, &options);
      const bisai_precond_report report = test_report_of(context, precond);
      assert_int_equal(report.bjacobi.near_singular, 1);
      assert_int_equal(report.bjacobi.near_singular_block, which);
      assert_int_equal(report.repairs, 0);
    }
    bisai_precond_destroy(&precond);
  }
  bisai_bcsr_destroy(&matrix);
  batch_free(&b);
}

/* Zero, a row or a column of zeros, two equal rows of numbers that elimination does not round. */
static void zero_and_rank_deficient_blocks_are_named(void **state) {
  (void)state;
  for (int32_t m = 1; m <= MOST; m += m < 9 ? 1 : 23) {
    double block[MOST * MOST] = {0.0};
    expect_singular(block, m, true);
    for (int hole = 0; hole < 2; hole++) {
      for (int32_t c = 0; c < m; c++)
        for (int32_t r = 0; r < m; r++)
          block[c * m + r] = (hole == 0 ? r : c) == m / 2 ? 0.0
                             : r == c                     ? 4.0
                                                          : 1.0 / (1 + (r + 2 * c) % 7);
      expect_singular(block, m, true);
    }
    if (m == 1) continue;
    for (int32_t c = 0; c < m; c++)
      for (int32_t r = 0; r < m; r++) block[c * m + r] = r == c ? 2.0 : 0.0;
    block[m - 1] = 4.0; /* row m−1 is twice row 0 */
    block[(m - 1) * m + m - 1] = 0.0;
    expect_singular(block, m, true);
  }
}

static void blocks_that_only_rounding_makes_regular_are_counted(void **state) {
  (void)state;
  for (int32_t m = 2; m <= MOST; m += 5) {
    double block[MOST * MOST] = {0.0};
    for (int32_t r = 0; r < m; r++) block[r * m + r] = 1.0;
    block[1] = block[m] = 1.0;
    block[m + 1] = 1.0 + DBL_EPSILON;
    expect_singular(block, m, false);
  }
}

/* A diagonal that is not stored is a zero, natural blocks alone must be there as a whole. */
static void blocks_without_any_entry_are_singular(void **state) {
  (void)state;
  int32_t row_ptr[] = {0, 2, 4, 5, 6}, col_idx[] = {0, 2, 1, 3, 0, 1};
  double values[] = {1, 2, 3, 4, 5, 6};
  const test_bcsr a = {4, 4, 1, row_ptr, col_idx, values};
  static const int32_t halves[] = {0, 2, 4};
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  for (int form = 0; form < FORMS; form++) {
    bisai_precond_options options = options_of(NULL, form);
    options.bjacobi.block_ptr = halves;
    options.bjacobi.block_count = 2;
    bisai_precond *precond = NULL;
    EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK,
                  bisai_precond_create(context, matrix, &options, &precond));
    EXPECT_MESSAGE(context, "block 1 (rows 2 … 3): the diagonal block is singular");
  }
  bisai_bcsr_destroy(&matrix);
}

/* The last pivot of every form is 2·10³⁰⁸, which fp64 does not have. Its reciprocal would be zero,
 * and all stored values finite. */
static void blocks_with_an_infinite_pivot_are_singular(void **state) {
  (void)state;
  static const int32_t sizes[] = {2, 8, 11, 20, MOST};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
    const int32_t m = sizes[k], block_ptr[] = {0, m};
    int32_t row_ptr[MOST + 1] = {0}, col_idx[MOST * MOST];
    double values[MOST * MOST];
    for (int32_t r = 0; r < m; r++) {
      for (int32_t c = 0; c < m; c++) {
        col_idx[r * m + c] = c;
        values[r * m + c] = r >= m - 2 && c >= m - 2 ? 1e308 : r == c;
      }
      row_ptr[r + 1] = (r + 1) * m;
    }
    values[m * m - 2] = -1e308;
    const test_bcsr a = {m, m, 1, row_ptr, col_idx, values};
    bisai_bcsr *matrix = test_bcsr_make(context, &a);
    char message[128];
    snprintf(message, sizeof message, "block 0 (rows 0 … %d): the diagonal block is singular",
             m - 1);
    for (int form = 0; form < FORMS; form++) {
      bisai_precond_options options = options_of(NULL, form);
      options.bjacobi.block_ptr = block_ptr;
      options.bjacobi.block_count = 1;
      bisai_precond *precond = NULL;
      EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK,
                    bisai_precond_create(context, matrix, &options, &precond));
      EXPECT_MESSAGE(context, message);
    }
    bisai_bcsr_destroy(&matrix);
  }
}

/* --- many vectors, threads, updates --- */

static void many_vectors_are_solved_as_one_by_one(void **state) {
  (void)state;
  batch b = batch_of(RANDOM, 3, 5);
  const int64_t n = b.rows, ld = n + 3;
  bisai_bcsr *matrix = test_bcsr_make(context, &b.csr);
  enum { VECTORS = 9 };
  double *v = test_random_vector(VECTORS * ld, 1), *one = nan_vector(n),
         *many = nan_vector(VECTORS * ld);
  static const bisai_value_type storages[] = {BISAI_FP64, BISAI_FP32, BISAI_FP11_20,
                                              BISAI_ADAPTIVE};
  for (int form = 0; form < FORMS; form++) {
    for (int s = 0; s < (form == 0 ? 4 : 3); s++) {
      bisai_precond_options options = options_of(&b, form);
      options.bjacobi.storage = storages[s];
      bisai_precond *precond = precond_of(context, matrix, &options);
      for (int32_t count = 1; count <= VECTORS; count++) {
        for (int64_t i = 0; i < VECTORS * ld; i++) many[i] = 7.0;
        EXPECT_OK(context, bisai_precond_apply_many(precond, count, v, ld, many, ld));
        for (int32_t k = 0; k < VECTORS; k++) {
          EXPECT_OK(context, bisai_precond_apply(precond, v + k * ld, one));
          for (int64_t i = 0; i < n && k < count; i++) assert_true(many[k * ld + i] == one[i]);
          for (int64_t i = k < count ? n : 0; i < ld; i++) assert_true(many[k * ld + i] == 7.0);
        }
      }
      bisai_precond_destroy(&precond);
    }
  }
  free(v);
  free(one);
  free(many);
  bisai_bcsr_destroy(&matrix);
  batch_free(&b);
}

static void results_do_not_depend_on_the_number_of_threads(void **state) {
  (void)state;
  batch b = batch_of(RANDOM, 12, 6);
  const size_t bytes = (size_t)b.rows * sizeof(double);
  double *v = test_random_vector(b.rows, 1), *first = nan_vector(b.rows), *z = nan_vector(b.rows);
  for (int form = 0; form < FORMS; form++) {
    bisai_precond_report expected = {0};
    for (int threads = 1; threads <= 6; threads++) {
      bisai_context *c = test_context(threads);
      bisai_bcsr *matrix = test_bcsr_make(c, &b.csr);
      bisai_precond_options options = options_of(&b, form);
      if (form == 0) options.bjacobi.storage = BISAI_ADAPTIVE;
      bisai_precond *precond = precond_of(c, matrix, &options);
      EXPECT_OK(c, bisai_precond_apply(precond, v, threads == 1 ? first : z));
      const bisai_precond_report report = test_report_of(context, precond);
      if (threads == 1) expected = report;
      if (threads > 1) assert_memory_equal(first, z, bytes);
      assert_memory_equal(report.bjacobi.by_format, expected.bjacobi.by_format,
                          sizeof report.bjacobi.by_format);
      assert_true(report.largest_condition == expected.largest_condition &&
                  report.largest_condition_row == expected.largest_condition_row);
      assert_true(report.bjacobi.near_singular == expected.bjacobi.near_singular &&
                  report.bjacobi.value_bytes == expected.bjacobi.value_bytes);
      bisai_precond_destroy(&precond);
      bisai_bcsr_destroy(&matrix);
      bisai_context_destroy(&c);
    }
  }
  free(v);
  free(first);
  free(z);
  batch_free(&b);
}

static void updates_equal_a_fresh_set_up_and_allocate_nothing(void **state) {
  (void)state;
  batch b = batch_of(RANDOM, 3, 7);
  const size_t bytes = (size_t)b.rows * sizeof(double);
  double *v = test_random_vector(b.rows, 1), *x = nan_vector(b.rows), *y = nan_vector(b.rows);
  for (int form = 0; form < FORMS; form++) {
    for (int variant = 0; variant < 4; variant++) {
      if (form > 0 && variant == 3) continue;
      test_allocator allocator;
      test_allocator_reset(&allocator, 0);
      bisai_context *c = test_context_on(&allocator, 3);
      bisai_bcsr *first = test_bcsr_make(c, &b.csr);
      for (int32_t p = 0; p < b.csr.row_ptr[b.rows]; p++)
        b.csr.values[p] *= p % 5 == 0 ? 1.5 : 0.75;
      bisai_bcsr *second = test_bcsr_make(c, &b.csr);
      bisai_precond_options options = options_of(&b, form);
      options.bjacobi.storage = variant == 3   ? BISAI_ADAPTIVE
                                : variant == 2 ? BISAI_FP32
                                               : BISAI_FP64;
      if (variant == 1) {
        options.bjacobi.block_ptr = NULL;
        options.bjacobi.block_count = 0;
        options.bjacobi.max_block = 16;
        options.shift = BISAI_SHIFT_IN_BLOCKS;
      }
      bisai_precond *updated = precond_of(c, first, &options),
                    *fresh = precond_of(c, second, &options);
      const long long calls = atomic_load(&allocator.calls);
      EXPECT_OK(c, bisai_precond_update(updated, second));
      assert_int_equal(atomic_load(&allocator.calls), calls);
      EXPECT_OK(c, bisai_precond_apply(updated, v, x));
      if (!test_on_device()) assert_int_equal(atomic_load(&allocator.calls), calls);
      EXPECT_OK(c, bisai_precond_apply(fresh, v, y));
      assert_memory_equal(x, y, bytes);
      const bisai_precond_report one = test_report_of(context, updated),
                                 other = test_report_of(context, fresh);
      assert_memory_equal(one.bjacobi.by_format, other.bjacobi.by_format,
                          sizeof one.bjacobi.by_format);
      assert_true(one.memory_bytes == other.memory_bytes &&
                  one.bjacobi.value_bytes == other.bjacobi.value_bytes);
      bisai_precond_destroy(&updated);
      bisai_precond_destroy(&fresh);
      bisai_bcsr_destroy(&first);
      bisai_bcsr_destroy(&second);
      bisai_context_destroy(&c);
    }
  }
  free(v);
  free(x);
  free(y);
  batch_free(&b);
}

static void other_patterns_are_refused_by_updates(void **state) {
  (void)state;
  batch b = batch_of(RANDOM, 1, 8);
  bisai_bcsr *matrix = test_bcsr_make(context, &b.csr);
  const bisai_precond_options options = options_of(&b, BISAI_FORM_LU);
  bisai_precond *precond = precond_of(context, matrix, &options);
  const int32_t stored = b.csr.row_ptr[b.rows]--;
  bisai_bcsr *shorter = test_bcsr_make(context, &b.csr);
  char message[128];
  snprintf(message, sizeof message, "the pattern changed: %d blocks, expected %d", stored - 1,
           stored);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_update(precond, shorter));
  EXPECT_MESSAGE(context, message);
  double *v = test_random_vector(b.rows, 1), *z = nan_vector(b.rows);
  EXPECT_OK(context, bisai_precond_apply(precond, v, z)); /* as it was */
  expect_solution(BISAI_FORM_LU, b.start[1], b.block[0], v, z);
  free(v);
  free(z);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&shorter);
  batch_free(&b);
}

static void the_description_tells_what_it_is(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(5, 4, 3, 1));
  bisai_precond_options options = options_of(NULL, BISAI_FORM_GAUSS_HUARD_TRANSPOSED);
  options.bjacobi.max_block = 4;
  options.bjacobi.storage = BISAI_FP11_20;
  bisai_precond *precond = precond_of(context, matrix, &options);
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

/* Rows 2 and 3 are a singular block, the second of two. */
static void what_was_repaired_is_called_a_block(void **state) {
  (void)state;
  int32_t row_ptr[] = {0, 2, 4, 6, 8}, col_idx[] = {0, 1, 0, 1, 2, 3, 2, 3};
  double values[] = {2, 1, 1, 2, 1, 1, 1, 1};
  bisai_bcsr *matrix = test_bcsr_make(context, &(test_bcsr){4, 4, 1, row_ptr, col_idx, values});
  bisai_precond_options options = options_of(NULL, BISAI_FORM_INVERSE);
  options.bjacobi.max_block = 2;
  options.shift = BISAI_SHIFT_IN_BLOCKS;
  options.shift_amount = 0.5;
  bisai_precond *precond = precond_of(context, matrix, &options);
  assert_non_null(
      strstr(bisai_precond_describe(precond), "1 diagonal block repaired, first block 1"));
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_form_solves_blocks_of_every_size),
      cmocka_unit_test(every_form_solves_blocks_of_one_size),
      cmocka_unit_test(blocks_may_cross_those_of_the_matrix),
      cmocka_unit_test(scalar_jacobi_divides_by_the_diagonal),
      cmocka_unit_test(zero_and_rank_deficient_blocks_are_named),
      cmocka_unit_test(blocks_that_only_rounding_makes_regular_are_counted),
      cmocka_unit_test(blocks_without_any_entry_are_singular),
      cmocka_unit_test(blocks_with_an_infinite_pivot_are_singular),
      cmocka_unit_test(many_vectors_are_solved_as_one_by_one),
      cmocka_unit_test(results_do_not_depend_on_the_number_of_threads),
      cmocka_unit_test(updates_equal_a_fresh_set_up_and_allocate_nothing),
      cmocka_unit_test(other_patterns_are_refused_by_updates),
      cmocka_unit_test(the_description_tells_what_it_is),
      cmocka_unit_test(what_was_repaired_is_called_a_block),
  };
  return cmocka_run_group_tests_name("bjacobi_forms", tests, setup, teardown);
}
