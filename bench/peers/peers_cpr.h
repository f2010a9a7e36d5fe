/* SPDX-License-Identifier: BSD-3-Clause */
/* CPR of PETSc's parts, to compare with. */
#ifndef BISAI_BENCH_PEERS_CPR_H
#define BISAI_BENCH_PEERS_CPR_H

#include <petscpc.h>

/* Makes a preconditioner a CPR that solves for unknown `pressure` of each block first. Its matrix
 * is of type BAIJ, since matrices of other types leave out zeros in blocks. The stages have the
 * options -cpr_first_… (default: hypre's BoomerAMG) and -cpr_second_… (default: block-Jacobi over
 * the ranks, of ILU(0)). */
PetscErrorCode peers_cpr(PC pc, PetscInt pressure);

#endif
