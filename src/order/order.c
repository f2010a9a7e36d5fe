/* SPDX-License-Identifier: BSD-3-Clause */
/* Computation, checks and measures of orderings. */
#include "core/context/context_impl.h"
#include "core/context/words.h"
#include "order/graph.h"
#include "order/order_ops.h"

#include <string.h>

BSI_DEFINE_WORDS(ordering, BISAI_ORDERING_LIST, "unknown ordering")

bisai_status bsi_order_structure(bisai_context *context, int32_t n, const bsi_structure *a,
                                 bisai_ordering ordering, int32_t *permutation) {
  if (ordering == BISAI_ORDERING_NATURAL) {
    for (int32_t i = 0; i < n; i++) permutation[i] = i;
    return BISAI_OK;
  }
  bsi_graph graph;
  bisai_status status = bsi_graph_of_structure(context, n, a, &graph);
  if (status) return status;
  status = ordering == BISAI_ORDERING_RCM  ? bsi_order_rcm(context, &graph, permutation)
           : ordering == BISAI_ORDERING_MD ? bsi_order_minimum_degree(context, &graph, permutation)
           : ordering == BISAI_ORDERING_ND ? bsi_order_dissect(context, &graph, permutation)
                                           : bsi_order_colour(context, &graph, permutation);
  bsi_graph_destroy(context, &graph);
  return status;
}

bisai_status bisai_order_compute(bisai_context *context, const bisai_bcsr *matrix,
                                 bisai_ordering ordering, int32_t *permutation) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!matrix || !permutation)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_order_compute: %s is NULL",
                    matrix ? "permutation" : "matrix");
  if (matrix->block_rows != matrix->block_cols)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "the matrix is not square: %d × %d blocks",
                    matrix->block_rows, matrix->block_cols);
  if (ordering == BISAI_ORDERING_GIVEN)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "a given ordering cannot be computed");
  if (ordering < BISAI_ORDERING_NATURAL || ordering >= BISAI_ORDERING_GIVEN)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown ordering %d", (int)ordering);
  bsi_structure s;
  BSI_TRY(bsi_bcsr_structure(matrix, &s));
  return bsi_order_structure(context, matrix->block_rows, &s, ordering, permutation);
}

bisai_status bisai_order_check(bisai_context *context, int32_t block_rows,
                               const int32_t *permutation) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (block_rows < 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "negative number of block rows: %d",
                    block_rows);
  if (!permutation && block_rows > 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "permutation is NULL");
  bool *seen = bsi_allocate(context, (size_t)block_rows, sizeof *seen);
  if (!seen) return BISAI_OUT_OF_MEMORY;
  memset(seen, 0, (size_t)block_rows * sizeof *seen);
  bisai_status status = BISAI_OK;
  for (int32_t i = 0; i < block_rows && !status; i++) {
    const int32_t old = permutation[i];
    if (old < 0 || old >= block_rows)
      status = bsi_fail(context, BISAI_INVALID_ARGUMENT, "permutation[%d] is %d, outside 0 … %d", i,
                        old, block_rows - 1);
    else if (seen[old])
      status = bsi_fail(context, BISAI_INVALID_ARGUMENT,
                        "permutation[%d] is %d, which occurs twice", i, old);
    else
      seen[old] = true;
  }
  bsi_release(context, seen);
  return status;
}

static bisai_status order_measure(bisai_context *context, const bisai_bcsr *matrix,
                                  bsi_order_shape *shape) {
  const int32_t n = matrix->block_rows;
  const bsi_structure s = {matrix->row_ptr, matrix->col_idx};
  int32_t *first = bsi_allocate(context, (size_t)n, sizeof *first);
  if (!first) return BISAI_OUT_OF_MEMORY;
  for (int32_t i = 0; i < n; i++) first[i] = i;
  for (int32_t i = 0; i < n; i++)
    for (int32_t p = s.row_ptr[i]; p < s.row_ptr[i + 1]; p++) {
      const int32_t j = s.col_idx[p], low = i < j ? i : j, high = i < j ? j : i;
      if (low < first[high]) first[high] = low;
    }
  *shape = (bsi_order_shape){0, 0};
  for (int32_t i = 0; i < n; i++) {
    const int32_t width = i - first[i];
    if (width > shape->bandwidth) shape->bandwidth = width;
    shape->profile += width;
  }
  bsi_release(context, first);
  return BISAI_OK;
}

const bsi_shape_ops bsi_shape_host = {.measure = order_measure};
