/* SPDX-License-Identifier: BSD-3-Clause */
/* One context of one thread, and a folder, for the tests of a program that write files. */
#ifndef BISAI_TEST_FOLDER_FIXTURE_H
#define BISAI_TEST_FOLDER_FIXTURE_H

#include "files.h"

static bisai_context *context;

static int setup(void **state) {
  (void)state;
  test_folder_make();
  context = test_context(1);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  bisai_context_destroy(&context);
  test_folder_remove();
  return 0;
}

#endif
