/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares a PC of PETSc with a preconditioner of bisai. */
#ifndef BISAI_TEST_PETSC_APPLICATION_H
#define BISAI_TEST_PETSC_APPLICATION_H

#include "fixture.h"

#include <bisai/petsc.h>

/* z ← M⁻¹ v by PETSc is the same to the last bit as by bisai. */
static void expect_same_application(PC pc, bisai_precond *precond) {
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
