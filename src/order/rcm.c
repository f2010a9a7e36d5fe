/* SPDX-License-Identifier: BSD-3-Clause */
/* Reverse Cuthill–McKee (Cuthill and McKee 1969): each connected component in breadth-first order
 * from a pseudo-peripheral row, with neighbours by ascending degree, then reversed. */
#include <string.h>

#include "order/search.h"

static void reverse(int32_t *rows, int32_t count) {
  for (int32_t i = 0, j = count - 1; i < j; i++, j--) {
    const int32_t row = rows[i];
    rows[i] = rows[j];
    rows[j] = row;
  }
}

bisai_status bsi_order_rcm(bisai_context *context, const bsi_graph *graph, int32_t *permutation) {
  const int32_t n = graph->n;
  int32_t max_degree = 0;
  for (int32_t i = 0; i < n; i++)
    if (bsi_graph_degree(graph, i) > max_degree) max_degree = bsi_graph_degree(graph, i);
  bsi_search s = {.graph = graph, .seen = bsi_allocate(context, (size_t)n, sizeof *s.seen)};
  s.keys = s.seen ? bsi_allocate(context, (size_t)max_degree, sizeof *s.keys) : NULL;
  if (s.keys) {
    memset(s.seen, 0, (size_t)n * sizeof *s.seen);
    s.queue = permutation;
    for (int32_t i = 0; i < n; i++) {
      if (s.seen[i]) continue;
      bsi_search_from_periphery(&s, i);
      reverse(s.queue, s.count);
      s.queue += s.count;
    }
  }
  const bisai_status status = s.keys ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  bsi_release(context, s.seen);
  bsi_release(context, s.keys);
  return status;
}
