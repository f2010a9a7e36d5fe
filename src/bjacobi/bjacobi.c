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
static int32_t find_diagonal(const bsi_structure *s, int32_t i) {
  int32_t p = s->row_ptr[i];
  while (p < s->row_ptr[i + 1] && s->col_idx[p] < i) p++;
  return p < s->row_ptr[i + 1] && s->col_idx[p] == i ? p : -1;
}

static bisai_status find_diagonals(bisai_context *context, const bisai_bcsr *matrix, bsi_bjacobi *jacobi) {
  bsi_structure s;
  const bisai_status status = bsi_bcsr_structure(matrix, &s);
  for (int32_t i = 0; i < jacobi->block_rows && !status; i++) {
    jacobi->host_position[i] = find_diagonal(&s, i);
    if (jacobi->host_position[i] < 0 && jacobi->shift_amount == 0.0)
      return bsi_fail(context, BISAI_MISSING_DIAGONAL, "block row %d has no diagonal block", i);
  }
  return status;
}

static bool reserve(bisai_context *context, const bisai_bcsr *matrix, bsi_bjacobi *jacobi) {
  const bsi_backend *backend = context->backend;
  const size_t n = (size_t)jacobi->block_rows;
  jacobi->position = backend->allocate(context, n, sizeof *jacobi->position);
  if (!jacobi->position) return false;
  jacobi->host_position =
      backend->kind == BISAI_BACKEND_HOST ? jacobi->position : bsi_allocate(context, n, sizeof *jacobi->host_position);
  if (!jacobi->host_position) return false;
  jacobi->inverses = backend->allocate(context, bsi_block_offset(matrix, matrix->block_rows), sizeof *jacobi->inverses);
  return jacobi->inverses != NULL;
}

bisai_status bsi_bjacobi_create(bisai_context *context, const bisai_bcsr *matrix, double shift_amount,
                                bsi_bjacobi *jacobi) {
  *jacobi = (bsi_bjacobi){.block_rows = matrix->block_rows,
                          .block_size = matrix->block_size,
                          .blocks = matrix->blocks,
                          .shift_amount = shift_amount,
                          .stats = BSI_INVERT_STATS_NONE};
  bisai_status status = check_matrix(context, matrix);
  if (status) return status;
  status = reserve(context, matrix, jacobi) ? find_diagonals(context, matrix, jacobi) : BISAI_OUT_OF_MEMORY;
  if (!status && jacobi->position != jacobi->host_position)
    status = context->backend->upload(context, jacobi->position, jacobi->host_position,
                                      (size_t)jacobi->block_rows * sizeof *jacobi->position);
  if (status) bsi_bjacobi_destroy(context, jacobi);
  return status;
}

bisai_status bsi_bjacobi_check(bisai_context *context, const bisai_bcsr *matrix, const bsi_bjacobi *jacobi) {
  bsi_structure s;
  bisai_status status = check_matrix(context, matrix);
  if (!status && matrix->blocks != jacobi->blocks)
    status = bsi_fail(context, BISAI_INVALID_ARGUMENT, "the pattern changed: %d blocks, expected %d", matrix->blocks,
                      jacobi->blocks);
  if (!status) status = bsi_bcsr_structure(matrix, &s);
  for (int32_t i = 0; i < jacobi->block_rows && !status; i++) {
    const int32_t p = jacobi->host_position[i];
    if (p < 0 ? find_diagonal(&s, i) >= 0 : p < s.row_ptr[i] || p >= s.row_ptr[i + 1] || s.col_idx[p] != i)
      status = bsi_fail(context, BISAI_INVALID_ARGUMENT,
                        "the pattern changed: block row %d has its diagonal block elsewhere", i);
  }
  return status;
}

bisai_status bsi_bjacobi_update(bisai_context *context, const bisai_bcsr *matrix, bsi_bjacobi *jacobi) {
  jacobi->stats = BSI_INVERT_STATS_NONE;
  const bisai_status status = context->backend->invert_blocks(context, matrix, jacobi->position, jacobi->shift_amount,
                                                              jacobi->inverses, &jacobi->stats);
  return status ? status : bsi_invert_stats_judge(context, "", matrix, &jacobi->stats);
}

void bsi_bjacobi_destroy(bisai_context *context, bsi_bjacobi *jacobi) {
  if (jacobi->host_position != jacobi->position) bsi_release(context, jacobi->host_position);
  context->backend->release(context, jacobi->position);
  context->backend->release(context, jacobi->inverses);
  *jacobi = (bsi_bjacobi){0};
}

int64_t bsi_bjacobi_memory(const bsi_bjacobi *jacobi) {
  return (int64_t)jacobi->block_rows * (4 + 8 * (int64_t)jacobi->block_size * jacobi->block_size);
}
