/* SPDX-License-Identifier: BSD-3-Clause */
#include "runner.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>

static test_entry *first, **last = &first;
static int passed, failed, skipped;
static const char *reason;
static unsigned long long state;

test_entry::test_entry(const char *its_name, void (*function)()) : name(its_name), run(function) {
  *last = this;
  last = &next;
}

void test_verdict(const char *file, int line, bool good, const char *format, ...) {
  good ? passed++ : failed++;
  if (good) return;
  va_list arguments;
  va_start(arguments, format);
  std::printf("%s:%d: FAILED: ", file, line);
  std::vprintf(format, arguments);
  std::printf("\n");
  va_end(arguments);
}

void test_skip(const char *why) { reason = why; }

double next_random() {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return static_cast<double>(state >> 11) / 9007199254740992.0 * 2.0 - 1.0;
}

/* Errors that a kernel leaves behind are the test's. */
static void run(const test_entry *test) {
  const int passed_before = passed, failed_before = failed;
  reason = nullptr;
  state = 20211121ull;
  test->run();
  cudaError_t error = cudaDeviceSynchronize();
  if (error == cudaSuccess) error = cudaGetLastError();
  if (error != cudaSuccess)
    test_verdict(test->name, 0, false, "the device reports: %s", cudaGetErrorString(error));
  if (reason) {
    std::printf("%s: skipped: %s\n", test->name, reason);
    skipped++;
  } else if (passed == passed_before && failed == failed_before)
    test_verdict(test->name, 0, false, "the test made no check");
  if (failed > failed_before)
    std::printf("%s: %d of %d checks failed\n", test->name, failed - failed_before,
                failed - failed_before + passed - passed_before);
}

static const test_entry *find(const char *name) {
  const test_entry *test = first;
  while (test && std::strcmp(test->name, name) != 0) test = test->next;
  return test;
}

int main(int argc, char **argv) {
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    for (const test_entry *test = first; test; test = test->next) std::printf("%s\n", test->name);
    return 0;
  }
  for (int i = 1; i < argc; i++)
    if (!find(argv[i])) {
      std::printf("no test %s; --list names them\n", argv[i]);
      return 2;
    }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no CUDA device\n");
    return 77;
  }
  int tests = 0;
  for (int i = 1; i < argc; i++, tests++) run(find(argv[i]));
  for (const test_entry *test = first; test && argc == 1; test = test->next, tests++) run(test);
  std::printf("%d tests, %d skipped; %d checks passed, %d failed\n", tests, skipped, passed,
              failed);
  return failed > 0 ? 1 : skipped == tests ? 77 : 0;
}
