#include "bjacobi/bjacobi.h"

static bisai_status check_matrix(bisai_context *context, const bisai_bcsr *matrix) {
  if (matrix->type != BISAI_FP64)
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "the matrix must hold fp64 values to have its diagonal blocks inverted");
  if (matrix->unit_diagonal)
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "the matrix implies its diagonal blocks: block-Jacobi needs them stored");
  return BISAI_OK;
}

/* Where the diagonal block of row i is among the matrix's blocks, or -1. */
static int32_t find_diagonal(const bisai_bcsr *matrix, int32_t i) {
  int32_t p = matrix->row_ptr[i];
  while (p < matrix->row_ptr[i + 1] && matrix->col_idx[p] < i) p++;
  return p < matrix->row_ptr[i + 1] && matrix->col_idx[p] == i ? p : -1;
}

bisai_status bsi_bjacobi_create(bisai_context *context, const bisai_bcsr *matrix, double shift_amount,
                                bsi_bjacobi *jacobi) {
  const int32_t n = matrix->block_rows;
  *jacobi = (bsi_bjacobi){.block_rows = n,
                          .block_size = matrix->block_size,
                          .blocks = matrix->blocks,
                          .shift_amount = shift_amount,
                          .stats = BSI_INVERT_STATS_NONE};
  bisai_status status = check_matrix(context, matrix);
  if (status) return status;
  jacobi->position = bsi_allocate(context, (size_t)n, sizeof *jacobi->position);
  if (jacobi->position)
    jacobi->inverses = context->backend->allocate(context, bsi_block_offset(matrix, n), sizeof *jacobi->inverses);
  status = jacobi->inverses ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  for (int32_t i = 0; i < n && !status; i++) {
    jacobi->position[i] = find_diagonal(matrix, i);
    if (jacobi->position[i] < 0 && shift_amount == 0.0)
      status = bsi_fail(context, BISAI_MISSING_DIAGONAL, "block row %d has no diagonal block", i);
  }
  if (status) bsi_bjacobi_destroy(context, jacobi);
  return status;
}

bisai_status bsi_bjacobi_check(bisai_context *context, const bisai_bcsr *matrix, const bsi_bjacobi *jacobi) {
  const bisai_status status = check_matrix(context, matrix);
  if (status) return status;
  if (matrix->blocks != jacobi->blocks)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "the pattern changed: %d blocks, expected %d", matrix->blocks,
                    jacobi->blocks);
  for (int32_t i = 0; i < jacobi->block_rows; i++) {
    const int32_t p = jacobi->position[i];
    if (p < 0 ? find_diagonal(matrix, i) >= 0
              : p < matrix->row_ptr[i] || p >= matrix->row_ptr[i + 1] || matrix->col_idx[p] != i)
      return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                      "the pattern changed: block row %d has its diagonal block elsewhere", i);
  }
  return BISAI_OK;
}

bisai_status bsi_bjacobi_update(bisai_context *context, const bisai_bcsr *matrix, bsi_bjacobi *jacobi) {
  jacobi->stats = BSI_INVERT_STATS_NONE;
  const bisai_status status = context->backend->invert_blocks(context, matrix, jacobi->position, jacobi->shift_amount,
                                                              jacobi->inverses, &jacobi->stats);
  return status ? status : bsi_invert_stats_judge(context, "", matrix, &jacobi->stats);
}

void bsi_bjacobi_destroy(bisai_context *context, bsi_bjacobi *jacobi) {
  bsi_release(context, jacobi->position);
  context->backend->release(context, jacobi->inverses);
  *jacobi = (bsi_bjacobi){0};
}

int64_t bsi_bjacobi_memory(const bsi_bjacobi *jacobi) {
  return (int64_t)jacobi->block_rows * (4 + 8 * (int64_t)jacobi->block_size * jacobi->block_size);
}
