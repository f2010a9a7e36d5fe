/* SPDX-License-Identifier: BSD-3-Clause */
/* PETSc for the tests of a program, started and ended around its group. What MPI allocates while it
 * starts and ends and never frees is not a leak of ours: LeakSanitizer looks away then, and only
 * then. */
#ifndef BISAI_TEST_PETSC_FIXTURE_H
#define BISAI_TEST_PETSC_FIXTURE_H

#include "support.h"

#include <bisai/petsc.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#else
static inline void __lsan_disable(void) {}
static inline void __lsan_enable(void) {}
#endif

static bool test_petsc_start(bisai_context *c) {
  bool started = false;
  __lsan_disable();
  const bisai_status status = bisai_petsc_start(c, &started);
  __lsan_enable();
  if (status) print_error("PETSc does not start: %s\n", bisai_context_error(c));
  return !status && started;
}

/* Options of the environment that a test has cleared apply to the end too: -malloc_dump. */
static bool test_petsc_stop(bisai_context *c) {
  const char *given = getenv("PETSC_OPTIONS");
  if (given) PetscOptionsInsertString(NULL, given);
  __lsan_disable();
  const bisai_status status = bisai_petsc_stop(c);
  __lsan_enable();
  if (status) print_error("PETSc does not end: %s\n", bisai_context_error(c));
  return status == BISAI_OK;
}

/* Runs a group of tests while PETSc runs and has the types of bisai. Returns the exit status. */
static inline int test_petsc_run(const char *name, const struct CMUnitTest *tests, size_t count,
                                 CMFixtureFunction set_up, CMFixtureFunction tear_down) {
  bisai_context *starter = test_context(1);
  if (!test_petsc_start(starter) || bisai_petsc_register()) return 1;
  int failed = _cmocka_run_group_tests(name, tests, count, set_up, tear_down);
  failed |= !test_petsc_stop(starter);
  bisai_context_destroy(&starter);
  return failed;
}

enum { TEST_PETSC_MESSAGE = 512 };

/* An error handler of PETSc that keeps the message of the innermost error. */
static inline PetscErrorCode test_petsc_keep_message(MPI_Comm comm, int line, const char *function,
                                                     const char *file, PetscErrorCode code,
                                                     PetscErrorType type, const char *message,
                                                     void *kept) {
  (void)comm, (void)line, (void)function, (void)file;
  if (type == PETSC_ERROR_INITIAL) snprintf(kept, TEST_PETSC_MESSAGE, "%s", message);
  return code;
}

#endif
