/* SPDX-License-Identifier: BSD-3-Clause */
/* The shape of a matrix on the device. */
#include "core/context_impl.h"
#include "gpu/launch.cuh"
#include "order/graph.h"
#include "order/order_ops.h"

namespace {

enum { THREADS = 256, LANES = 4 };

/* Words of the context's first_fault. */
enum { BANDWIDTH, PROFILE, WORDS };

__global__ void begin_rows(int32_t n, int32_t *first) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * THREADS + threadIdx.x);
  if (i < n) first[i] = i;
}

/* first[i] ← the first column of row i of A + Aᵀ. */
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
    add_widths(int32_t n, const int32_t *first, unsigned long long *words) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * THREADS + threadIdx.x);
  int64_t sum = i < n ? i - first[i] : 0;
  int most = static_cast<int>(sum);
  for (int step = BSI_WARP / 2; step > 0; step /= 2) {
    sum += __shfl_xor_sync(BSI_FULL_WARP, sum, step);
    most = max(most, __shfl_xor_sync(BSI_FULL_WARP, most, step));
  }
  if (threadIdx.x % BSI_WARP != 0) return;
  atomicMax(words + BANDWIDTH, static_cast<unsigned long long>(most));
  atomicAdd(words + PROFILE, static_cast<unsigned long long>(sum));
}

} // namespace

static bisai_status order_measure(bisai_context *context, const bisai_bcsr *matrix,
                                  bsi_order_shape *shape) {
  const int32_t n = matrix->block_rows;
  const cudaStream_t stream = bsi_stream_of(context);
  unsigned long long words[WORDS];
  *shape = {0, 0};
  if (n == 0) return BISAI_OK;
  int32_t *first =
      static_cast<int32_t *>(context->backend->memory->allocate(context, n, sizeof *first));
  if (!first) return BISAI_OUT_OF_MEMORY;
  bisai_status status = BISAI_OK;
  const cudaError_t error = cudaMemsetAsync(context->first_fault, 0, sizeof words, stream);
  if (error != cudaSuccess)
    status =
        bsi_fail(context, BISAI_DEVICE_ERROR, "shape of the matrix: %s", cudaGetErrorString(error));
  if (!status) {
    begin_rows<<<bsi_grid(n, THREADS), THREADS, 0, stream>>>(n, first);
    find_first<<<bsi_grid(static_cast<int64_t>(n) * LANES, THREADS), THREADS, 0, stream>>>(
        n, matrix->row_ptr, matrix->col_idx, first);
    add_widths<<<bsi_grid(n, THREADS), THREADS, 0, stream>>>(n, first, context->first_fault);
    status = bsi_launched(context, "shape of the matrix");
  }
  if (!status)
    status = context->backend->memory->fetch(context, words, context->first_fault, sizeof words);
  context->backend->memory->release(context, first);
  if (!status)
    *shape = {static_cast<int32_t>(words[BANDWIDTH]), static_cast<int64_t>(words[PROFILE])};
  return status;
}

const bsi_shape_ops bsi_shape_cuda = {.measure = order_measure};
