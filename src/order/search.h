/* SPDX-License-Identifier: BSD-3-Clause */
/* Breadth-first searches of the components of a graph. */
#ifndef BSI_SEARCH_ORDER_H
#define BSI_SEARCH_ORDER_H

#include "order/graph.h"

/* The search of one component. */
typedef struct bsi_search {
  const bsi_graph *graph;
  /* n entries */
  bool *seen;
  /* room for the (degree, row) of the neighbours that a row appends, which are appended by degree;
   * NULL: as they come */
  int64_t *keys;
  /* the component's rows, level by level, and their number */
  int32_t *queue, count;
  /* the levels, and where the last one begins in the queue */
  int32_t depth, last_level;
  /* the rows of the smallest level that has some of the middle half of the rows */
  int32_t narrowest;
} bsi_search;

/* Leaves the component of `root` in the queue, searched from a pseudo-peripheral row: restarts from
 * a row of minimum degree in the last level as long as this deepens the search (George and Liu
 * 1979). */
void bsi_search_from_periphery(bsi_search *search, int32_t root);

#endif
