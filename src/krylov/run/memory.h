/* SPDX-License-Identifier: BSD-3-Clause */
/* The backend memory of a solver. */
#ifndef BSI_MEMORY_H
#define BSI_MEMORY_H

#include "krylov/run/method.h"

/* Allocates count·size bytes of backend memory and adds them to memory_bytes. NULL: out of
 * memory. */
double *bsi_reserve(bisai_solver *solver, size_t count, size_t size);
/* Allocates `count` vectors. On a device their entries n … ld − 1 are zero. Nothing else is
 * written: a solve that ends early does not pay for vectors that it did not need. */
double *bsi_reserve_vectors(bisai_solver *solver, size_t count);

#endif
