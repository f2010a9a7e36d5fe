/* SPDX-License-Identifier: BSD-3-Clause */
/* The first stage of CPR over several processes: one pressure matrix and one hierarchy of multigrid
 * of all of them. The second stage is a preconditioner of each process. */
#ifndef BSI_PETSC_RANKS_CPR_H
#define BSI_PETSC_RANKS_CPR_H

#include "petsc/ranks/ranks.h"

typedef struct bsi_ranks_cpr bsi_ranks_cpr;

/* Makes the first stage of a Mat of several processes. options->precond are those of CPR. *result
 * stays NULL if the values have none: failure->status says why. All processes call it, as they call
 * all that follow but bsi_ranks_cpr_context() and bsi_ranks_cpr_end(). */
PetscErrorCode bsi_ranks_cpr_create(Mat mat, const bsi_ranks_options *options,
                                    bsi_ranks_cpr **result, bsi_ranks_failure *failure);

/* Takes the values of a Mat. *kept ← false if the structures do not fit: another first stage must
 * be made. */
PetscErrorCode bsi_ranks_cpr_update(bsi_ranks_cpr *cpr, Mat mat, bool *kept,
                                    bsi_ranks_failure *failure);

/* Returns the context on whose backend the first stage is applied. */
bisai_context *bsi_ranks_cpr_context(const bsi_ranks_cpr *cpr);

/* Corrects the pressures for the own values of v. *rest ← what the second stage gets: v itself, or
 * what the correction leaves of it, until the next call. Arrays are in host memory or in that of
 * the backend. */
PetscErrorCode bsi_ranks_cpr_begin(bsi_ranks_cpr *cpr, const double *v, const double **rest);

/* x ← x + the correction of the pressures. */
PetscErrorCode bsi_ranks_cpr_end(const bsi_ranks_cpr *cpr, double *x);

PetscErrorCode bsi_ranks_cpr_view(const bsi_ranks_cpr *cpr, PetscViewer viewer);

PetscErrorCode bsi_ranks_cpr_destroy(bsi_ranks_cpr **result);

#endif
