/* SPDX-License-Identifier: BSD-3-Clause */
/* What the preconditioner handle refuses: options, sizes, factors, patterns, NULL. */
#include "fixture.h"

/* 5 × 4 grid of 3 × 3 blocks: 20 + 2·31 blocks; S(|L|) has 20 + 31, S(|L|²) 12 + 12 + 10 more. */
static bisai_bcsr *small_grid(uint64_t seed) {
  return test_bcsr_take(context, test_bcsr_grid(5, 4, 3, seed));
}
enum { SCALARS = 60 };

static bisai_precond_options options_of(bisai_precond_kind kind) {
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = kind;
  return options;
}

static bisai_precond *precond_of(const bisai_bcsr *matrix, bisai_precond_options options) {
  bisai_precond *precond = NULL;
  EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &precond));
  return precond;
}

static void expect_described(const bisai_bcsr *matrix, bisai_precond_options options,
                             const char *text) {
  bisai_precond *precond = precond_of(matrix, options);
  assert_string_equal(bisai_precond_describe(precond), text);
  bisai_precond_destroy(&precond);
}

/* The grid with a zero block (0, 0). */
static bisai_bcsr *singular_grid(void) {
  test_bcsr a = test_bcsr_grid(5, 4, 3, 1);
  memset(a.values, 0, 9 * sizeof *a.values);
  return test_bcsr_take(context, a);
}

static void expect_refused(const bisai_bcsr *matrix, bisai_precond_options options,
                           bisai_status status, const char *message) {
  bisai_precond *const untouched = (bisai_precond *)(uintptr_t)64;
  bisai_precond *precond = untouched;
  EXPECT_STATUS(context, status, bisai_precond_create(context, matrix, &options, &precond));
  EXPECT_MESSAGE(context, message);
  assert_ptr_equal(precond, untouched);
}

static void options_are_refused_by_name_and_value(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1);
  bisai_precond_options options = options_of(BISAI_PRECOND_ISAI);
  char expected[128];
  static const size_t sizes[] = {0, sizeof options - 8, sizeof options + 8};
  for (size_t i = 0; i < 3; i++) {
    options.struct_size = sizes[i];
    snprintf(expected, sizeof expected,
             "bisai_precond_options.struct_size is %zu, expected %zu: start from its default",
             sizes[i], sizeof options);
    expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, expected);
  }
  expect_refused(matrix, options_of((bisai_precond_kind)6), BISAI_INVALID_ARGUMENT,
                 "unknown kind of preconditioner 6");
  expect_refused(matrix, options_of((bisai_precond_kind)-1), BISAI_INVALID_ARGUMENT,
                 "unknown kind of preconditioner -1");
  options = options_of(BISAI_PRECOND_ISAI);
  options.power = 0;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "power 0: at least 1 is needed");
  options.power = -7;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "power -7: at least 1 is needed");
  options = options_of(BISAI_PRECOND_ISAI);
  options.relax = -1;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "relax -1: at least 0 is needed");
  options = options_of(BISAI_PRECOND_ISAI);
  options.storage = (bisai_value_type)7;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "unknown storage 7");
  static const char *const of_blocks[] = {"fp11_4", "fp11_20", "adaptive"};
  for (int s = 0; s < 3; s++) {
    options.storage = (bisai_value_type)(BISAI_FP11_4 + s);
    snprintf(expected, sizeof expected, "storage %s is block-Jacobi's alone", of_blocks[s]);
    expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, expected);
  }
  options.storage = (bisai_value_type)-1;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "unknown storage -1");
  options = options_of(BISAI_PRECOND_SWEEPS);
  options.sweeps = -1;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "sweeps -1: at least 0 is needed");
  options = options_of(BISAI_PRECOND_ILU);
  options.schedule = (bisai_schedule)3;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "unknown schedule 3");
  options = options_of(BISAI_PRECOND_CALLBACK);
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT,
                 "a callback preconditioner needs its apply function");
  bisai_bcsr_destroy(&matrix);
}

static void patterns_that_do_not_fit_are_refused(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1), *longer = test_bcsr_take(context, test_bcsr_grid(5, 5, 3, 1));
  bisai_pattern *lower = NULL, *upper = NULL, *long_lower = NULL, *long_upper = NULL;
  EXPECT_OK(context, bisai_pattern_power(context, matrix, BISAI_LOWER, 1, &lower));
  EXPECT_OK(context, bisai_pattern_power(context, matrix, BISAI_UPPER, 1, &upper));
  EXPECT_OK(context, bisai_pattern_power(context, longer, BISAI_LOWER, 1, &long_lower));
  EXPECT_OK(context, bisai_pattern_power(context, longer, BISAI_UPPER, 1, &long_upper));
  bisai_precond_options options = options_of(BISAI_PRECOND_ISAI);
  options.lower_pattern = upper;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT,
                 "lower_pattern is a pattern of the other triangle");
  options.lower_pattern = long_lower;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT,
                 "lower_pattern has 25 block rows, the matrix 20");
  options.lower_pattern = lower;
  options.upper_pattern = lower;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT,
                 "upper_pattern is a pattern of the other triangle");
  options.upper_pattern = long_upper;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT,
                 "upper_pattern has 25 block rows, the matrix 20");
  options.upper_pattern = upper;
  expect_described(matrix, options, "isai patterns=given relax=0 storage=fp64, 102 blocks");
  bisai_pattern_destroy(&lower);
  bisai_pattern_destroy(&upper);
  bisai_pattern_destroy(&long_lower);
  bisai_pattern_destroy(&long_upper);
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&longer);
}

/* Options of another kind are not read: only what is used is judged. */
static bisai_status copied(void *user, int64_t n, const double *v, double *z) {
  (void)user;
  memcpy(z, v, (size_t)n * sizeof *z);
  return BISAI_OK;
}

/* Sets one option, named, to something else than its default. */
static bisai_precond_options with_option(bisai_precond_kind kind, int which, const char **name) {
  static const int32_t block_ptr[] = {0, 1};
  const void *anything = block_ptr; /* is refused before it is looked at */
  bisai_precond_options o = options_of(kind);
  switch (which) {
  case 0: o.power = 2, *name = "power"; break;
  case 1: o.relax = 1, *name = "relax"; break;
  case 2: o.sweeps = 2, *name = "sweeps"; break;
  case 3: o.storage = BISAI_FP32, *name = "storage"; break;
  case 4: o.schedule = BISAI_SCHEDULE_SERIAL, *name = "schedule"; break;
  case 5: o.lower_pattern = anything, *name = "lower_pattern"; break;
  case 6: o.upper_pattern = anything, *name = "upper_pattern"; break;
  case 7: o.factors = anything, *name = "factors"; break;
  case 8: o.apply = copied, *name = "apply"; break;
  case 9: o.level = 1, *name = "level"; break;
  case 10: o.shift = BISAI_SHIFT_IN_BLOCKS, *name = "shift"; break;
  case 11: o.drop_tolerance = 0.1, *name = "drop_tolerance"; break;
  case 12: o.column_limit = 3, *name = "column_limit"; break;
  case 13: o.max_block = 4, *name = "max_block"; break;
  case 14: o.block_ptr = block_ptr, *name = "block_ptr"; break;
  case 15: o.block_count = 1, *name = "block_count"; break;
  case 16: o.form = BISAI_FORM_LU, *name = "form"; break;
  case 17: o.digits = 3, *name = "digits"; break;
  case 18: o.extraction = BISAI_EXTRACTION_SHARED, *name = "extraction"; break;
  case 19: o.symmetric = true, *name = "symmetric"; break;
  default: *name = NULL;
  }
  return o;
}

static void options_of_other_kinds_are_refused_by_name(void **state) {
  (void)state;
  static const char *const kinds[] = {"none", "bjacobi", "ilu", "isai", "sweeps", "callback"};
  bisai_bcsr *matrix = small_grid(1);
  int refused = 0, taken = 0;
  for (int kind = BISAI_PRECOND_NONE; kind <= BISAI_PRECOND_CALLBACK; kind++) {
    const char *name;
    for (int which = 0; (void)with_option((bisai_precond_kind)kind, which, &name), name; which++) {
      const bisai_precond_options options = with_option((bisai_precond_kind)kind, which, &name);
      if (bisai_precond_kind_takes((bisai_precond_kind)kind, name)) {
        taken++;
        continue;
      }
      bisai_precond *precond = NULL;
      EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                    bisai_precond_create(context, matrix, &options, &precond));
      char message[96];
      snprintf(message, sizeof message, "%s does not take the option %s, which is for ",
               kinds[kind], name);
      assert_non_null(strstr(bisai_context_error(context), message));
      assert_null(precond);
      refused++;
    }
  }
  assert_int_equal(taken, 8 + 4 + 11 + 4 + 1); /* of bjacobi, ilu, isai, sweeps, callback */
  assert_int_equal(refused, 6 * 20 - taken);
  bisai_precond_options options = options_of(BISAI_PRECOND_ILU);
  options.relax = 2;
  bisai_precond *precond = NULL;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_precond_create(context, matrix, &options, &precond));
  EXPECT_MESSAGE(context, "ilu does not take the option relax, which is for isai");
  bisai_bcsr_destroy(&matrix);
}

/* Which kind takes what, as the documentation of the options says. */
static void kinds_take_what_is_documented(void **state) {
  (void)state;
  assert_true(bisai_precond_kind_takes(BISAI_PRECOND_ISAI, "power"));
  assert_false(bisai_precond_kind_takes(BISAI_PRECOND_ILU, "power"));
  assert_true(bisai_precond_kind_takes(BISAI_PRECOND_BJACOBI, "storage"));
  assert_true(bisai_precond_kind_takes(BISAI_PRECOND_SWEEPS, "level"));
  assert_false(bisai_precond_kind_takes(BISAI_PRECOND_NONE, "shift"));
  assert_true(bisai_precond_kind_takes(BISAI_PRECOND_CALLBACK, "apply"));
  assert_false(bisai_precond_kind_takes(BISAI_PRECOND_ISAI, "colour"));
  assert_false(bisai_precond_kind_takes(BISAI_PRECOND_ISAI, NULL));
  assert_false(bisai_precond_kind_takes((bisai_precond_kind)17, "power"));
  assert_false(bisai_precond_kind_takes((bisai_precond_kind)-1, "power"));
}

static void create_and_apply_refuse_null_and_bad_sizes(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1);
  bisai_bcsr *tall = test_bcsr_take(
      context, test_bcsr_random((test_shape){4, 3, 2, 2.0, 0, TEST_DIAGONAL_RANDOM, TEST_FULL, 1}));
  bisai_precond *precond = NULL;
  double v[SCALARS] = {0}, z[2 * SCALARS];
  assert_int_equal(bisai_precond_create(NULL, matrix, NULL, &precond), BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_precond_create(context, NULL, NULL, &precond));
  EXPECT_MESSAGE(context, "bisai_precond_create: matrix is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_create(context, matrix, NULL, NULL));
  EXPECT_MESSAGE(context, "bisai_precond_create: precond is NULL");
  for (int kind = BISAI_PRECOND_NONE; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    expect_refused(tall, options_of((bisai_precond_kind)kind), BISAI_INVALID_ARGUMENT,
                   "the matrix is not square: 4 × 3 blocks");
  }
  EXPECT_OK(context, bisai_precond_create(context, matrix, NULL, &precond));
  assert_int_equal(bisai_precond_apply(NULL, v, z), BISAI_INVALID_ARGUMENT);
  assert_int_equal(bisai_precond_apply_many(NULL, 1, v, SCALARS, z, SCALARS),
                   BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_apply(precond, NULL, z));
  EXPECT_MESSAGE(context, "bisai_precond_apply: v is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_apply(precond, v, NULL));
  EXPECT_MESSAGE(context, "bisai_precond_apply: z is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_apply(precond, v, v));
  EXPECT_MESSAGE(context, "bisai_precond_apply: v and z are the same array");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_precond_apply_many(precond, 1, v, SCALARS, v, SCALARS));
  /* one vector has no leading dimension */
  EXPECT_OK(context, bisai_precond_apply_many(precond, 1, v, 0, z, 0));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_precond_apply_many(precond, -1, v, SCALARS, z, SCALARS));
  EXPECT_MESSAGE(context, "negative number of vectors: -1");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_precond_apply_many(precond, 2, v, SCALARS - 1, z, SCALARS));
  EXPECT_MESSAGE(context, "leading dimensions 59 and 60, at least 60 needed");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_precond_apply_many(precond, 2, v, SCALARS, z, SCALARS - 1));
  EXPECT_MESSAGE(context, "leading dimensions 60 and 59, at least 60 needed");
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&tall);
}

static void failing_set_up_names_the_row(void **state) {
  (void)state;
  bisai_bcsr *bad = singular_grid();
  test_bcsr swapped = {3, 3, 1, (int32_t[]){0, 1, 2, 3}, (int32_t[]){0, 2, 1}, (double[]){1, 1, 1}};
  bisai_bcsr *holed = test_bcsr_make(context, &swapped);
  for (int kind = BISAI_PRECOND_BJACOBI; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    expect_refused(bad, options_of((bisai_precond_kind)kind), BISAI_SINGULAR_BLOCK,
                   "block row 0: the diagonal block is singular");
    expect_refused(holed, options_of((bisai_precond_kind)kind), BISAI_MISSING_DIAGONAL,
                   "block row 1 has no diagonal block");
  }
  bisai_bcsr_destroy(&bad);
  bisai_bcsr_destroy(&holed);
}

/* Whatever a shift does to M. Matrices of 6 blocks a row and column but for one row, or one column;
 * named as the caller numbers them. */
static void an_empty_row_or_column_is_refused_by_name(void **state) {
  (void)state;
  enum { N = 6, BS = 2 };
  const int32_t reversed[N] = {5, 4, 3, 2, 1, 0};
  for (int32_t empty = 0; empty < N; empty++) {
    for (int columns = 0; columns < 2; columns++) {
      int32_t row_ptr[N + 1] = {0}, col_idx[N * N], count = 0;
      double values[N * N * BS * BS];
      for (int32_t i = 0; i < N; i++) {
        for (int32_t j = 0; j < N; j++)
          if ((columns ? j : i) != empty) col_idx[count++] = j;
        row_ptr[i + 1] = count;
      }
      for (int v = 0; v < count * BS * BS; v++) values[v] = 1.0 / (1 + v % 17) + v % 5;
      bisai_bcsr *matrix =
          test_bcsr_make(context, &(test_bcsr){N, N, BS, row_ptr, col_idx, values});
      char message[80];
      snprintf(message, sizeof message, "block %s %d is empty: the matrix is singular",
               columns ? "column" : "row", empty);
      for (int kind = BISAI_PRECOND_BJACOBI; kind <= BISAI_PRECOND_SWEEPS; kind++) {
        for (int how = 0; how < 16; how++) {
          bisai_precond_options options = options_of((bisai_precond_kind)kind);
          options.shift = how % 2 ? BISAI_SHIFT_IN_BLOCKS : BISAI_SHIFT_NONE;
          if (kind == BISAI_PRECOND_BJACOBI) {
            options.max_block = how & 2 ? 5 : 0;
          } else {
            options.equilibrate = how & 2;
            options.ordering = how & 4 ? BISAI_ORDERING_GIVEN : BISAI_ORDERING_NATURAL;
            options.permutation = how & 4 ? reversed : NULL;
            options.level = how & 8 ? 1 : 0;
          }
          expect_refused(matrix, options, BISAI_MISSING_DIAGONAL, message);
        }
      }
      bisai_precond *precond = precond_of(matrix, options_of(BISAI_PRECOND_NONE));
      bisai_precond_destroy(&precond);
      bisai_bcsr_destroy(&matrix);
    }
  }
}

/* Rows and columns of stored zeros may get other values at an update. */
static void a_row_or_column_of_zeros_is_repaired_where_asked_for(void **state) {
  (void)state;
  test_bcsr zero = {2, 2, 1, (int32_t[]){0, 2, 4}, (int32_t[]){0, 1, 0, 1}, (double[]){1, 0, 1, 0}};
  bisai_bcsr *matrix = test_bcsr_make(context, &zero);
  for (int kind = BISAI_PRECOND_BJACOBI; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    bisai_precond_options options = options_of((bisai_precond_kind)kind);
    options.shift = BISAI_SHIFT_IN_BLOCKS;
    bisai_precond *precond = precond_of(matrix, options);
    bisai_precond_report report = {.struct_size = sizeof report};
    EXPECT_OK(context, bisai_precond_get_report(precond, &report));
    assert_int_equal(1, report.repairs);
    bisai_precond_destroy(&precond);
  }
  bisai_bcsr_destroy(&matrix);
}

static void every_kind_takes_a_matrix_without_rows(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_random(test_shape_square(0, 3, 1)));
  for (int kind = BISAI_PRECOND_NONE; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    bisai_precond *precond = precond_of(matrix, options_of((bisai_precond_kind)kind));
    double none = 1.0, other = 2.0;
    EXPECT_OK(context, bisai_precond_apply(precond, &none, &other));
    EXPECT_OK(context, bisai_precond_apply_many(precond, 5, &none, 0, &other, 0));
    EXPECT_OK(context, bisai_precond_update(precond, matrix));
    assert_true(none == 1.0 && other == 2.0);
    bisai_precond_destroy(&precond);
  }
  bisai_bcsr_destroy(&matrix);
}

/* One row: no level, no off-diagonal block, no thread to share with. */
static void every_kind_inverts_a_single_block(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 9; bs++) {
    test_bcsr a = test_bcsr_random(test_shape_square(1, bs, (uint64_t)bs));
    double *v = test_random_vector(bs, 1), z[9], *expected = test_dense_solve(bs, a.values, v);
    bisai_bcsr *matrix = test_bcsr_take(context, a);
    for (int kind = BISAI_PRECOND_BJACOBI; kind <= BISAI_PRECOND_SWEEPS; kind++) {
      bisai_precond *precond = precond_of(matrix, options_of((bisai_precond_kind)kind));
      EXPECT_OK(context, bisai_precond_apply(precond, v, z));
      EXPECT_CLOSE(bs, expected, z, 1e-13);
      bisai_precond_destroy(&precond);
    }
    bisai_bcsr_destroy(&matrix);
    free(v);
    free(expected);
  }
}

static void factors_that_do_not_fit_are_refused(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1), *bad = singular_grid();
  bisai_bcsr *longer = test_bcsr_take(context, test_bcsr_grid(5, 5, 3, 1));
  bisai_bcsr *coarser = test_bcsr_take(context, test_bcsr_grid(5, 4, 2, 1));
  bisai_factors *factors = NULL;
  bisai_precond *precond = NULL;
  EXPECT_OK(context, bisai_factors_create(context, matrix, NULL, &factors));
  for (int kind = BISAI_PRECOND_ILU; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    bisai_precond_options options = options_of((bisai_precond_kind)kind);
    options.factors = factors;
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                  bisai_precond_create(context, longer, &options, &precond));
    EXPECT_MESSAGE(context, "the factors have 20 block rows of size 3, the matrix 25 of size 3");
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                  bisai_precond_create(context, coarser, &options, &precond));
    EXPECT_MESSAGE(context, "the factors have 20 block rows of size 3, the matrix 20 of size 2");
    EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK, bisai_factors_update(factors, bad));
    EXPECT_STATUS(context, BISAI_NOT_READY,
                  bisai_precond_create(context, matrix, &options, &precond));
    EXPECT_MESSAGE(context, "the factors' last update failed");
    EXPECT_OK(context, bisai_factors_update(factors, matrix));
  }
  assert_null(precond);
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&bad);
  bisai_bcsr_destroy(&longer);
  bisai_bcsr_destroy(&coarser);
}

static void update_refuses_other_sizes(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1), *longer = test_bcsr_take(context, test_bcsr_grid(5, 5, 3, 1));
  bisai_bcsr *coarser = test_bcsr_take(context, test_bcsr_grid(5, 4, 2, 1));
  bisai_bcsr *thinner = test_bcsr_take(context, test_bcsr_grid(20, 1, 3, 1));
  bisai_bcsr *wide = test_bcsr_take(
      context,
      test_bcsr_random((test_shape){20, 21, 3, 2.0, 0, TEST_DIAGONAL_DOMINANT, TEST_FULL, 1}));
  for (int kind = BISAI_PRECOND_NONE; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    bisai_precond *precond = precond_of(matrix, options_of((bisai_precond_kind)kind));
    assert_int_equal(bisai_precond_update(NULL, matrix), BISAI_INVALID_ARGUMENT);
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_update(precond, NULL));
    EXPECT_MESSAGE(context, "bisai_precond_update: matrix is NULL");
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_update(precond, longer));
    EXPECT_MESSAGE(context, "the pattern changed: 25 block rows of size 3, expected 20 of size 3");
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_update(precond, coarser));
    EXPECT_MESSAGE(context, "the pattern changed: 20 block rows of size 2, expected 20 of size 3");
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_update(precond, wide));
    if (kind >= BISAI_PRECOND_BJACOBI) {
      EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_update(precond, thinner));
      assert_non_null(strstr(bisai_context_error(context), "the pattern changed: "));
    }
    EXPECT_OK(context, bisai_precond_update(precond, matrix));
    bisai_precond_destroy(&precond);
  }
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&longer);
  bisai_bcsr_destroy(&coarser);
  bisai_bcsr_destroy(&thinner);
  bisai_bcsr_destroy(&wide);
}

static void null_has_no_rows_and_no_factors(void **state) {
  (void)state;
  assert_string_equal(bisai_precond_describe(NULL), "");
  assert_int_equal(bisai_precond_rows(NULL), 0);
  assert_null(bisai_precond_permutation(NULL));
  assert_null(bisai_precond_factors(NULL));
  assert_null(bisai_precond_lower_inverse(NULL));
  assert_null(bisai_precond_upper_inverse(NULL));
}

static void report_refuses_unknown_struct_sizes(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1);
  bisai_precond *precond = precond_of(matrix, options_of(BISAI_PRECOND_NONE));
  bisai_precond_report report = {0};
  char expected[128];
  static const size_t sizes[] = {0, sizeof report - 1, sizeof report + 1};
  for (size_t i = 0; i < 3; i++) {
    report.struct_size = sizes[i];
    snprintf(expected, sizeof expected,
             "bisai_precond_report.struct_size is %zu, expected %zu: set it to the struct's size "
             "in this version's headers",
             sizes[i], sizeof report);
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_get_report(precond, &report));
    EXPECT_MESSAGE(context, expected);
  }
  assert_int_equal(bisai_precond_get_report(NULL, &report), BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_get_report(precond, NULL));
  EXPECT_MESSAGE(context, "bisai_precond_get_report: report is NULL");
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(options_are_refused_by_name_and_value),
      cmocka_unit_test(patterns_that_do_not_fit_are_refused),
      cmocka_unit_test(options_of_other_kinds_are_refused_by_name),
      cmocka_unit_test(kinds_take_what_is_documented),
      cmocka_unit_test(create_and_apply_refuse_null_and_bad_sizes),
      cmocka_unit_test(failing_set_up_names_the_row),
      cmocka_unit_test(an_empty_row_or_column_is_refused_by_name),
      cmocka_unit_test(a_row_or_column_of_zeros_is_repaired_where_asked_for),
      cmocka_unit_test(every_kind_takes_a_matrix_without_rows),
      cmocka_unit_test(every_kind_inverts_a_single_block),
      cmocka_unit_test(factors_that_do_not_fit_are_refused),
      cmocka_unit_test(update_refuses_other_sizes),
      cmocka_unit_test(null_has_no_rows_and_no_factors),
      cmocka_unit_test(report_refuses_unknown_struct_sizes),
  };
  return cmocka_run_group_tests_name("precond_arguments", tests, setup, teardown);
}
