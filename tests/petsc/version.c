/* SPDX-License-Identifier: BSD-3-Clause */
/* bisai inside a program whose PETSc is not the one that bisai was compiled for. The program
 * defines the two functions that tell, so that the library calls these and not PETSc's. */
#include "petsc_fixture.h"

static int seen_minor, seen_integer;

PetscErrorCode PetscGetVersionNumber(PetscInt *major, PetscInt *minor, PetscInt *patch,
                                     PetscInt *release) {
  if (major) *major = PETSC_VERSION_MAJOR;
  if (minor) *minor = seen_minor;
  if (patch) *patch = 7;
  if (release) *release = 1;
  return (PetscErrorCode)0;
}

PetscErrorCode PetscDataTypeGetSize(PetscDataType type, size_t *size) {
  *size = type == PETSC_INT ? (size_t)seen_integer : sizeof(PetscScalar);
  return (PetscErrorCode)0;
}

static PetscErrorCode register_with(int minor, size_t integer, char message[TEST_PETSC_MESSAGE]) {
  seen_minor = minor;
  seen_integer = (int)integer;
  *message = '\0';
  PetscPushErrorHandler(test_petsc_keep_message, message);
  PetscErrorCode code = bisai_petsc_register();
  PetscPopErrorHandler();
  return code;
}

static void another_version_is_refused_and_both_are_named(void **state) {
  (void)state;
  char message[TEST_PETSC_MESSAGE], compiled[64], running[64];
  snprintf(compiled, sizeof compiled, "PETSc %d.%d and", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR);
  snprintf(running, sizeof running, "runs PETSc %d.99.7:", PETSC_VERSION_MAJOR);
  assert_int_equal(register_with(99, sizeof(PetscInt), message), PETSC_ERR_SUP);
  assert_non_null(strstr(message, compiled));
  assert_non_null(strstr(message, running));
}

static void another_size_of_integers_is_refused(void **state) {
  (void)state;
  char message[TEST_PETSC_MESSAGE], expected[64];
  const size_t other = 12 - sizeof(PetscInt);
  snprintf(expected, sizeof expected, "\"int\" has %d bytes, and the program's has %d",
           (int)sizeof(PetscInt), (int)other);
  assert_int_equal(register_with(PETSC_VERSION_MINOR, other, message), PETSC_ERR_SUP);
  assert_non_null(strstr(message, expected));
}

static void another_patch_of_the_same_version_is_taken(void **state) {
  (void)state;
  char message[TEST_PETSC_MESSAGE];
  assert_int_equal(register_with(PETSC_VERSION_MINOR, sizeof(PetscInt), message), 0);
  assert_string_equal(message, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(another_version_is_refused_and_both_are_named),
      cmocka_unit_test(another_size_of_integers_is_refused),
      cmocka_unit_test(another_patch_of_the_same_version_is_taken),
  };
  bisai_context *starter = test_context(1);
  if (!test_petsc_start(starter)) return 1;
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  failed |= !test_petsc_stop(starter);
  bisai_context_destroy(&starter);
  return failed;
}
