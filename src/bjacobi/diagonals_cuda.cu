/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the diagonal blocks of a matrix are, on a device: a thread a block row. */
#include "bjacobi/bjacobi_ops.h"
#include "core/bcsr_impl.h"
#include "core/context_impl.h"
#include "core/launch_cuda.cuh"

namespace {

enum { THREADS = 256 };

/* Writes positions, and *first ← the first row without a block; or the first one where they are
 * other than expected. */
__global__ void __launch_bounds__(THREADS)
    look(int32_t n, const int32_t *row_ptr, const int32_t *col_idx, const int32_t *expected,
         int32_t *position, unsigned long long *first) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * THREADS + threadIdx.x);
  bool met = false;
  if (i < n) {
    const int32_t at = bsi_find_diagonal(row_ptr, col_idx, i);
    if (position) position[i] = at;
    met = expected ? at != expected[i] : at < 0;
  }
  const int lane = __ffs(static_cast<int>(__ballot_sync(BSI_EVERYONE, met))) - 1;
  if (lane == static_cast<int>(threadIdx.x % BSI_WARP))
    atomicMin(first, static_cast<unsigned long long>(i));
}

bisai_status look_at_all(bisai_context *context, const bisai_bcsr *a, const int32_t *expected,
                         int32_t *position, int32_t *first) {
  *first = -1;
  if (a->block_rows == 0) return BISAI_OK;
  const cudaStream_t stream = bsi_stream_of(context);
  unsigned long long row = ~0ull;
  const cudaError_t error = cudaMemsetAsync(context->first_fault, 0xff, sizeof row, stream);
  if (error != cudaSuccess)
    return bsi_fail(context, BISAI_DEVICE_ERROR, "diagonal blocks: %s", cudaGetErrorString(error));
  look<<<bsi_grid(a->block_rows, THREADS), THREADS, 0, stream>>>(
      a->block_rows, a->row_ptr, a->col_idx, expected, position, context->first_fault);
  bisai_status status = bsi_launched(context, "diagonal blocks");
  if (!status)
    status = context->backend->memory->fetch(context, &row, context->first_fault, sizeof row);
  if (!status && row != ~0ull) *first = static_cast<int32_t>(row);
  return status;
}

} // namespace

static bisai_status find_diagonals(bisai_context *context, const bisai_bcsr *matrix,
                                   int32_t *position, int32_t *missing) {
  return look_at_all(context, matrix, nullptr, position, missing);
}

static bisai_status compare_diagonals(bisai_context *context, const bisai_bcsr *matrix,
                                      const int32_t *position, int32_t *moved) {
  return look_at_all(context, matrix, position, nullptr, moved);
}

const bsi_diagonal_ops bsi_diagonals_cuda = {.find = find_diagonals, .compare = compare_diagonals};
