/* SPDX-License-Identifier: BSD-3-Clause */
/* How far a matrix is from its transpose, on the device: a warp a block row, a lane a block. */
#include "core/asymmetry.h"
#include "core/context_impl.h"
#include "core/matrix_ops.h"
#include "gpu/launch.cuh"

namespace {

enum { THREADS = 128, WARPS = THREADS / BSI_WARP };

/* found[0] ← the largest quotient, whose bits order non-negative doubles; found[1] ← 1 where a
 * block has no mirror image. */
__global__ void __launch_bounds__(THREADS)
    measure(const bsi_square a, int32_t block_rows, unsigned long long *found) {
  const int64_t row = blockIdx.x * static_cast<int64_t>(WARPS) + threadIdx.x / BSI_WARP;
  if (row >= block_rows) return;
  const int32_t i = static_cast<int32_t>(row), end = a.row_ptr[i + 1];
  double largest = 0.0;
  bool mirrored = true;
  for (int32_t p = a.row_ptr[i] + static_cast<int32_t>(threadIdx.x % BSI_WARP); p < end;
       p += BSI_WARP) {
    const double of_block = bsi_asymmetry_of_block(&a, i, p, &mirrored);
    if (of_block > largest) largest = of_block;
  }
  if (largest > 0.0)
    atomicMax(found, static_cast<unsigned long long>(__double_as_longlong(largest)));
  if (!mirrored) found[1] = 1;
}

} // namespace

static bisai_status asymmetry(bisai_context *context, const bisai_bcsr *matrix,
                              bsi_asymmetry *asymmetry) {
  unsigned long long found[2] = {0, 0};
  *asymmetry = {0.0, true};
  if (matrix->block_rows == 0) return BISAI_OK;
  const cudaStream_t stream = bsi_stream_of(context);
  const cudaError_t error = cudaMemsetAsync(context->first_fault, 0, sizeof found, stream);
  if (error != cudaSuccess)
    return bsi_fail(context, BISAI_DEVICE_ERROR, "asymmetry: %s", cudaGetErrorString(error));
  measure<<<bsi_grid(matrix->block_rows, WARPS), THREADS, 0, stream>>>(
      bsi_square_of(matrix), matrix->block_rows, context->first_fault);
  bisai_status status = bsi_launched(context, "asymmetry");
  if (!status)
    status = context->backend->memory->fetch(context, found, context->first_fault, sizeof found);
  if (status) return status;
  memcpy(&asymmetry->largest, &found[0], sizeof asymmetry->largest);
  asymmetry->mirrored = found[1] == 0;
  return BISAI_OK;
}

const bsi_asymmetry_ops bsi_asymmetry_cuda = {.measure = asymmetry};
