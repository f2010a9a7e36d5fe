/* SPDX-License-Identifier: BSD-3-Clause */
/* Damped block-Jacobi: x ← x + ω D⁻¹(b − A x). */
#include <math.h>

#include "multigrid/smoothers/relaxation.h"
#include "multigrid/smoothers/smoothers.h"

/* The few power steps may find too small a ρ, which is 2 on level 0 for most discretisations. On
 * coarser levels it is about 1.5. An infinite estimate leaves x as it is. */
double bsi_jacobi_damping(bool first, double damping, double radius) {
  return 2.0 * damping / fmax(radius, first ? 2.0 : 1.5);
}

static bisai_status jacobi_smooth(bsi_hierarchy *h, bsi_level *level, int32_t count,
                                  const double *b, const double *from, double *to) {
  double omega =
      bsi_jacobi_damping(bsi_is_finest(h, level), h->setup.options.damping, level->diagonal.radius);
  return bsi_relax(h, level, &(bsi_relaxations){count, 1, bsi_same_damping, &omega}, b, from, to);
}

const bsi_smoother bsi_smoother_jacobi = {.options = {"multigrid.damping"},
                                          .smooth = jacobi_smooth};
