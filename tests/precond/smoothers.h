/* SPDX-License-Identifier: BSD-3-Clause */
/* The smoothers of multigrid, and its options with one of them. */
#ifndef BISAI_TEST_SMOOTHERS_H
#define BISAI_TEST_SMOOTHERS_H

#include <bisai/precond.h>

static const bisai_smoother smoothers[] = {BISAI_SMOOTHER_JACOBI,    BISAI_SMOOTHER_L1,
                                           BISAI_SMOOTHER_CHEBYSHEV, BISAI_SMOOTHER_ISAI,
                                           BISAI_SMOOTHER_SWEEPS,    BISAI_SMOOTHER_ILU};
enum { SMOOTHERS = sizeof smoothers / sizeof *smoothers };

/* Multigrid with smoothers[smoother] that inverts a matrix of at most `coarsest` scalar rows. */
static inline bisai_precond_options with_smoother(int smoother, int32_t coarsest) {
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_MULTIGRID;
  o.multigrid.smoother = smoothers[smoother];
  o.multigrid.coarsest = coarsest;
  return o;
}

#endif
