/* SPDX-License-Identifier: BSD-3-Clause */
#include "order/search.h"

#include <stdlib.h>

static int compare_keys(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Appends the unseen neighbours of a row: by degree and then by number, or as they come. */
static void append_neighbours(bsi_search *s, int32_t row) {
  const bsi_graph *g = s->graph;
  size_t found = 0;
  for (int32_t p = g->ptr[row]; p < g->ptr[row + 1]; p++) {
    const int32_t j = g->neighbours[p];
    if (s->seen[j]) continue;
    s->seen[j] = true;
    if (s->keys)
      s->keys[found++] = (int64_t)bsi_graph_degree(g, j) << 32 | j;
    else
      s->queue[s->count++] = j;
  }
  if (found > 1) qsort(s->keys, found, sizeof *s->keys, compare_keys);
  for (size_t k = 0; k < found; k++) s->queue[s->count++] = (int32_t)(s->keys[k] & INT32_MAX);
}

/* s->count is that of a former search of the component, or 0. */
static void breadth_first(bsi_search *s, int32_t root) {
  const int32_t rows = s->count;
  s->queue[0] = root;
  s->seen[root] = true;
  s->count = 1;
  s->depth = 0;
  s->narrowest = rows;
  for (int32_t next = 0, level_end = 0; next < s->count; next++) {
    if (next == level_end) {
      s->depth++;
      s->last_level = next;
      level_end = s->count;
      if (level_end > rows / 4 && next < rows - rows / 4 && level_end - next < s->narrowest)
        s->narrowest = level_end - next;
    }
    append_neighbours(s, s->queue[next]);
  }
}

static void unmark(bsi_search *s) {
  for (int32_t k = 0; k < s->count; k++) s->seen[s->queue[k]] = false;
}

void bsi_search_from_periphery(bsi_search *s, int32_t root) {
  int32_t depth;
  s->count = 0;
  breadth_first(s, root);
  do {
    depth = s->depth;
    /* the first row of minimum degree in the last level */
    root = s->queue[s->last_level];
    for (int32_t k = s->last_level; k < s->count; k++)
      if (bsi_graph_degree(s->graph, s->queue[k]) < bsi_graph_degree(s->graph, root))
        root = s->queue[k];
    unmark(s);
    breadth_first(s, root);
  } while (s->depth > depth);
}
