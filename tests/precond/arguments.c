/* SPDX-License-Identifier: BSD-3-Clause */
/* What the preconditioner handle refuses: options, sizes, factors, patterns, NULL. */
#include "small.h"

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
  bisai_precond_options options = test_precond_options(BISAI_PRECOND_ISAI);
  char expected[128];
  static const size_t sizes[] = {0, sizeof options - 8, sizeof options + 8};
  for (size_t i = 0; i < 3; i++) {
    options.struct_size = sizes[i];
    snprintf(expected, sizeof expected,
             "bisai_precond_options.struct_size is %zu, expected %zu: start from its default",
             sizes[i], sizeof options);
    expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, expected);
  }
  snprintf(expected, sizeof expected, "unknown kind of preconditioner %d", BISAI_PRECOND_KINDS);
  expect_refused(matrix, test_precond_options((bisai_precond_kind)BISAI_PRECOND_KINDS),
                 BISAI_INVALID_ARGUMENT, expected);
  expect_refused(matrix, test_precond_options((bisai_precond_kind)-1), BISAI_INVALID_ARGUMENT,
                 "unknown kind of preconditioner -1");
  options = test_precond_options(BISAI_PRECOND_ISAI);
  options.isai.power = 0;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "power 0: at least 1 is needed");
  options.isai.power = -7;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "power -7: at least 1 is needed");
  options = test_precond_options(BISAI_PRECOND_ISAI);
  options.isai.relax = -1;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "relax -1: at least 0 is needed");
  options = test_precond_options(BISAI_PRECOND_ISAI);
  options.isai.storage = (bisai_value_type)7;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "unknown storage 7");
  static const char *const of_blocks[] = {"fp11_4", "fp11_20", "adaptive"};
  for (int s = 0; s < 3; s++) {
    options.isai.storage = (bisai_value_type)(BISAI_FP11_4 + s);
    snprintf(expected, sizeof expected, "storage %s is block-Jacobi's alone", of_blocks[s]);
    expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, expected);
  }
  options.isai.storage = (bisai_value_type)-1;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "unknown storage -1");
  options = test_precond_options(BISAI_PRECOND_SWEEPS);
  options.sweeps.count = -1;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "sweeps -1: at least 0 is needed");
  options = test_precond_options(BISAI_PRECOND_ILU);
  options.ilu.schedule = (bisai_schedule)3;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "unknown schedule 3");
  options = test_precond_options(BISAI_PRECOND_MULTIGRID);
  options.multigrid.strength = 1.5;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "strength 1.5: 0 … 1 are possible");
  options = test_precond_options(BISAI_PRECOND_CALLBACK);
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
  bisai_precond_options options = test_precond_options(BISAI_PRECOND_ISAI);
  options.isai.lower_pattern = upper;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT,
                 "lower_pattern is a pattern of another triangle");
  options.isai.lower_pattern = long_lower;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT,
                 "lower_pattern has 25 block rows, the matrix 20");
  options.isai.lower_pattern = lower;
  options.isai.upper_pattern = lower;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT,
                 "upper_pattern is a pattern of another triangle");
  options.isai.upper_pattern = long_upper;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT,
                 "upper_pattern has 25 block rows, the matrix 20");
  options.isai.upper_pattern = upper;
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

/* An option with something else than its default: the field, and its name in messages. */
typedef struct set_option {
  bisai_precond_options options;
  const char *field, *name;
} set_option;

#define SET(member, value, called)                                                                 \
  o.member = value;                                                                                \
  return (set_option) { o, #member, called }

/* The options one after the other; no name behind the last. */
static set_option with_option(bisai_precond_kind kind, int which) {
  static const int32_t block_ptr[] = {0, 1};
  const void *anything = block_ptr; /* is refused before it is looked at */
  bisai_precond_options o = test_precond_options(kind);
  switch (which) {
  case 0: SET(isai.power, 2, "power");
  case 1: SET(isai.relax, 1, kind == BISAI_PRECOND_BJACOBI ? "isai.relax" : "relax");
  case 2: SET(sweeps.count, 2, "sweeps");
  case 3: SET(isai.storage, BISAI_FP32, kind == BISAI_PRECOND_BJACOBI ? "isai.storage" : "storage");
  case 4: SET(ilu.schedule, BISAI_SCHEDULE_SERIAL, "schedule");
  case 5: SET(isai.lower_pattern, anything, "lower_pattern");
  case 6: SET(isai.upper_pattern, anything, "upper_pattern");
  case 7: SET(factor.factors, anything, "factors");
  case 8: SET(callback.apply, copied, "apply");
  case 9: SET(factor.level, 1, "level");
  case 10: SET(shift, BISAI_SHIFT_IN_BLOCKS, "shift");
  case 11: SET(isai.drop_tolerance, 0.1, "drop_tolerance");
  case 12: SET(isai.column_limit, 3, "column_limit");
  case 13: SET(bjacobi.max_block, 4, "max_block");
  case 14: SET(bjacobi.block_ptr, block_ptr, "block_ptr");
  case 15: SET(bjacobi.block_count, 1, "block_count");
  case 16: SET(bjacobi.form, BISAI_FORM_LU, "form");
  case 17: SET(bjacobi.digits, 3, "digits");
  case 18: SET(bjacobi.extraction, BISAI_EXTRACTION_SHARED, "extraction");
  case 19: SET(isai.symmetric, true, "symmetric");
  case 20:
    SET(bjacobi.storage, BISAI_FP32, kind == BISAI_PRECOND_ISAI ? "bjacobi.storage" : "storage");
  case 21: SET(callback.nonlinear, true, "nonlinear");
  case 22: SET(bjacobi.relax, 1, kind == BISAI_PRECOND_ISAI ? "bjacobi.relax" : "relax");
  case 23: SET(bjacobi.damping, 0.5, "damping");
  case 24: SET(bjacobi.formats, BISAI_FORMATS_IEEE, "formats");
  default: return (set_option){.name = NULL};
  }
}

static void options_of_other_kinds_are_refused_by_name(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1);
  int refused = 0, taken = 0;
  for (int k = BISAI_PRECOND_NONE; k <= BISAI_PRECOND_CALLBACK; k++) {
    const bisai_precond_kind kind = (bisai_precond_kind)k;
    for (int which = 0; with_option(kind, which).name; which++) {
      const set_option set = with_option(kind, which);
      if (bisai_precond_kind_takes(kind, set.field)) {
        taken++;
        continue;
      }
      bisai_precond *precond = NULL;
      EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                    bisai_precond_create(context, matrix, &set.options, &precond));
      char message[96];
      snprintf(message, sizeof message, "%s does not take the option %s, which is for ",
               bisai_precond_kind_string(kind), set.name);
      EXPECT_IN_MESSAGE(context, message);
      assert_null(precond);
      refused++;
    }
  }
  assert_int_equal(taken, 11 + 4 + 11 + 4 + 2); /* of bjacobi, ilu, isai, sweeps, callback */
  assert_int_equal(refused, 6 * 25 - taken);
  bisai_precond_options options = test_precond_options(BISAI_PRECOND_ILU);
  options.isai.relax = 2;
  bisai_precond *precond = NULL;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_precond_create(context, matrix, &options, &precond));
  EXPECT_MESSAGE(context,
                 "ilu does not take the option relax, which is for bjacobi, isai, mg, cpr, schur");
  options = test_precond_options(BISAI_PRECOND_ILU);
  options.isai.storage = BISAI_FP32;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_precond_create(context, matrix, &options, &precond));
  EXPECT_MESSAGE(
      context, "ilu does not take the option storage, which is for bjacobi, isai, cpr, lu, schur");
  options.kind = BISAI_PRECOND_BJACOBI;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_precond_create(context, matrix, &options, &precond));
  EXPECT_MESSAGE(context,
                 "bjacobi does not take the option isai.storage, which is for isai, cpr, schur");
  bisai_bcsr_destroy(&matrix);
}

/* Which kind takes what, as the documentation of the options says. */
static void kinds_take_what_is_documented(void **state) {
  (void)state;
  assert_true(bisai_precond_kind_takes(BISAI_PRECOND_ISAI, "isai.power"));
  assert_false(bisai_precond_kind_takes(BISAI_PRECOND_ILU, "isai.power"));
  assert_true(bisai_precond_kind_takes(BISAI_PRECOND_BJACOBI, "bjacobi.storage"));
  assert_true(bisai_precond_kind_takes(BISAI_PRECOND_SWEEPS, "factor.level"));
  assert_false(bisai_precond_kind_takes(BISAI_PRECOND_NONE, "shift"));
  assert_true(bisai_precond_kind_takes(BISAI_PRECOND_CALLBACK, "callback.apply"));
  assert_false(bisai_precond_kind_takes(BISAI_PRECOND_ISAI, "colour"));
  assert_false(bisai_precond_kind_takes(BISAI_PRECOND_ISAI, NULL));
  assert_false(bisai_precond_kind_takes((bisai_precond_kind)17, "isai.power"));
  assert_false(bisai_precond_kind_takes((bisai_precond_kind)-1, "isai.power"));
  assert_true(bisai_precond_kind_needs_code(BISAI_PRECOND_CALLBACK));
  for (int kind = BISAI_PRECOND_NONE; kind < BISAI_PRECOND_CALLBACK; kind++)
    assert_false(bisai_precond_kind_needs_code((bisai_precond_kind)kind));
}

/* Every description names a field of its own, and reads back what it has set. */
static void options_are_set_and_read_as_they_are_described(void **state) {
  (void)state;
  for (int k = 0; k < BISAI_PRECOND_KINDS; k++) {
    const bisai_precond_kind kind = (bisai_precond_kind)k;
    const bisai_option *option;
    assert_null(bisai_precond_kind_option(kind, -1));
    for (int i = 0; (option = bisai_precond_kind_option(kind, i)); i++) {
      const bisai_precond_options defaults = bisai_precond_options_default();
      bisai_precond_options o = defaults;
      assert_true(bisai_precond_kind_takes(kind, option->field));
      assert_non_null(option->help);
      assert_true(bisai_option_get(option, &o) == option->initial);
      if (option->type == BISAI_OPTION_POINTER || option->type == BISAI_OPTION_VECTORS) continue;
      const double value = option->type == BISAI_OPTION_NUMBER   ? 0.5
                           : option->type == BISAI_OPTION_AMOUNT ? 0.25
                           : option->initial == 1.0              ? 2.0
                                                                 : 1.0;
      bisai_option_set(option, value, &o);
      assert_true(bisai_option_get(option, &o) == value);
      for (int other = 0; other < BISAI_PRECOND_KINDS; other++) {
        const bisai_option *kept;
        for (int n = 0; (kept = bisai_precond_kind_option((bisai_precond_kind)other, n)); n++)
          if (kept != option) assert_true(bisai_option_get(kept, &o) == kept->initial);
      }
      bisai_option_set(option, option->initial, &o);
      assert_true(bisai_option_get(option, &o) == option->initial);
    }
  }
  assert_null(bisai_precond_kind_option((bisai_precond_kind)BISAI_PRECOND_KINDS, 0));
  assert_null(bisai_precond_kind_option((bisai_precond_kind)-1, 0));
}

static const bisai_option *option_of(bisai_precond_kind kind, const char *key) {
  const bisai_option *option;
  for (int i = 0; (option = bisai_precond_kind_option(kind, i)); i++)
    if (option->key && strcmp(option->key, key) == 0) return option;
  fail_msg("%s has no key %s", bisai_precond_kind_string(kind), key);
  return NULL;
}

static void options_are_parsed_within_their_ranges(void **state) {
  (void)state;
  static const struct {
    bisai_precond_kind kind;
    const char *key, *text;
    bool right;
    double value;
  } cases[] = {
      {BISAI_PRECOND_ISAI, "k", "1", true, 1},
      {BISAI_PRECOND_ISAI, "k", "2147483647", true, INT32_MAX},
      {BISAI_PRECOND_ISAI, "k", "2147483648", false, 0},
      {BISAI_PRECOND_ISAI, "k", "0", false, 0},
      {BISAI_PRECOND_ISAI, "k", "1.0", false, 0},
      {BISAI_PRECOND_ISAI, "k", "1e3", false, 0},
      {BISAI_PRECOND_ISAI, "k", " 1", false, 0},
      {BISAI_PRECOND_ISAI, "k", "", false, 0},
      {BISAI_PRECOND_ISAI, "k", "-", false, 0},
      {BISAI_PRECOND_ISAI, "relax", "100000", true, 100000},
      {BISAI_PRECOND_ISAI, "relax", "100001", false, 0},
      {BISAI_PRECOND_ISAI, "drop", "1e-3", true, 1e-3},
      {BISAI_PRECOND_ISAI, "drop", "inf", false, 0},
      {BISAI_PRECOND_ISAI, "drop", "1e999", false, 0},
      {BISAI_PRECOND_ISAI, "drop", "0x1", false, 0},
      {BISAI_PRECOND_ISAI, "storage", "bf16", true, BISAI_BF16},
      {BISAI_PRECOND_ISAI, "storage", "fp11_4", false, 0},
      {BISAI_PRECOND_BJACOBI, "storage", "fp11_4", true, BISAI_FP11_4},
      {BISAI_PRECOND_BJACOBI, "storage", "", false, 0},
      {BISAI_PRECOND_ISAI, "symmetric", "", true, 1},
      {BISAI_PRECOND_ISAI, "symmetric", "1", false, 0},
      {BISAI_PRECOND_ILU, "shift", "0.01", true, 0.01},
      {BISAI_PRECOND_ILU, "shift", "-0.01", false, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double value = -7.0;
    const bool right =
        bisai_option_parse(option_of(cases[i].kind, cases[i].key), cases[i].text, &value);
    if (right != cases[i].right || value != (right ? cases[i].value : -7.0))
      fail_msg("%s=%s: %d, %g", cases[i].key, cases[i].text, right, value);
  }
  double value = -7.0;
  assert_false(
      bisai_option_parse(bisai_precond_kind_option(BISAI_PRECOND_CALLBACK, 0), "1", &value));
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
    expect_refused(tall, test_precond_options((bisai_precond_kind)kind), BISAI_INVALID_ARGUMENT,
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
    expect_refused(bad, test_precond_options((bisai_precond_kind)kind), BISAI_SINGULAR_BLOCK,
                   "block row 0: the diagonal block is singular");
    expect_refused(holed, test_precond_options((bisai_precond_kind)kind), BISAI_MISSING_DIAGONAL,
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
          bisai_precond_options options = test_precond_options((bisai_precond_kind)kind);
          options.shift = how % 2 ? BISAI_SHIFT_IN_BLOCKS : BISAI_SHIFT_NONE;
          if (kind == BISAI_PRECOND_BJACOBI) {
            options.bjacobi.max_block = how & 2 ? 5 : 0;
          } else {
            options.factor.equilibrate = how & 2;
            options.factor.ordering = how & 4 ? BISAI_ORDERING_GIVEN : BISAI_ORDERING_NATURAL;
            options.factor.permutation = how & 4 ? reversed : NULL;
            options.factor.level = how & 8 ? 1 : 0;
          }
          expect_refused(matrix, options, BISAI_MISSING_DIAGONAL, message);
        }
      }
      bisai_precond *precond = test_precond(context, matrix, BISAI_PRECOND_NONE);
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
    bisai_precond_options options = test_precond_options((bisai_precond_kind)kind);
    options.shift = BISAI_SHIFT_IN_BLOCKS;
    bisai_precond *precond = test_precond_with(context, matrix, &options);
    assert_int_equal(1, test_report_of(context, precond).repairs);
    bisai_precond_destroy(&precond);
  }
  bisai_bcsr_destroy(&matrix);
}

static void every_kind_takes_a_matrix_without_rows(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_random(test_shape_square(0, 3, 1)));
  for (int kind = BISAI_PRECOND_NONE; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    bisai_precond *precond = test_precond(context, matrix, (bisai_precond_kind)kind);
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
      bisai_precond *precond = test_precond(context, matrix, (bisai_precond_kind)kind);
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
    bisai_precond_options options = test_precond_options((bisai_precond_kind)kind);
    options.factor.factors = factors;
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
    bisai_precond *precond = test_precond(context, matrix, (bisai_precond_kind)kind);
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
      EXPECT_IN_MESSAGE(context, "the pattern changed: ");
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
  bisai_precond *precond = test_precond(context, matrix, BISAI_PRECOND_NONE);
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
      cmocka_unit_test(options_are_set_and_read_as_they_are_described),
      cmocka_unit_test(options_are_parsed_within_their_ranges),
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
