/* SPDX-License-Identifier: BSD-3-Clause */
/* ρ(D⁻¹A) of a level. */
#ifndef BSI_RADIUS_H
#define BSI_RADIUS_H

#include "multigrid/diagonal/lanczos.h"
#include "multigrid/level/hierarchy_impl.h"

/* What estimates of ρ(D⁻¹A) of a level say: bsi_level_diagonal::radius and ::growth. */
typedef struct bsi_radius_estimates {
  double radius, growth;
} bsi_radius_estimates;

/* Returns the number of power steps on a level. Nonsymmetric matrices get few ones on `few`
 * levels. */
int bsi_power_steps(bool symmetric, bool few);
/* Returns the estimates by power steps, from the last two norms (core/vector/power.h). */
bsi_radius_estimates bsi_radius_from_power(bool symmetric, const double norms[2]);
/* Computes the estimates from the coefficients of a Lanczos process. Returns false if D⁻¹A has
 * eigenvalues that are not positive. */
bool bsi_radius_from_lanczos(const double coefficients[BSI_LANCZOS_COEFFICIENTS],
                             bsi_radius_estimates *estimates);
/* Returns an upper bound of ρ(D⁻¹A). */
double bsi_radius_bound_of(bool symmetric, double radius);
/* Returns ω of the transfers of a level. */
double bsi_damping_of(bool symmetric, double growth);

/* y ← D⁻¹A x on a level, in fp64. y is another array than x. */
bisai_status bsi_scaled_product(const bsi_hierarchy *h, const bsi_level *level, const double *x,
                                double *y);
/* Computes level->diagonal.radius and level->diagonal.growth. They are infinite if power steps
 * overflow: Jacobi and Chebyshev then smooth nothing, and transfers are not smoothed either.
 * Overwrites the work vectors of the level. */
bisai_status bsi_radius_estimate(bsi_hierarchy *h, bsi_level *level);
/* The same in two steps. On a device the host does not wait, and fetches the records of the level
 * in between. The second step completes the copies in fp32 too, and waits if they do not fit: the
 * first step has read that of A. */
bisai_status bsi_radius_begin(bsi_hierarchy *h, bsi_level *level);
bisai_status bsi_radius_end(bsi_hierarchy *h, bsi_level *level);
/* Returns an upper bound of ρ(D⁻¹A) of a level, from level->diagonal.radius. */
double bsi_radius_bound(const bsi_hierarchy *h, const bsi_level *level);
/* Returns ω of the transfers of a level. */
double bsi_transfer_damping(const bsi_hierarchy *h, const bsi_level *level);

#endif
