/* SPDX-License-Identifier: BSD-3-Clause */
/* The solver of the coarsest level. */
#ifndef BSI_COARSEST_H
#define BSI_COARSEST_H

#include "multigrid/level/hierarchy_impl.h"

/* h->coarse.inverse ← the inverse of the coarsest matrix, or its pseudo-inverse if the matrix is
 * singular. It stays NULL if a singular matrix has more than `most_singular` scalar rows. */
bisai_status bsi_coarsest_create(bsi_hierarchy *h, int64_t most_singular);
/* The same for a matrix that may stay uninverted: *finite ← false if the inverse overflows. It is
 * of no use then. */
bisai_status bsi_coarsest_try(bsi_hierarchy *h, bool *finite);
/* The same for new values. Allocates nothing. It therefore refuses a matrix that is singular for
 * the first time. */
bisai_status bsi_coarsest_update(bsi_hierarchy *h);
/* Releases what updates of a singular matrix need. */
void bsi_coarsest_release_room(bisai_context *context, bsi_coarse_solver *solver);
/* Releases what was made. Accepts a struct of zeros. */
void bsi_coarsest_destroy(bisai_context *context, bsi_coarse_solver *solver);

#endif
