/* SPDX-License-Identifier: BSD-3-Clause */
/* The Galerkin product R A P, which is the matrix of the next level. */
#ifndef BSI_GALERKIN_H
#define BSI_GALERKIN_H

#include "multigrid/aggregation/coarsening.h"

/* Coarsening ends if A P has more than that many times the blocks of A. Meshes have at most 1.5. */
enum { BSI_LARGEST_PRODUCT = 4 };

/* Makes T, the structures of P, R and A P, and the matrix of the next level without its values.
 * *coarse stays NULL if that matrix would be too large: this level is the coarsest then. The caller
 * owns *coarse. */
bisai_status bsi_galerkin_create(bsi_hierarchy *h, bsi_level *level, bsi_coarsening *c,
                                 bisai_bcsr **coarse);
/* Makes A P without its values, and the slots of R (A P), as far as they have been released. */
bisai_status bsi_galerkin_renew(bsi_hierarchy *h, bsi_level *level);
/* Computes the values of the next level's matrix from those of A, P and R. */
bisai_status bsi_galerkin_update(bsi_hierarchy *h, bsi_level *level);

#endif
