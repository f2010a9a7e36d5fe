/* SPDX-License-Identifier: BSD-3-Clause */
/* Implicit steps of the flow of several phases on small grids, for the tests of CPR. */
#ifndef BISAI_TEST_FLOW_H
#define BISAI_TEST_FLOW_H

#include "support.h"

/* nx × ny cells with bs equations of mass each, whose unknowns are the pressure, at place
 * `pressure` of a block, and bs − 1 saturations. The pressure drives all phases through random
 * transmissibilities. The saturations move from cells with lower to cells with higher numbers. The
 * equations of each cell are mixed by a random matrix. */
test_bcsr test_flow(int32_t nx, int32_t ny, int32_t bs, int32_t pressure, uint64_t seed);

/* The same with heat: the last equation is that of energy, the last unknown the temperature, and
 * the first one the pressure. Heat flows by conduction, whose coefficients are `conduction` times
 * random numbers near 1, and with the phases. The equations are not mixed, but each one is
 * multiplied by a random power of two. */
test_bcsr test_thermal_flow(int32_t nx, int32_t ny, int32_t bs, double conduction, uint64_t seed);

/* The unknowns of each block in another order: unknown k of the result is unknown order[k]. The
 * equations stay. */
test_bcsr test_flow_reordered(const test_bcsr *a, const int32_t *order);

#endif
