/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks by supervariable agglomeration on a device, and the places of their groups.
 *
 * In the greedy rule (2017 paper, section 4) the start of a block depends on all blocks before it.
 * But a block that begins before row b ends at most max_rows ≤ 32 rows later: a chunk of rows is
 * entered at one of its first 32 rows. A warp follows all these entries through its chunk, a lane
 * each. One thread block then chains the chunks, and every chunk knows its blocks. The result is
 * that of the sequential rule. */
#include "bjacobi/bjacobi.h"
#include "bjacobi/bjacobi_ops.h"
#include "core/context/context_impl.h"
#include "gpu/launch.cuh"
#include "gpu/scan.cuh"

namespace {

constexpr int THREADS = 256, WARPS = THREADS / BSI_WARP;

/* A chunk has a bit for each of its rows in so many words. A warp follows the paths of a chunk, a
 * lane each, from the chunk's bits in shared memory. The size was not measured. */
constexpr int CHUNK_WORDS = 16, CHUNK = CHUNK_WORDS * 32;

/* One thread block chains the chunks. It has the exits of so many chunks in shared memory at a
 * time: 32 KiB of exits and 1 KiB of entries, of the 48 KiB that every device allows. */
constexpr int CHAIN = 1024;

/* Sizes of blocks 0 … 32, then the size of the first block and of the last one. */
constexpr int FIRST_SIZE = BSI_BJACOBI_MAX_ROWS + 1, LAST_SIZE = FIRST_SIZE + 1,
              SIZES = LAST_SIZE + 1;

/* Arrays in device memory. */
struct finder {
  int32_t rows, block_rows, block_size, max_rows, chunks;
  const int32_t *row_ptr, *col_idx;
  /* block_rows: i if a supervariable begins at block row i, otherwise 0. The scan makes it the
   * first block row of the supervariable. */
  int32_t *first;
  /* a bit for each row, one for the end, and 64 more: set if a piece of a supervariable begins */
  unsigned *pieces;
  /* chunks·32: the rows of the next chunk before the first block that begins in it, for each entry
   * to this chunk */
  uint8_t *exits;
  /* chunks: the entry that the partition takes */
  uint8_t *entry;
  /* chunks + 1: the blocks of each chunk. The scan makes it the blocks before each chunk. */
  int32_t *blocks;
  /* the partition's starts */
  int32_t *start;
  /* SIZES */
  unsigned *sizes;
};

/* first[i] ← i if block row i differs from the one before, otherwise 0. A lane compares the lengths
 * and the outer entries of its two rows. If they agree, all lanes compare the rest. */
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
  unsigned left = __ballot_sync(BSI_FULL_WARP, length > 2);
  while (left) {
    const int one = __ffs(static_cast<int>(left)) - 1;
    left &= left - 1;
    const int32_t from = __shfl_sync(BSI_FULL_WARP, before, one),
                  to = __shfl_sync(BSI_FULL_WARP, begin, one);
    const int32_t many = __shfl_sync(BSI_FULL_WARP, length, one);
    bool equal = true;
    for (int32_t k = 0; k < many && equal; k += BSI_WARP) {
      const bool mine = k + lane >= many ||
                        __ldg(f.col_idx + from + k + lane) == __ldg(f.col_idx + to + k + lane);
      equal = __all_sync(BSI_FULL_WARP, mine);
    }
    if (!equal && lane == one) length = -1;
  }
  if (i < f.block_rows) f.first[i] = length < 0 ? i : 0;
}

/* Marks the first row of every piece: a supervariable is cut every max_rows rows. */
__global__ void __launch_bounds__(THREADS) mark_pieces(const finder f) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  bool begins = row == f.rows;
  if (row < f.rows) {
    const int32_t first = __ldg(f.first + row / f.block_size);
    begins = (row - static_cast<int64_t>(first) * f.block_size) % f.max_rows == 0;
  }
  const unsigned bits = __ballot_sync(BSI_FULL_WARP, begins);
  if (threadIdx.x % BSI_WARP == 0 && row <= static_cast<int64_t>(f.chunks) * CHUNK + 32)
    f.pieces[row / 32] = bits;
}

/* Returns the end of the block that begins at `row` of the chunk: the start of the last piece at
 * most max_rows rows later. */
__device__ __forceinline__ int next_start(const unsigned *pieces, int max_rows, int row) {
  const unsigned low = pieces[(row + 1) / 32], high = pieces[(row + 1) / 32 + 1];
  const unsigned after = __funnelshift_r(low, high, (row + 1) % 32); /* bit k: row + 1 + k */
  const unsigned within = max_rows == 32 ? after : after & ((1u << max_rows) - 1u);
  return within ? row + 32 - __clz(static_cast<int>(within)) : row + max_rows;
}

/* Loads the bits of a chunk and the 64 bits after it. */
__device__ __forceinline__ void load_pieces(const finder &f, int32_t chunk, int lane,
                                            unsigned *pieces) {
  if (lane < CHUNK_WORDS + 2)
    pieces[lane] = f.pieces[static_cast<int64_t>(chunk) * CHUNK_WORDS + lane];
  __syncwarp();
}

/* exits ← the rows at which the paths from the first 32 rows of a chunk leave it. */
__global__ void __launch_bounds__(THREADS) follow_entries(const finder f) {
  __shared__ unsigned pieces[WARPS][CHUNK_WORDS + 2];
  const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP;
  const int32_t chunk = static_cast<int32_t>(blockIdx.x * WARPS) + warp;
  if (chunk >= f.chunks) return;
  load_pieces(f, chunk, lane, pieces[warp]);
  int row = lane;
  while (row < CHUNK) row = next_start(pieces[warp], f.max_rows, row);
  f.exits[static_cast<int64_t>(chunk) * 32 + lane] = static_cast<uint8_t>(min(row - CHUNK, 31));
}

/* entry ← the row at which the partition's path enters each chunk. */
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

/* A lane walks through its chunk.
 * WRITE: false: it counts the blocks and their sizes; true: it writes their starts. */
template <bool WRITE> __global__ void __launch_bounds__(THREADS) walk(const finder f) {
  __shared__ unsigned sizes[BSI_BJACOBI_MAX_ROWS + 1];
  if (!WRITE && threadIdx.x <= BSI_BJACOBI_MAX_ROWS) sizes[threadIdx.x] = 0;
  __syncthreads();
  const int32_t chunk = static_cast<int32_t>(blockIdx.x * THREADS + threadIdx.x);
  if (chunk < f.chunks) {
    const int64_t top = static_cast<int64_t>(chunk) * CHUNK;
    const int end = static_cast<int>(min(static_cast<int64_t>(CHUNK), f.rows - top));
    const unsigned *pieces = f.pieces + static_cast<int64_t>(chunk) * CHUNK_WORDS;
    int32_t count = WRITE ? f.blocks[chunk] : 0;
    for (int row = f.entry[chunk]; row < end;) {
      const int next = next_start(pieces, f.max_rows, row);
      if (WRITE) {
        f.start[count] = static_cast<int32_t>(top) + row;
      } else {
        atomicAdd(sizes + (next - row), 1u);
        if (top + row == 0) f.sizes[FIRST_SIZE] = next - row;
        if (top + next == f.rows) f.sizes[LAST_SIZE] = next - row;
      }
      row = next;
      count++;
    }
    if (!WRITE) f.blocks[chunk] = count;
    if (!WRITE && chunk == 0) f.blocks[f.chunks] = 0; /* the scan puts the sum of all there */
  }
  __syncthreads();
  if (!WRITE && threadIdx.x <= BSI_BJACOBI_MAX_ROWS && sizes[threadIdx.x] > 0)
    atomicAdd(f.sizes + threadIdx.x, sizes[threadIdx.x]);
  if (WRITE && chunk == 0) f.start[f.blocks[f.chunks]] = f.rows;
}

/* values[g] ← the values of group g, 0 after the last group. */
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

constexpr const char *WHAT = "blocks of block-Jacobi";

/* Everything up to the number of blocks before each chunk. The host is to fetch `sizes`. */
bisai_status find(bisai_context *context, const finder &f, void *room, size_t room_bytes) {
  const bsi_gpu_stream stream = bsi_stream_of(context);
  BSI_TRY(bsi_gpu_fill(context, WHAT, f.sizes, 0, SIZES * sizeof *f.sizes));
  compare_rows<<<bsi_grid(f.block_rows, THREADS), THREADS, 0, stream>>>(f);
  BSI_TRY(bsi_gpu_inclusive_max(context, WHAT, room, &room_bytes, f.first, f.first, f.block_rows));
  mark_pieces<<<bsi_grid(static_cast<int64_t>(f.chunks) * CHUNK + 64, THREADS), THREADS, 0,
                stream>>>(f);
  follow_entries<<<bsi_grid(f.chunks, WARPS), THREADS, 0, stream>>>(f);
  chain_chunks<<<1, CHAIN, 0, stream>>>(f);
  walk<false><<<bsi_grid(f.chunks, THREADS), THREADS, 0, stream>>>(f);
  BSI_TRY(
      bsi_gpu_exclusive_sum(context, WHAT, room, &room_bytes, f.blocks, f.blocks, f.chunks + 1));
  return bsi_launched(context, WHAT);
}

/* Makes the partition from the sizes and the number of blocks, with its starts if sizes differ. */
bisai_status make_partition(bisai_context *context, finder *f, bsi_partition *p) {
  const bsi_memory_ops *memory = context->backend->memory;
  unsigned sizes[SIZES];
  int32_t blocks;
  BSI_TRY(memory->fetch(context, sizes, f->sizes, sizeof sizes));
  BSI_TRY(memory->fetch(context, &blocks, f->blocks + f->chunks, sizeof blocks));
  p->blocks = blocks;
  for (int m = 1; m <= BSI_BJACOBI_MAX_ROWS; m++) {
    p->count[m] = static_cast<int32_t>(sizes[m]);
    if (p->count[m] > 0) p->largest = m;
  }
  const int32_t first = static_cast<int32_t>(sizes[FIRST_SIZE]),
                last = static_cast<int32_t>(sizes[LAST_SIZE]);
  if (p->count[first] == blocks || (p->count[first] == blocks - 1 && last < first)) {
    p->uniform = first;
    return BISAI_OK;
  }
  p->start = static_cast<int32_t *>(
      memory->allocate(context, static_cast<size_t>(blocks) + 1, sizeof *p->start));
  if (!p->start) return BISAI_OUT_OF_MEMORY;
  f->start = p->start;
  walk<true><<<bsi_grid(f->chunks, THREADS), THREADS, 0, bsi_stream_of(context)>>>(*f);
  return bsi_launched(context, WHAT);
}

/* *bytes ← the room that the scans need. */
bisai_status room_of_scans(bisai_context *context, const finder &f, size_t *bytes) {
  size_t maximum = 0, sum = 0;
  BSI_TRY(bsi_gpu_inclusive_max(context, WHAT, nullptr, &maximum, f.first, f.first, f.block_rows));
  BSI_TRY(bsi_gpu_exclusive_sum(context, WHAT, nullptr, &sum, f.blocks, f.blocks, f.chunks + 1));
  *bytes = maximum > sum ? maximum : sum;
  return BISAI_OK;
}

/* Places an array of `count` values at `memory` + *at, and advances *at behind it. */
template <typename T> void place(char *memory, size_t *at, size_t count, T **array) {
  *array = memory ? reinterpret_cast<T *>(memory + *at) : nullptr;
  *at += aligned(count * sizeof(T));
}

/* Places the arrays of the finder in `memory`, unless it is NULL, and returns their bytes. */
size_t lay_out(finder *f, char *memory) {
  const size_t chunks = static_cast<size_t>(f->chunks);
  size_t at = 0;
  place(memory, &at, static_cast<size_t>(f->block_rows), &f->first);
  place(memory, &at, chunks * CHUNK_WORDS + 16, &f->pieces);
  place(memory, &at, chunks * 32, &f->exits);
  place(memory, &at, chunks, &f->entry);
  place(memory, &at, chunks + 1, &f->blocks);
  place(memory, &at, SIZES, &f->sizes);
  return at;
}

} // namespace

static bisai_status bjacobi_find(bisai_context *context, const bisai_bcsr *matrix, int32_t max_rows,
                                 bsi_partition *partition) {
  finder f = {.rows = matrix->block_rows * matrix->block_size,
              .block_rows = matrix->block_rows,
              .block_size = matrix->block_size,
              .max_rows = max_rows,
              .row_ptr = matrix->row_ptr,
              .col_idx = matrix->col_idx};
  *partition = bsi_partition{};
  partition->rows = f.rows;
  if (f.rows == 0) return bsi_partition_set(context, 0, 0, nullptr, partition);
  f.chunks = (f.rows - 1) / CHUNK + 1;
  size_t room = 0;
  bisai_status status = room_of_scans(context, f, &room);
  if (status) return status;
  const size_t bytes = lay_out(&f, nullptr);
  char *const memory =
      static_cast<char *>(context->backend->memory->allocate(context, bytes + aligned(room), 1));
  if (!memory) return BISAI_OUT_OF_MEMORY;
  lay_out(&f, memory);
  status = find(context, f, memory + bytes, room);
  if (!status) status = make_partition(context, &f, partition);
  context->backend->memory->release(context, memory);
  return status;
}

static bisai_status bjacobi_layout(bisai_context *context, bsi_bjacobi *jacobi) {
  const bsi_memory_ops *on = context->backend->memory;
  const bsi_partition *p = &jacobi->partition;
  const int32_t groups = jacobi->groups;
  size_t room = 0;
  int64_t *values = nullptr;
  bisai_status status =
      bsi_gpu_exclusive_sum(context, WHAT, nullptr, &room, values, values, groups + 1);
  if (status) return status;
  const size_t bytes = aligned((static_cast<size_t>(groups) + 1) * sizeof *values);
  char *memory = static_cast<char *>(on->allocate(context, bytes + room, 1));
  if (!memory) return BISAI_OUT_OF_MEMORY;
  values = reinterpret_cast<int64_t *>(memory);
  measure_groups<<<bsi_grid(static_cast<int64_t>(groups) + 1, THREADS), THREADS, 0,
                   bsi_stream_of(context)>>>(groups, p->blocks, jacobi->per_group, p->start,
                                             values);
  status = bsi_launched(context, WHAT);
  if (!status)
    status =
        bsi_gpu_exclusive_sum(context, WHAT, memory + bytes, &room, values, values, groups + 1);
  if (!status)
    status = on->copy(context, jacobi->first_value, values,
                      static_cast<size_t>(groups) * sizeof *values);
  if (!status) status = on->fetch(context, &jacobi->values, values + groups, sizeof jacobi->values);
  on->release(context, memory);
  return status;
}

const bsi_partition_ops bsi_partition_cuda = {.find = bjacobi_find, .layout = bjacobi_layout};
