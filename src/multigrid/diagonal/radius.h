/* SPDX-License-Identifier: BSD-3-Clause */
/* ρ(D⁻¹A) of a level. */
#ifndef BSI_RADIUS_H
#define BSI_RADIUS_H

#include "multigrid/level/hierarchy_impl.h"

/* y ← D⁻¹A x on a level, in fp64. y is another array than x. */
bisai_status bsi_scaled_product(const bsi_hierarchy *h, const bsi_level *level, const double *x,
                                double *y);
/* Computes level->diagonal.radius and level->diagonal.growth. They are infinite if power steps
 * overflow: Jacobi and Chebyshev then smooth nothing, and transfers are not smoothed either.
 * Overwrites the work vectors of the level. */
bisai_status bsi_radius_estimate(bsi_hierarchy *h, bsi_level *level);
/* Returns an upper bound of ρ(D⁻¹A) of a level, from level->diagonal.radius. */
double bsi_radius_bound(const bsi_hierarchy *h, const bsi_level *level);
/* Returns ω of the transfers of a level. */
double bsi_transfer_damping(const bsi_hierarchy *h, const bsi_level *level);

#endif
