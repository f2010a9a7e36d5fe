/* SPDX-License-Identifier: BSD-3-Clause */
/* A runner for tests of kernels, which needs only CMake and CUDA: machines with a GPU seldom have a
 * test framework. A test is a function whose name is a sentence:
 *
 *   TEST(products_agree_with_the_host) {
 *     …
 *     verdict(good, "%d rows of %d: apart %g", n, bs, apart);
 *   }
 *
 * A program runs the tests that its arguments name, all of them without arguments, and prints their
 * names with --list. It exits with 0 if all passed, 1 if a check failed, 2 if it has no test of
 * that name, 77 if every test was skipped. CTest runs each test by itself (CMakeLists.txt). */
#ifndef BISAI_TEST_RUNNER_H
#define BISAI_TEST_RUNNER_H

#include <cstdlib>
#include <vector>

struct test_entry {
  const char *name;
  void (*run)();
  test_entry *next = nullptr;
  test_entry(const char *name, void (*run)());
};

/* CMake reads the names of tests: TEST(name) begins a line. */
#define TEST(name)                                                                                 \
  static void name();                                                                              \
  static test_entry name##_entry(#name, name);                                                     \
  static void name()

/* A check. Where it fails, its file, its line and the text after the condition are printed, which
 * says what was tested and the values that were found. A test without a check fails. */
#define verdict(...) test_verdict(__FILE__, __LINE__, __VA_ARGS__)
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void test_verdict(const char *file, int line, bool good, const char *format, ...);

/* Ends the test without a verdict. */
#define SKIP(reason) return test_skip(reason)
void test_skip(const char *reason);

/* Uniform in −1 … 1. Every test begins with the same sequence. */
double next_random();

inline std::vector<double> random_vector(size_t count) {
  std::vector<double> x(count);
  for (double &value : x) value = next_random();
  return x;
}

/* BISAI_TEST_SHORT asks for few and small cases: compute-sanitizer takes a hundred times as
 * long. */
inline bool short_form() {
  static const bool asked = std::getenv("BISAI_TEST_SHORT") != nullptr;
  return asked;
}

/* Block sizes that a short form leaves out: those kept go every way that there is. */
inline bool left_out(int block_size) {
  return short_form() && block_size != 1 && block_size != 3 && block_size != 5 && block_size != 8 &&
         block_size != 9;
}

#endif
