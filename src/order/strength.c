/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of strongly coupled block rows. The coupling of rows i and j is
 *
 *   (‖A_ij‖ + ‖A_ji‖) / √(‖A_ii‖ ‖A_jj‖),
 *
 * where ‖·‖ is the largest magnitude of a block. It does not change if A is scaled by a diagonal
 * from both sides. From the strongest coupling down, the groups of two rows become one if it is
 * not too large: Kruskal's algorithm with a bound on the size of trees. Of equal couplings the one
 * of the lower rows comes first, so that the groups depend on A alone. */
#include <math.h>
#include <stdlib.h>

#include "core/context/context_impl.h"
#include "core/matrix/search.h"
#include "order/graph.h"

typedef struct coupling {
  double strength;
  int32_t low, high;
} coupling;

typedef struct grouping {
  const bisai_bcsr *a;
  int32_t most;
  bsi_structure s;
  bsi_graph graph;
  /* the largest magnitude of each block of A */
  double *magnitude;
  /* √‖A_ii‖, or of the largest block of the row if the diagonal block is zero */
  double *root;
  coupling *couplings;
  size_t count;
  /* a row nearer to the first row of its group, which is its own parent */
  int32_t *parent;
  /* of the first row of a group: its number of rows, and then its number among groups */
  int32_t *size;
} grouping;

static bisai_status measure_blocks(bisai_context *context, grouping *g) {
  const bisai_bcsr *a = g->a;
  const bsi_memory_ops *memory = context->backend->memory;
  const size_t square = bsi_block_offset(a, 1), count = bsi_block_offset(a, a->blocks);
  double *fetched = NULL;
  const double *values = a->values;
  bisai_status status = BISAI_OK;
  if (!memory->is_host) {
    values = fetched = bsi_allocate(context, count, sizeof *fetched);
    if (!fetched) return BISAI_OUT_OF_MEMORY;
    status = memory->fetch(context, fetched, a->values, count * sizeof *fetched);
  }
  for (int32_t p = 0; p < a->blocks && !status; p++) {
    double most = 0.0;
    for (size_t v = 0; v < square; v++) most = fmax(most, fabs(values[(size_t)p * square + v]));
    g->magnitude[p] = most;
  }
  bsi_release(context, fetched);
  return status;
}

static double magnitude_at(const grouping *g, int32_t i, int32_t j) {
  const int32_t p = bsi_find_column(g->s.col_idx, g->s.row_ptr[i], g->s.row_ptr[i + 1], j);
  return p >= 0 ? g->magnitude[p] : 0.0;
}

static void measure_rows(const grouping *g) {
  for (int32_t i = 0; i < g->a->block_rows; i++) {
    double size = magnitude_at(g, i, i);
    for (int32_t p = g->s.row_ptr[i]; p < g->s.row_ptr[i + 1] && size == 0.0; p++)
      for (int32_t q = p; q < g->s.row_ptr[i + 1]; q++) size = fmax(size, g->magnitude[q]);
    g->root[i] = sqrt(size);
  }
}

/* Strongest first, and then by rows. */
static int compare_couplings(const void *left, const void *right) {
  const coupling *x = left, *y = right;
  if (x->strength != y->strength) return x->strength > y->strength ? -1 : 1;
  if (x->low != y->low) return x->low < y->low ? -1 : 1;
  return (x->high > y->high) - (x->high < y->high);
}

static void list_couplings(grouping *g) {
  for (int32_t i = 0; i < g->a->block_rows; i++)
    for (int32_t p = g->graph.ptr[i]; p < g->graph.ptr[i + 1]; p++) {
      const int32_t j = g->graph.neighbours[p];
      if (j < i) continue;
      const double strength =
          (magnitude_at(g, i, j) + magnitude_at(g, j, i)) / (g->root[i] * g->root[j]);
      if (strength > 0.0) g->couplings[g->count++] = (coupling){strength, i, j};
    }
  if (g->count > 1) qsort(g->couplings, g->count, sizeof *g->couplings, compare_couplings);
}

/* Returns the first row of the group, and shortens the path to it. */
static int32_t first_row(const grouping *g, int32_t row) {
  while (g->parent[row] != row) row = g->parent[row] = g->parent[g->parent[row]];
  return row;
}

static void join_rows(const grouping *g) {
  for (int32_t i = 0; i < g->a->block_rows; i++) {
    g->parent[i] = i;
    g->size[i] = 1;
  }
  for (size_t k = 0; k < g->count; k++) {
    const int32_t x = first_row(g, g->couplings[k].low), y = first_row(g, g->couplings[k].high);
    if (x == y || g->size[x] > g->most - g->size[y]) continue;
    const int32_t first = x < y ? x : y, other = x < y ? y : x;
    g->size[first] += g->size[other];
    g->parent[other] = first;
  }
}

/* Numbers the groups by their first rows, and lists the rows of each in ascending order. */
static void list_groups(const grouping *g, bsi_groups *groups) {
  const int32_t n = g->a->block_rows;
  groups->count = 0;
  groups->start[0] = 0;
  for (int32_t i = 0; i < n; i++) {
    if (g->parent[i] != i) continue;
    groups->start[groups->count + 1] = groups->start[groups->count] + g->size[i];
    g->size[i] = groups->start[groups->count++];
  }
  for (int32_t i = 0; i < n; i++) groups->permutation[g->size[first_row(g, i)]++] = i;
}

static bool reserve(bisai_context *context, grouping *g, bsi_groups *groups) {
  const size_t n = (size_t)g->a->block_rows, blocks = (size_t)g->a->blocks;
  g->magnitude = bsi_allocate(context, blocks, sizeof *g->magnitude);
  if (g->magnitude) g->root = bsi_allocate(context, n, sizeof *g->root);
  if (g->root) g->couplings = bsi_allocate(context, blocks, sizeof *g->couplings);
  if (g->couplings) g->parent = bsi_allocate(context, n, sizeof *g->parent);
  if (g->parent) g->size = bsi_allocate(context, n, sizeof *g->size);
  if (g->size) groups->permutation = bsi_allocate(context, n, sizeof *groups->permutation);
  if (groups->permutation) groups->start = bsi_allocate(context, n + 1, sizeof *groups->start);
  return groups->start != NULL;
}

static void release(bisai_context *context, grouping *g) {
  bsi_release(context, g->magnitude);
  bsi_release(context, g->root);
  bsi_release(context, g->couplings);
  bsi_release(context, g->parent);
  bsi_release(context, g->size);
  bsi_graph_destroy(context, &g->graph);
}

void bsi_groups_release(bisai_context *context, bsi_groups *groups) {
  bsi_release(context, groups->permutation);
  bsi_release(context, groups->start);
  *groups = (bsi_groups){0};
}

bisai_status bsi_order_strength(bisai_context *context, const bisai_bcsr *a, int32_t most,
                                bsi_groups *groups) {
  grouping g = {.a = a, .most = most};
  *groups = (bsi_groups){0};
  bisai_status status = bsi_bcsr_structure(a, &g.s);
  if (!status) status = bsi_graph_create(context, a, &g.graph);
  if (!status && !reserve(context, &g, groups)) status = BISAI_OUT_OF_MEMORY;
  if (!status) status = measure_blocks(context, &g);
  if (!status) {
    measure_rows(&g);
    list_couplings(&g);
    join_rows(&g);
    list_groups(&g, groups);
  }
  release(context, &g);
  if (status) bsi_groups_release(context, groups);
  return status;
}
