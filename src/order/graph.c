/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph of A + Aᵀ: every row of A merged with the same row of Aᵀ, both ascending. */
#include "order/graph.h"

/* Writes the union of two ascending lists without i, and returns its length. out = NULL: only the
 * length. */
static int64_t merge(int32_t i, const int32_t *a, const int32_t *a_end, const int32_t *b,
                     const int32_t *b_end, int32_t *out) {
  int64_t count = 0;
  while (a < a_end || b < b_end) {
    const int32_t next = b == b_end || (a < a_end && *a < *b) ? *a : *b;
    if (a < a_end && *a == next) a++;
    if (b < b_end && *b == next) b++;
    if (next == i) continue;
    if (out) out[count] = next;
    count++;
  }
  return count;
}

static int64_t merge_row(const bsi_structure *a, const int32_t *ptr, const int32_t *rows, int32_t i,
                         int32_t *out) {
  return merge(i, a->col_idx + a->row_ptr[i], a->col_idx + a->row_ptr[i + 1], rows + ptr[i],
               rows + ptr[i + 1], out);
}

static bisai_status merge_all(bisai_context *context, const bsi_structure *a, const int32_t *ptr,
                              const int32_t *rows, bsi_graph *graph) {
  const int32_t n = graph->n;
  int64_t total = 0;
  graph->ptr[0] = 0;
  for (int32_t i = 0; i < n; i++) {
    total += merge_row(a, ptr, rows, i, NULL);
    if (total > INT32_MAX)
      return bsi_fail(context, BISAI_INDEX_OVERFLOW, "block row %d: A + Aᵀ has more than %d blocks",
                      i, INT32_MAX);
    graph->ptr[i + 1] = (int32_t)total;
  }
  graph->neighbours = bsi_allocate(context, (size_t)total, sizeof *graph->neighbours);
  if (!graph->neighbours) return BISAI_OUT_OF_MEMORY;
  for (int32_t i = 0; i < n; i++) merge_row(a, ptr, rows, i, graph->neighbours + graph->ptr[i]);
  return BISAI_OK;
}

bisai_status bsi_graph_create(bisai_context *context, const bisai_bcsr *matrix, bsi_graph *graph) {
  const int32_t n = matrix->block_rows;
  bsi_structure a;
  bisai_status status = bsi_bcsr_structure(matrix, &a);
  if (status) return status;
  bsi_graph made = {.n = n, .ptr = bsi_allocate(context, (size_t)n + 1, sizeof *made.ptr)};
  int32_t *ptr = NULL, *rows = NULL;
  status = BISAI_OUT_OF_MEMORY;
  if (made.ptr)
    status = bsi_structure_transpose(context, n, a.row_ptr, a.col_idx, &ptr, &rows, NULL);
  if (!status) status = merge_all(context, &a, ptr, rows, &made);
  bsi_release(context, rows);
  bsi_release(context, ptr);
  if (status)
    bsi_graph_destroy(context, &made);
  else
    *graph = made;
  return status;
}

void bsi_graph_destroy(bisai_context *context, bsi_graph *graph) {
  bsi_release(context, graph->ptr);
  bsi_release(context, graph->neighbours);
  *graph = (bsi_graph){0};
}
