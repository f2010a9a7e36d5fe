/* SPDX-License-Identifier: BSD-3-Clause */
/* Weighted restrictions on a GPU. A lane computes the weight of a block, and the lanes of a warp
 * write the values of their blocks one after the other, so that each request writes whole lines. */
#include "core/block/block_sizes.h"
#include "multigrid/spgemm/rows_cuda.cuh"
#include "multigrid/transfers/row_scaling.h"
#include "multigrid/transfers/transfer_ops.h"

namespace {

constexpr char what[] = "weighted restriction";

/* Returns the size of diagonal block j, as bsi_row_scaling_size().
 *   BS: the block size; 0: any */
template <int BS> __device__ __forceinline__ double size_of(const bsi_row_scaling &b, int32_t j) {
  if constexpr (BS == 0) {
    return bsi_row_scaling_size(&b, j);
  } else {
    double d[BS * BS];
    load_in_pairs(b.values + static_cast<int64_t>(__ldg(b.diagonal + j)) * (BS * BS), d);
    return bsi_row_scaling_size_of(BS * BS, d);
  }
}

template <int BS>
__global__ void __launch_bounds__(BLOCK_THREADS)
    balance_blocks(const bsi_row_scaling b, bsi_block_matrix m) {
  const int lane = threadIdx.x % BSI_WARP, height = m.height, values = height * m.width;
  const int64_t q = blockIdx.x * static_cast<int64_t>(BLOCK_THREADS) + threadIdx.x,
                first = q - lane;
  bsi_wait_for_predecessor();
  if (first >= m.blocks) return;
  double weight = 0.0;
  if (q < m.blocks)
    weight = (b.first_size > 0.0 ? b.first_size : size_of<BS>(b, 0)) /
             size_of<BS>(b, __ldg(m.col_idx + q));
  const int count =
      static_cast<int>(min(static_cast<int64_t>(BSI_WARP), m.blocks - first)) * values;
  for (int done = 0; done < count; done += BSI_WARP) {
    const int at = done + lane, block = min(at / values, BSI_WARP - 1), v = at % values,
              r = v % height, c = v / height;
    const double of_block = __shfl_sync(BSI_FULL_WARP, weight, block);
    if (at >= count) continue;
    const double t =
        b.tentative
            ? __ldg(b.tentative + static_cast<int64_t>(__ldg(b.position + first + block)) * values +
                    r * m.width + c)
        : r == c ? 1.0
                 : 0.0;
    m.values[first * values + at] = t * of_block;
  }
}

} // namespace

bisai_status bsi_scale_rows_cuda(bisai_context *context, const bsi_row_scaling *b,
                                 bsi_block_matrix *members) {
  if (members->blocks == 0) return BISAI_OK;
#define ENTRY(BS) , balance_blocks<BS>
  static void (*const kernels[])(bsi_row_scaling,
                                 bsi_block_matrix) = {balance_blocks<0> BSI_BLOCK_SIZES(ENTRY)};
#undef ENTRY
  bsi_launch_early(context, kernels[b->block_size <= BSI_SPECIAL_SIZES ? b->block_size : 0],
                   bsi_grid(members->blocks, BLOCK_THREADS), BLOCK_THREADS, 0, *b, *members);
  return bsi_launched(context, what);
}
