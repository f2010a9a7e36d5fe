/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks by supervariable agglomeration on a device, and where their groups are.
 *
 * The greedy rule (2017 paper, section 4) looks sequential: where a block begins depends on all
 * blocks before it. But a block that begins before row b ends at most `most` ≤ 32 rows later, so
 * that a chunk of rows is entered at one of its first 32 rows: a warp follows them all through its
 * chunk, a lane each, one warp chains the chunks, and then every chunk knows its blocks. The result
 * is the sequential one. */
#include <cub/device/device_scan.cuh>

#include "bjacobi/bjacobi.h"
#include "bjacobi/bjacobi_ops.h"
#include "core/context_impl.h"
#include "core/launch_cuda.cuh"

namespace {

enum {
  THREADS = 256,
  WARPS = THREADS / BSI_WARP,
  CHUNK_WORDS = 16,
  /* rows of a chunk */
  CHUNK = CHUNK_WORDS * 32,
  /* chunks that the chain has in shared memory at a time */
  CHAIN = 1024
};

struct finder {
  int32_t rows, block_rows, block_size, most, chunks;
  const int32_t *row_ptr, *col_idx;
  /* block_rows: the first block row of its supervariable; at first, i where one begins at i,
   * otherwise 0 */
  int32_t *first;
  /* a bit for each row and one for the end, and 64 more: a piece of a supervariable begins there */
  unsigned *pieces;
  /* chunks·32: rows of the next chunk before the first block that begins in it */
  uint8_t *exits;
  /* chunks */
  uint8_t *entry;
  /* chunks + 1: of each, then before each */
  int32_t *blocks;
  /* of the partition */
  int32_t *start;
  /* 33: blocks of each size; and the size of the first and of the last one */
  unsigned *sizes;
};

/* A lane looks at the first entries of its row and the one before; rows that agree there are
 * compared by all lanes. */
__global__ void __launch_bounds__(THREADS) compare_rows(const finder f) {
  const int lane = threadIdx.x % BSI_WARP;
  const int32_t i = static_cast<int32_t>(blockIdx.x * THREADS + threadIdx.x);
  int32_t before = 0, begin = 0, length = -1;
  if (i > 0 && i < f.block_rows) {
    before = __ldg(f.row_ptr + i - 1);
    begin = __ldg(f.row_ptr + i);
    length = __ldg(f.row_ptr + i + 1) - begin;
    if (begin - before != length) length = -1;
  }
  if (length > 0 &&
      (__ldg(f.col_idx + before) != __ldg(f.col_idx + begin) ||
       __ldg(f.col_idx + before + length - 1) != __ldg(f.col_idx + begin + length - 1)))
    length = -1;
  unsigned left = __ballot_sync(BSI_EVERYONE, length > 2);
  while (left) {
    const int one = __ffs(static_cast<int>(left)) - 1;
    left &= left - 1;
    const int32_t from = __shfl_sync(BSI_EVERYONE, before, one),
                  to = __shfl_sync(BSI_EVERYONE, begin, one);
    const int32_t many = __shfl_sync(BSI_EVERYONE, length, one);
    bool equal = true;
    for (int32_t k = 0; k < many && equal; k += BSI_WARP) {
      const bool mine = k + lane >= many ||
                        __ldg(f.col_idx + from + k + lane) == __ldg(f.col_idx + to + k + lane);
      equal = __all_sync(BSI_EVERYONE, mine);
    }
    if (!equal && lane == one) length = -1;
  }
  if (i < f.block_rows) f.first[i] = length < 0 ? i : 0;
}

/* Pieces begin every `most` rows of a supervariable. */
__global__ void __launch_bounds__(THREADS) mark_pieces(const finder f) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  bool begins = row == f.rows;
  if (row < f.rows) {
    const int32_t first = __ldg(f.first + row / f.block_size);
    begins = (row - static_cast<int64_t>(first) * f.block_size) % f.most == 0;
  }
  const unsigned bits = __ballot_sync(BSI_EVERYONE, begins);
  if (threadIdx.x % BSI_WARP == 0 && row <= static_cast<int64_t>(f.chunks) * CHUNK + 32)
    f.pieces[row / 32] = bits;
}

/* Where the block that begins at a row of the chunk ends: the last piece at most `most` rows
 * later. */
__device__ __forceinline__ int next_start(const unsigned *pieces, int most, int row) {
  const unsigned low = pieces[(row + 1) / 32], high = pieces[(row + 1) / 32 + 1];
  const unsigned after = __funnelshift_r(low, high, (row + 1) % 32); /* bit k: row + 1 + k */
  const unsigned within = most == 32 ? after : after & ((1u << most) - 1u);
  return within ? row + 32 - __clz(static_cast<int>(within)) : row + most;
}

/* Loads a chunk's bits and the 64 after it. */
__device__ __forceinline__ void load_pieces(const finder &f, int32_t chunk, int lane,
                                            unsigned *pieces) {
  if (lane < CHUNK_WORDS + 2)
    pieces[lane] = f.pieces[static_cast<int64_t>(chunk) * CHUNK_WORDS + lane];
  __syncwarp();
}

__global__ void __launch_bounds__(THREADS) follow_entries(const finder f) {
  __shared__ unsigned pieces[WARPS][CHUNK_WORDS + 2];
  const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP;
  const int32_t chunk = static_cast<int32_t>(blockIdx.x * WARPS) + warp;
  if (chunk >= f.chunks) return;
  load_pieces(f, chunk, lane, pieces[warp]);
  int row = lane;
  while (row < CHUNK) row = next_start(pieces[warp], f.most, row);
  f.exits[static_cast<int64_t>(chunk) * 32 + lane] = static_cast<uint8_t>(min(row - CHUNK, 31));
}

__global__ void __launch_bounds__(CHAIN) chain_chunks(const finder f) {
  __shared__ uint4 exits[CHAIN * 2];
  __shared__ uint8_t entry[CHAIN];
  __shared__ int at;
  if (threadIdx.x == 0) at = 0;
  for (int32_t from = 0; from < f.chunks; from += CHAIN) {
    const int many = min(static_cast<int>(CHAIN), f.chunks - from);
    const uint4 *all = reinterpret_cast<const uint4 *>(f.exits + static_cast<int64_t>(from) * 32);
    __syncthreads();
    for (int k = threadIdx.x; k < many * 2; k += CHAIN) exits[k] = all[k];
    __syncthreads();
    if (threadIdx.x == 0) {
      const uint8_t *exit = reinterpret_cast<const uint8_t *>(exits);
      int now = at;
      for (int k = 0; k < many; k++) {
        entry[k] = static_cast<uint8_t>(now);
        now = exit[k * 32 + now];
      }
      at = now;
    }
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < many) f.entry[from + threadIdx.x] = entry[threadIdx.x];
  }
}

/* A lane walks through its chunk; in the first pass it counts, in the second it writes. */
template <bool WRITE> __global__ void __launch_bounds__(THREADS) walk(const finder f) {
  __shared__ unsigned sizes[BSI_BJACOBI_MOST + 1];
  if (!WRITE && threadIdx.x <= BSI_BJACOBI_MOST) sizes[threadIdx.x] = 0;
  __syncthreads();
  const int32_t chunk = static_cast<int32_t>(blockIdx.x * THREADS + threadIdx.x);
  if (chunk < f.chunks) {
    const int64_t top = static_cast<int64_t>(chunk) * CHUNK;
    const int end = static_cast<int>(min(static_cast<int64_t>(CHUNK), f.rows - top));
    const unsigned *pieces = f.pieces + static_cast<int64_t>(chunk) * CHUNK_WORDS;
    int32_t count = WRITE ? f.blocks[chunk] : 0;
    for (int row = f.entry[chunk]; row < end;) {
      const int next = next_start(pieces, f.most, row);
      if (WRITE) {
        f.start[count] = static_cast<int32_t>(top) + row;
      } else {
        atomicAdd(sizes + (next - row), 1u);
        if (top + row == 0) f.sizes[BSI_BJACOBI_MOST + 1] = next - row;
        if (top + next == f.rows) f.sizes[BSI_BJACOBI_MOST + 2] = next - row;
      }
      row = next;
      count++;
    }
    if (!WRITE) f.blocks[chunk] = count;
    if (!WRITE && chunk == 0) f.blocks[f.chunks] = 0; /* where the sum of all will be */
  }
  __syncthreads();
  if (!WRITE && threadIdx.x <= BSI_BJACOBI_MOST && sizes[threadIdx.x] > 0)
    atomicAdd(f.sizes + threadIdx.x, sizes[threadIdx.x]);
  if (WRITE && chunk == 0) f.start[f.blocks[f.chunks]] = f.rows;
}

__global__ void __launch_bounds__(THREADS)
    measure_groups(int32_t groups, int32_t blocks, int32_t per_group, const int32_t *start,
                   int64_t *values) {
  const int32_t g = static_cast<int32_t>(blockIdx.x * THREADS + threadIdx.x);
  if (g > groups) return;
  const int32_t begin = min(g * static_cast<int64_t>(per_group), static_cast<int64_t>(blocks));
  const int32_t end = min(begin + static_cast<int64_t>(per_group), static_cast<int64_t>(blocks));
  int32_t width = 0;
  for (int32_t b = begin; b < end; b++) width = max(width, start[b + 1] - start[b]);
  values[g] = static_cast<int64_t>(start[end] - start[begin]) * width;
}

constexpr size_t aligned(size_t bytes) { return (bytes + 255) / 256 * 256; }

bisai_status outcome(bisai_context *context, cudaError_t error) {
  if (error == cudaSuccess) error = cudaGetLastError();
  return error == cudaSuccess ? BISAI_OK
                              : bsi_fail(context, BISAI_DEVICE_ERROR, "blocks of block-Jacobi: %s",
                                         cudaGetErrorString(error));
}

struct largest {
  __device__ int32_t operator()(int32_t a, int32_t b) const { return max(a, b); }
};

/* Everything up to the number of blocks before each chunk; what is to be known on the host goes to
 * `sizes` there. */
cudaError_t find(cudaStream_t stream, const finder &f, void *spare, size_t spare_bytes) {
  cudaError_t error = cudaMemsetAsync(f.sizes, 0, (BSI_BJACOBI_MOST + 3) * sizeof *f.sizes, stream);
  if (error != cudaSuccess) return error;
  compare_rows<<<bsi_grid(f.block_rows, THREADS), THREADS, 0, stream>>>(f);
  error = cub::DeviceScan::InclusiveScan(spare, spare_bytes, f.first, f.first, largest(),
                                         f.block_rows, stream);
  if (error != cudaSuccess) return error;
  mark_pieces<<<bsi_grid(static_cast<int64_t>(f.chunks) * CHUNK + 64, THREADS), THREADS, 0,
                stream>>>(f);
  follow_entries<<<bsi_grid(f.chunks, WARPS), THREADS, 0, stream>>>(f);
  chain_chunks<<<1, CHAIN, 0, stream>>>(f);
  walk<false><<<bsi_grid(f.chunks, THREADS), THREADS, 0, stream>>>(f);
  return cub::DeviceScan::ExclusiveSum(spare, spare_bytes, f.blocks, f.blocks, f.chunks + 1,
                                       stream);
}

/* The partition from what was found; its starts where sizes differ. */
bisai_status take_over(bisai_context *context, finder *f, bsi_partition *p) {
  unsigned sizes[BSI_BJACOBI_MOST + 3];
  int32_t blocks;
  bisai_status status = context->backend->memory->fetch(context, sizes, f->sizes, sizeof sizes);
  if (!status)
    status =
        context->backend->memory->fetch(context, &blocks, f->blocks + f->chunks, sizeof blocks);
  if (status) return status;
  p->blocks = blocks;
  for (int m = 1; m <= BSI_BJACOBI_MOST; m++) {
    p->count[m] = static_cast<int32_t>(sizes[m]);
    if (p->count[m] > 0) p->largest = m;
  }
  const int32_t first = static_cast<int32_t>(sizes[BSI_BJACOBI_MOST + 1]),
                last = static_cast<int32_t>(sizes[BSI_BJACOBI_MOST + 2]);
  if (p->count[first] == blocks || (p->count[first] == blocks - 1 && last < first)) {
    p->uniform = first;
    return BISAI_OK;
  }
  p->start = static_cast<int32_t *>(context->backend->memory->allocate(
      context, static_cast<size_t>(blocks) + 1, sizeof *p->start));
  if (!p->start) return BISAI_OUT_OF_MEMORY;
  f->start = p->start;
  walk<true><<<bsi_grid(f->chunks, THREADS), THREADS, 0, bsi_stream_of(context)>>>(*f);
  return outcome(context, cudaSuccess);
}

} // namespace

static bisai_status bjacobi_find(bisai_context *context, const bisai_bcsr *matrix, int32_t most,
                                 bsi_partition *partition) {
  finder f = {};
  f.block_rows = matrix->block_rows, f.block_size = matrix->block_size, f.most = most;
  f.rows = f.block_rows * f.block_size;
  *partition = bsi_partition{};
  partition->rows = f.rows;
  if (f.rows == 0) return bsi_partition_set(context, 0, 0, nullptr, partition);
  f.chunks = (f.rows - 1) / CHUNK + 1;
  f.row_ptr = matrix->row_ptr, f.col_idx = matrix->col_idx;
  size_t scan = 0, sum = 0;
  cudaError_t error =
      cub::DeviceScan::InclusiveScan(nullptr, scan, f.first, f.first, largest(), f.block_rows);
  if (error == cudaSuccess)
    error = cub::DeviceScan::ExclusiveSum(nullptr, sum, f.blocks, f.blocks, f.chunks + 1);
  if (error != cudaSuccess) return outcome(context, error);
  const size_t spare = scan > sum ? scan : sum, chunks = static_cast<size_t>(f.chunks);
  const size_t bytes[] = {aligned(static_cast<size_t>(f.block_rows) * sizeof *f.first),
                          aligned((chunks * CHUNK_WORDS + 16) * sizeof *f.pieces),
                          aligned(chunks * 32),
                          aligned(chunks),
                          aligned((chunks + 1) * sizeof *f.blocks),
                          aligned((BSI_BJACOBI_MOST + 3) * sizeof *f.sizes),
                          aligned(spare)};
  size_t all = 0;
  for (const size_t part : bytes) all += part;
  char *const memory = static_cast<char *>(context->backend->memory->allocate(context, all, 1));
  if (!memory) return BISAI_OUT_OF_MEMORY;
  char *at = memory;
  f.first = reinterpret_cast<int32_t *>(at), at += bytes[0];
  f.pieces = reinterpret_cast<unsigned *>(at), at += bytes[1];
  f.exits = reinterpret_cast<uint8_t *>(at), at += bytes[2];
  f.entry = reinterpret_cast<uint8_t *>(at), at += bytes[3];
  f.blocks = reinterpret_cast<int32_t *>(at), at += bytes[4];
  f.sizes = reinterpret_cast<unsigned *>(at), at += bytes[5];
  bisai_status status = outcome(context, find(bsi_stream_of(context), f, at, spare));
  if (!status) status = take_over(context, &f, partition);
  context->backend->memory->release(context, memory);
  return status;
}

static bisai_status bjacobi_layout(bisai_context *context, bsi_bjacobi *jacobi) {
  const cudaStream_t stream = bsi_stream_of(context);
  const bsi_partition *p = &jacobi->partition;
  size_t spare = 0;
  int64_t *values = nullptr;
  cudaError_t error =
      cub::DeviceScan::ExclusiveSum(nullptr, spare, values, values, jacobi->groups + 1, stream);
  if (error != cudaSuccess) return outcome(context, error);
  const size_t bytes = aligned((static_cast<size_t>(jacobi->groups) + 1) * sizeof *values);
  char *memory = static_cast<char *>(context->backend->memory->allocate(context, bytes + spare, 1));
  if (!memory) return BISAI_OUT_OF_MEMORY;
  values = reinterpret_cast<int64_t *>(memory);
  measure_groups<<<bsi_grid(static_cast<int64_t>(jacobi->groups) + 1, THREADS), THREADS, 0,
                   stream>>>(jacobi->groups, p->blocks, jacobi->per_group, p->start, values);
  error = cub::DeviceScan::ExclusiveSum(memory + bytes, spare, values, values, jacobi->groups + 1,
                                        stream);
  bisai_status status = outcome(context, error);
  if (!status)
    status = context->backend->memory->copy(context, jacobi->first_value, values,
                                            static_cast<size_t>(jacobi->groups) * sizeof *values);
  if (!status)
    status = context->backend->memory->fetch(context, &jacobi->values, values + jacobi->groups,
                                             sizeof jacobi->values);
  context->backend->memory->release(context, memory);
  return status;
}

const bsi_partition_ops bsi_partition_cuda = {.find = bjacobi_find, .layout = bjacobi_layout};
