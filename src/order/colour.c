/* SPDX-License-Identifier: BSD-3-Clause */
/* Greedy multicolouring: every row in turn takes the first colour that none of its neighbours has.
 * The rows are then ordered by colour. A row of colour c has neighbours of every lower colour, so
 * that on a symmetric pattern ILU(0) has exactly as many levels as colours. */
#include "order/graph.h"

static int32_t colour_rows(const bsi_graph *g, int32_t *taken, int32_t *colour) {
  int32_t colours = 0;
  for (int32_t i = 0; i < g->n; i++) colour[i] = taken[i] = -1;
  for (int32_t i = 0; i < g->n; i++) {
    for (int32_t p = g->ptr[i]; p < g->ptr[i + 1]; p++) {
      const int32_t other = colour[g->neighbours[p]];
      if (other >= 0) taken[other] = i;
    }
    int32_t c = 0;
    while (taken[c] == i) c++;
    colour[i] = c;
    if (c + 1 > colours) colours = c + 1;
  }
  return colours;
}

bisai_status bsi_order_colour(bisai_context *context, const bsi_graph *graph,
                              int32_t *permutation) {
  const size_t n = (size_t)graph->n;
  int32_t *colour = bsi_allocate(context, n, sizeof *colour);
  int32_t *start = colour ? bsi_allocate(context, n + 1, sizeof *start) : NULL;
  if (start) {
    const int32_t colours = colour_rows(graph, start, colour);
    for (int32_t c = 0; c <= colours; c++) start[c] = 0;
    for (int32_t i = 0; i < graph->n; i++) start[colour[i]]++;
    for (int32_t c = 0, before = 0; c < colours; c++) {
      const int32_t rows = start[c];
      start[c] = before;
      before += rows;
    }
    for (int32_t i = 0; i < graph->n; i++) permutation[start[colour[i]]++] = i;
  }
  const bisai_status status = start ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  bsi_release(context, colour);
  bsi_release(context, start);
  return status;
}
