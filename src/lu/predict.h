/* SPDX-License-Identifier: BSD-3-Clause */
/* What a complete factorisation will hold and cost, before any number is computed. */
#ifndef BSI_LU_PREDICT_H
#define BSI_LU_PREDICT_H

#include <bisai/order.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bsi_lu_prediction {
  /* the blocks of L + U, of which the diagonal blocks count once */
  int64_t blocks;
  /* the values that are stored: those of L + U, and the zeros of supernodes */
  int64_t values;
  /* additions, subtractions and multiplications that make L + U, without the zeros */
  double flops;
  /* the supernodes, and the longest chain of those that depend on each other */
  int32_t supernodes, levels;
} bsi_lu_prediction;

struct bsi_lu_tree;    /* lu/tree.h */
struct bsi_supernodes; /* lu/tree.h */

/* Returns the ordering that keeps fill lowest in this build. The natural ordering, which is the
 * default of options, stands for it; others stand for themselves. */
bisai_ordering bsi_lu_ordering(bisai_ordering asked);

/* *flops ← the expected operations, from the width of the graph. Takes a tenth of the time of a
 * prediction by minimum degree. */
bisai_status bsi_lu_estimate(bisai_context *context, const bisai_bcsr *matrix, double *flops);

/* Predicts the factors of P A Pᵀ. The time is that of the ordering, and beside it proportional to
 * the blocks of A.
 * `permutation` has block_rows entries. It is read if `ordering` is BISAI_ORDERING_GIVEN, and
 * written otherwise: BISAI_ORDERING_GIVEN with this permutation makes the factors that were
 * predicted, without a second search for the ordering. Fails as bisai_order_compute() does. */
bisai_status bsi_lu_predict(bisai_context *context, const bisai_bcsr *matrix,
                            bisai_ordering ordering, int32_t *permutation,
                            bsi_lu_prediction *prediction);

/* Adds up what the factors will hold and cost. */
bisai_status bsi_lu_sum_up(bisai_context *context, const struct bsi_lu_tree *tree,
                           const struct bsi_supernodes *nodes, int block_size,
                           bsi_lu_prediction *prediction);

#ifdef __cplusplus
}
#endif

#endif
