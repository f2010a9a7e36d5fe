/* S(|T|^k) made smaller: small blocks of T are left out before powering, and columns may be limited in length.
 *
 *   the graph of T:  an edge i → j where T_ij is stored, i ≠ j, and ‖T_ij‖_F ≥ tolerance·‖T_ii‖_F
 *   column j:        the rows i that reach j in at most k steps; with a limit those with the fewest steps, then the smallest |i − j|
 *
 * A limited pattern is powered by columns, on the transposed graph, and turned round at the end. */
#include <math.h>

#include "pattern/pattern.h"

/* The structure of a square matrix; `owned` arrays are freed with it. */
typedef struct graph {
  bisai_bcsr view; /* without values */
  bool owned;
} graph;

static void free_graph(bisai_context *context, graph *g) {
  if (!g->owned) return;
  bsi_release(context, g->view.row_ptr);
  bsi_release(context, g->view.col_idx);
}

/* ‖block‖_F, by the largest value, so that no square leaves the range of a double. */
static double frobenius(const bisai_bcsr *t, int32_t p) {
  const double *block = (const double *)t->values + bsi_block_offset(t, p);
  const int values = t->block_size * t->block_size;
  double largest = 0.0, sum = 0.0;
  for (int v = 0; v < values; v++) largest = fmax(largest, fabs(block[v]));
  for (int v = 0; v < values && largest > 0.0; v++) sum += block[v] / largest * (block[v] / largest);
  return largest * sqrt(sum);
}

/* ‖T_ii‖_F, of an implied identity too. */
static double diagonal_norm(const bisai_bcsr *t, int32_t i) {
  if (t->unit_diagonal) return sqrt((double)t->block_size);
  int32_t p = t->row_ptr[i];
  while (t->col_idx[p] != i) p++;
  return frobenius(t, p);
}

static bisai_status drop_small(bisai_context *context, const bisai_bcsr *t, double tolerance, graph *g) {
  const int32_t n = t->block_rows;
  g->owned = true;
  g->view.row_ptr = bsi_allocate(context, (size_t)n + 1, sizeof *g->view.row_ptr);
  g->view.col_idx = bsi_allocate(context, (size_t)t->blocks, sizeof *g->view.col_idx);
  if (!g->view.row_ptr || !g->view.col_idx) return BISAI_OUT_OF_MEMORY;
  int32_t kept = 0;
  g->view.row_ptr[0] = 0;
  for (int32_t i = 0; i < n; i++) {
    const double least = tolerance * diagonal_norm(t, i);
    for (int32_t p = t->row_ptr[i]; p < t->row_ptr[i + 1]; p++)
      if (t->col_idx[p] == i || frobenius(t, p) >= least) g->view.col_idx[kept++] = t->col_idx[p];
    g->view.row_ptr[i + 1] = kept;
  }
  g->view.blocks = kept;
  return BISAI_OK;
}

/* The graph with all its edges turned round. */
static bisai_status turn_round(bisai_context *context, graph *g) {
  graph turned = {.view = g->view, .owned = true};
  const bisai_status status = bsi_structure_transpose(context, g->view.block_rows, g->view.row_ptr, g->view.col_idx,
                                                      &turned.view.row_ptr, &turned.view.col_idx, NULL);
  if (status) return status;
  free_graph(context, g);
  *g = turned;
  return BISAI_OK;
}

/* Rows become columns, so that the rows of a pattern of the transposed graph are the columns of the pattern wanted. */
static bisai_status turn_pattern(bisai_pattern *p) {
  int32_t *row_ptr, *col_idx;
  const bisai_status status =
      bsi_structure_transpose(p->context, p->block_rows, p->row_ptr, p->col_idx, &row_ptr, &col_idx, NULL);
  if (status) return status;
  bsi_release(p->context, p->row_ptr);
  bsi_release(p->context, p->col_idx);
  p->row_ptr = row_ptr;
  p->col_idx = col_idx;
  p->triangle = p->triangle == BISAI_LOWER ? BISAI_UPPER : BISAI_LOWER;
  return BISAI_OK;
}

bisai_status bsi_pattern_reduced(bisai_context *context, const bisai_bcsr *t, bisai_triangle triangle, int power,
                                 double drop_tolerance, int32_t column_limit, bisai_pattern **pattern,
                                 bsi_pattern_losses *losses) {
  graph g = {.view = *t};
  bisai_pattern *p = NULL;
  const bisai_triangle transposed = triangle == BISAI_LOWER ? BISAI_UPPER : BISAI_LOWER;
  bisai_status status = drop_tolerance > 0.0 ? drop_small(context, t, drop_tolerance, &g) : BISAI_OK;
  *losses = (bsi_pattern_losses){.dropped = t->blocks - g.view.blocks};
  if (!status && column_limit > 0) status = turn_round(context, &g);
  if (!status) {
    p = bsi_pattern_reserve(context, column_limit > 0 ? transposed : triangle, t->block_rows);
    status = p ? context->backend->pattern_power(context, &g.view, power, column_limit, p) : BISAI_OUT_OF_MEMORY;
  }
  if (!status && column_limit > 0) status = turn_pattern(p);
  if (!status) losses->cut = p->cut;
  free_graph(context, &g);
  return p ? bsi_pattern_finish(p, status, pattern) : status;
}
