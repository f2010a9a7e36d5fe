/* SPDX-License-Identifier: BSD-3-Clause */
/* CPR with all that its updates go through, and matrices of one pattern. */
#ifndef BISAI_TEST_CPR_VARIANTS_H
#define BISAI_TEST_CPR_VARIANTS_H

#include "flow.h"

enum { NX = 18, NY = 16, BS = 3, P = 1, CELLS = NX * NY, N = CELLS * BS };

/* All second stages; their orderings; transfers that stay; null vectors; K-cycles. */
enum { VARIANTS = 12 };

static double null_vectors[2 * CELLS];

static inline bisai_precond_options variant_of(int variant) {
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_CPR;
  o.cpr.second = (bisai_cpr_second_stage)(variant % 5);
  o.cpr.additive = variant % 3 == 2;
  o.multigrid.coarsest = 30;
  switch (variant) {
  case 5: o.isai.power = 2, o.cpr.second = BISAI_CPR_SECOND_STAGE_ISAI; break;
  case 6: o.factor.ordering = BISAI_ORDERING_RCM, o.factor.equilibrate = true; break;
  case 7: o.factor.level = 1, o.multigrid.keep_transfers = true; break;
  case 8: o.multigrid.smoother = BISAI_SMOOTHER_ILU; break;
  case 9: o.bjacobi.max_block = 7; break;
  case 10:
    for (int i = 0; i < 2 * CELLS; i++) null_vectors[i] = i % 2 ? i / 2 / NY : 1.0;
    o.multigrid.null_vectors = null_vectors, o.multigrid.null_count = 2;
    break;
  case 11: o.multigrid.cycle = BISAI_CYCLE_K; break;
  default: break;
  }
  return o;
}

/* The matrix of a seed. */
static inline bisai_bcsr *flow(bisai_context *c, uint64_t seed) {
  return test_bcsr_take(c, test_flow(NX, NY, BS, P, seed));
}

#endif
