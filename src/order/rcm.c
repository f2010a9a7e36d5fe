/* SPDX-License-Identifier: BSD-3-Clause */
/* Reverse Cuthill–McKee: each connected component in breadth-first order from a pseudo-peripheral
 * row, with neighbours by ascending degree, then reversed. Sources: Cuthill and McKee 1969; George
 * and Liu 1979 (the starting row). */
#include <stdlib.h>
#include <string.h>

#include "order/graph.h"

/* The breadth-first search of one component. */
typedef struct search {
  const bsi_graph *graph;
  bool *seen;
  /* (degree, row) of the neighbours that a row appends */
  int64_t *keys;
  /* the component's rows */
  int32_t *queue;
  /* the number of rows in the queue */
  int32_t count;
  int32_t depth, last_level;
} search;

static int compare_keys(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Appends the unseen neighbours of a row, by degree and then by number. */
static void append_neighbours(search *s, int32_t row) {
  const bsi_graph *g = s->graph;
  size_t found = 0;
  for (int32_t p = g->ptr[row]; p < g->ptr[row + 1]; p++) {
    const int32_t j = g->neighbours[p];
    if (s->seen[j]) continue;
    s->seen[j] = true;
    s->keys[found++] = (int64_t)bsi_graph_degree(g, j) << 32 | j;
  }
  if (found > 1) qsort(s->keys, found, sizeof *s->keys, compare_keys);
  for (size_t k = 0; k < found; k++) s->queue[s->count++] = (int32_t)(s->keys[k] & INT32_MAX);
}

static void breadth_first(search *s, int32_t root) {
  s->queue[0] = root;
  s->seen[root] = true;
  s->count = 1;
  s->depth = 0;
  for (int32_t next = 0, level_end = 0; next < s->count; next++) {
    if (next == level_end) {
      s->depth++;
      s->last_level = next;
      level_end = s->count;
    }
    append_neighbours(s, s->queue[next]);
  }
}

static void unmark(search *s) {
  for (int32_t k = 0; k < s->count; k++) s->seen[s->queue[k]] = false;
}

/* Leaves the component of `root` in the queue, searched from a pseudo-peripheral row: restarts from
 * a row of minimum degree in the last level as long as this deepens the search. */
static void search_from_periphery(search *s, int32_t root) {
  int32_t depth;
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
  search s = {.graph = graph, .seen = bsi_allocate(context, (size_t)n, sizeof *s.seen)};
  s.keys = s.seen ? bsi_allocate(context, (size_t)max_degree, sizeof *s.keys) : NULL;
  if (s.keys) {
    memset(s.seen, 0, (size_t)n * sizeof *s.seen);
    s.queue = permutation;
    for (int32_t i = 0; i < n; i++) {
      if (s.seen[i]) continue;
      search_from_periphery(&s, i);
      reverse(s.queue, s.count);
      s.queue += s.count;
    }
  }
  const bisai_status status = s.keys ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  bsi_release(context, s.seen);
  bsi_release(context, s.keys);
  return status;
}
