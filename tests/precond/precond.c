/* SPDX-License-Identifier: BSD-3-Clause */
/* The one handle: options judged, every kind set up, described, reported, updated, and the caller's
 * factors and functions. */
#include "preconds.h"
#include "small.h"

/* z ← 2 v, counted; fails when told to */
typedef struct doubler {
  int calls;
  int64_t n;
  bisai_status status;
  const char *message; /* recorded by each call unless it is NULL */
} doubler;

static bisai_status apply_doubler(void *user, int64_t n, const double *v, double *z) {
  test_synchronize();
  doubler *d = user;
  d->calls++;
  d->n = n;
  for (int64_t i = 0; i < n; i++) z[i] = 2.0 * v[i];
  return d->message ? bisai_context_fail(context, d->status, d->message) : d->status;
}

static void options_have_documented_defaults(void **state) {
  (void)state;
  bisai_precond_options options = bisai_precond_options_default();
  assert_int_equal(options.struct_size, sizeof options);
  assert_int_equal(options.kind, BISAI_PRECOND_AUTO);
  assert_int_equal(options.isai.power, 1);
  assert_int_equal(options.isai.relax, 0);
  assert_int_equal(options.sweeps.count, 1);
  assert_int_equal(options.isai.storage, BISAI_FP64);
  assert_int_equal(options.ilu.schedule, BISAI_SCHEDULE_AUTO);
  assert_null(options.isai.lower_pattern);
  assert_null(options.isai.upper_pattern);
  assert_null(options.factor.factors);
  assert_true(options.callback.apply == NULL);
  assert_int_equal(options.factor.ordering, BISAI_ORDERING_NATURAL);
  assert_null(options.factor.permutation);
  assert_false(options.factor.equilibrate);
  assert_null(options.callback.user);
}

static void null_options_mean_the_default_ones(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1);
  const bisai_precond_options initial = bisai_precond_options_default();
  bisai_precond *precond = NULL, *same = test_precond_with(context, matrix, &initial);
  EXPECT_OK(context, bisai_precond_create(context, matrix, NULL, &precond));
  assert_string_equal(bisai_precond_describe(precond), bisai_precond_describe(same));
  assert_true(test_same_bits(context, precond, same));
  bisai_precond_destroy(&precond);
  assert_null(precond);
  bisai_precond_destroy(&same);
  bisai_bcsr_destroy(&matrix);
}

static void every_kind_describes_itself(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1);
  doubler d = {.status = BISAI_OK};
  bisai_precond_options options = test_precond_options(BISAI_PRECOND_CALLBACK);
  options.callback.apply = apply_doubler;
  options.callback.user = &d;
  expect_described(matrix, options, "callback");
  expect_described(matrix, test_precond_options(BISAI_PRECOND_NONE), "none");
  expect_described(matrix, test_precond_options(BISAI_PRECOND_BJACOBI), "bjacobi");
  options = test_precond_options(BISAI_PRECOND_ILU);
  expect_described(matrix, options, "ilu schedule=auto, 82 blocks in L + U");
  options.ilu.schedule = BISAI_SCHEDULE_LEVELS;
  expect_described(matrix, options, "ilu schedule=levels, 82 blocks in L + U");
  options = test_precond_options(BISAI_PRECOND_ISAI);
  expect_described(matrix, options, "isai k=1 relax=0 storage=fp64, 102 blocks");
  options.isai.power = 2;
  options.isai.relax = 3;
  options.isai.storage = BISAI_BF16;
  expect_described(matrix, options, "isai k=2 relax=3 storage=bf16, 170 blocks");
  options = test_precond_options(BISAI_PRECOND_SWEEPS);
  options.sweeps.count = 5;
  expect_described(matrix, options, "sweeps n=5, 82 blocks in L + U");
  bisai_bcsr_destroy(&matrix);
}

static void none_copies(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1);
  bisai_precond *precond = test_precond(context, matrix, BISAI_PRECOND_NONE);
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
    bisai_precond *precond = test_precond(context, matrix, (bisai_precond_kind)kind);
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
    bisai_precond *precond = test_precond(context, matrix, (bisai_precond_kind)kind);
    const bisai_precond_report report = test_report_of(context, precond);
    const bool inverts = kind != BISAI_PRECOND_NONE, factored = kind >= BISAI_PRECOND_ILU;
    assert_int_equal(report.kind, kind);
    assert_int_equal(report.factor.blocks, factored ? 82 : 0);
    assert_int_equal(report.isai.blocks, kind == BISAI_PRECOND_ISAI ? 102 : 0);
    assert_int_equal(report.isai.longest_column, kind == BISAI_PRECOND_ISAI ? 3 : 0);
    assert_int_equal(report.fallbacks, 0);
    assert_int_equal(report.repairs, 0);
    assert_true(inverts ? report.largest_condition >= 1.0 : report.largest_condition == 0.0);
    assert_true(inverts ? report.largest_condition_row >= 0 && report.largest_condition_row < ROWS
                        : report.largest_condition_row == -1);
    assert_true(factored ? report.factor_seconds > 0.0 : report.factor_seconds == 0.0);
    assert_true(kind == BISAI_PRECOND_ISAI || kind == BISAI_PRECOND_BJACOBI
                    ? report.pattern_seconds > 0.0
                    : report.pattern_seconds == 0.0);
    assert_true(report.values_seconds >= 0.0);
    assert_true(report.setup_seconds >=
                report.factor_seconds + report.pattern_seconds + report.values_seconds);
    assert_true(report.memory_bytes > 0);
    assert_true(report.apply_bytes >= 2 * 8 * SCALARS);
    bisai_precond_destroy(&precond);
  }
  bisai_bcsr_destroy(&matrix);
}

/* Tridiagonal, 10 rows, size 1: NL and NU have 19 blocks each; a product moves 19·(8 + 4) + 4·11 +
 * 8·20 bytes. */
static void bytes_of_an_application_are_those_of_two_products(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_tridiagonal(10, 1, 2.0, -1.0));
  bisai_precond_options options = test_precond_options(BISAI_PRECOND_ISAI);
  bisai_precond *precond = test_precond_with(context, matrix, &options);
  assert_int_equal(test_report_of(context, precond).apply_bytes, 2 * (19 * 12 + 4 * 11 + 8 * 20));
  bisai_precond_destroy(&precond);
  options.isai.storage = BISAI_FP16;
  precond = test_precond_with(context, matrix, &options);
  assert_int_equal(test_report_of(context, precond).apply_bytes, 2 * (19 * 6 + 4 * 11 + 8 * 20));
  bisai_precond_destroy(&precond);
  options.isai.relax = 1; /* one product more with N and one with T, 9 and 19 blocks in fp64 */
  precond = test_precond_with(context, matrix, &options);
  assert_true(test_report_of(context, precond).apply_bytes >= 4 * 19 * 6 + (9 + 19) * 12);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

/* Reported memory against what the allocator was asked for; rounding up of small arrays is allowed
 * for. */
static void memory_is_what_was_allocated(void **state) {
  (void)state;
  if (test_on_device()) skip(); /* host copies of integers are not counted */
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *counted = test_context_on(&allocator, 2);
  bisai_bcsr *matrix = test_bcsr_take(counted, test_bcsr_grid(40, 40, 2, 1));
  for (int kind = BISAI_PRECOND_NONE; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    bisai_precond_options options = test_precond_options((bisai_precond_kind)kind);
    bisai_precond *precond = NULL;
    const long long before = atomic_load(&allocator.live_bytes),
                    blocks = atomic_load(&allocator.live_blocks);
    EXPECT_OK(counted, bisai_precond_create(counted, matrix, &options, &precond));
    const long long held = atomic_load(&allocator.live_bytes) - before;
    const long long slack = 64 * (atomic_load(&allocator.live_blocks) - blocks);
    const bisai_precond_report report = test_report_of(counted, precond);
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

/* --- the caller's function --- */

static void callback_is_called_with_its_user_and_size(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1);
  doubler d = {.status = BISAI_OK};
  bisai_precond_options options = test_precond_options(BISAI_PRECOND_CALLBACK);
  options.callback.apply = apply_doubler;
  options.callback.user = &d;
  bisai_precond *precond = test_precond_with(context, matrix, &options);
  assert_int_equal(d.calls, 0);
  double *v = test_random_vector(3 * SCALARS, 1), z[3 * SCALARS];
  EXPECT_OK(context, bisai_precond_apply(precond, v, z));
  assert_int_equal(d.calls, 1);
  assert_int_equal(d.n, SCALARS);
  for (int i = 0; i < SCALARS; i++) assert_true(z[i] == 2.0 * v[i]);
  EXPECT_OK(context, bisai_precond_apply_many(precond, 3, v, SCALARS, z, SCALARS));
  assert_int_equal(d.calls, 4);
  for (int i = 0; i < 3 * SCALARS; i++) assert_true(z[i] == 2.0 * v[i]);
  EXPECT_OK(context, bisai_precond_update(precond, matrix));
  assert_int_equal(test_report_of(context, precond).kind, BISAI_PRECOND_CALLBACK);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  free(v);
}

static void failing_callback_is_told_apart_and_may_recover(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1);
  doubler d = {.status = BISAI_SINGULAR_BLOCK};
  bisai_precond_options options = test_precond_options(BISAI_PRECOND_CALLBACK);
  options.callback.apply = apply_doubler;
  options.callback.user = &d;
  bisai_precond *precond = test_precond_with(context, matrix, &options);
  double v[SCALARS] = {1.0}, z[SCALARS];
  EXPECT_STATUS(context, BISAI_CALLBACK_FAILED, bisai_precond_apply(precond, v, z));
  EXPECT_MESSAGE(context,
                 "the preconditioner's callback returned status 7 (singular diagonal block)");
  d.status = (bisai_status)-5;
  EXPECT_STATUS(context, BISAI_CALLBACK_FAILED,
                bisai_precond_apply_many(precond, 1, v, SCALARS, z, SCALARS));
  EXPECT_MESSAGE(context, "the preconditioner's callback returned status -5 (unknown status)");
  d.status = BISAI_CALLBACK_FAILED;
  d.message = "the pump is off";
  EXPECT_STATUS(context, BISAI_CALLBACK_FAILED, bisai_precond_apply(precond, v, z));
  EXPECT_MESSAGE(context, "the preconditioner's callback returned status 18 (a caller's callback "
                          "failed): the pump is off");
  /* a message of another call is not the callback's */
  d.message = NULL;
  EXPECT_STATUS(context, BISAI_CALLBACK_FAILED, bisai_precond_apply(precond, v, z));
  EXPECT_MESSAGE(context,
                 "the preconditioner's callback returned status 18 (a caller's callback failed)");
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
  double *v = test_random_vector(SCALARS, 1), x[SCALARS];
  for (int kind = BISAI_PRECOND_ILU; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    bisai_precond_options options = test_precond_options((bisai_precond_kind)kind);
    bisai_precond *own = test_precond_with(context, matrix, &options);
    options.factor.factors = factors;
    bisai_precond *given = test_precond_with(context, matrix, &options);
    assert_ptr_equal(bisai_precond_factors(given), factors);
    assert_ptr_not_equal(bisai_precond_factors(own), factors);
    assert_true(test_same_bits(context, own, given));
    const bisai_precond_report report = test_report_of(context, given),
                               own_report = test_report_of(context, own);
    assert_true(report.factor_seconds == 0.0);
    assert_int_equal(report.factor.blocks, 82);
    assert_int_equal(report.isai.blocks, own_report.isai.blocks);
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
  for (int kind = BISAI_PRECOND_ILU; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    bisai_factors *factors = NULL;
    EXPECT_OK(context, bisai_factors_create(context, first, NULL, &factors));
    bisai_precond_options options = test_precond_options((bisai_precond_kind)kind);
    bisai_precond *fresh = test_precond_with(context, second, &options);
    options.factor.factors = factors;
    bisai_precond *given = test_precond_with(context, first, &options);
    EXPECT_OK(context, bisai_factors_update(factors, second));
    EXPECT_OK(context, bisai_precond_update(given, second));
    assert_true(test_same_bits(context, given, fresh));
    bisai_precond_destroy(&fresh);
    bisai_precond_destroy(&given);
    bisai_factors_destroy(&factors);
  }
  bisai_bcsr_destroy(&first);
  bisai_bcsr_destroy(&second);
}

/* Factors whose own update failed must not be applied as if nothing had happened. */
static void application_with_failed_factors_of_the_caller_is_refused(void **state) {
  (void)state;
  bisai_bcsr *matrix = small_grid(1), *bad = singular_grid();
  double v[SCALARS] = {1.0}, z[SCALARS];
  for (int kind = BISAI_PRECOND_ILU; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    bisai_factors *factors = NULL;
    EXPECT_OK(context, bisai_factors_create(context, matrix, NULL, &factors));
    bisai_precond_options options = test_precond_options((bisai_precond_kind)kind);
    options.factor.factors = factors;
    bisai_precond *precond = test_precond_with(context, matrix, &options);
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
  for (int kind = BISAI_PRECOND_NONE; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    bisai_precond_options options = test_precond_options((bisai_precond_kind)kind);
    TEST_SET_OPTION(options, isai.relax, 2);
    TEST_SET_OPTION(options, sweeps.count, 2);
    TEST_SET_OPTION(options, isai.power, 2);
    bisai_precond *updated = test_precond_with(context, first, &options),
                  *fresh = test_precond_with(context, second, &options);
    EXPECT_OK(context, bisai_precond_update(updated, second));
    assert_true(test_same_bits(context, updated, fresh));
    const bisai_precond_report a = test_report_of(context, updated),
                               b = test_report_of(context, fresh);
    assert_true(a.pattern_seconds == 0.0);
    assert_true(a.largest_condition == b.largest_condition &&
                a.largest_condition_row == b.largest_condition_row);
    assert_true(a.memory_bytes == b.memory_bytes && a.apply_bytes == b.apply_bytes);
    assert_true(a.isai.blocks == b.isai.blocks && a.factor.blocks == b.factor.blocks);
    bisai_precond_destroy(&updated);
    bisai_precond_destroy(&fresh);
  }
  bisai_bcsr_destroy(&first);
  bisai_bcsr_destroy(&second);
}

static void failed_update_is_not_ready_until_one_succeeds(void **state) {
  (void)state;
  bisai_bcsr *good = small_grid(1), *bad = singular_grid();
  double *v = test_random_vector(SCALARS, 1), x[SCALARS], y[SCALARS];
  for (int kind = BISAI_PRECOND_BJACOBI; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    bisai_precond *precond = test_precond(context, good, (bisai_precond_kind)kind);
    EXPECT_OK(context, bisai_precond_apply(precond, v, x));
    EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK, bisai_precond_update(precond, bad));
    EXPECT_MESSAGE(context, "block row 0: the diagonal block is singular");
    EXPECT_STATUS(context, BISAI_NOT_READY, bisai_precond_apply(precond, v, y));
    EXPECT_MESSAGE(context, "the preconditioner's last update failed");
    EXPECT_STATUS(context, BISAI_NOT_READY,
                  bisai_precond_apply_many(precond, 1, v, SCALARS, y, SCALARS));
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
  bisai_precond_options options = test_precond_options(BISAI_PRECOND_ISAI);
  options.isai.storage = BISAI_FP16;
  bisai_precond *precond = test_precond_with(context, good, &options);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(options_have_documented_defaults),
      cmocka_unit_test(null_options_mean_the_default_ones),
      cmocka_unit_test(every_kind_describes_itself),
      cmocka_unit_test(none_copies),
      cmocka_unit_test(only_isai_has_inverses),
      cmocka_unit_test(reports_hold_what_each_kind_has),
      cmocka_unit_test(bytes_of_an_application_are_those_of_two_products),
      cmocka_unit_test(memory_is_what_was_allocated),
      cmocka_unit_test(callback_is_called_with_its_user_and_size),
      cmocka_unit_test(failing_callback_is_told_apart_and_may_recover),
      cmocka_unit_test(factors_of_the_caller_are_used_and_left_alone),
      cmocka_unit_test(update_follows_the_factors_that_the_caller_updated),
      cmocka_unit_test(application_with_failed_factors_of_the_caller_is_refused),
      cmocka_unit_test(update_equals_a_fresh_set_up_for_every_kind),
      cmocka_unit_test(failed_update_is_not_ready_until_one_succeeds),
      cmocka_unit_test(overflow_in_an_update_is_not_ready),
  };
  return cmocka_run_group_tests_name("precond", tests, setup, teardown);
}
