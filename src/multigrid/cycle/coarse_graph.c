/* SPDX-License-Identifier: BSD-3-Clause */
/* Recording the operations of the small coarse levels. */
#include "multigrid/cycle/coarse_graph.h"

#include "core/context/context_impl.h"
#include "multigrid/cycle/cycle_ops.h"
#include "multigrid/level/smoother.h"

/* The most bytes that the product with a matrix of the graph moves. The products of larger
 * matrices take longer than a launch. */
enum { GRAPH_BYTES = 1 << 24 };
/* The most operations that are recorded, which take 1 MB in host memory and in backend memory. Only
 * cycles with hundreds of smoothings have more in levels that are so small. */
enum { GRAPH_STEPS = 4096 };

/* Counts the operations of the graph, and stores as many as there is room for. */
static bisai_status record(bsi_hierarchy *h, bsi_level_visit *visit) {
  h->graph.count = 0;
  h->graph.recording = true;
  const bisai_status status = visit(h, h->graph.level);
  h->graph.recording = false;
  return status;
}

/* Returns an upper bound of the operations of a visit to level l, without those of coarser levels.
 * */
static int64_t steps_of_visit(const bsi_hierarchy *h, int l) {
  const bisai_multigrid_options *o = &h->setup.options;
  const int64_t degree = bsi_smoother_degree(h, &h->levels[l]);
  /* zero, the residual, R and P; K: half of those that combine two corrections */
  const int64_t others = o->cycle == BISAI_CYCLE_K ? 6 : 4;
  if (l < h->count - 1) return degree * ((int64_t)o->pre + o->post) + others;
  return h->coarse.inverse ? 1 : degree * BSI_COARSEST_SMOOTHINGS;
}

/* Returns the first level of the graph, 0 if there is none. Recorded operations read fp64. */
static int first_level(const bsi_hierarchy *h, int64_t most_rows) {
  int level = h->count;
  int64_t steps = 0;
  for (int l = h->count - 1; l >= 1; l--) {
    const bsi_level *at = &h->levels[l];
    const bool inverted = l == h->count - 1 && h->coarse.inverse;
    if (bsi_smoother_is_nested(at) || at->fp32.matrix || bsi_level_rows(at) > most_rows) break;
    if (!inverted && bsi_bcsr_product_bytes(at->matrix) > GRAPH_BYTES) break;
    steps = (bsi_level_corrects_twice(h, l) ? 2 : 1) * (steps + steps_of_visit(h, l));
    if (steps > GRAPH_STEPS) break;
    level = l;
  }
  return level < h->count - 1 ? level : 0; /* one level has few operations */
}

bisai_status bsi_coarse_graph_create(bsi_hierarchy *h, int64_t most_rows, bsi_level_visit *visit) {
  bsi_coarse_graph *graph = &h->graph;
  graph->level = first_level(h, most_rows);
  if (graph->level == 0) return BISAI_OK;
  BSI_TRY(record(h, visit));
  graph->steps = bsi_allocate(h->context, (size_t)graph->count, sizeof *graph->steps);
  graph->there = bsi_hierarchy_reserve(h, graph->count, sizeof *graph->there);
  if (!graph->steps || !graph->there) return BISAI_OUT_OF_MEMORY;
  graph->capacity = graph->count;
  return bsi_coarse_graph_update(h, visit);
}

bisai_status bsi_coarse_graph_update(bsi_hierarchy *h, bsi_level_visit *visit) {
  bsi_coarse_graph *graph = &h->graph;
  if (graph->level == 0) return BISAI_OK;
  BSI_TRY(record(h, visit));
  return h->context->backend->memory->upload(h->context, graph->there, graph->steps,
                                             (size_t)graph->count * sizeof *graph->steps);
}

bisai_status bsi_coarse_graph_run(bsi_hierarchy *h) {
  const bsi_coarse_graph *graph = &h->graph;
  const bisai_bcsr *a = h->levels[graph->level].matrix;
  return bsi_ops_of(h)->coarse_graph->run(h->context, bsi_level_rows(&h->levels[graph->level]),
                                          (int64_t)bsi_block_offset(a, a->blocks), graph->count,
                                          graph->there);
}

void bsi_coarse_graph_destroy(bisai_context *context, bsi_coarse_graph *graph) {
  context->backend->memory->release(context, graph->there);
  bsi_release(context, graph->steps);
  *graph = (bsi_coarse_graph){0};
}
