/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduced patterns S(|T|^k): small blocks of T are dropped before powering, and the length of
 * columns may be limited. T is a factor, or a matrix one triangle of which counts, or all of it.
 *
 *   the graph of T:  an edge i → j where T_ij is stored, i ≠ j, and ‖T_ij‖_F ≥ tolerance·‖T_ii‖_F
 *   column j:        the rows i that reach j in at most k steps; with a limit those with the fewest
 *                    steps, then the smallest |i − j|
 *
 * A limited pattern is powered by columns, on the transposed graph, and transposed at the end. */
#include <math.h>

#include "core/context/context_impl.h"
#include "pattern/pattern_impl.h"
#include "pattern/pattern_ops.h"

/* A triangular factor in host memory. */
typedef struct factor {
  int32_t n;
  int block_size;
  bool unit_diagonal;
  bsi_structure s;
  const double *values;
} factor;

/* Returns ‖block‖_F. The values are scaled by the largest one, so that no square overflows or
 * underflows. */
static double frobenius(const factor *t, int32_t p) {
  const int values = t->block_size * t->block_size;
  const double *block = t->values + (size_t)p * (size_t)values;
  double largest = 0.0, sum = 0.0;
  for (int v = 0; v < values; v++) largest = fmax(largest, fabs(block[v]));
  for (int v = 0; v < values && largest > 0.0; v++)
    sum += block[v] / largest * (block[v] / largest);
  return largest * sqrt(sum);
}

/* Returns ‖T_ii‖_F, also for an implied identity; 0 if row i of a whole matrix has no diagonal
 * block. */
static double diagonal_norm(const factor *t, int32_t i) {
  if (t->unit_diagonal) return sqrt((double)t->block_size);
  int32_t p = t->s.row_ptr[i];
  while (p < t->s.row_ptr[i + 1] && t->s.col_idx[p] != i) p++;
  return p < t->s.row_ptr[i + 1] ? frobenius(t, p) : 0.0;
}

/* Writes the structure of the blocks that are large enough. */
static void keep_large(const factor *t, double tolerance, int32_t *row_ptr, int32_t *col_idx) {
  int32_t kept = 0;
  row_ptr[0] = 0;
  for (int32_t i = 0; i < t->n; i++) {
    const double threshold = tolerance * diagonal_norm(t, i);
    for (int32_t p = t->s.row_ptr[i]; p < t->s.row_ptr[i + 1]; p++)
      if (t->s.col_idx[p] == i || frobenius(t, p) >= threshold) col_idx[kept++] = t->s.col_idx[p];
    row_ptr[i + 1] = kept;
  }
}

/* Sets the rows of the graph g to the blocks that are large enough. The host reads T's blocks. */
static bisai_status drop_small(const bisai_bcsr *matrix, const bsi_structure *s, double tolerance,
                               bisai_pattern *g) {
  bisai_context *context = matrix->context;
  factor t = {matrix->block_rows, matrix->block_size, matrix->unit_diagonal, *s, matrix->values};
  const size_t values = bsi_block_offset(matrix, matrix->blocks);
  const bool elsewhere = !context->backend->memory->is_host;
  double *fetched = elsewhere ? bsi_allocate(context, values, sizeof *fetched) : NULL;
  int32_t *row_ptr = bsi_allocate(context, (size_t)t.n + 1, sizeof *row_ptr);
  int32_t *col_idx =
      row_ptr ? bsi_allocate(context, (size_t)matrix->blocks, sizeof *col_idx) : NULL;
  bisai_status status = col_idx && (fetched || !elsewhere) ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  if (!status && elsewhere) {
    t.values = fetched;
    status =
        context->backend->memory->fetch(context, fetched, matrix->values, values * sizeof *fetched);
  }
  if (!status) {
    keep_large(&t, tolerance, row_ptr, col_idx);
    status = bsi_pattern_set_rows(g, row_ptr, col_idx);
  }
  bsi_release(context, fetched);
  bsi_release(context, row_ptr);
  bsi_release(context, col_idx);
  return status;
}

/* Transposes a pattern. */
static bisai_status transpose_pattern(bisai_pattern *p) {
  bisai_context *context = p->context;
  const bisai_status status = context->backend->pattern->columns(context, p);
  if (status) return status;
  int32_t *const old[] = {p->row_ptr, p->col_idx, p->position};
  for (size_t a = 0; a < sizeof old / sizeof *old; a++)
    context->backend->memory->release(context, old[a]);
  bsi_mirror_release(context, &p->mirror);
  p->row_ptr = p->col_ptr;
  p->col_idx = p->row_idx;
  p->col_ptr = p->row_idx = p->position = NULL;
  p->longest_column = 0;
  p->triangle = p->triangle == BISAI_LOWER ? BISAI_UPPER : BISAI_LOWER;
  return BISAI_OK;
}

/* Makes the graph of T, or its transpose if the columns of the pattern are wanted as rows. */
static bisai_status make_graph(const bisai_bcsr *t, bisai_triangle triangle, double drop_tolerance,
                               bool transposed, bisai_pattern **graph) {
  bsi_structure s;
  BSI_TRY(bsi_bcsr_structure(t, &s));
  *graph = bsi_pattern_reserve(t->context, triangle, t->block_rows);
  if (!*graph) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(drop_tolerance > 0.0 ? drop_small(t, &s, drop_tolerance, *graph)
                               : bsi_pattern_set_rows(*graph, s.row_ptr, s.col_idx));
  return transposed ? transpose_pattern(*graph) : BISAI_OK;
}

bisai_status bsi_pattern_reduced(bisai_context *context, const bisai_bcsr *t,
                                 bisai_triangle triangle, int power, double drop_tolerance,
                                 int32_t column_limit, bisai_pattern **pattern,
                                 bsi_pattern_losses *losses) {
  const bool transposed = column_limit > 0, whole = drop_tolerance == 0.0 && !transposed;
  bisai_pattern *graph = NULL, *p = NULL;
  bisai_bcsr view = *t; /* a view of the graph, which has no values */
  bisai_status status =
      whole ? BISAI_OK : make_graph(t, triangle, drop_tolerance, transposed, &graph);
  if (!status && graph) {
    view.row_ptr = graph->row_ptr;
    view.col_idx = graph->col_idx;
    view.blocks = graph->blocks;
    view.kept.mirror = &graph->mirror;
  }
  *losses = (bsi_pattern_losses){.dropped = t->blocks - view.blocks};
  if (!status) {
    p = bsi_pattern_reserve(context, graph ? graph->triangle : triangle, t->block_rows);
    status = p ? context->backend->pattern->power(context, &view, power, column_limit, p)
               : BISAI_OUT_OF_MEMORY;
  }
  if (!status && transposed) status = transpose_pattern(p);
  if (!status) losses->cut = p->cut;
  bisai_pattern_destroy(&graph);
  return p ? bsi_pattern_finish(p, status, pattern) : status;
}
