/* SPDX-License-Identifier: BSD-3-Clause */
/* Orderings of the block graph of A + Aᵀ. Permutations go from new to old: row i of P A Pᵀ is row
 * permutation[i] of A. */
#ifndef BSI_GRAPH_H
#define BSI_GRAPH_H

#include <bisai/order.h>

#include "core/matrix/bcsr_impl.h"

/* The neighbours of every row in A + Aᵀ, without the row itself. */
typedef struct bsi_graph {
  int32_t n;
  /* n + 1 */
  int32_t *ptr;
  /* ascending within a row */
  int32_t *neighbours;
} bsi_graph;

bisai_status bsi_graph_create(bisai_context *context, const bisai_bcsr *matrix, bsi_graph *graph);
/* The same for a structure of n rows with ascending columns. */
bisai_status bsi_graph_of_structure(bisai_context *context, int32_t n, const bsi_structure *a,
                                    bsi_graph *graph);
void bsi_graph_destroy(bisai_context *context, bsi_graph *graph);
static inline int32_t bsi_graph_degree(const bsi_graph *graph, int32_t i) {
  return graph->ptr[i + 1] - graph->ptr[i];
}

/* The ordering of this build that keeps the fill of a complete factorisation lowest. */
#ifdef BISAI_HAVE_METIS
#define BSI_ORDERING_LEAST_FILL BISAI_ORDERING_ND
#else
#define BSI_ORDERING_LEAST_FILL BISAI_ORDERING_MD
#endif

bisai_status bsi_order_rcm(bisai_context *context, const bsi_graph *graph, int32_t *permutation);
bisai_status bsi_order_dissect(bisai_context *context, const bsi_graph *graph,
                               int32_t *permutation);
bisai_status bsi_order_minimum_degree(bisai_context *context, const bsi_graph *graph,
                                      int32_t *permutation);
bisai_status bsi_order_colour(bisai_context *context, const bsi_graph *graph, int32_t *permutation);

/* Computes an ordering of the graph of a structure with ascending columns. */
bisai_status bsi_order_structure(bisai_context *context, int32_t n, const bsi_structure *a,
                                 bisai_ordering ordering, int32_t *permutation);

/* Groups of block rows, of which each row is in one. */
typedef struct bsi_groups {
  /* the rows by groups, from new to old; ascending in each group. Host memory */
  int32_t *permutation;
  /* count + 1: group k has the rows permutation[start[k]] … permutation[start[k + 1] − 1] */
  int32_t *start;
  int32_t count;
} bsi_groups;

/* Makes groups of at most `most` ≥ 1 strongly coupled block rows of a matrix in fp64. Sorts the
 * couplings on the host: the values of a device are fetched. Waits. */
bisai_status bsi_order_strength(bisai_context *context, const bisai_bcsr *a, int32_t most,
                                bsi_groups *groups);
void bsi_groups_release(bisai_context *context, bsi_groups *groups);

/* The bandwidth and profile of A + Aᵀ: the largest |i − j|, and Σ_i (i − first column of row i). */
typedef struct bsi_order_shape {
  int32_t bandwidth;
  int64_t profile;
} bsi_order_shape;

#endif
