/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/for_each.cuh"
#include "gpu/temporary.cuh"
#include "multigrid/aggregation/border.h"

static constexpr const char *what = "aggregation at a border";

/* A thread takes a row: few rows have ghosts. */
bisai_status bsi_border_cuda(bisai_context *context, const bisai_bcsr *a, const double *inverse,
                             double threshold, float *strength, int32_t *alone) {
  const int32_t rows = a->block_rows, *row_ptr = a->row_ptr, *col_idx = a->col_idx;
  const int bs = a->block_size;
  const double *values = static_cast<const double *>(a->values);
  const float part = static_cast<float>(threshold);
  bsi_temporary temporary(context);
  float *largest = temporary.reserve<float>(static_cast<size_t>(rows));
  if (!temporary.complete) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(bsi_for_each(context, what, rows, [=] __device__(int64_t i) {
    const bsi_border_row row = bsi_border_row_of(bs, rows, col_idx, row_ptr[i], row_ptr[i + 1],
                                                 inverse + i * bs * bs, values);
    largest[i] = row.largest;
    alone[i] = row.sum > BSI_LEAST_SUM;
  }));
  return bsi_for_each(context, what, rows, [=] __device__(int64_t i) {
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1] && col_idx[p] < rows; p++)
      strength[p] = bsi_border_strength(strength[p], largest[i], largest[col_idx[p]], part);
  });
}
