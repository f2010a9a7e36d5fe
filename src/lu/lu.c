/* SPDX-License-Identifier: BSD-3-Clause */
/* Complete factors: prediction and limits, memory, vectors on a device. */
#include "lu/lu.h"

#include "lu/lu_impl.h"

#include <string.h>

static size_t value_size(const bsi_lu *lu) {
  return lu->options.storage == BISAI_FP32 ? sizeof(float) : sizeof(double);
}

static bisai_status predict(bsi_lu *lu, const bsi_graph *graph) {
  bsi_lu_structure *t = &lu->structure;
  BSI_TRY(bsi_lu_tree_create(lu->context, graph, NULL, &t->tree));
  BSI_TRY(bsi_supernodes_create(lu->context, &t->tree, lu->bs, &t->nodes));
  return bsi_lu_sum_up(lu->context, &t->tree, &t->nodes, lu->bs, &lu->predicted);
}

static bisai_status check_limits(const bsi_lu *lu, const bisai_bcsr *matrix) {
  const double values = (double)lu->predicted.values, bytes = values * (double)value_size(lu),
               fill = matrix->blocks == 0 ? 0.0
                                          : (double)lu->predicted.blocks / (double)matrix->blocks;
  if (lu->options.most_fill > 0.0 && fill > lu->options.most_fill)
    return bsi_fail(lu->context, BISAI_OUT_OF_MEMORY,
                    "L + U would have %lld blocks, %.3g times those of the matrix: more than fill "
                    "%g (%.3g GB, %.3g Gflop)",
                    (long long)lu->predicted.blocks, fill, lu->options.most_fill, 1e-9 * bytes,
                    1e-9 * lu->predicted.flops);
  if (lu->options.most_bytes > 0.0 && bytes > lu->options.most_bytes)
    return bsi_fail(lu->context, BISAI_OUT_OF_MEMORY,
                    "L + U would take %.4g GB, more than %.4g (%lld blocks, %.3g times those of "
                    "the matrix, %.3g Gflop)",
                    1e-9 * bytes, 1e-9 * lu->options.most_bytes, (long long)lu->predicted.blocks,
                    fill, 1e-9 * lu->predicted.flops);
  return BISAI_OK;
}

/* The longest lists that products need. */
typedef struct extent {
  size_t width, depth;
} extent;

static extent measure(const bsi_lu *lu) {
  extent e = {1, 1};
  for (int32_t s = 0; s < lu->structure.nodes.count; s++) {
    const bsi_lu_node node = bsi_lu_node_of(lu, s);
    if ((size_t)node.width > e.width) e.width = (size_t)node.width;
    if ((size_t)node.depth > e.depth) e.depth = (size_t)node.depth;
  }
  return e;
}

/* Each thread has its integers and its doubles in two arrays of all threads. */
static bisai_status reserve_scratch(bsi_lu *lu) {
  bisai_context *context = lu->context;
  bsi_lu_work *w = &lu->work;
  const extent e = measure(lu);
  const size_t threads = (size_t)context->threads, n = (size_t)lu->n,
               padded = (e.width + BSI_TILE_COLUMNS - 1) / BSI_TILE_COLUMNS * BSI_TILE_COLUMNS,
               square = e.width * padded, integers = n + e.depth + e.width,
               doubles = BSI_TILE_ROWS * e.width + 4 * square + 2 * e.width;
  w->threads = bsi_allocate(context, threads, sizeof *w->threads);
  if (w->threads) w->integers = bsi_allocate(context, threads * integers, sizeof *w->integers);
  if (w->integers) w->doubles = bsi_allocate(context, threads * doubles, sizeof *w->doubles);
  if (!w->threads || !w->integers || !w->doubles) return BISAI_OUT_OF_MEMORY;
  for (size_t thread = 0; thread < threads; thread++) {
    int32_t *own = w->integers + thread * integers;
    double *d = w->doubles + thread * doubles;
    w->threads[thread] = (bsi_lu_scratch){.place = own,
                                          .row_at = own + n,
                                          .column_places = own + n + e.depth,
                                          .rows = d,
                                          .columns = d + BSI_TILE_ROWS * e.width};
    bsi_lu_scratch *s = &w->threads[thread];
    s->square = s->columns + square;
    s->lower = s->square + square;
    s->upper = s->lower + square;
    s->inverse_pivots = s->upper + square;
    s->ones = s->inverse_pivots + e.width;
    for (size_t k = 0; k < e.width; k++) s->ones[k] = 1.0;
  }
  w->bytes += (int64_t)(threads * (integers * sizeof(int32_t) + doubles * sizeof(double)));
  return BISAI_OK;
}

static bisai_status reserve(bsi_lu *lu, const bisai_bcsr *matrix) {
  bisai_context *context = lu->context;
  bsi_lu_work *w = &lu->work;
  const bsi_lu_structure *t = &lu->structure;
  const size_t rows = (size_t)lu->n * (size_t)lu->bs, blocks = (size_t)matrix->blocks,
               added = (size_t)t->row_ptr[t->nodes.count] * (size_t)lu->bs;
  lu->values = bsi_allocate(context, (size_t)lu->predicted.values, value_size(lu));
  if (lu->values) lu->targets = bsi_allocate(context, blocks, sizeof *lu->targets);
  if (lu->targets) lu->pivot = bsi_allocate(context, rows, sizeof *lu->pivot);
  if (lu->pivot) w->solution = bsi_allocate(context, rows, sizeof *w->solution);
  if (w->solution) w->added = bsi_allocate(context, added, sizeof *w->added);
  if (!w->added) return BISAI_OUT_OF_MEMORY;
  w->bytes = (int64_t)(8 * (rows + added));
  if (!context->backend->memory->is_host) {
    const size_t values = bsi_block_offset(matrix, matrix->blocks);
    w->matrix = bsi_allocate(context, values, sizeof *w->matrix);
    if (w->matrix) w->vector = bsi_allocate(context, rows, sizeof *w->vector);
    if (!w->vector) return BISAI_OUT_OF_MEMORY;
    w->bytes += (int64_t)(8 * (values + rows));
  }
  return reserve_scratch(lu);
}

static bisai_status set_up(bsi_lu *lu, const bisai_bcsr *matrix) {
  bsi_graph graph = {0};
  bsi_structure structure;
  bisai_status status = bsi_bcsr_structure(matrix, &structure);
  if (!status) status = bsi_graph_create(lu->context, matrix, &graph);
  if (!status) status = predict(lu, &graph);
  if (!status) status = check_limits(lu, matrix);
  if (!status) status = bsi_lu_structure_create(lu->context, &graph, lu->bs, &lu->structure);
  if (!status) status = reserve(lu, matrix);
  if (!status) bsi_lu_find_targets(lu, &structure);
  bsi_graph_destroy(lu->context, &graph);
  return status;
}

bisai_status bsi_lu_create(bisai_context *context, const bisai_bcsr *matrix,
                           const bsi_lu_options *options, bsi_lu **lu) {
  bsi_lu *made = bsi_allocate(context, 1, sizeof *made);
  if (!made) return BISAI_OUT_OF_MEMORY;
  *made = (bsi_lu){.context = context,
                   .options = *options,
                   .n = matrix->block_rows,
                   .bs = matrix->block_size,
                   .product = bsi_tile_product_choose()};
  const bisai_status status = set_up(made, matrix);
  if (status)
    bsi_lu_destroy(&made);
  else
    *lu = made;
  return status;
}

void bsi_lu_destroy(bsi_lu **lu) {
  if (!*lu) return;
  bsi_lu *old = *lu;
  bisai_context *context = old->context;
  *lu = NULL;
  bsi_lu_structure_destroy(context, &old->structure);
  bsi_release(context, old->values);
  bsi_release(context, old->targets);
  bsi_release(context, old->pivot);
  bsi_release(context, old->work.matrix);
  bsi_release(context, old->work.vector);
  bsi_release(context, old->work.solution);
  bsi_release(context, old->work.added);
  bsi_release(context, old->work.threads);
  bsi_release(context, old->work.integers);
  bsi_release(context, old->work.doubles);
  bsi_release(context, old);
}

bisai_status bsi_lu_factorise(bsi_lu *lu, const bisai_bcsr *matrix) {
  return bsi_lu_compute(lu, matrix);
}

bisai_status bsi_lu_solve(bsi_lu *lu, bool transposed, int32_t count, const double *b, int64_t ldb,
                          double *x, int64_t ldx) {
  bisai_context *context = lu->context;
  const bsi_memory_ops *memory = context->backend->memory;
  const size_t bytes = (size_t)lu->n * (size_t)lu->bs * sizeof *x;
  for (int32_t v = 0; v < count; v++) {
    const double *from = b + v * ldb;
    double *to = x + v * ldx;
    if (memory->is_host) {
      bsi_lu_solve_vector(lu, transposed, from, to);
      continue;
    }
    BSI_TRY(memory->fetch(context, lu->work.vector, from, bytes));
    bsi_lu_solve_vector(lu, transposed, lu->work.vector, lu->work.vector);
    BSI_TRY(memory->upload(context, to, lu->work.vector, bytes));
  }
  return BISAI_OK;
}

const bsi_lu_prediction *bsi_lu_predicted(const bsi_lu *lu) { return &lu->predicted; }
const bsi_lu_pivots *bsi_lu_found_pivots(const bsi_lu *lu) { return &lu->pivots; }

int64_t bsi_lu_memory(const bsi_lu *lu) {
  const bsi_lu_structure *t = &lu->structure;
  const int64_t count = t->nodes.count, rows = t->row_ptr[count], updates = t->update_ptr[count],
                n = lu->n;
  return (int64_t)sizeof *lu + lu->predicted.values * (int64_t)value_size(lu) +
         (int64_t)sizeof(bsi_lu_update) * updates + 8 * rows + 48 * count + 20 * n +
         4 * n * lu->bs + lu->work.bytes;
}

int64_t bsi_lu_solve_bytes(const bsi_lu *lu) {
  const int64_t rows = (int64_t)lu->n * lu->bs;
  return lu->predicted.values * (int64_t)value_size(lu) + 32 * rows;
}
