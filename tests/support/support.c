/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts, the counting allocator, assertions. */
#include "support.h"

#include <math.h>

#ifdef BISAI_HAVE_CUDA
#include "managed.h"
#else
static void *managed_allocate(size_t bytes) { return malloc(bytes); }
static void managed_release(void *memory) { free(memory); }
static void managed_synchronize(void) {}
static void *device_allocate(size_t bytes, void *stream) {
  (void)stream;
  return malloc(bytes);
}
static size_t device_release(void *memory, void *stream) {
  (void)stream;
  free(memory);
  return 0;
}
#endif

void test_expect_status(bisai_context *context, bisai_status expected, bisai_status got,
                        const char *expression, const char *file, int line) {
  test_synchronize(); /* what the call enqueued is looked at next */
  if (got == expected) return;
  print_error("%s\n  expected \"%s\", got \"%s\": %s\n", expression, bisai_status_string(expected),
              bisai_status_string(got), context != NULL ? bisai_context_error(context) : "");
  _fail(file, line);
}

void test_expect_close(int64_t n, const double *expected, const double *got, double tolerance,
                       const char *file, int line) {
  int64_t worst = -1;
  double largest = tolerance;
  for (int64_t i = 0; i < n; i++) {
    double difference = fabs(got[i] - expected[i]);
    if (isnan(difference) && !(isinf(got[i]) && got[i] == expected[i])) {
      worst = i;
      break;
    }
    if (difference > largest) {
      largest = difference;
      worst = i;
    }
  }
  if (worst >= 0) {
    print_error("entry %lld of %lld: expected %.17g, got %.17g, tolerance %.3g\n", (long long)worst,
                (long long)n, expected[worst], got[worst], tolerance);
    _fail(file, line);
  }
}

void test_expect_message(const bisai_context *context, const char *expected, const char *file,
                         int line) {
  const char *got = bisai_context_error(context);
  if (strcmp(got, expected) != 0) {
    print_error("message expected: %s\n             got: %s\n", expected, got);
    _fail(file, line);
  }
}

void test_expect_in_message(const bisai_context *context, const char *part, const char *file,
                            int line) {
  const char *got = bisai_context_error(context);
  if (!strstr(got, part)) {
    print_error("expected in the message: %s\n            the message: %s\n", part, got);
    _fail(file, line);
  }
}

bool test_on_device(void) {
  const char *wanted = getenv("BISAI_TEST_BACKEND");
  if (wanted == NULL || strcmp(wanted, "cuda") != 0) return false;
  static atomic_bool found;
  if (atomic_load(&found)) return true;
  const char *missing = bisai_backend_missing(BISAI_BACKEND_CUDA, -1);
  if (missing != NULL) {
    print_message("skipped: %s\n", missing);
    exit(77);
  }
  atomic_store(&found, true);
  return true;
}

void test_synchronize(void) {
  if (test_on_device()) managed_synchronize();
}

double *test_vector_in_place(int64_t n, uint64_t seed) {
  double *values = test_random_vector(n, seed);
  if (!test_on_device()) return values;
  double *vector = managed_allocate(((size_t)n + 1) * sizeof *vector);
  assert_non_null(vector);
  memcpy(vector, values, (size_t)n * sizeof *vector);
  free(values);
  return vector;
}

void test_vector_free(double *vector) {
  if (test_on_device())
    managed_release(vector);
  else
    free(vector);
}

static void *allocate_managed(void *user, size_t bytes, void *stream) {
  (void)user;
  (void)stream;
  return managed_allocate(bytes);
}

static void release_managed(void *user, void *pointer, void *stream) {
  (void)user;
  (void)stream;
  managed_release(pointer);
}

static bisai_context *make_context(bool on_device, int threads) {
  bisai_context_options options = bisai_context_options_default();
  options.backend = on_device ? BISAI_BACKEND_CUDA : BISAI_BACKEND_HOST;
  options.threads = threads;
  if (on_device)
    options.device_allocator = (bisai_device_allocator){allocate_managed, release_managed, NULL};
  bisai_context *context = NULL;
  EXPECT_OK(NULL, bisai_context_create(&options, &context));
  assert_non_null(context);
  return context;
}

bisai_context *test_context(int threads) { return make_context(test_on_device(), threads); }

bisai_context *test_host_context(int threads) { return make_context(false, threads); }

/* What stands right before a pointer that was handed out. */
typedef struct prefix {
  void *base;
  size_t bytes;
} prefix;

/* Whether the next call is to fail. */
static bool fails(test_allocator *allocator) {
  long long call = atomic_fetch_add(&allocator->calls, 1) + 1;
  return allocator->fail_at != 0 &&
         (call == allocator->fail_at || (allocator->fail_after && call > allocator->fail_at));
}

static void count_in(test_allocator *allocator, size_t bytes) {
  atomic_fetch_add(&allocator->live_blocks, 1);
  long long live = atomic_fetch_add(&allocator->live_bytes, (long long)bytes) + (long long)bytes;
  long long peak = atomic_load(&allocator->peak_bytes);
  while (live > peak && !atomic_compare_exchange_weak(&allocator->peak_bytes, &peak, live)) {
  }
}

static void count_out(test_allocator *allocator, size_t bytes) {
  atomic_fetch_sub(&allocator->live_blocks, 1);
  atomic_fetch_sub(&allocator->live_bytes, (long long)bytes);
}

/* What is handed out of `base`, `before` bytes on. */
static void *hand_out(test_allocator *allocator, void *base, size_t before, size_t bytes) {
  unsigned char *pointer = (unsigned char *)base + before;
  prefix kept = {base, bytes};
  memcpy(pointer - sizeof kept, &kept, sizeof kept);
  memset(pointer, 0xff, bytes);
  count_in(allocator, bytes);
  return pointer;
}

/* Its base, to be freed. */
static void *take_back(test_allocator *allocator, void *pointer) {
  prefix kept;
  memcpy(&kept, (unsigned char *)pointer - sizeof kept, sizeof kept);
  memset(pointer, 0xff, kept.bytes);
  count_out(allocator, kept.bytes);
  return kept.base;
}

static void *counting_allocate(void *user, size_t bytes, size_t alignment) {
  test_allocator *allocator = user;
  if (fails(allocator)) return NULL;
  size_t before = alignment > sizeof(prefix) ? alignment : sizeof(prefix);
  size_t step = alignment > sizeof(void *) ? alignment : sizeof(void *);
  if (bytes > SIZE_MAX - before - step) return NULL;
  before = (before + step - 1) / step * step;
  void *base = NULL;
  return posix_memalign(&base, step, before + bytes) == 0 ? hand_out(allocator, base, before, bytes)
                                                          : NULL;
}

static void counting_release(void *user, void *pointer) { free(take_back(user, pointer)); }

static void *counting_allocate_managed(void *user, size_t bytes, void *stream) {
  (void)stream;
  if (fails(user)) return NULL;
  enum { ALIGNMENT = 256 };
  void *base = bytes < SIZE_MAX - ALIGNMENT ? managed_allocate(ALIGNMENT + bytes) : NULL;
  return base != NULL ? hand_out(user, base, ALIGNMENT, bytes) : NULL;
}

static void counting_release_managed(void *user, void *pointer, void *stream) {
  (void)stream;
  managed_synchronize(); /* before it is overwritten */
  managed_release(take_back(user, pointer));
}

static void *counting_allocate_device(void *user, size_t bytes, void *stream) {
  void *pointer = fails(user) ? NULL : device_allocate(bytes, stream);
  if (pointer != NULL) count_in(user, bytes);
  return pointer;
}

static void counting_release_device(void *user, void *pointer, void *stream) {
  count_out(user, device_release(pointer, stream));
}

void test_allocator_reset(test_allocator *allocator, long long fail_at) {
  atomic_init(&allocator->calls, 0);
  atomic_init(&allocator->live_blocks, 0);
  atomic_init(&allocator->live_bytes, 0);
  atomic_init(&allocator->peak_bytes, 0);
  allocator->fail_at = fail_at;
  allocator->fail_after = false;
  allocator->device_only = false;
}

bisai_allocator test_allocator_hooks(test_allocator *allocator) {
  return (bisai_allocator){counting_allocate, counting_release, allocator};
}

bisai_context *test_context_on(test_allocator *allocator, int threads) {
  bisai_context_options options = bisai_context_options_default();
  options.backend = test_on_device() ? BISAI_BACKEND_CUDA : BISAI_BACKEND_HOST;
  options.threads = threads;
  options.allocator = test_allocator_hooks(allocator);
  options.device_allocator =
      allocator->device_only
          ? (bisai_device_allocator){counting_allocate_device, counting_release_device, allocator}
          : (bisai_device_allocator){counting_allocate_managed, counting_release_managed,
                                     allocator};
  bisai_context *context = NULL;
  bisai_status status = bisai_context_create(&options, &context);
  if (allocator->fail_at == 0 || status != BISAI_OUT_OF_MEMORY)
    EXPECT_STATUS(NULL, BISAI_OK, status);
  return context;
}

bisai_precond_report test_report_of(bisai_context *context, const bisai_precond *precond) {
  bisai_precond_report report;
  memset(&report, 0xff, sizeof report);
  report.struct_size = sizeof report;
  EXPECT_OK(context, bisai_precond_get_report(precond, &report));
  assert_int_equal(report.struct_size, sizeof report);
  return report;
}
