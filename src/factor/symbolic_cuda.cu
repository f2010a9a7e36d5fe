/* SPDX-License-Identifier: BSD-3-Clause */
/* Structures of factors on the device: the two triangles of a matrix, their level schedules, and
 * the comparison of a matrix with the pattern that the factors were made from. */
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "factor/factor_impl.h"
#include "factor/factor_ops.h"
#include "gpu/launch.cuh"
#include "gpu/record.cuh"
#include "gpu/scan.cuh"
#include "gpu/sort.cuh"
#include "gpu/temporary.cuh"

namespace {

enum { THREADS = 256, LEVEL_THREADS = 1024, LANES = 4 };

/* Messages of failures begin with one of them. */
constexpr char structure[] = "structure of block ILU", levels_of[] = "levels";

struct report {
  static constexpr int firsts = 2;
  /* the first block row without a diagonal block, and one that differs */
  unsigned long long missing, differs;
  /* the length of the longest row, and the number of levels */
  unsigned long long longest, levels;
};

/* lower[i + 1] ← the number of blocks before the diagonal one in row i: those of L. */
__global__ void __launch_bounds__(THREADS)
    find_diagonal(int32_t n, const int32_t *row_ptr, const int32_t *col_idx, int32_t *lower,
                  report *found) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * THREADS + threadIdx.x);
  int32_t length = 0;
  if (i < n) {
    const int32_t begin = row_ptr[i], end = row_ptr[i + 1];
    length = end - begin;
    const int32_t at = bsi_lower_bound(col_idx, begin, end, i);
    if (i == 0) lower[0] = 0;
    lower[i + 1] = at - begin;
    if (at == end || col_idx[at] != i)
      atomicMin(&found->missing, static_cast<unsigned long long>(i));
  }
  length = bsi_warp_max(length);
  if (threadIdx.x % BSI_WARP == 0)
    atomicMax(&found->longest, static_cast<unsigned long long>(length));
}

/* Row i of L and of U from row i of A. lower[i] is where that of L begins. */
__global__ void __launch_bounds__(THREADS)
    split_rows(int32_t n, const int32_t *row_ptr, const int32_t *col_idx, const int32_t *lower,
               int32_t *l_row_ptr, int32_t *l_col_idx, int32_t *u_row_ptr, int32_t *u_col_idx) {
  const int64_t i = (blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x) / LANES;
  const int member = threadIdx.x % LANES;
  if (i > n) return;
  const int32_t begin = row_ptr[i], l_begin = lower[i];
  if (member == 0) {
    l_row_ptr[i] = l_begin;
    u_row_ptr[i] = begin - l_begin;
  }
  if (i == n) return;
  const int32_t end = row_ptr[i + 1], l_end = lower[i + 1], middle = begin + l_end - l_begin;
  for (int32_t p = begin + member; p < end; p += LANES)
    if (p < middle)
      l_col_idx[l_begin + p - begin] = col_idx[p];
    else
      u_col_idx[p - l_end] = col_idx[p];
}

/* level[i] ← 1 + the highest level of the rows that row i depends on. Thread blocks draw their rows
 * in order from a ticket, so that what a thread waits for is done or under way. A thread finds the
 * levels of rows of its own block in shared memory. A thread that has to wait repeats the outer
 * loop, so that it does not hold up the other lanes of its warp.
 *   LOWER: the matrix is lower triangular */
template <bool LOWER>
__global__ void __launch_bounds__(LEVEL_THREADS)
    assign_levels(int32_t n, const int32_t *row_ptr, const int32_t *col_idx, int32_t *level,
                  unsigned *ticket, report *found) {
  __shared__ int32_t near[LEVEL_THREADS];
  __shared__ unsigned drawn;
  if (threadIdx.x == 0) drawn = atomicAdd(ticket, 1u);
  near[threadIdx.x] = -1;
  __syncthreads();
  const int64_t first = drawn * static_cast<int64_t>(LEVEL_THREADS), step = first + threadIdx.x;
  const int32_t i = static_cast<int32_t>(LOWER ? step : n - 1 - step);
  int32_t mine = 0, q = 0, end = 0;
  bool waiting = step < n;
  if (waiting) {
    /* The furthest row comes first, because the nearest one is done last. */
    q = LOWER ? row_ptr[i] : row_ptr[i + 1] - 1;
    end = LOWER ? row_ptr[i + 1] : row_ptr[i] - 1;
  }
  while (waiting) {
    while (q != end) {
      const int32_t j = col_idx[q];
      if (LOWER ? j < i : j > i) {
        const int64_t at = LOWER ? j : n - 1 - static_cast<int64_t>(j);
        const int32_t its = at >= first ? atomicOr(&near[at - first], 0)
                                        : *static_cast<volatile int32_t *>(level + j);
        if (its < 0) break;
        mine = max(mine, its + 1);
      }
      q += LOWER ? 1 : -1;
    }
    if (q == end) {
      atomicExch(&near[threadIdx.x], mine);
      *static_cast<volatile int32_t *>(level + i) = mine;
      waiting = false;
    }
  }
  mine = bsi_warp_max(mine);
  if (threadIdx.x % BSI_WARP == 0)
    atomicMax(&found->levels, static_cast<unsigned long long>(mine) + 1);
}

__global__ void number(int32_t count, int32_t *index) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) index[i] = i;
}

struct triangle_of {
  const int32_t *row_ptr, *col_idx;
  const uint8_t *fill;
};

__device__ bool is_fill(const uint8_t *fill, int32_t q) {
  return fill && (fill[q / 8] >> q % 8 & 1) != 0;
}

/* Compares row i of a factor with the columns of the matrix from *p on, and moves *p behind them.
 * Returns false if they differ. */
__device__ bool row_fits(const triangle_of &t, const int32_t *col_idx, int32_t end, int32_t i,
                         int32_t *p) {
  for (int32_t q = t.row_ptr[i]; q < t.row_ptr[i + 1]; q++) {
    if (is_fill(t.fill, q)) continue;
    if (*p == end || col_idx[*p] != t.col_idx[q]) return false;
    ++*p;
  }
  return true;
}

__global__ void __launch_bounds__(THREADS)
    compare_rows(int32_t n, const int32_t *row_ptr, const int32_t *col_idx, triangle_of lower,
                 triangle_of upper, report *found) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * THREADS + threadIdx.x);
  if (i >= n) return;
  int32_t p = row_ptr[i];
  const int32_t end = row_ptr[i + 1];
  if (!row_fits(lower, col_idx, end, i, &p) || !row_fits(upper, col_idx, end, i, &p) || p != end)
    found->differs = i;
}

} // namespace

/* lower ← where each row of L begins. *blocks ← the blocks of L, *found ← what the kernel reports.
 * Waits. */
static bisai_status find_lower(bisai_context *context, const bisai_bcsr *a, bsi_temporary *memory,
                               int32_t *lower, int32_t *blocks, report *found) {
  const int32_t n = a->block_rows;
  size_t bytes = 0;
  BSI_TRY(bsi_gpu_inclusive_sum(context, structure, nullptr, &bytes, lower, lower, n));
  char *room = memory->reserve<char>(bytes);
  if (!memory->complete) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(bsi_record_begin<report>(context, structure));
  BSI_TRY(bsi_gpu_fill(context, structure, lower, 0, sizeof *lower));
  *blocks = 0;
  if (n > 0) {
    find_diagonal<<<bsi_grid(n, THREADS), THREADS, 0, bsi_stream_of(context)>>>(
        n, a->row_ptr, a->col_idx, lower, bsi_record_of<report>(context));
    BSI_TRY(bsi_gpu_inclusive_sum(context, structure, room, &bytes, lower + 1, lower + 1, n));
    BSI_TRY(bsi_gpu_fetch_later(context, structure, blocks, lower + n, sizeof *blocks));
  }
  return bsi_record_fetch(context, structure, found);
}

static bisai_status split_triangles(bisai_context *context, const bisai_bcsr *a, bisai_factors *f,
                                    int32_t *missing) {
  const int32_t n = a->block_rows, bs = a->block_size;
  bsi_temporary memory(context);
  int32_t *lower = memory.reserve<int32_t>(static_cast<size_t>(n) + 1), blocks;
  report found;
  BSI_TRY(find_lower(context, a, &memory, lower, &blocks, &found));
  *missing = static_cast<int32_t>(bsi_index_of(found.missing));
  if (*missing >= 0) return BISAI_OK;
  bsi_bcsr_sizes sizes = {n, n, bs, blocks, BISAI_FP64};
  BSI_TRY(bsi_bcsr_reserve(context, &sizes, nullptr, nullptr, &f->lower));
  sizes.blocks = a->blocks - blocks;
  BSI_TRY(bsi_bcsr_reserve(context, &sizes, nullptr, nullptr, &f->upper));
  f->ilu.longest_row = static_cast<int32_t>(found.longest);
  split_rows<<<bsi_grid((static_cast<int64_t>(n) + 1) * LANES, THREADS), THREADS, 0,
               bsi_stream_of(context)>>>(n, a->row_ptr, a->col_idx, lower, f->lower->row_ptr,
                                         f->lower->col_idx, f->upper->row_ptr, f->upper->col_idx);
  return bsi_launched(context, structure);
}

/* level ← the level of each row. */
static bisai_status enqueue_levels(bisai_context *context, bisai_triangle triangle,
                                   const bisai_bcsr *t, int32_t *level) {
  const int32_t n = t->block_rows;
  const bsi_gpu_stream stream = bsi_stream_of(context);
  report *found = bsi_record_of<report>(context);
  BSI_TRY(bsi_record_begin<report>(context, levels_of));
  BSI_TRY(bsi_gpu_fill(context, levels_of, level, 0xff, n * sizeof *level));
  if (triangle == BISAI_LOWER)
    assign_levels<true><<<bsi_grid(n, LEVEL_THREADS), LEVEL_THREADS, 0, stream>>>(
        n, t->row_ptr, t->col_idx, level, context->tickets, found);
  else
    assign_levels<false><<<bsi_grid(n, LEVEL_THREADS), LEVEL_THREADS, 0, stream>>>(
        n, t->row_ptr, t->col_idx, level, context->tickets, found);
  return bsi_gpu_fill(context, levels_of, context->tickets, 0, sizeof *context->tickets);
}

static bisai_status find_levels(bisai_context *context, bisai_triangle triangle,
                                const bisai_bcsr *t, bsi_levels *levels) {
  const int32_t n = t->block_rows;
  const int bits = bsi_bits_below(n);
  bsi_temporary memory(context);
  int32_t *level = memory.reserve<int32_t>(n), *sorted = memory.reserve<int32_t>(n),
          *index = memory.reserve<int32_t>(n);
  *levels = {};
  size_t bytes = 0;
  BSI_TRY(bsi_gpu_sort_pairs(context, levels_of, nullptr, &bytes, level, sorted, index, index, n,
                             bits));
  char *room = memory.reserve<char>(bytes);
  int32_t *rows =
      static_cast<int32_t *>(context->backend->memory->allocate(context, n, sizeof *rows));
  levels->rows = rows;
  if (!memory.complete || !rows) return BISAI_OUT_OF_MEMORY;
  if (n == 0) return BISAI_OK;
  BSI_TRY(enqueue_levels(context, triangle, t, level));
  number<<<bsi_grid(n, THREADS), THREADS, 0, bsi_stream_of(context)>>>(n, index);
  BSI_TRY(
      bsi_gpu_sort_pairs(context, levels_of, room, &bytes, level, sorted, index, rows, n, bits));
  BSI_TRY(bsi_launched(context, levels_of));
  report found;
  BSI_TRY(bsi_record_fetch(context, levels_of, &found));
  levels->count = static_cast<int32_t>(found.levels);
  return BISAI_OK;
}

static bisai_status factors_fit(bisai_context *context, const bisai_factors *f, const bisai_bcsr *a,
                                bool *fit) {
  const triangle_of lower = {f->lower->row_ptr, f->lower->col_idx, f->ilu.lower_fill},
                    upper = {f->upper->row_ptr, f->upper->col_idx, f->ilu.upper_fill};
  *fit = true;
  if (a->block_rows == 0) return BISAI_OK;
  BSI_TRY(bsi_record_begin<report>(context, structure));
  compare_rows<<<bsi_grid(a->block_rows, THREADS), THREADS, 0, bsi_stream_of(context)>>>(
      a->block_rows, a->row_ptr, a->col_idx, lower, upper, bsi_record_of<report>(context));
  BSI_TRY(bsi_launched(context, structure));
  report found;
  BSI_TRY(bsi_record_fetch(context, structure, &found));
  *fit = found.differs == BSI_NONE;
  return BISAI_OK;
}

const bsi_symbolic_ops bsi_symbolic_cuda = {
    .split_triangles = split_triangles, .fit = factors_fit, .find_levels = find_levels};
