/* SPDX-License-Identifier: BSD-3-Clause */
/* One context of four threads, from which on rows go by levels, for the tests of a program, made
 * and freed with their group. */
#ifndef BISAI_TEST_FIXTURE_H
#define BISAI_TEST_FIXTURE_H

#include "support.h"

static bisai_context *context;

static int setup(void **state) {
  (void)state;
  context = test_context(4);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  bisai_context_destroy(&context);
  return 0;
}

#endif
