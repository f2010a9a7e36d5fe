/* SPDX-License-Identifier: BSD-3-Clause */
/* Inverses of a block in each block row on the device, for factors too, a warp a block. Conditions
 * are looked through twice: once for the largest, once for the first row that has it. */
#include "core/bcsr_impl.h"
#include "core/block_sizes.h"
#include "core/context_impl.h"
#include "core/invert_cuda.cuh"
#include "factor/factor_ops.h"

namespace {

struct job {
  int32_t block_rows, block_size;
  const int32_t *row_ptr, *position;
  const double *values;
  double amount;
  double *inverses;
  unsigned long long *words;
};

/* BS = 0: the block size at run time. */
template <int BS, bool FIND_ROW> __global__ void invert_rows(const job p) {
  extern __shared__ double shared[];
  const int bs = BS > 0 ? BS : p.block_size, values = bs * bs;
  const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP,
            warps = blockDim.x / BSI_WARP;
  double *a = shared + warp * 2 * values, *inverse = a + values, largest = 0.0;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * warps + warp; i < p.block_rows;
       i += static_cast<int64_t>(gridDim.x) * warps) {
    const int32_t begin = __ldg(p.row_ptr + i), position = __ldg(p.position + i);
    for (int v = lane; v < values; v += BSI_WARP)
      a[v] = position < 0 ? 0.0 : p.values[static_cast<int64_t>(position) * values + v];
    __syncwarp();
    double condition;
    const bsi_block_result result = bsi_warp_invert_shifted<BS>(
        bs, a, p.amount, p.values + static_cast<int64_t>(begin) * values,
        __ldg(p.row_ptr + i + 1) - begin, inverse, &condition);
    if (FIND_ROW) {
      if (lane == 0) bsi_met_condition_row(p.words, condition, i);
    } else {
      if (lane == 0) bsi_met(p.words, result, i);
      largest = condition > largest ? condition : largest;
      for (int v = lane; v < values; v += BSI_WARP) p.inverses[i * values + v] = inverse[v];
    }
    __syncwarp();
  }
  if (!FIND_ROW && lane == 0) bsi_met_condition(p.words, largest);
}

template <int BS> void enqueue(const cudaStream_t stream, const job &p) {
  constexpr int most_blocks = 132 * 16;
  const int warps = p.block_size <= BSI_SPECIAL_SIZES ? 4 : 1;
  const size_t bytes =
      static_cast<size_t>(2) * warps * p.block_size * p.block_size * sizeof(double);
  const unsigned wanted = bsi_grid(p.block_rows, warps),
                 blocks = wanted < most_blocks ? wanted : most_blocks;
  invert_rows<BS, false><<<blocks, warps * BSI_WARP, bytes, stream>>>(p);
  invert_rows<BS, true><<<blocks, warps * BSI_WARP, bytes, stream>>>(p);
}

} // namespace

static bisai_status invert_blocks(bisai_context *context, const bisai_bcsr *matrix,
                                  const int32_t *position, double shift_amount, double *inverses,
                                  bsi_invert_stats *stats) {
  const cudaError_t error = bsi_met_nothing(context);
  if (error != cudaSuccess)
    return bsi_fail(context, BISAI_DEVICE_ERROR, "inverses of blocks: %s",
                    cudaGetErrorString(error));
  const job p = {matrix->block_rows,
                 matrix->block_size,
                 matrix->row_ptr,
                 position,
                 static_cast<const double *>(matrix->values),
                 shift_amount,
                 inverses,
                 context->first_fault};
  const cudaStream_t stream = bsi_stream_of(context);
  if (p.block_rows > 0) switch (p.block_size) {
#define CASE(BS)                                                                                   \
  case BS: enqueue<BS>(stream, p); break;
      BSI_BLOCK_SIZES(CASE)
#undef CASE
    default: enqueue<0>(stream, p);
    }
  const bisai_status status = bsi_launched(context, "inverses of blocks");
  return status ? status : bsi_met_fetch(context, "inverses of blocks", stats);
}

const bsi_inversion_ops bsi_inversion_cuda = {.invert = invert_blocks};
