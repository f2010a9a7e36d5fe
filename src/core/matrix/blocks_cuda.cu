/* SPDX-License-Identifier: BSD-3-Clause */
/* The blocks of whole matrices on the device: copies, new values, the first value that is not
 * finite. */
#include "core/block/block_math.h"
#include "core/block/values.h"
#include "core/context/context_impl.h"
#include "core/matrix/entry_map.h"
#include "core/matrix/matrix_ops.h"
#include "gpu/launch.cuh"
#include "gpu/record.cuh"

namespace {

enum { THREADS = 256, MOST_BLOCKS = 4096 };

int at_most(int64_t blocks, int most) { return blocks < most ? static_cast<int>(blocks) : most; }

/* A thread block takes one block of the matrix at a time. It reads the whole block before it
 * writes, so that it may transpose in place.
 *   T: an unsigned type of the size of a value */
template <typename T>
__global__ void __launch_bounds__(THREADS)
    copy_blocks(int bs, int32_t blocks, bool turn, const int32_t *order, const T *from, T *to) {
  __shared__ T block[BSI_MAX_BLOCK_VALUES];
  const int values = bs * bs;
  for (int32_t p = static_cast<int32_t>(blockIdx.x); p < blocks;
       p += static_cast<int32_t>(gridDim.x)) {
    const T *in = from + static_cast<int64_t>(order ? order[p] : p) * values;
    for (int v = threadIdx.x; v < values; v += THREADS) block[v] = in[v];
    __syncthreads();
    for (int v = threadIdx.x; v < values; v += THREADS)
      to[static_cast<int64_t>(p) * values + v] = block[turn ? v % bs * bs + v / bs : v];
    __syncthreads();
  }
}

/* T: as in copy_blocks() */
template <typename T>
void enqueue_copy(bsi_gpu_stream stream, int bs, int32_t blocks, bool turn, const int32_t *order,
                  const void *from, void *to) {
  const int grid = at_most(blocks, MOST_BLOCKS);
  copy_blocks<T><<<grid, THREADS, 0, stream>>>(bs, blocks, turn, order,
                                               static_cast<const T *>(from), static_cast<T *>(to));
}

__global__ void __launch_bounds__(THREADS)
    scatter_values(int64_t count, bool wide, const void *map, const double *from, double *to) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * THREADS;
  for (int64_t p = blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x; p < count; p += stride)
    to[bsi_entry_map_at(wide, map, p)] = from[p];
}

__global__ void __launch_bounds__(THREADS)
    find_not_finite(bisai_value_type type, int64_t count, const void *values,
                    bsi_first_record *first) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * THREADS;
  for (int64_t v = blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x; v < count; v += stride)
    if (!bsi_value_finite(type, values, static_cast<size_t>(v))) {
      atomicMin(&first->index, static_cast<unsigned long long>(v));
      return;
    }
}

} // namespace

static bisai_status copy_blocks(bisai_context *context, bisai_value_type type, int bs,
                                int32_t blocks, bisai_layout layout, const int32_t *order,
                                const void *from, void *to) {
  const bool turn = layout == BISAI_ROW_MAJOR && bs > 1;
  const size_t size = bsi_value_bytes(type);
  if (!turn && !order)
    return from == to ? BISAI_OK
                      : context->backend->memory->copy(
                            context, to, from, static_cast<size_t>(blocks) * bs * bs * size);
  if (blocks == 0) return BISAI_OK;
  const bsi_gpu_stream stream = bsi_stream_of(context);
  if (size == 8)
    enqueue_copy<uint64_t>(stream, bs, blocks, turn, order, from, to);
  else if (size == 4)
    enqueue_copy<uint32_t>(stream, bs, blocks, turn, order, from, to);
  else
    enqueue_copy<uint16_t>(stream, bs, blocks, turn, order, from, to);
  return bsi_launched(context, "copy of blocks");
}

static bisai_status scatter_values(bisai_context *context, int64_t count, bool wide,
                                   const void *map, const double *from, double *to) {
  if (count == 0) return BISAI_OK;
  const int grid = at_most((count + THREADS - 1) / THREADS, MOST_BLOCKS);
  scatter_values<<<grid, THREADS, 0, bsi_stream_of(context)>>>(count, wide, map, from, to);
  return bsi_launched(context, "new values");
}

static bisai_status find_not_finite(bisai_context *context, bisai_value_type type, int64_t count,
                                    const void *values, int64_t *index) {
  *index = -1;
  if (count == 0) return BISAI_OK;
  BSI_TRY(bsi_record_begin<bsi_first_record>(context, "values"));
  const int grid = at_most((count + THREADS - 1) / THREADS, MOST_BLOCKS);
  find_not_finite<<<grid, THREADS, 0, bsi_stream_of(context)>>>(
      type, count, values, bsi_record_of<bsi_first_record>(context));
  BSI_TRY(bsi_launched(context, "values"));
  bsi_first_record first;
  BSI_TRY(bsi_record_fetch(context, "values", &first));
  *index = bsi_index_of(first.index);
  return BISAI_OK;
}

const bsi_block_ops bsi_blocks_cuda = {.copy_blocks = copy_blocks,
                                       .scatter_values = scatter_values,
                                       .find_not_finite = find_not_finite};
