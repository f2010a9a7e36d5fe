/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/asymmetry.h"

#include "core/backend_host.h"
#include "core/parallel.h"

enum { BLOCKS_PER_THREAD = 4096 };

bisai_status bsi_asymmetry_host(bisai_context *context, const bisai_bcsr *matrix, bsi_asymmetry *asymmetry) {
  const bsi_square a = bsi_square_of(matrix);
  const int threads = bsi_threads_for(context->threads, matrix->blocks, BLOCKS_PER_THREAD);
  double largest = 0.0;
  bool mirrored = true;
  (void)threads; /* without OpenMP */
#pragma omp parallel for num_threads(threads) schedule(dynamic, 256) reduction(max : largest) reduction(&& : mirrored)
  for (int32_t i = 0; i < matrix->block_rows; i++)
    for (int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; p++) {
      const double of_block = bsi_asymmetry_of_block(&a, i, p, &mirrored);
      if (of_block > largest) largest = of_block;
    }
  *asymmetry = (bsi_asymmetry){largest, mirrored};
  return BISAI_OK;
}

bisai_status bisai_bcsr_asymmetry(const bisai_bcsr *matrix, double *asymmetry, bool *mirrored) {
  if (!matrix) return BISAI_INVALID_ARGUMENT;
  bisai_context *context = matrix->context;
  if (!asymmetry) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_bcsr_asymmetry: asymmetry is NULL");
  if (matrix->block_rows != matrix->block_cols)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "the matrix is not square: %d × %d blocks", matrix->block_rows,
                    matrix->block_cols);
  bsi_asymmetry measured = {matrix->asymmetry, matrix->mirrored};
  if (!matrix->measured) {
    const bisai_status status = context->backend->asymmetry(context, matrix, &measured);
    if (status) return status;
    bisai_bcsr *kept = (bisai_bcsr *)(uintptr_t)matrix; /* what the matrix is does not change by that */
    kept->asymmetry = measured.largest;
    kept->mirrored = measured.mirrored;
    kept->measured = matrix->updated_only;
  }
  *asymmetry = measured.largest;
  if (mirrored) *mirrored = measured.mirrored;
  return BISAI_OK;
}
