/* SPDX-License-Identifier: BSD-3-Clause */
/* Stokes flow on a staggered grid (Harlow, Welch 1965). */
#ifndef BISAI_TEST_STAGGERED_H
#define BISAI_TEST_STAGGERED_H

#include "support/support.h"

/* Stokes flow in a closed box of side × side cells; `time` is h²/Δt over the viscosity. The rows
 * are u between cells along x, then v along y, then p: 2 side (side − 1) + side² rows. */
test_bcsr test_bcsr_staggered(int side, double time);

#endif
