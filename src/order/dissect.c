/* SPDX-License-Identifier: BSD-3-Clause */
/* Nested dissection by METIS_NodeND (Karypis and Kumar 1998), with a fixed seed. METIS allocates
 * its own workspace by malloc(). */
#include "order/graph.h"

#ifdef BISAI_HAVE_METIS

#include <metis.h>
#include <pthread.h>

typedef struct metis_graph {
  idx_t *ptr, *neighbours, *order, *inverse;
} metis_graph;

static void release(bisai_context *context, metis_graph *m) {
  bsi_release(context, m->ptr);
  bsi_release(context, m->neighbours);
  bsi_release(context, m->order);
  bsi_release(context, m->inverse);
}

/* Copies the graph, because METIS may have indices of 32 or 64 bits. */
static bool copy_graph(bisai_context *context, const bsi_graph *graph, metis_graph *m) {
  const size_t n = (size_t)graph->n, edges = (size_t)graph->ptr[n];
  *m = (metis_graph){.ptr = bsi_allocate(context, n + 1, sizeof *m->ptr)};
  if (m->ptr) m->neighbours = bsi_allocate(context, edges, sizeof *m->neighbours);
  if (m->neighbours) m->order = bsi_allocate(context, n, sizeof *m->order);
  if (m->order) m->inverse = bsi_allocate(context, n, sizeof *m->inverse);
  if (!m->inverse) return false;
  for (size_t i = 0; i <= n; i++) m->ptr[i] = graph->ptr[i];
  for (size_t p = 0; p < edges; p++) m->neighbours[p] = graph->neighbours[p];
  return true;
}

/* METIS seeds and uses rand(), whose state belongs to the process. A lock makes contexts take
 * turns, so that each gets the result that it would get alone. */
static int dissect_in_turn(idx_t n, metis_graph *m, idx_t *options) {
  static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&turn);
  const int result = METIS_NodeND(&n, m->ptr, m->neighbours, NULL, options, m->order, m->inverse);
  pthread_mutex_unlock(&turn);
  return result;
}

static bisai_status dissect(bisai_context *context, int32_t rows, metis_graph *m,
                            int32_t *permutation) {
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_SEED] = 1;
  const int result = dissect_in_turn(rows, m, options);
  if (result == METIS_ERROR_MEMORY)
    return bsi_fail(context, BISAI_OUT_OF_MEMORY, "METIS ran out of memory");
  if (result != METIS_OK)
    return bsi_fail(context, BISAI_UNSUPPORTED, "METIS could not order %d block rows (its code %d)",
                    rows, result);
  for (int32_t i = 0; i < rows; i++) permutation[i] = (int32_t)m->order[i];
  return BISAI_OK;
}

bisai_status bsi_order_dissect(bisai_context *context, const bsi_graph *graph,
                               int32_t *permutation) {
  if (graph->ptr[graph->n] == 0) { /* a graph without edges */
    for (int32_t i = 0; i < graph->n; i++) permutation[i] = i;
    return BISAI_OK;
  }
  metis_graph m;
  bisai_status status = BISAI_OUT_OF_MEMORY;
  if (copy_graph(context, graph, &m)) status = dissect(context, graph->n, &m, permutation);
  release(context, &m);
  return status;
}

#else

bisai_status bsi_order_dissect(bisai_context *context, const bsi_graph *graph,
                               int32_t *permutation) {
  (void)graph, (void)permutation;
  return bsi_fail(context, BISAI_UNAVAILABLE,
                  "nested dissection needs METIS, which this build does not have");
}

#endif
