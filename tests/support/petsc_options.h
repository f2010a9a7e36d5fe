/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of PETSc for a part of a test. Those of the run itself, such as -malloc_dump, come back
 * afterwards; PetscOptionsClear() would lose them. */
#ifndef BISAI_TEST_PETSC_OPTIONS_H
#define BISAI_TEST_PETSC_OPTIONS_H

#include "support.h"

#include <petscsys.h>

/* Replaces all options. */
static PetscOptions test_options_lend(const char *text) {
  PetscOptions options = NULL;
  assert_int_equal(PetscOptionsCreate(&options), 0);
  assert_int_equal(PetscOptionsInsertString(options, text), 0);
  assert_int_equal(PetscOptionsPush(options), 0);
  return options;
}

static void test_options_take_back(PetscOptions options) {
  assert_int_equal(PetscOptionsPop(), 0);
  assert_int_equal(PetscOptionsDestroy(&options), 0);
}

#endif
