/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/for_each.cuh"
#include "gpu/scan.cuh"
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

/* ends[i] ← the number of rows up to i with alone[i] = 1. */
static bisai_status add_up(bisai_context *context, bsi_temporary *temporary, int32_t rows,
                           int32_t *alone, int32_t *ends) {
  size_t bytes = 0;
  BSI_TRY(bsi_gpu_inclusive_sum(context, what, nullptr, &bytes, alone, ends, rows));
  char *room = temporary->reserve<char>(bytes);
  if (!temporary->complete) return BISAI_OUT_OF_MEMORY;
  return bsi_gpu_inclusive_sum(context, what, room, &bytes, alone, ends, rows);
}

bisai_status bsi_border_add_cuda(bisai_context *context, const bisai_bcsr *a, const float *strength,
                                 int32_t *alone, int32_t *aggregate, int32_t *count) {
  const int32_t rows = a->block_rows, before = *count, *row_ptr = a->row_ptr, *col_idx = a->col_idx;
  int32_t found = 0;
  if (rows == 0) return BISAI_OK;
  bsi_temporary temporary(context);
  int32_t *ends = temporary.reserve<int32_t>(static_cast<size_t>(rows));
  if (!temporary.complete) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(bsi_for_each(context, what, rows, [=] __device__(int64_t i) {
    if (aggregate[i] >= 0) alone[i] = 0;
  }));
  BSI_TRY(add_up(context, &temporary, rows, alone, ends));
  BSI_TRY(bsi_gpu_fetch(context, what, &found, ends + rows - 1, sizeof found));
  if (found == 0) return BISAI_OK;
  *count += found;
  BSI_TRY(bsi_for_each(context, what, rows, [=] __device__(int64_t i) {
    if (alone[i]) aggregate[i] = before + ends[i] - 1;
  }));
  /* what other threads write here is what this one would find by going on */
  return bsi_for_each(context, what, rows, [=] __device__(int64_t i) {
    const int32_t row = static_cast<int32_t>(i);
    if (aggregate[row] < 0)
      aggregate[row] = bsi_border_followed(row_ptr, col_idx, strength, aggregate, row);
  });
}
