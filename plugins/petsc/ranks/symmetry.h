/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BSI_PETSC_RANKS_SYMMETRY_H
#define BSI_PETSC_RANKS_SYMMETRY_H

#include "petsc/ranks/rows.h"

/* *symmetric ← whether the matrix of these rows differs from its transpose by BISAI_SYMMETRY_LIMIT
 * at most, in the measure of bisai_bcsr_asymmetry(). All processes call it, and get the same. */
PetscErrorCode bsi_ranks_rows_are_symmetric(MPI_Comm comm, const bsi_ranks_rows *rows,
                                            bool *symmetric);

#endif
