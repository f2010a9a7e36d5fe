/* SPDX-License-Identifier: BSD-3-Clause */
/* One hierarchy of multigrid over several processes: bisai/ranks.h on the rows of a Mat, with the
 * messages of MPI. */
#ifndef BSI_PETSC_RANKS_H
#define BSI_PETSC_RANKS_H

#include <bisai/petsc.h>

#include "petsc/device.h"
#include "petsc/ranks/failure.h"
#include "petsc/ranks/rows.h"

/* What the options -pc_bisai_mg_… give. */
typedef struct bsi_ranks_options {
  const bisai_precond_options *precond;
  bisai_backend backend;
  int threads;
  /* a matrix of at most that many scalar rows is gathered */
  PetscInt gather;
  bisai_petsc_transport transport;
} bsi_ranks_options;

typedef struct bsi_ranks bsi_ranks;

/* Makes a hierarchy of a Mat of several processes. *result stays NULL if the values have none:
 * failure->status says why. All processes call it, as they call all that follow but
 * bsi_ranks_context(). */
PetscErrorCode bsi_ranks_create(Mat mat, const bsi_ranks_options *options, bsi_ranks **result,
                                bsi_ranks_failure *failure);

/* Takes the values of a Mat. *kept ← false if the structures do not fit: another hierarchy must be
 * made. */
PetscErrorCode bsi_ranks_update(bsi_ranks *ranks, Mat mat, bool *kept, bsi_ranks_failure *failure);

/* z ← M⁻¹ v, for arrays of the own rows in host memory or in that of the backend. */
PetscErrorCode bsi_ranks_apply(bsi_ranks *ranks, const double *v, double *z);

/* z ← M⁻ᵀ v. Returns BISAI_UNSUPPORTED on all processes if M is not linear. */
bisai_status bsi_ranks_apply_transpose(bsi_ranks *ranks, const double *v, double *z);

/* Returns the context of the levels. */
bisai_context *bsi_ranks_context(const bsi_ranks *ranks);

PetscErrorCode bsi_ranks_destroy(bsi_ranks **result);

#endif
