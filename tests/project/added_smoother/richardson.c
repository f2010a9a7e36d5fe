/* SPDX-License-Identifier: BSD-3-Clause */
/* A smoother without kernels of its own: damped block-Jacobi with a damping that no option changes.
 * */
#include <math.h>

#include "multigrid/smoothers/relaxation.h"
#include "multigrid/smoothers/smoothers.h"

static bisai_status richardson_smooth(bsi_hierarchy *h, bsi_level *level, int32_t count,
                                      bsi_vector b, bsi_vector from, bsi_vector to) {
  double omega = 4.0 / (3.0 * fmax(level->diagonal.radius, 2.0));
  return bsi_relax(h, level, &(bsi_relaxations){count, 1, bsi_same_damping, &omega}, b, from, to);
}

const bsi_smoother bsi_smoother_richardson = {.smooth = richardson_smooth};
