/* Contexts, the counting allocator, assertions. */
#include "support.h"

#include <math.h>

void test_expect_status(bisai_context *context, bisai_status expected, bisai_status got, const char *expression,
                        const char *file, int line) {
  if (got == expected) {
    return;
  }
  print_error("%s\n  expected \"%s\", got \"%s\": %s\n", expression, bisai_status_string(expected),
              bisai_status_string(got), context != NULL ? bisai_context_error(context) : "");
  _fail(file, line);
}

void test_expect_close(int64_t n, const double *expected, const double *got, double tolerance, const char *file,
                       int line) {
  int64_t worst = -1;
  double largest = tolerance;
  for (int64_t i = 0; i < n; ++i) {
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
    print_error("entry %lld of %lld: expected %.17g, got %.17g, tolerance %.3g\n", (long long)worst, (long long)n,
                expected[worst], got[worst], tolerance);
    _fail(file, line);
  }
}

void test_expect_message(const bisai_context *context, const char *expected, const char *file, int line) {
  const char *got = bisai_context_error(context);
  if (strcmp(got, expected) != 0) {
    print_error("message expected: %s\n             got: %s\n", expected, got);
    _fail(file, line);
  }
}

bisai_context *test_context(int threads) {
  bisai_context_options options = bisai_context_options_default();
  options.backend = BISAI_BACKEND_HOST;
  options.threads = threads;
  bisai_context *context = NULL;
  EXPECT_OK(NULL, bisai_context_create(&options, &context));
  assert_non_null(context);
  return context;
}

/* What stands right before a pointer that was handed out. */
typedef struct prefix {
  void *base;
  size_t bytes;
} prefix;

static void *counting_allocate(void *user, size_t bytes, size_t alignment) {
  test_allocator *allocator = user;
  long long call = atomic_fetch_add(&allocator->calls, 1) + 1;
  if (allocator->fail_at != 0 && (call == allocator->fail_at || (allocator->fail_after && call > allocator->fail_at))) {
    return NULL;
  }
  size_t before = alignment > sizeof(prefix) ? alignment : sizeof(prefix);
  size_t step = alignment > sizeof(void *) ? alignment : sizeof(void *);
  if (bytes > SIZE_MAX - before - step) {
    return NULL;
  }
  before = (before + step - 1) / step * step;
  void *base = NULL;
  if (posix_memalign(&base, step, before + bytes) != 0) {
    return NULL;
  }
  unsigned char *pointer = (unsigned char *)base + before;
  prefix kept = {base, bytes};
  memcpy(pointer - sizeof kept, &kept, sizeof kept);
  memset(pointer, 0xff, bytes);
  atomic_fetch_add(&allocator->live_blocks, 1);
  long long live = atomic_fetch_add(&allocator->live_bytes, (long long)bytes) + (long long)bytes;
  long long peak = atomic_load(&allocator->peak_bytes);
  while (live > peak && !atomic_compare_exchange_weak(&allocator->peak_bytes, &peak, live)) {
  }
  return pointer;
}

static void counting_release(void *user, void *pointer) {
  test_allocator *allocator = user;
  prefix kept;
  memcpy(&kept, (unsigned char *)pointer - sizeof kept, sizeof kept);
  memset(pointer, 0xff, kept.bytes);
  atomic_fetch_sub(&allocator->live_blocks, 1);
  atomic_fetch_sub(&allocator->live_bytes, (long long)kept.bytes);
  free(kept.base);
}

void test_allocator_reset(test_allocator *allocator, long long fail_at) {
  atomic_init(&allocator->calls, 0);
  atomic_init(&allocator->live_blocks, 0);
  atomic_init(&allocator->live_bytes, 0);
  atomic_init(&allocator->peak_bytes, 0);
  allocator->fail_at = fail_at;
  allocator->fail_after = false;
}

bisai_allocator test_allocator_hooks(test_allocator *allocator) {
  return (bisai_allocator){counting_allocate, counting_release, allocator};
}

bisai_context *test_context_on(test_allocator *allocator, int threads) {
  bisai_context_options options = bisai_context_options_default();
  options.backend = BISAI_BACKEND_HOST;
  options.threads = threads;
  options.allocator = test_allocator_hooks(allocator);
  bisai_context *context = NULL;
  bisai_status status = bisai_context_create(&options, &context);
  if (allocator->fail_at == 0 || status != BISAI_OUT_OF_MEMORY) {
    EXPECT_STATUS(NULL, BISAI_OK, status);
  }
  return context;
}
