/* SPDX-License-Identifier: BSD-3-Clause */
/* The shape of a matrix on the device. */
#include "core/context/context_impl.h"
#include "gpu/launch.cuh"
#include "gpu/record.cuh"
#include "gpu/temporary.cuh"
#include "order/graph.h"
#include "order/order_ops.h"

namespace {

enum { THREADS = 256, LANES = 4 };

struct report {
  static constexpr int firsts = 0;
  unsigned long long bandwidth, profile;
};

__global__ void begin_rows(int32_t n, int32_t *first) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * THREADS + threadIdx.x);
  if (i < n) first[i] = i;
}

/* first[i] ← the first column of row i of A + Aᵀ, by LANES threads. */
__global__ void __launch_bounds__(THREADS)
    find_first(int32_t n, const int32_t *row_ptr, const int32_t *col_idx, int32_t *first) {
  const int64_t i = (blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x) / LANES;
  if (i >= n) return;
  const int32_t row = static_cast<int32_t>(i), begin = row_ptr[i];
  for (int32_t p = begin + static_cast<int32_t>(threadIdx.x % LANES); p < row_ptr[i + 1];
       p += LANES) {
    const int32_t j = col_idx[p];
    if (j > row)
      atomicMin(first + j, row);
    else if (p == begin)
      atomicMin(first + row, j);
  }
}

__global__ void __launch_bounds__(THREADS)
    add_widths(int32_t n, const int32_t *first, report *found) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * THREADS + threadIdx.x);
  const int width = i < n ? i - first[i] : 0, widest = bsi_warp_max(width);
  const int64_t sum = bsi_warp_sum(static_cast<int64_t>(width));
  if (threadIdx.x % BSI_WARP != 0) return;
  atomicMax(&found->bandwidth, static_cast<unsigned long long>(widest));
  atomicAdd(&found->profile, static_cast<unsigned long long>(sum));
}

} // namespace

static bisai_status order_measure(bisai_context *context, const bisai_bcsr *matrix,
                                  bsi_order_shape *shape) {
  static const char what[] = "shape of the matrix";
  const int32_t n = matrix->block_rows;
  *shape = {0, 0};
  if (n == 0) return BISAI_OK;
  bsi_temporary memory(context);
  int32_t *first = memory.reserve<int32_t>(n);
  if (!memory.complete) return BISAI_OUT_OF_MEMORY;
  const bsi_gpu_stream stream = bsi_stream_of(context);
  BSI_TRY(bsi_record_begin<report>(context, what));
  begin_rows<<<bsi_grid(n, THREADS), THREADS, 0, stream>>>(n, first);
  find_first<<<bsi_grid(static_cast<int64_t>(n) * LANES, THREADS), THREADS, 0, stream>>>(
      n, matrix->row_ptr, matrix->col_idx, first);
  add_widths<<<bsi_grid(n, THREADS), THREADS, 0, stream>>>(n, first,
                                                           bsi_record_of<report>(context));
  BSI_TRY(bsi_launched(context, what));
  report found;
  BSI_TRY(bsi_record_fetch(context, what, &found));
  *shape = {static_cast<int32_t>(found.bandwidth), static_cast<int64_t>(found.profile)};
  return BISAI_OK;
}

const bsi_shape_ops bsi_shape_cuda = {.measure = order_measure};
