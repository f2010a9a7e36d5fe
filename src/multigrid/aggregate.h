/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule of aggregation. It is parallel, and its result does not depend on the order in which
 * rows are processed. Source: Bell, Dalton, Olson, SIAM J. Sci. Comput. 34 (2012), sections 4.2 and
 * 4.3; Kelley and Rajamanickam, arXiv 2204.02934 (2022), Algorithms 1 and 3.
 *
 * The graph has an edge from i to j for each block (i, j) of positive strength. Rows without an
 * edge stay out. Every key below is bsi_aggregation_key().
 *
 * 1. Roots are a maximal independent set of distance 2. All rows begin as undecided. In each round,
 *    an undecided row that has the largest key among the undecided rows within two steps becomes a
 *    root, unless there is a root within two steps; a row with a root within two steps is covered.
 *    Rounds are repeated until no row is undecided.
 * 2. A root and its neighbours are an aggregate. A row that is next to several roots (the graph
 *    need not be symmetric) takes the strongest coupling, then the larger key of the root.
 * 3. Steps 1 and 2 are repeated in the graph of the rows that have no aggregate yet. A row takes
 *    part as a root only if at least BSI_MINIMUM_REST of its neighbours have no aggregate either.
 * 4. Each of the other rows joins the aggregate of the neighbour to which it is coupled most
 *    strongly among those that had an aggregate before this step; of equal couplings the neighbour
 *    with the larger key decides. This is repeated while rows join. Rows that are left are
 *    aggregates of their own. */
#ifndef BSI_AGGREGATE_H
#define BSI_AGGREGATE_H

/* The fewest neighbours without an aggregate of a root of step 3. */
enum { BSI_MINIMUM_REST = 2 };

#endif
