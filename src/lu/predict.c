/* SPDX-License-Identifier: BSD-3-Clause */
/* The prediction of a complete factorisation: ordering, elimination tree, counts, supernodes. */
#include "lu/predict.h"

#include "core/context/context_impl.h"
#include <string.h>

#include "lu/tree.h"
#include "order/search.h"

/* Column j with r blocks below the diagonal: the LU of a block, r products with a triangle on each
 * side, and r² products of blocks. */
static double column_flops(double r, double bs) {
  return bs * bs * bs * (2.0 / 3.0 + 2.0 * r + 2.0 * r * r);
}

bisai_status bsi_lu_sum_up(bisai_context *context, const bsi_lu_tree *tree,
                           const bsi_supernodes *nodes, int block_size,
                           bsi_lu_prediction *prediction) {
  int32_t *level = bsi_allocate(context, (size_t)nodes->count, sizeof *level);
  if (!level) return BISAI_OUT_OF_MEMORY;
  bsi_lu_prediction sum = {.supernodes = nodes->count};
  for (int32_t j = 0; j < tree->n; j++) {
    sum.blocks += 2 * (int64_t)tree->count[j] - 1;
    sum.flops += column_flops(tree->count[j] - 1, block_size);
  }
  for (int32_t s = 0; s < nodes->count; s++) level[s] = 1;
  for (int32_t s = 0; s < nodes->count; s++) {
    const int32_t parent = nodes->parent[s];
    sum.values +=
        bsi_supernode_values(nodes->begin[s + 1] - nodes->begin[s], nodes->below[s], block_size);
    if (parent >= 0 && level[parent] <= level[s]) level[parent] = level[s] + 1;
    if (level[s] > sum.levels) sum.levels = level[s];
  }
  bsi_release(context, level);
  *prediction = sum;
  return BISAI_OK;
}

/* The operations for a component, of which w rows separate two halves. A mesh has levels of
 * neighbours in proportion to its length: 20 to 60 w³ for 40 levels and more, 1 w³ for 8. */
static double component_flops(const bsi_search *s) {
  enum { MOST_LEVELS = 40 };
  const double w = s->narrowest, levels = s->depth < MOST_LEVELS ? s->depth : MOST_LEVELS;
  return w * w * w * levels * levels / MOST_LEVELS;
}

static double graph_flops(bsi_search *s) {
  double flops = 0;
  memset(s->seen, 0, (size_t)s->graph->n * sizeof *s->seen);
  for (int32_t i = 0; i < s->graph->n; i++) {
    if (s->seen[i]) continue;
    bsi_search_from_periphery(s, i);
    flops += component_flops(s);
    s->queue += s->count;
  }
  return flops;
}

bisai_status bsi_lu_estimate(bisai_context *context, const bisai_bcsr *matrix, double *flops) {
  const double bs = matrix->block_size;
  bsi_graph graph = {0};
  int32_t *queue = NULL;
  bsi_search s = {.graph = &graph};
  bisai_status status = bsi_graph_create(context, matrix, &graph);
  if (!status) s.seen = bsi_allocate(context, (size_t)graph.n, sizeof *s.seen);
  if (s.seen) queue = bsi_allocate(context, (size_t)graph.n, sizeof *queue);
  if (!status && !queue) status = BISAI_OUT_OF_MEMORY;
  s.queue = queue;
  if (!status) *flops = bs * bs * bs * graph_flops(&s);
  bsi_release(context, queue);
  bsi_release(context, s.seen);
  bsi_graph_destroy(context, &graph);
  return status;
}

bisai_ordering bsi_lu_ordering(bisai_ordering asked) {
  return asked != BISAI_ORDERING_NATURAL ? asked : BSI_ORDERING_LEAST_FILL;
}

bisai_status bsi_lu_predict(bisai_context *context, const bisai_bcsr *matrix,
                            bisai_ordering ordering, int32_t *permutation,
                            bsi_lu_prediction *prediction) {
  bsi_graph graph = {0};
  bsi_lu_tree tree = {0};
  bsi_supernodes nodes = {0};
  bisai_status status = BISAI_OK;
  if (ordering != BISAI_ORDERING_GIVEN)
    status = bisai_order_compute(context, matrix, bsi_lu_ordering(ordering), permutation);
  if (!status) status = bsi_graph_create(context, matrix, &graph);
  if (!status) status = bsi_lu_tree_create(context, &graph, permutation, &tree);
  if (!status) status = bsi_supernodes_create(context, &tree, matrix->block_size, &nodes);
  if (!status) status = bsi_lu_sum_up(context, &tree, &nodes, matrix->block_size, prediction);
  bsi_supernodes_destroy(context, &nodes);
  bsi_lu_tree_destroy(context, &tree);
  bsi_graph_destroy(context, &graph);
  return status;
}
