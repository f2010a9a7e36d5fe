/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes that a program has allocated. */
#ifndef BISAI_TEST_ALLOCATED_H
#define BISAI_TEST_ALLOCATED_H

#include <petscsys.h>

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33) && !defined(__SANITIZE_ADDRESS__)
#include <malloc.h>
#define HAVE_MALLINFO2
#endif

/* PETSc's own count serves where the C library has none. */
static inline size_t test_allocated(void) {
#if defined(HAVE_MALLINFO2)
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
#else
  PetscLogDouble bytes = 0;
  PetscMallocGetCurrentUsage(&bytes);
  return (size_t)bytes;
#endif
}

#endif
