/* SPDX-License-Identifier: BSD-3-Clause */
/* PCs of type bisai, with options as on a command line, and what they apply. */
#ifndef BISAI_TEST_PETSC_APPLICATION_H
#define BISAI_TEST_PETSC_APPLICATION_H

#include "fixture.h"

#include <bisai/petsc.h>

#include "petsc_fixture.h"
#include "petsc_options.h"

static inline Mat test_petsc_mat(const bisai_bcsr *matrix) {
  Mat mat = NULL;
  EXPECT_OK(context, bisai_petsc_to_mat(context, matrix, &mat));
  return mat;
}

/* The PC reads these options and no others. */
static inline void test_petsc_set_options(PC pc, const char *options) {
  const PetscOptions lent = test_options_lend(options);
  assert_int_equal(PCSetFromOptions(pc), 0);
  test_options_take_back(lent);
}

static inline PC test_petsc_pc(Mat mat, const char *options) {
  PC pc = NULL;
  assert_int_equal(PCCreate(PETSC_COMM_SELF, &pc), 0);
  assert_int_equal(PCSetType(pc, "bisai"), 0);
  test_petsc_set_options(pc, options);
  assert_int_equal(PCSetOperators(pc, mat, mat), 0);
  return pc;
}

/* Returns the error of a PC that reads these options, and prints nothing. */
static inline PetscErrorCode test_petsc_try_options(const char *options) {
  PC pc = NULL;
  assert_int_equal(PCCreate(PETSC_COMM_SELF, &pc), 0);
  assert_int_equal(PCSetType(pc, "bisai"), 0);
  const PetscOptions lent = test_options_lend(options);
  PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
  /* PETSc does not free the title of a list of options in which an error occurs. */
  __lsan_disable();
  const PetscErrorCode code = PCSetFromOptions(pc);
  __lsan_enable();
  PetscPopErrorHandler();
  test_options_take_back(lent);
  PCDestroy(&pc);
  return code;
}

/* z ← M⁻¹ v by PETSc is the same to the last bit as by bisai. */
static inline void expect_same_application(PC pc, bisai_precond *precond) {
  const int64_t n = bisai_precond_rows(precond);
  double *v = test_random_vector(n, 1), *z = test_random_vector(n, 2),
         *expected = test_random_vector(n, 3);
  Vec in, out;
  VecCreateSeqWithArray(PETSC_COMM_SELF, 1, (PetscInt)n, v, &in);
  VecCreateSeqWithArray(PETSC_COMM_SELF, 1, (PetscInt)n, z, &out);
  assert_int_equal(PCApply(pc, in, out), 0);
  EXPECT_OK(context, bisai_precond_apply(precond, v, expected));
  EXPECT_CLOSE(n, expected, z, 0);
  VecDestroy(&in);
  VecDestroy(&out);
  free(v);
  free(z);
  free(expected);
}

#endif
