/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/for_each.cuh"
#include "gpu/scan.cuh"
#include "gpu/temporary.cuh"
#include "multigrid/halo/split.h"

static constexpr const char *what = "grouping the rows at a border";

bisai_status bsi_order_rows_cuda(bisai_context *context, int32_t rows, const int32_t *row_ptr,
                                 const int32_t *col_idx, int32_t own, int32_t *order,
                                 int32_t *inner) {
  size_t bytes = 0;
  bsi_temporary temporary(context);
  int32_t *mark = temporary.reserve<int32_t>(static_cast<size_t>(rows)),
          *ends = temporary.reserve<int32_t>(static_cast<size_t>(rows));
  BSI_TRY(bsi_gpu_inclusive_sum(context, what, nullptr, &bytes, mark, ends, rows));
  char *room = temporary.reserve<char>(bytes);
  if (!temporary.complete) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(bsi_for_each(context, what, rows, [=] __device__(int64_t i) {
    const int32_t end = row_ptr[i + 1];
    mark[i] = end == row_ptr[i] || col_idx[end - 1] < own ? 1 : 0;
  }));
  BSI_TRY(bsi_gpu_inclusive_sum(context, what, room, &bytes, mark, ends, rows));
  BSI_TRY(bsi_gpu_fetch(context, what, inner, ends + rows - 1, sizeof *inner));
  const int32_t count = *inner;
  return bsi_for_each(context, what, rows, [=] __device__(int64_t i) {
    const int32_t row = static_cast<int32_t>(i);
    order[mark[i] ? ends[i] - 1 : count + row - ends[i]] = row;
  });
}
