/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph of A + Aᵀ: every row of A merged with the same row of Aᵀ, both ascending. The rows of a
 * symmetric pattern are those of the graph, and only lose their diagonal entries. */
#include "order/graph.h"

#include "core/context/context_impl.h"
#include "core/matrix/search.h"
#include "core/threads/parallel.h"

enum { BLOCKS_PER_THREAD = 4096 };

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

/* --- symmetric patterns --- */

typedef struct copy_job {
  bisai_context *context;
  const bsi_structure *a;
  const bsi_graph *graph;
} copy_job;

/* Finds rows i with a block (i, j) without a block (j, i). ptr[i + 1] ← the neighbours of other
 * rows. */
static void count_part(void *work, bsi_part part) {
  const copy_job *job = work;
  const bsi_structure *a = job->a;
  int32_t *first = bsi_partial(job->context, part.thread);
  const bsi_rows rows = bsi_rows_of(job->graph->n, a->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++) {
    int32_t count = 0;
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
      const int32_t j = a->col_idx[p];
      if (bsi_find_column(a->col_idx, a->row_ptr[j], a->row_ptr[j + 1], i) < 0) {
        bsi_min_index(first, i);
        return;
      }
      count += j != i;
    }
    job->graph->ptr[i + 1] = count;
  }
}

static void copy_part(void *work, bsi_part part) {
  const copy_job *job = work;
  const bsi_structure *a = job->a;
  const bsi_rows rows = bsi_rows_of(job->graph->n, a->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++) {
    int32_t *out = job->graph->neighbours + job->graph->ptr[i];
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
      if (a->col_idx[p] != i) *out++ = a->col_idx[p];
  }
}

/* *symmetric ← true if the pattern is, and then makes the graph. graph->ptr is reserved. */
static bisai_status copy_symmetric(bisai_context *context, const bsi_structure *a, bsi_graph *graph,
                                   bool *symmetric) {
  const int32_t n = graph->n;
  const int threads = bsi_threads_for(context->threads, a->row_ptr[n], BLOCKS_PER_THREAD);
  copy_job job = {context, a, graph};
  *symmetric = bsi_find_first(context, threads, count_part, &job) < 0;
  if (!*symmetric) return BISAI_OK;
  graph->ptr[0] = 0;
  for (int32_t i = 0; i < n; i++) graph->ptr[i + 1] += graph->ptr[i];
  graph->neighbours = bsi_allocate(context, (size_t)graph->ptr[n], sizeof *graph->neighbours);
  if (!graph->neighbours) return BISAI_OUT_OF_MEMORY;
  bsi_run(context, threads, BSI_SOME_PARTS, copy_part, &job);
  return BISAI_OK;
}

/* --- all patterns --- */

static bisai_status merge_transposed(bisai_context *context, const bsi_structure *a,
                                     bsi_graph *graph) {
  int32_t *ptr = NULL, *rows = NULL;
  bisai_status status =
      bsi_structure_transpose(context, graph->n, a->row_ptr, a->col_idx, &ptr, &rows, NULL);
  if (!status) status = merge_all(context, a, ptr, rows, graph);
  bsi_release(context, rows);
  bsi_release(context, ptr);
  return status;
}

bisai_status bsi_graph_of_structure(bisai_context *context, int32_t n, const bsi_structure *a,
                                    bsi_graph *graph) {
  bool symmetric = false;
  bsi_graph made = {.n = n, .ptr = bsi_allocate(context, (size_t)n + 1, sizeof *made.ptr)};
  bisai_status status =
      made.ptr ? copy_symmetric(context, a, &made, &symmetric) : BISAI_OUT_OF_MEMORY;
  if (!status && !symmetric) status = merge_transposed(context, a, &made);
  if (status)
    bsi_graph_destroy(context, &made);
  else
    *graph = made;
  return status;
}

bisai_status bsi_graph_create(bisai_context *context, const bisai_bcsr *matrix, bsi_graph *graph) {
  bsi_structure a;
  BSI_TRY(bsi_bcsr_structure(matrix, &a));
  return bsi_graph_of_structure(context, matrix->block_rows, &a, graph);
}

void bsi_graph_destroy(bisai_context *context, bsi_graph *graph) {
  bsi_release(context, graph->ptr);
  bsi_release(context, graph->neighbours);
  *graph = (bsi_graph){0};
}
