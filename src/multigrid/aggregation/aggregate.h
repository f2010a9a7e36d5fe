/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule of aggregation. It is parallel, and its result does not depend on the order in which
 * rows are processed. Source: Bell, Dalton, Olson, SIAM J. Sci. Comput. 34 (2012), sections 4.2 and
 * 4.3; Kelley and Rajamanickam, arXiv 2204.02934 (2022), Algorithm 1.
 *
 * The graph has an edge from i to j for each block (i, j) of positive strength. It need not be
 * symmetric: neighbours of i and steps from i are along the edges out of i. Rows without an edge
 * out of them take no part in steps 1 to 3. Every key below is bsi_aggregation_key().
 *
 * 1. Roots are a maximal independent set of distance 2. All rows begin as undecided. Each round
 *    looks at the rows as they were before it: an undecided row becomes covered if a root is within
 *    two steps, and otherwise a root if its key is larger than those of all undecided rows within
 *    two steps. Rounds are repeated until no row is undecided.
 * 2. A root and the rows next to it are an aggregate. A row that is next to several roots takes the
 *    strongest coupling, and of equal ones that with the larger key of the root.
 * 3. Each of the other rows joins the aggregate of the neighbour to which it is coupled most
 *    strongly among those that have an aggregate after step 2; of equal couplings the neighbour
 *    with the larger key decides. There always is such a neighbour: step 1 left a root within two
 *    steps, and the row between them joined an aggregate in step 2. (Kelley and Rajamanickam make
 *    more aggregates of such rows. This takes fewer iterations, but as much time: complexities in
 *    three dimensions grow from 1.4 to 1.9.)
 * 4. A row without an edge follows the row j for which the strength of (i, j) is negative. Of
 *    several it follows the one with the largest magnitude, then the larger key. It gets the
 *    aggregate of j, or of the row that j follows, and so on. The other rows stay out.
 *
 * Aggregates are numbered in the order of the rows of their roots. In a symmetric graph, the roots
 * of step 1 are those of the sequential rule that takes rows by descending keys. */
#ifndef BSI_AGGREGATE_H
#define BSI_AGGREGATE_H

#include "multigrid/aggregation/strength.h"

/* What a row may become in the rounds of step 1. */
typedef enum bsi_candidate {
  /* covered, or never a candidate */
  BSI_NOT_ROOT,
  BSI_UNDECIDED,
  BSI_ROOT
} bsi_candidate;

/* What stands for the root of the aggregate of a row that has none. BSI_FOLLOWS − j: the row
 * follows row j. */
enum { BSI_NO_ROOT_YET = -1, BSI_STAYS_OUT = -2, BSI_FOLLOWS = -3 };

/* What a round passes on along edges is the largest of these values: BSI_REACHED if there is a
 * root, otherwise the largest key of an undecided row, or 0. */
#define BSI_REACHED UINT32_MAX

/* Returns the value of row i. */
BSI_INLINE uint32_t bsi_candidate_value(uint8_t state, int32_t i) {
  return state == BSI_ROOT ? BSI_REACHED : state == BSI_UNDECIDED ? bsi_aggregation_key(i) : 0;
}

/* Returns the state of undecided row i after a round. `largest` is the largest value within two
 * steps, its own included. */
BSI_INLINE uint8_t bsi_candidate_decide(uint32_t largest, int32_t i) {
  if (largest == BSI_REACHED) return BSI_NOT_ROOT;
  return largest == bsi_aggregation_key(i) ? BSI_ROOT : BSI_UNDECIDED;
}

#endif
