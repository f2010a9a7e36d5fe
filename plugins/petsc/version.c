/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the PETSc that the library was compiled for with the one that the program runs.
 *
 * Preconditioner and matrix types fill PETSc's private structures, which change between minor
 * versions: a type that was compiled for another version would overwrite other members. */
#include "petsc/calls.h"

/* The running PETSc may have a PetscInt of another size. It writes into 64 bits of zeros, so that
 * nothing beside them is overwritten; on a little-endian machine both sizes read the same. */
typedef union number {
  int64_t wide;
  PetscInt own;
} number;

static PetscErrorCode check_number(void) {
  number major = {0}, minor = {0}, patch = {0};
  PetscFunctionBegin;
  PetscCall(PetscGetVersionNumber(&major.own, &minor.own, &patch.own, NULL));
  PetscCheck(major.wide == PETSC_VERSION_MAJOR && minor.wide == PETSC_VERSION_MINOR,
             PETSC_COMM_SELF, PETSC_ERR_SUP,
             "bisai_petsc was compiled for PETSc %d.%d and the program runs PETSc %d.%d.%d: "
             "compile bisai for the program's PETSc (PKG_CONFIG_PATH selects it)",
             PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, (int)major.wide, (int)minor.wide,
             (int)patch.wide);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode check_size(const char *name, size_t expected) {
  PetscDataType type;
  PetscBool found;
  size_t size;
  PetscFunctionBegin;
  PetscCall(PetscDataTypeFromString(name, &type, &found));
  PetscCall(PetscDataTypeGetSize(type, &size));
  PetscCheck(size == expected, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "bisai_petsc was compiled for a PETSc whose type \"%s\" has %d bytes, and the "
             "program's has %d: compile bisai for the program's PETSc (PKG_CONFIG_PATH selects it)",
             name, (int)expected, (int)size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_petsc_check_version(void) {
  PetscFunctionBegin;
  PetscCall(check_number());
  PetscCall(check_size("int", sizeof(PetscInt)));
  PetscCall(check_size("scalar", sizeof(PetscScalar)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
