/* SPDX-License-Identifier: BSD-3-Clause */
#include "preconds.h"

#include "systems.h"

double *test_applied(bisai_context *context, bisai_precond *m) {
  const int64_t n = bisai_precond_rows(m);
  double *v = test_random_vector(n, 4), *z = malloc((size_t)n * sizeof *z);
  EXPECT_OK(context, bisai_precond_apply(m, v, z));
  free(v);
  return z;
}

bool test_same_bits(bisai_context *context, bisai_precond *m, bisai_precond *other) {
  double *x = test_applied(context, m), *y = test_applied(context, other);
  const bool equal = memcmp(x, y, (size_t)bisai_precond_rows(m) * sizeof *x) == 0;
  free(x), free(y);
  return equal;
}

void test_expect_equal(bisai_context *context, bisai_precond *expected, bisai_precond *got) {
  const bisai_multigrid_report r = test_report_of(context, expected).multigrid,
                               s = test_report_of(context, got).multigrid;
  assert_true(test_same_bits(context, expected, got));
  assert_string_equal(bisai_precond_describe(expected), bisai_precond_describe(got));
  assert_memory_equal(r.radius, s.radius, sizeof r.radius);
  /* an update keeps what creation has released */
  assert_in_range(s.hierarchy_bytes, r.hierarchy_bytes, 4 * r.hierarchy_bytes);
}

/* --- refusals --- */

void test_expect_refused(bisai_context *context, const bisai_bcsr *a,
                         const bisai_precond_options *o, bisai_status status, const char *part) {
  bisai_precond *m = NULL;
  EXPECT_STATUS(context, status, bisai_precond_create(context, a, o, &m));
  assert_null(m);
  EXPECT_IN_MESSAGE(context, part);
}

void test_expect_update_refused(bisai_context *context, bisai_precond *m, const bisai_bcsr *a,
                                bisai_status status, const char *part) {
  const bisai_precond_report of_before = test_report_of(context, m);
  double *before = test_applied(context, m);
  EXPECT_STATUS(context, status, bisai_precond_update(m, a));
  EXPECT_IN_MESSAGE(context, part);
  const bisai_precond_report of_now = test_report_of(context, m);
  double *after = test_applied(context, m);
  assert_memory_equal(&of_before, &of_now, sizeof of_now);
  assert_memory_equal(before, after, (size_t)bisai_precond_rows(m) * sizeof *before);
  free(before), free(after);
}

void test_expect_update_failed(bisai_context *context, bisai_precond *m, const bisai_bcsr *a,
                               bisai_status status, const char *part) {
  const int64_t n = bisai_precond_rows(m);
  double *v = test_random_vector(n, 4), *z = malloc((size_t)n * sizeof *z);
  EXPECT_STATUS(context, status, bisai_precond_update(m, a));
  EXPECT_IN_MESSAGE(context, part);
  EXPECT_STATUS(context, BISAI_NOT_READY, bisai_precond_apply(m, v, z));
  EXPECT_STATUS(context, BISAI_NOT_READY, bisai_precond_apply_many(m, 1, v, n, z, n));
  free(v), free(z);
}

/* --- updates --- */

bisai_precond_report test_expect_update_as_creation(bisai_context *context, const bisai_bcsr *a,
                                                    const bisai_bcsr *b,
                                                    const bisai_precond_options *o) {
  bisai_precond *expected = test_precond_with(context, b, o),
                *got = test_precond_with(context, a, o);
  assert_false(test_same_bits(context, expected, got));
  EXPECT_OK(context, bisai_precond_update(got, b));
  test_expect_equal(context, expected, got);
  const bisai_precond_report report = test_report_of(context, got);
  bisai_precond_destroy(&expected);
  bisai_precond_destroy(&got);
  return report;
}

void test_expect_taken_back(bisai_context *context, const bisai_bcsr *a, const bisai_bcsr *b,
                            const bisai_precond_options *o) {
  bisai_precond *expected = test_precond_with(context, a, o),
                *got = test_precond_with(context, a, o);
  EXPECT_OK(context, bisai_precond_update(got, b));
  assert_false(test_same_bits(context, expected, got));
  EXPECT_OK(context, bisai_precond_update(got, a));
  test_expect_equal(context, expected, got);
  bisai_precond_destroy(&expected);
  bisai_precond_destroy(&got);
}

/* --- memory --- */

/* The first `free` updates may allocate. */
static void expect_no_allocations_after(const test_bcsr *a, const test_bcsr *b,
                                        const bisai_precond_options *o, int free) {
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *context = test_context_on(&allocator, 2);
  bisai_bcsr *first = test_bcsr_make(context, a), *second = test_bcsr_make(context, b);
  bisai_precond *m = test_precond_with(context, first, o);
  const int64_t n = bisai_precond_rows(m);
  double *v = test_vector_in_place(n, 4), *z = test_vector_in_place(n, 5);
  long long before = atomic_load(&allocator.calls);
  for (int update = 0; update < free + 2; update++) {
    EXPECT_OK(context, bisai_precond_update(m, update % 2 ? first : second));
    if (update < free) before = atomic_load(&allocator.calls);
    EXPECT_OK(context, bisai_precond_apply(m, v, z));
    EXPECT_OK(context, bisai_precond_apply_many(m, 1, v, n, z, n));
  }
  assert_int_equal(atomic_load(&allocator.calls), before);
  test_vector_free(v), test_vector_free(z);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&first);
  bisai_bcsr_destroy(&second);
  bisai_context_destroy(&context);
  assert_int_equal(atomic_load(&allocator.live_blocks), 0);
}

void test_expect_no_allocations(const test_bcsr *a, const test_bcsr *b,
                                const bisai_precond_options *o) {
  bisai_precond_options fast = *o;
  if (o->kind == BISAI_PRECOND_MULTIGRID || o->kind == BISAI_PRECOND_CPR)
    fast.multigrid.update = BISAI_MULTIGRID_UPDATE_FAST;
  expect_no_allocations_after(a, b, &fast, o->kind == BISAI_PRECOND_SCHUR);
  expect_no_allocations_after(a, b, o, 1);
}

/* Creates a preconditioner while the allocation `at` from now on fails, and with `after` all later
 * ones. Returns false once all allocations of the creation succeed. */
static bool fails_once(bisai_context *context, test_allocator *allocator, const bisai_bcsr *a,
                       const bisai_precond_options *o, long long at, bool after) {
  const long long blocks = atomic_load(&allocator->live_blocks),
                  bytes = atomic_load(&allocator->live_bytes);
  bisai_precond *m = NULL;
  allocator->fail_at = atomic_load(&allocator->calls) + at;
  allocator->fail_after = after;
  const bisai_status status = bisai_precond_create(context, a, o, &m);
  const bool reached = atomic_load(&allocator->calls) >= allocator->fail_at;
  allocator->fail_at = 0;
  EXPECT_STATUS(context, reached ? BISAI_OUT_OF_MEMORY : BISAI_OK, status);
  if (reached) assert_null(m);
  if (reached) EXPECT_IN_MESSAGE(context, "cannot allocate ");
  bisai_precond_destroy(&m);
  assert_int_equal(atomic_load(&allocator->live_blocks), blocks);
  assert_int_equal(atomic_load(&allocator->live_bytes), bytes);
  return reached;
}

void test_expect_failing_allocations_survived(const test_bcsr *a, const bisai_precond_options *o,
                                              long long least) {
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  allocator.device_only = true;
  bisai_context *context = test_context_on(&allocator, 2);
  bisai_bcsr *matrix = test_bcsr_make(context, a);
  /* a device's matrix keeps a copy of its integers for the host once it was asked for */
  bisai_precond *m = test_precond_with(context, matrix, o);
  bisai_precond_destroy(&m);
  for (int after = 0; after < 2; after++) {
    long long at = 1;
    while (fails_once(context, &allocator, matrix, o, at, after)) at++;
    assert_true(at > least);
  }
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
  assert_int_equal(atomic_load(&allocator.live_blocks), 0);
}
