/* SPDX-License-Identifier: BSD-3-Clause */
/* Inverses of a block in each block row on the device, also for factors. A warp inverts a block. A
 * first launch finds the largest condition, a second one the first row that has it. */
#include "core/block/block_sizes.h"
#include "core/block/invert_cuda.cuh"
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "factor/factor_ops.h"
#include "factor/inversion_record_cuda.cuh"
#include "gpu/launch.cuh"

namespace {

/* As many thread blocks for each multiprocessor; a warp of them takes one block after the other.
 * Not measured. */
constexpr int BLOCKS_PER_PROCESSOR = 16;

/* Warps of a thread block: their blocks of the matrix share its shared memory. */
constexpr int WARPS_OF_SMALL_BLOCKS = 4, WARPS_OF_LARGE_BLOCKS = 1;

struct job {
  int32_t block_rows, block_size;
  const int32_t *row_ptr, *position;
  const double *values;
  double amount;
  double *inverses;
  bsi_inversion_record *record;
};

/* Inverts the blocks and records the largest condition, or finds the row that has it.
 *   BS: the block size, or 0 if it is known at run time only
 *   FIND_ROW: only find the row */
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
      if (lane == 0) bsi_record_condition_row(p.record, condition, i);
    } else {
      if (lane == 0) bsi_record_inversion(p.record, result, i);
      largest = condition > largest ? condition : largest;
      for (int v = lane; v < values; v += BSI_WARP) p.inverses[i * values + v] = inverse[v];
    }
    __syncwarp();
  }
  if (!FIND_ROW && lane == 0) bsi_record_condition(p.record, largest);
}

/* BS: as in invert_rows() */
template <int BS> void enqueue(const bisai_context *context, const job &p) {
  const unsigned most_blocks =
      static_cast<unsigned>(context->limits.processors * BLOCKS_PER_PROCESSOR);
  const int warps =
      p.block_size <= BSI_SPECIAL_SIZES ? WARPS_OF_SMALL_BLOCKS : WARPS_OF_LARGE_BLOCKS;
  const size_t bytes =
      static_cast<size_t>(2) * warps * p.block_size * p.block_size * sizeof(double);
  const unsigned wanted = bsi_grid(p.block_rows, warps),
                 blocks = wanted < most_blocks ? wanted : most_blocks;
  const bsi_gpu_stream stream = bsi_stream_of(context);
  invert_rows<BS, false><<<blocks, warps * BSI_WARP, bytes, stream>>>(p);
  invert_rows<BS, true><<<blocks, warps * BSI_WARP, bytes, stream>>>(p);
}

void enqueue_size(const bisai_context *context, const job &p) {
  switch (p.block_size) {
#define CASE(BS)                                                                                   \
  case BS: return enqueue<BS>(context, p);
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  }
  enqueue<0>(context, p);
}

} // namespace

static bisai_status invert_blocks(bisai_context *context, const bisai_bcsr *matrix,
                                  const int32_t *position, double shift_amount, double *inverses,
                                  bsi_invert_stats *stats) {
  static const char what[] = "inverses of blocks";
  BSI_TRY(bsi_record_begin<bsi_inversion_record>(context, what));
  if (matrix->block_rows > 0)
    enqueue_size(context, {.block_rows = matrix->block_rows,
                           .block_size = matrix->block_size,
                           .row_ptr = matrix->row_ptr,
                           .position = position,
                           .values = static_cast<const double *>(matrix->values),
                           .amount = shift_amount,
                           .inverses = inverses,
                           .record = bsi_record_of<bsi_inversion_record>(context)});
  BSI_TRY(bsi_launched(context, what));
  return bsi_inversion_record_fetch(context, what, stats);
}

const bsi_inversion_ops bsi_inversion_cuda = {.invert = invert_blocks};
