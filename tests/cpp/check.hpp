/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests in C++ share: they stop at the first failure, with 1. */
#ifndef TESTS_CPP_CHECK_HPP
#define TESTS_CPP_CHECK_HPP

#include <cstdio>
#include <cstdlib>
#include <string>

#include <bisai/bisai.hpp>

#define EXPECT(condition) check(static_cast<bool>(condition), #condition, __FILE__, __LINE__)

inline void check(bool condition, const std::string &what, const char *file, int line) {
  if (condition) return;
  std::printf("%s:%d: failed: %s\n", file, line, what.c_str());
  std::exit(1);
}

/* Calls what must throw an error with a status and a part of a message. */
template <typename Call> void expect_error(bisai_status status, const char *part, Call call) {
  try {
    call();
  } catch (const bisai::error &e) {
    check(e.status() == status && std::string(e.what()).find(part) != std::string::npos,
          std::string(e.what()) + "; expected " + part, __FILE__, __LINE__);
    return;
  }
  check(false, std::string("no error; expected ") + part, __FILE__, __LINE__);
}

inline bisai::context on_host() {
  bisai_context_options options = bisai_context_options_default();
  options.backend = BISAI_BACKEND_HOST;
  options.threads = 1;
  return bisai::context(options);
}

#endif
