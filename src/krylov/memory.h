/* SPDX-License-Identifier: BSD-3-Clause */
/* The backend memory of a solver. */
#ifndef BSI_SOLVER_MEMORY_H
#define BSI_SOLVER_MEMORY_H

#include "krylov/method.h"

/* count·size bytes of backend memory, added to the account. */
double *bsi_reserve(bisai_solver *solver, size_t count, size_t size);
/* Vectors of ld values; cleared, so that a solve does not meet untouched pages. */
double *bsi_reserve_vectors(bisai_solver *solver, size_t count);

#endif
