/* SPDX-License-Identifier: BSD-3-Clause */
/* The diagonal blocks of the l1 smoother on a GPU: one thread for each scalar row. */
#include "core/matrix/bcsr_impl.h"
#include "gpu/for_each.cuh"
#include "multigrid/smoothers/l1.h"

bisai_status bsi_l1_diagonal_cuda(bisai_context *context, const bisai_bcsr *a, double *blocks,
                                  int32_t *position) {
  const int bs = a->block_size;
  const int32_t *row_ptr = a->row_ptr, *col_idx = a->col_idx;
  const void *values = a->values;
  return bsi_for_each(context, "l1 smoother", static_cast<int64_t>(a->block_rows) * bs,
                      [=] __device__(int64_t k) {
                        const int32_t i = static_cast<int32_t>(k / bs);
                        if (k % bs == 0) position[i] = i;
                        bsi_l1_row(bs, row_ptr, col_idx, values, i, static_cast<int>(k % bs),
                                   blocks + static_cast<int64_t>(i) * bs * bs);
                      });
}
