/* The one handle: options judged, every kind set up, described, reported, updated, and the caller's factors and functions. */
#include "support.h"

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

/* 5 × 4 grid of 3 × 3 blocks: 20 + 2·31 blocks; S(|L|) has 20 + 31, S(|L|²) 12 + 12 + 10 more. */
static bisai_bcsr *small_grid(uint64_t seed) { return test_bcsr_take(context, test_bcsr_grid(5, 4, 3, seed)); }
enum { ROWS = 20, SCALARS = 60 };

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

static bisai_precond_report report_of(const bisai_precond *precond) {
  bisai_precond_report report;
  memset(&report, 0xff, sizeof report);
  report.struct_size = sizeof report;
  EXPECT_OK(context, bisai_precond_get_report(precond, &report));
  assert_int_equal(report.struct_size, sizeof report);
  return report;
}

/* z ← 2 v, counted; fails when told to */
typedef struct doubler {
  int calls;
  int64_t n;
  bisai_status status;
} doubler;

static bisai_status apply_doubler(void *user, int64_t n, const double *v, double *z) {
  doubler *d = user;
  d->calls++;
  d->n = n;
  for (int64_t i = 0; i < n; i++) {
    z[i] = 2.0 * v[i];
  }
  return d->status;
}

static void options_have_documented_defaults(void **state) {
  (void)state;
  bisai_precond_options options = bisai_precond_options_default();
  assert_int_equal(options.struct_size, sizeof options);
  assert_int_equal(options.kind, BISAI_PRECOND_ISAI);
  assert_int_equal(options.power, 1);
  assert_int_equal(options.relax, 0);
  assert_int_equal(options.sweeps, 1);
  assert_int_equal(options.storage, BISAI_FP64);
  assert_int_equal(options.schedule, BISAI_SCHEDULE_AUTO);
  assert_null(options.lower_pattern);
  assert_null(options.upper_pattern);
  assert_null(options.factors);
  assert_true(options.apply == NULL);
  assert_null(options.user);
}

static void null_options_mean_isai_of_power_one(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1);
  bisai_precond *precond = NULL, *same = precond_of(matrix, bisai_precond_options_default());
  EXPECT_OK(context, bisai_precond_create(context, matrix, NULL, &precond));
  assert_string_equal(bisai_precond_describe(precond), bisai_precond_describe(same));
  double *v = test_random_vector(SCALARS, 1), x[SCALARS], y[SCALARS];
  EXPECT_OK(context, bisai_precond_apply(precond, v, x));
  EXPECT_OK(context, bisai_precond_apply(same, v, y));
  assert_memory_equal(x, y, sizeof x);
  bisai_precond_destroy(&precond);
  assert_null(precond);
  bisai_precond_destroy(&same);
  bisai_bcsr_destroy(&matrix);
  free(v);
}

static void expect_described(const bisai_bcsr *matrix, bisai_precond_options options, const char *text) {
  bisai_precond *precond = precond_of(matrix, options);
  assert_string_equal(bisai_precond_describe(precond), text);
  bisai_precond_destroy(&precond);
}

static void every_kind_describes_itself(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1);
  doubler d = {0, 0, BISAI_OK};
  bisai_precond_options options = options_of(BISAI_PRECOND_CALLBACK);
  options.apply = apply_doubler;
  options.user = &d;
  expect_described(matrix, options, "callback");
  expect_described(matrix, options_of(BISAI_PRECOND_NONE), "none");
  expect_described(matrix, options_of(BISAI_PRECOND_BJACOBI), "bjacobi");
  options = options_of(BISAI_PRECOND_ILU);
  expect_described(matrix, options, "ilu schedule=auto, 82 blocks in L + U");
  options.schedule = BISAI_SCHEDULE_LEVELS;
  expect_described(matrix, options, "ilu schedule=levels, 82 blocks in L + U");
  options = options_of(BISAI_PRECOND_ISAI);
  expect_described(matrix, options, "isai k=1 relax=0 storage=fp64, 102 blocks");
  options.power = 2;
  options.relax = 3;
  options.storage = BISAI_BF16;
  expect_described(matrix, options, "isai k=2 relax=3 storage=bf16, 170 blocks");
  options = options_of(BISAI_PRECOND_SWEEPS);
  options.sweeps = 5;
  expect_described(matrix, options, "sweeps n=5, 82 blocks in L + U");
  bisai_bcsr_destroy(&matrix);
}

static void none_copies(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1);
  bisai_precond *precond = precond_of(matrix, options_of(BISAI_PRECOND_NONE));
  double *v = test_random_vector(SCALARS, 1), z[SCALARS];
  EXPECT_OK(context, bisai_precond_apply(precond, v, z));
  assert_memory_equal(v, z, sizeof z);
  EXPECT_OK(context, bisai_precond_update(precond, matrix));
  assert_null(bisai_precond_factors(precond));
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  free(v);
}

static void only_isai_has_inverses(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1);
  for (int kind = BISAI_PRECOND_NONE; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    bisai_precond *precond = precond_of(matrix, options_of((bisai_precond_kind)kind));
    const bool isai = kind == BISAI_PRECOND_ISAI, factored = kind >= BISAI_PRECOND_ILU;
    assert_true((bisai_precond_lower_inverse(precond) != NULL) == isai);
    assert_true((bisai_precond_upper_inverse(precond) != NULL) == isai);
    assert_true((bisai_precond_factors(precond) != NULL) == factored);
    bisai_precond_destroy(&precond);
  }
  bisai_bcsr_destroy(&matrix);
}

/* --- report --- */

static void reports_hold_what_each_kind_has(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1);
  for (int kind = BISAI_PRECOND_NONE; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    bisai_precond *precond = precond_of(matrix, options_of((bisai_precond_kind)kind));
    const bisai_precond_report report = report_of(precond);
    const bool inverts = kind != BISAI_PRECOND_NONE, factored = kind >= BISAI_PRECOND_ILU;
    assert_int_equal(report.kind, kind);
    assert_int_equal(report.factor_blocks, factored ? 82 : 0);
    assert_int_equal(report.inverse_blocks, kind == BISAI_PRECOND_ISAI ? 102 : 0);
    assert_int_equal(report.longest_column, kind == BISAI_PRECOND_ISAI ? 3 : 0);
    assert_int_equal(report.fallbacks, 0);
    assert_int_equal(report.repairs, 0);
    assert_true(inverts ? report.largest_condition >= 1.0 : report.largest_condition == 0.0);
    assert_true(inverts ? report.largest_condition_row >= 0 && report.largest_condition_row < ROWS
                        : report.largest_condition_row == -1);
    assert_true(factored ? report.factor_seconds > 0.0 : report.factor_seconds == 0.0);
    assert_true(kind == BISAI_PRECOND_ISAI ? report.pattern_seconds > 0.0 : report.pattern_seconds == 0.0);
    assert_true(report.values_seconds >= 0.0);
    assert_true(report.setup_seconds >= report.factor_seconds + report.pattern_seconds + report.values_seconds);
    assert_true(report.memory_bytes > 0);
    assert_true(report.apply_bytes >= 2 * 8 * SCALARS);
    bisai_precond_destroy(&precond);
  }
  bisai_bcsr_destroy(&matrix);
}

/* Tridiagonal, 10 rows, size 1: NL and NU have 19 blocks each; a product moves 19·(8 + 4) + 4·11 + 8·20 bytes. */
static void bytes_of_an_application_are_those_of_two_products(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_tridiagonal(10, 1, 2.0, -1.0));
  bisai_precond_options options = options_of(BISAI_PRECOND_ISAI);
  bisai_precond *precond = precond_of(matrix, options);
  assert_int_equal(report_of(precond).apply_bytes, 2 * (19 * 12 + 4 * 11 + 8 * 20));
  bisai_precond_destroy(&precond);
  options.storage = BISAI_FP16;
  precond = precond_of(matrix, options);
  assert_int_equal(report_of(precond).apply_bytes, 2 * (19 * 6 + 4 * 11 + 8 * 20));
  bisai_precond_destroy(&precond);
  options.relax = 1; /* one product more with N and one with T, 9 and 19 blocks in fp64 */
  precond = precond_of(matrix, options);
  assert_true(report_of(precond).apply_bytes >= 4 * 19 * 6 + (9 + 19) * 12);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

/* Reported memory against what the allocator was asked for; rounding up of small arrays is allowed for. */
static void memory_is_what_was_allocated(void **state) {
  (void)state;
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *counted = test_context_on(&allocator, 2);
  bisai_bcsr *matrix = test_bcsr_take(counted, test_bcsr_grid(40, 40, 2, 1));
  for (int kind = BISAI_PRECOND_NONE; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    bisai_precond_options options = options_of((bisai_precond_kind)kind);
    bisai_precond *precond = NULL;
    const long long before = atomic_load(&allocator.live_bytes), blocks = atomic_load(&allocator.live_blocks);
    EXPECT_OK(counted, bisai_precond_create(counted, matrix, &options, &precond));
    const long long held = atomic_load(&allocator.live_bytes) - before;
    const long long slack = 64 * (atomic_load(&allocator.live_blocks) - blocks);
    bisai_precond_report report = {.struct_size = sizeof report};
    EXPECT_OK(counted, bisai_precond_get_report(precond, &report));
    if (report.memory_bytes > held || report.memory_bytes < held - slack) {
      fail_msg("kind %d: reports %lld bytes, holds %lld in arrays rounded up by at most %lld", kind,
               (long long)report.memory_bytes, held, slack);
    }
    bisai_precond_destroy(&precond);
    assert_int_equal(atomic_load(&allocator.live_bytes), before);
  }
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&counted);
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
    snprintf(expected, sizeof expected, "bisai_precond_report.struct_size is %zu, expected %zu: start from its default",
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

/* --- the caller's function --- */

static void callback_is_called_with_its_user_and_size(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1);
  doubler d = {0, 0, BISAI_OK};
  bisai_precond_options options = options_of(BISAI_PRECOND_CALLBACK);
  options.apply = apply_doubler;
  options.user = &d;
  bisai_precond *precond = precond_of(matrix, options);
  assert_int_equal(d.calls, 0);
  double *v = test_random_vector(3 * SCALARS, 1), z[3 * SCALARS];
  EXPECT_OK(context, bisai_precond_apply(precond, v, z));
  assert_int_equal(d.calls, 1);
  assert_int_equal(d.n, SCALARS);
  for (int i = 0; i < SCALARS; i++) {
    assert_true(z[i] == 2.0 * v[i]);
  }
  EXPECT_OK(context, bisai_precond_apply_many(precond, 3, v, SCALARS, z, SCALARS));
  assert_int_equal(d.calls, 4);
  for (int i = 0; i < 3 * SCALARS; i++) {
    assert_true(z[i] == 2.0 * v[i]);
  }
  EXPECT_OK(context, bisai_precond_update(precond, matrix));
  assert_int_equal(report_of(precond).kind, BISAI_PRECOND_CALLBACK);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  free(v);
}

static void failing_callback_is_told_apart_and_may_recover(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1);
  doubler d = {0, 0, BISAI_SINGULAR_BLOCK};
  bisai_precond_options options = options_of(BISAI_PRECOND_CALLBACK);
  options.apply = apply_doubler;
  options.user = &d;
  bisai_precond *precond = precond_of(matrix, options);
  double v[SCALARS] = {1.0}, z[SCALARS];
  EXPECT_STATUS(context, BISAI_CALLBACK_FAILED, bisai_precond_apply(precond, v, z));
  EXPECT_MESSAGE(context, "the preconditioner's callback returned status 7 (singular diagonal block)");
  d.status = (bisai_status)-5;
  EXPECT_STATUS(context, BISAI_CALLBACK_FAILED, bisai_precond_apply_many(precond, 1, v, SCALARS, z, SCALARS));
  EXPECT_MESSAGE(context, "the preconditioner's callback returned status -5 (unknown status)");
  d.status = BISAI_OK;
  EXPECT_OK(context, bisai_precond_apply(precond, v, z));
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

/* --- the caller's factors --- */

static void factors_of_the_caller_are_used_and_left_alone(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1);
  bisai_factors *factors = NULL;
  EXPECT_OK(context, bisai_factors_create(context, matrix, NULL, &factors));
  double *v = test_random_vector(SCALARS, 1), x[SCALARS], y[SCALARS];
  for (int kind = BISAI_PRECOND_ILU; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    bisai_precond_options options = options_of((bisai_precond_kind)kind);
    bisai_precond *own = precond_of(matrix, options);
    options.factors = factors;
    bisai_precond *given = precond_of(matrix, options);
    assert_ptr_equal(bisai_precond_factors(given), factors);
    assert_ptr_not_equal(bisai_precond_factors(own), factors);
    EXPECT_OK(context, bisai_precond_apply(own, v, x));
    EXPECT_OK(context, bisai_precond_apply(given, v, y));
    assert_memory_equal(x, y, sizeof x);
    const bisai_precond_report report = report_of(given), own_report = report_of(own);
    assert_true(report.factor_seconds == 0.0);
    assert_int_equal(report.factor_blocks, 82);
    assert_int_equal(report.inverse_blocks, own_report.inverse_blocks);
    assert_true(report.memory_bytes < own_report.memory_bytes);
    bisai_precond_destroy(&own);
    bisai_precond_destroy(&given);
    EXPECT_OK(context, bisai_factors_solve(factors, BISAI_SCHEDULE_AUTO, v, x));
  }
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&matrix);
  free(v);
}

static void update_follows_the_factors_that_the_caller_updated(void **state) {
  (void)state;
  bisai_bcsr *first = small_grid(1), *second = small_grid(2);
  double *v = test_random_vector(SCALARS, 1), x[SCALARS], y[SCALARS];
  for (int kind = BISAI_PRECOND_ILU; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    bisai_factors *factors = NULL;
    EXPECT_OK(context, bisai_factors_create(context, first, NULL, &factors));
    bisai_precond_options options = options_of((bisai_precond_kind)kind);
    bisai_precond *fresh = precond_of(second, options);
    options.factors = factors;
    bisai_precond *given = precond_of(first, options);
    EXPECT_OK(context, bisai_factors_update(factors, second));
    EXPECT_OK(context, bisai_precond_update(given, second));
    EXPECT_OK(context, bisai_precond_apply(given, v, x));
    EXPECT_OK(context, bisai_precond_apply(fresh, v, y));
    assert_memory_equal(x, y, sizeof x);
    bisai_precond_destroy(&fresh);
    bisai_precond_destroy(&given);
    bisai_factors_destroy(&factors);
  }
  bisai_bcsr_destroy(&first);
  bisai_bcsr_destroy(&second);
  free(v);
}

/* The grid with a zero block (0, 0). */
static bisai_bcsr *singular_grid(void) {
  test_bcsr a = test_bcsr_grid(5, 4, 3, 1);
  memset(a.values, 0, 9 * sizeof *a.values);
  return test_bcsr_take(context, a);
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
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_create(context, longer, &options, &precond));
    EXPECT_MESSAGE(context, "the factors have 20 block rows of size 3, the matrix 25 of size 3");
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_create(context, coarser, &options, &precond));
    EXPECT_MESSAGE(context, "the factors have 20 block rows of size 3, the matrix 20 of size 2");
    EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK, bisai_factors_update(factors, bad));
    EXPECT_STATUS(context, BISAI_NOT_READY, bisai_precond_create(context, matrix, &options, &precond));
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

/* Factors whose own update failed must not be applied as if nothing had happened. */
static void application_with_failed_factors_of_the_caller_is_refused(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1), *bad = singular_grid();
  double v[SCALARS] = {1.0}, z[SCALARS];
  for (int kind = BISAI_PRECOND_ILU; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    bisai_factors *factors = NULL;
    EXPECT_OK(context, bisai_factors_create(context, matrix, NULL, &factors));
    bisai_precond_options options = options_of((bisai_precond_kind)kind);
    options.factors = factors;
    bisai_precond *precond = precond_of(matrix, options);
    EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK, bisai_factors_update(factors, bad));
    EXPECT_STATUS(context, BISAI_NOT_READY, bisai_precond_update(precond, bad));
    EXPECT_STATUS(context, BISAI_NOT_READY, bisai_precond_apply(precond, v, z));
    EXPECT_OK(context, bisai_factors_update(factors, matrix));
    EXPECT_OK(context, bisai_precond_update(precond, matrix));
    EXPECT_OK(context, bisai_precond_apply(precond, v, z));
    bisai_precond_destroy(&precond);
    bisai_factors_destroy(&factors);
  }
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&bad);
}

/* --- update --- */

static void update_equals_a_fresh_set_up_for_every_kind(void **state) {
  (void)state;
  bisai_bcsr *first = small_grid(1), *second = small_grid(2);
  double *v = test_random_vector(SCALARS, 1), x[SCALARS], y[SCALARS];
  for (int kind = BISAI_PRECOND_NONE; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    bisai_precond_options options = options_of((bisai_precond_kind)kind);
    options.relax = options.sweeps = options.power = 2;
    bisai_precond *updated = precond_of(first, options), *fresh = precond_of(second, options);
    EXPECT_OK(context, bisai_precond_update(updated, second));
    EXPECT_OK(context, bisai_precond_apply(updated, v, x));
    EXPECT_OK(context, bisai_precond_apply(fresh, v, y));
    assert_memory_equal(x, y, sizeof x);
    const bisai_precond_report a = report_of(updated), b = report_of(fresh);
    assert_true(a.pattern_seconds == 0.0);
    assert_true(a.largest_condition == b.largest_condition && a.largest_condition_row == b.largest_condition_row);
    assert_true(a.memory_bytes == b.memory_bytes && a.apply_bytes == b.apply_bytes);
    assert_true(a.inverse_blocks == b.inverse_blocks && a.factor_blocks == b.factor_blocks);
    bisai_precond_destroy(&updated);
    bisai_precond_destroy(&fresh);
  }
  bisai_bcsr_destroy(&first);
  bisai_bcsr_destroy(&second);
  free(v);
}

static void failed_update_is_not_ready_until_one_succeeds(void **state) {
  (void)state;
  bisai_bcsr *good = small_grid(1), *bad = singular_grid();
  double *v = test_random_vector(SCALARS, 1), x[SCALARS], y[SCALARS];
  for (int kind = BISAI_PRECOND_BJACOBI; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    bisai_precond *precond = precond_of(good, options_of((bisai_precond_kind)kind));
    EXPECT_OK(context, bisai_precond_apply(precond, v, x));
    EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK, bisai_precond_update(precond, bad));
    EXPECT_MESSAGE(context, "block row 0: the diagonal block is singular");
    EXPECT_STATUS(context, BISAI_NOT_READY, bisai_precond_apply(precond, v, y));
    EXPECT_MESSAGE(context, "the preconditioner's last update failed");
    EXPECT_STATUS(context, BISAI_NOT_READY, bisai_precond_apply_many(precond, 1, v, SCALARS, y, SCALARS));
    EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK, bisai_precond_update(precond, bad));
    EXPECT_OK(context, bisai_precond_update(precond, good));
    EXPECT_OK(context, bisai_precond_apply(precond, v, y));
    assert_memory_equal(x, y, sizeof x);
    bisai_precond_destroy(&precond);
  }
  bisai_bcsr_destroy(&good);
  bisai_bcsr_destroy(&bad);
  free(v);
}

static void overflow_in_an_update_is_not_ready(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_tridiagonal(ROWS, 3, 1.0, 0.0);
  bisai_bcsr *good = test_bcsr_make(context, &a);
  a.values[0] = 1e-6; /* its inverse is beyond fp16 */
  bisai_bcsr *bad = test_bcsr_take(context, a);
  bisai_precond_options options = options_of(BISAI_PRECOND_ISAI);
  options.storage = BISAI_FP16;
  bisai_precond *precond = precond_of(good, options);
  double v[SCALARS] = {1.0}, z[SCALARS];
  EXPECT_STATUS(context, BISAI_OVERFLOW, bisai_precond_update(precond, bad));
  EXPECT_MESSAGE(context, "NU: block (0, 0) does not fit its storage type");
  EXPECT_STATUS(context, BISAI_NOT_READY, bisai_precond_apply(precond, v, z));
  EXPECT_OK(context, bisai_precond_update(precond, good));
  EXPECT_OK(context, bisai_precond_apply(precond, v, z));
  assert_true(z[0] == 1.0 && z[1] == 0.0);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&good);
  bisai_bcsr_destroy(&bad);
}

static void update_refuses_other_sizes(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1), *longer = test_bcsr_take(context, test_bcsr_grid(5, 5, 3, 1));
  bisai_bcsr *coarser = test_bcsr_take(context, test_bcsr_grid(5, 4, 2, 1));
  bisai_bcsr *thinner = test_bcsr_take(context, test_bcsr_grid(20, 1, 3, 1));
  bisai_bcsr *wide =
      test_bcsr_take(context, test_bcsr_random((test_shape){20, 21, 3, 2.0, 0, TEST_DIAGONAL_DOMINANT, TEST_FULL, 1}));
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

/* --- refusals --- */

static void expect_refused(const bisai_bcsr *matrix, bisai_precond_options options, bisai_status status,
                           const char *message) {
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
             "bisai_precond_options.struct_size is %zu, expected %zu: start from its default", sizes[i],
             sizeof options);
    expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, expected);
  }
  expect_refused(matrix, options_of((bisai_precond_kind)6), BISAI_INVALID_ARGUMENT, "unknown kind of preconditioner 6");
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
  options.storage = (bisai_value_type)4;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "unknown storage 4");
  options.storage = (bisai_value_type)-1;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "unknown storage -1");
  options = options_of(BISAI_PRECOND_SWEEPS);
  options.sweeps = -1;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "sweeps -1: at least 0 is needed");
  options = options_of(BISAI_PRECOND_ILU);
  options.schedule = (bisai_schedule)3;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "unknown schedule 3");
  options = options_of(BISAI_PRECOND_CALLBACK);
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "a callback preconditioner needs its apply function");
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
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "lower_pattern is a pattern of the other triangle");
  options.lower_pattern = long_lower;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "lower_pattern has 25 block rows, the matrix 20");
  options.lower_pattern = lower;
  options.upper_pattern = lower;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "upper_pattern is a pattern of the other triangle");
  options.upper_pattern = long_upper;
  expect_refused(matrix, options, BISAI_INVALID_ARGUMENT, "upper_pattern has 25 block rows, the matrix 20");
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
static void options_of_other_kinds_do_not_matter(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1);
  bisai_precond_options options = options_of(BISAI_PRECOND_BJACOBI);
  options.power = 0;
  options.relax = -1;
  options.sweeps = -1;
  options.storage = (bisai_value_type)9;
  bisai_precond *precond = precond_of(matrix, options);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

static void create_and_apply_refuse_null_and_bad_sizes(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1);
  bisai_bcsr *tall =
      test_bcsr_take(context, test_bcsr_random((test_shape){4, 3, 2, 2.0, 0, TEST_DIAGONAL_RANDOM, TEST_FULL, 1}));
  bisai_precond *precond = NULL;
  double v[SCALARS] = {0}, z[2 * SCALARS];
  assert_int_equal(bisai_precond_create(NULL, matrix, NULL, &precond), BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_create(context, NULL, NULL, &precond));
  EXPECT_MESSAGE(context, "bisai_precond_create: matrix is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_create(context, matrix, NULL, NULL));
  EXPECT_MESSAGE(context, "bisai_precond_create: precond is NULL");
  for (int kind = BISAI_PRECOND_NONE; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    expect_refused(tall, options_of((bisai_precond_kind)kind), BISAI_INVALID_ARGUMENT,
                   "the matrix is not square: 4 × 3 blocks");
  }
  EXPECT_OK(context, bisai_precond_create(context, matrix, NULL, &precond));
  assert_int_equal(bisai_precond_apply(NULL, v, z), BISAI_INVALID_ARGUMENT);
  assert_int_equal(bisai_precond_apply_many(NULL, 1, v, SCALARS, z, SCALARS), BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_apply(precond, NULL, z));
  EXPECT_MESSAGE(context, "bisai_precond_apply: v is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_apply(precond, v, NULL));
  EXPECT_MESSAGE(context, "bisai_precond_apply: z is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_apply_many(precond, -1, v, SCALARS, z, SCALARS));
  EXPECT_MESSAGE(context, "negative number of vectors: -1");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_apply_many(precond, 2, v, SCALARS - 1, z, SCALARS));
  EXPECT_MESSAGE(context, "leading dimensions 59 and 60, at least 60 needed");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_apply_many(precond, 2, v, SCALARS, z, SCALARS - 1));
  EXPECT_MESSAGE(context, "leading dimensions 60 and 59, at least 60 needed");
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&tall);
}

static void failing_set_up_names_the_row(void **state) {
  (void)state;
  bisai_bcsr *bad = singular_grid();
  test_bcsr diagonal = {3, 3, 1, (int32_t[]){0, 1, 1, 2}, (int32_t[]){0, 2}, (double[]){1, 1}};
  bisai_bcsr *holed = test_bcsr_make(context, &diagonal);
  for (int kind = BISAI_PRECOND_BJACOBI; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    expect_refused(bad, options_of((bisai_precond_kind)kind), BISAI_SINGULAR_BLOCK,
                   "block row 0: the diagonal block is singular");
    expect_refused(holed, options_of((bisai_precond_kind)kind), BISAI_MISSING_DIAGONAL,
                   "block row 1 has no diagonal block");
  }
  bisai_bcsr_destroy(&bad);
  bisai_bcsr_destroy(&holed);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(options_have_documented_defaults),
      cmocka_unit_test(null_options_mean_isai_of_power_one),
      cmocka_unit_test(every_kind_describes_itself),
      cmocka_unit_test(none_copies),
      cmocka_unit_test(only_isai_has_inverses),
      cmocka_unit_test(reports_hold_what_each_kind_has),
      cmocka_unit_test(bytes_of_an_application_are_those_of_two_products),
      cmocka_unit_test(memory_is_what_was_allocated),
      cmocka_unit_test(report_refuses_unknown_struct_sizes),
      cmocka_unit_test(callback_is_called_with_its_user_and_size),
      cmocka_unit_test(failing_callback_is_told_apart_and_may_recover),
      cmocka_unit_test(factors_of_the_caller_are_used_and_left_alone),
      cmocka_unit_test(update_follows_the_factors_that_the_caller_updated),
      cmocka_unit_test(factors_that_do_not_fit_are_refused),
      cmocka_unit_test(application_with_failed_factors_of_the_caller_is_refused),
      cmocka_unit_test(update_equals_a_fresh_set_up_for_every_kind),
      cmocka_unit_test(failed_update_is_not_ready_until_one_succeeds),
      cmocka_unit_test(overflow_in_an_update_is_not_ready),
      cmocka_unit_test(update_refuses_other_sizes),
      cmocka_unit_test(options_are_refused_by_name_and_value),
      cmocka_unit_test(patterns_that_do_not_fit_are_refused),
      cmocka_unit_test(options_of_other_kinds_do_not_matter),
      cmocka_unit_test(create_and_apply_refuse_null_and_bad_sizes),
      cmocka_unit_test(failing_set_up_names_the_row),
      cmocka_unit_test(every_kind_takes_a_matrix_without_rows),
      cmocka_unit_test(every_kind_inverts_a_single_block),
  };
  return cmocka_run_group_tests_name("precond", tests, setup, teardown);
}
