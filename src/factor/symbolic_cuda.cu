/* SPDX-License-Identifier: BSD-3-Clause */
/* Structures of factors on the device: the two triangles of a matrix, their level schedules, and
 * whether a matrix still has the pattern that the factors were made from. */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "core/bcsr_impl.h"
#include "core/context_impl.h"
#include "factor/factor_impl.h"
#include "factor/factor_ops.h"
#include "gpu/launch.cuh"
#include "gpu/temporary.cuh"

namespace {

enum { THREADS = 256, LEVEL_THREADS = 1024, LANES = 4 };

/* The context's words, as this file uses them: the first block row without a diagonal block, and
 * one that differs; the longest row; levels. */
enum { MISSING, DIFFERS, LONGEST, LEVELS, WORDS };
static_assert(static_cast<int>(WORDS) <= static_cast<int>(BSI_FAULTS), "the context has them");

bisai_status device_failure(bisai_context *context, const char *what, cudaError_t error) {
  return bsi_fail(context, BISAI_DEVICE_ERROR, "%s: %s", what, cudaGetErrorString(error));
}

cudaError_t clear_words(bisai_context *context) {
  const cudaStream_t stream = bsi_stream_of(context);
  const cudaError_t error =
      cudaMemsetAsync(context->first_fault, 0xff, 2 * sizeof *context->first_fault, stream);
  return error ? error
               : cudaMemsetAsync(context->first_fault + LONGEST, 0,
                                 (WORDS - LONGEST) * sizeof *context->first_fault, stream);
}

/* lower[i + 1] ← how many blocks stand before the diagonal one in row i: L's. */
__global__ void __launch_bounds__(THREADS)
    find_diagonal(int32_t n, const int32_t *row_ptr, const int32_t *col_idx, int32_t *lower,
                  unsigned long long *words) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * THREADS + threadIdx.x);
  int32_t length = 0;
  if (i < n) {
    const int32_t begin = row_ptr[i], end = row_ptr[i + 1];
    length = end - begin;
    const int32_t at = bsi_lower_bound(col_idx, begin, end, i);
    if (i == 0) lower[0] = 0;
    lower[i + 1] = at - begin;
    if (at == end || col_idx[at] != i)
      atomicMin(words + MISSING, static_cast<unsigned long long>(i));
  }
  for (int step = BSI_WARP / 2; step > 0; step /= 2)
    length = max(length, __shfl_xor_sync(BSI_FULL_WARP, length, step));
  if (threadIdx.x % BSI_WARP == 0)
    atomicMax(words + LONGEST, static_cast<unsigned long long>(length));
}

/* Both rows from A's and from where L's begin. */
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

/* level[i] ← 1 + that of the highest row that row i depends on. Thread blocks draw their rows in
 * order from a ticket, so that what a thread waits for is done or under way; rows of the block
 * itself are looked up in shared memory. A thread that has to wait goes round again, so that it
 * holds up nobody of its warp. */
template <bool LOWER>
__global__ void __launch_bounds__(LEVEL_THREADS)
    assign_levels(int32_t n, const int32_t *row_ptr, const int32_t *col_idx, int32_t *level,
                  unsigned *ticket, unsigned long long *words) {
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
    /* The furthest first: what is near comes last. */
    q = LOWER ? row_ptr[i] : row_ptr[i + 1] - 1;
    end = LOWER ? row_ptr[i + 1] : row_ptr[i] - 1;
  }
  while (waiting) {
    while (q != end) {
      const int32_t j = col_idx[q];
      if (LOWER ? j < i : j > i) {
        const int64_t at = LOWER ? j : n - 1 - static_cast<int64_t>(j);
        const int32_t found = at >= first ? atomicOr(&near[at - first], 0)
                                          : *static_cast<volatile int32_t *>(level + j);
        if (found < 0) break;
        mine = max(mine, found + 1);
      }
      q += LOWER ? 1 : -1;
    }
    if (q == end) {
      atomicExch(&near[threadIdx.x], mine);
      *static_cast<volatile int32_t *>(level + i) = mine;
      waiting = false;
    }
  }
  for (int s = BSI_WARP / 2; s > 0; s /= 2)
    mine = max(mine, __shfl_xor_sync(BSI_FULL_WARP, mine, s));
  if (threadIdx.x % BSI_WARP == 0)
    atomicMax(words + LEVELS, static_cast<unsigned long long>(mine) + 1);
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

/* Walks row i of a factor along the columns of the matrix's from *p on; false where that has
 * another block or none. */
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
                 triangle_of upper, unsigned long long *words) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * THREADS + threadIdx.x);
  if (i >= n) return;
  int32_t p = row_ptr[i];
  const int32_t end = row_ptr[i + 1];
  if (!row_fits(lower, col_idx, end, i, &p) || !row_fits(upper, col_idx, end, i, &p) || p != end)
    words[DIFFERS] = i;
}

} // namespace

static bisai_status split_triangles(bisai_context *context, const bisai_bcsr *a, bisai_factors *f,
                                    int32_t *missing) {
  const int32_t n = a->block_rows;
  const cudaStream_t stream = bsi_stream_of(context);
  bsi_temporary memory(context);
  int32_t *lower = memory.reserve<int32_t>(static_cast<size_t>(n) + 1);
  size_t bytes = 0;
  cudaError_t error = cub::DeviceScan::InclusiveSum(nullptr, bytes, lower, lower, n, stream);
  char *room = memory.reserve<char>(bytes);
  if (!memory.complete) return BISAI_OUT_OF_MEMORY;
  if (error == cudaSuccess) error = clear_words(context);
  if (error == cudaSuccess) error = cudaMemsetAsync(lower, 0, sizeof *lower, stream);
  int32_t blocks = 0;
  if (n > 0 && error == cudaSuccess) {
    find_diagonal<<<bsi_grid(n, THREADS), THREADS, 0, stream>>>(n, a->row_ptr, a->col_idx, lower,
                                                                context->first_fault);
    error = cub::DeviceScan::InclusiveSum(room, bytes, lower + 1, lower + 1, n, stream);
    if (error == cudaSuccess)
      error = cudaMemcpyAsync(&blocks, lower + n, sizeof blocks, cudaMemcpyDeviceToHost, stream);
  }
  if (error != cudaSuccess) return device_failure(context, "structure of block ILU", error);
  unsigned long long words[WORDS];
  bisai_status status =
      context->backend->memory->fetch(context, words, context->first_fault, sizeof words);
  if (status) return status;
  *missing = words[MISSING] == ~0ull ? -1 : static_cast<int32_t>(words[MISSING]);
  if (*missing >= 0) return BISAI_OK;
  status = bsi_bcsr_reserve(context, n, n, a->block_size, blocks, BISAI_FP64, nullptr, nullptr,
                            &f->lower);
  if (!status)
    status = bsi_bcsr_reserve(context, n, n, a->block_size, a->blocks - blocks, BISAI_FP64, nullptr,
                              nullptr, &f->upper);
  if (status) return status;
  f->longest_row = static_cast<int32_t>(words[LONGEST]);
  split_rows<<<bsi_grid((static_cast<int64_t>(n) + 1) * LANES, THREADS), THREADS, 0, stream>>>(
      n, a->row_ptr, a->col_idx, lower, f->lower->row_ptr, f->lower->col_idx, f->upper->row_ptr,
      f->upper->col_idx);
  return bsi_launched(context, "structure of block ILU");
}

static bisai_status find_levels(bisai_context *context, bisai_triangle triangle,
                                const bisai_bcsr *t, bsi_levels *levels) {
  const int32_t n = t->block_rows;
  const cudaStream_t stream = bsi_stream_of(context);
  bsi_temporary memory(context);
  int32_t *level = memory.reserve<int32_t>(n), *sorted = memory.reserve<int32_t>(n),
          *index = memory.reserve<int32_t>(n);
  int bits = 1;
  while (bits < 31 && n > 1 << bits) bits++;
  size_t bytes = 0;
  cudaError_t error = cub::DeviceRadixSort::SortPairs(nullptr, bytes, level, sorted, index, index,
                                                      n, 0, bits, stream);
  char *room = memory.reserve<char>(bytes);
  int32_t *rows =
      static_cast<int32_t *>(context->backend->memory->allocate(context, n, sizeof *rows));
  *levels = {0, nullptr, rows};
  if (!memory.complete || !rows) return BISAI_OUT_OF_MEMORY;
  if (n == 0) return error == cudaSuccess ? BISAI_OK : device_failure(context, "levels", error);
  if (error == cudaSuccess) error = clear_words(context);
  if (error == cudaSuccess) error = cudaMemsetAsync(level, 0xff, n * sizeof *level, stream);
  if (error != cudaSuccess) return device_failure(context, "levels", error);
  if (triangle == BISAI_LOWER)
    assign_levels<true><<<bsi_grid(n, LEVEL_THREADS), LEVEL_THREADS, 0, stream>>>(
        n, t->row_ptr, t->col_idx, level, context->tickets, context->first_fault);
  else
    assign_levels<false><<<bsi_grid(n, LEVEL_THREADS), LEVEL_THREADS, 0, stream>>>(
        n, t->row_ptr, t->col_idx, level, context->tickets, context->first_fault);
  error = cudaMemsetAsync(context->tickets, 0, sizeof *context->tickets, stream);
  number<<<bsi_grid(n, THREADS), THREADS, 0, stream>>>(n, index);
  if (error == cudaSuccess)
    error = cub::DeviceRadixSort::SortPairs(room, bytes, level, sorted, index, rows, n, 0, bits,
                                            stream);
  if (error != cudaSuccess) return device_failure(context, "levels", error);
  bisai_status status = bsi_launched(context, "levels");
  unsigned long long count = 0;
  if (!status)
    status = context->backend->memory->fetch(context, &count, context->first_fault + LEVELS,
                                             sizeof count);
  levels->count = static_cast<int32_t>(count);
  return status;
}

static bisai_status factors_fit(bisai_context *context, const bisai_factors *f, const bisai_bcsr *a,
                                bool *fit) {
  const triangle_of lower = {f->lower->row_ptr, f->lower->col_idx, f->lower_fill},
                    upper = {f->upper->row_ptr, f->upper->col_idx, f->upper_fill};
  *fit = true;
  if (a->block_rows == 0) return BISAI_OK;
  const cudaError_t error = clear_words(context);
  if (error != cudaSuccess) return device_failure(context, "structure of block ILU", error);
  compare_rows<<<bsi_grid(a->block_rows, THREADS), THREADS, 0, bsi_stream_of(context)>>>(
      a->block_rows, a->row_ptr, a->col_idx, lower, upper, context->first_fault);
  bisai_status status = bsi_launched(context, "structure of block ILU");
  unsigned long long row = 0;
  if (!status)
    status =
        context->backend->memory->fetch(context, &row, context->first_fault + DIFFERS, sizeof row);
  *fit = row == ~0ull;
  return status;
}

const bsi_symbolic_ops bsi_symbolic_cuda = {
    .split_triangles = split_triangles, .fit = factors_fit, .find_levels = find_levels};
