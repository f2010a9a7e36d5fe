/* SPDX-License-Identifier: BSD-3-Clause */
/* What the smoothers that relax share: x ← x + α(x − x before) + β D⁻¹(b − A x). */
#ifndef BSI_RELAXATION_H
#define BSI_RELAXATION_H

#include "multigrid/level/smoother.h"

/* Gives α and β of step k of an application. Steps come in order, from 0. */
typedef void bsi_coefficients(void *user, int32_t k, double *alpha, double *beta);

/* The same β, at `user`, in every step, and α = 0. */
bsi_coefficients bsi_same_damping;

/* Returns ω of block-Jacobi for a bound of ρ(D⁻¹A), on level 0 or on a coarser one. */
double bsi_jacobi_damping(bool first, double damping, double bound);

/* Does `count` applications of `degree` relaxations each. `user` is passed to `coefficients`. The
 * arrays are those of bsi_smoother::smooth. */
typedef struct bsi_relaxations {
  int32_t count, degree;
  bsi_coefficients *coefficients;
  void *user;
} bsi_relaxations;

bisai_status bsi_relax(bsi_hierarchy *h, bsi_level *level, const bsi_relaxations *r, bsi_vector b,
                       bsi_vector from, bsi_vector to);

/* Returns where step k of `steps` writes its iterate. Steps write to `to` and to level->work.y in
 * turn, as the level's work vectors are. The last one writes to `to` as `to` is. */
static inline bsi_vector bsi_iterate_of(const bsi_level *level, int32_t k, int32_t steps,
                                        bsi_vector to) {
  if (k == steps - 1) return to;
  return bsi_work_vector(level, (steps - k) % 2 == 1 ? (double *)to.at : level->work.y);
}

#endif
