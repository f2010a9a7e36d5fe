/* SPDX-License-Identifier: BSD-3-Clause */
/* The study of a matrix on a device. A thread takes a scalar row, or a few lanes take one if blocks
 * have one value. Then a thread takes a diagonal block, or a warp a large one. A warp takes a row
 * of a sample. Arrays whose indices vary are in shared memory: a device reserves the memory of
 * threads for as many as it can hold. */
#include "core/block/block_sizes.h"
#include "core/block/invert_cuda.cuh"
#include "gpu/for_each.cuh"
#include "gpu/lanes.cuh"
#include "gpu/temporary.cuh"
#include "study/diagonal.h"
#include "study/samples.h"
#include "study/study_ops.h"

namespace {

/* Larger blocks do not fit the registers of a thread. */
constexpr int LARGEST = 6;
enum { THREADS = 128, LARGE_THREADS = 64 };
/* Thread blocks for each multiprocessor. A thread takes many rows, so that few records are added:
 * all warps add to the same words, one after the other. */
enum { BLOCKS = 16 };
constexpr char what[] = "study of a matrix";

using word = unsigned long long;

__device__ __forceinline__ int64_t thread_of_grid() {
  return blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x;
}

/* --- records --- */

__device__ __forceinline__ word *word_of(uint64_t *at) { return reinterpret_cast<word *>(at); }

/* Adds what the threads of a warp have found to `all`. Most words are empty in most warps. */
__device__ void add_record(const bsi_study_record &mine, bsi_study_record *all) {
  const bool first = threadIdx.x % BSI_WARP == 0;
#pragma unroll
  for (int k = 0; k < BSI_STUDY_SUMS; k++) {
    if (!__any_sync(BSI_FULL_WARP, mine.sums[k] != 0)) continue;
    const word sum = bsi_warp_sum(static_cast<word>(mine.sums[k]));
    if (first) atomicAdd(word_of(&all->sums[k]), sum);
  }
#pragma unroll
  for (int k = 0; k < BSI_STUDY_MOST; k++) {
    if (!__any_sync(BSI_FULL_WARP, mine.most[k] != 0)) continue;
    const word most = bsi_warp_max(static_cast<word>(mine.most[k]));
    if (first) atomicMax(word_of(&all->most[k]), most);
  }
#pragma unroll
  for (int k = 0; k < BSI_STUDY_LEAST; k++) {
    if (!__any_sync(BSI_FULL_WARP, mine.least[k] != UINT64_MAX)) continue;
    const word least = ~bsi_warp_max(~static_cast<word>(mine.least[k]));
    if (first) atomicMin(word_of(&all->least[k]), least);
  }
#pragma unroll
  for (int k = 0; k < BSI_STUDY_BITS; k++)
    if (mine.bits[k] != 0) atomicOr(word_of(&all->bits[k]), static_cast<word>(mine.bits[k]));
}

/* *record ← an empty record in device memory. */
bisai_status begin(bisai_context *context, bsi_temporary *memory, bsi_study_record **record) {
  bsi_study_record empty;
  bsi_study_clear(&empty);
  *record = memory->reserve<bsi_study_record>(1);
  if (!memory->complete) return BISAI_OUT_OF_MEMORY;
  return context->backend->memory->upload(context, *record, &empty, sizeof empty);
}

/* Adds a record in device memory to one in host memory. */
bisai_status fetch(bisai_context *context, const bsi_study_record *from, bsi_study_record *to) {
  bsi_study_record found;
  BSI_TRY(context->backend->memory->fetch(context, &found, from, sizeof found));
  bsi_study_merge(to, &found);
  return BISAI_OK;
}

/* Zeros in device memory; NULL if there is not enough. */
template <typename T>
bisai_status zeros_of(bisai_context *context, bsi_temporary *memory, size_t count, T **array) {
  *array = memory->reserve<T>(count);
  if (!memory->complete) return BISAI_OUT_OF_MEMORY;
  return bsi_gpu_fill(context, what, *array, 0, count * sizeof(T));
}

/* --- all rows --- */

/* What the kernels share. */
struct study_job {
  bsi_study_view a;
  bsi_study_record *record;
  /* Σ_j |a_ij|, j ≠ i, for each scalar row, also of padding */
  double *off;
  uint32_t *zeros;
  /* NULL, or two sums for each component */
  double *probes;
};

/* Adds the parts of the lanes of a row of blocks of one value. All lanes of the warp call. */
__device__ void add_lanes(const sharing &s, bsi_study_row *row) {
  row->sums[0] = sum_of_lanes(s, row->sums[0]);
  row->sizes[0] = sum_of_lanes(s, row->sizes[0]);
  row->probe = sum_of_lanes(s, row->probe);
  row->probe_size = sum_of_lanes(s, row->probe_size);
  row->diagonal = sum_of_lanes(s, row->diagonal); /* one lane has it */
  row->largest = largest_of_lanes(s, row->largest);
  row->nonzeros = sum_of_lanes(s, row->nonzeros);
}

/* Adds the sums of component r that the threads have, to those of all. */
__device__ void add_probes(int bs, int r, double probe, double size, double *probes) {
  __shared__ double sums[2 * BISAI_MAX_BLOCK_SIZE];
  const int threads = static_cast<int>(blockDim.x);
  for (int k = threadIdx.x; k < 2 * bs; k += threads) sums[k] = 0.0;
  __syncthreads();
  atomicAdd(&sums[2 * r], probe);
  atomicAdd(&sums[2 * r + 1], size);
  __syncthreads();
  for (int k = threadIdx.x; k < 2 * bs; k += threads) atomicAdd(&probes[k], sums[k]);
}

/* A thread takes scalar row `at`, or a lane a part of it, in `row`. Returns true if the thread has
 * what the row is. All lanes of a warp call. BS: the block size, or 0. */
template <int BS>
__device__ __forceinline__ bool study_row(const study_job &job, const sharing &s, int64_t at,
                                          bsi_study_row *row, bsi_study_record *record) {
  const int bs = BS > 0 ? BS : job.a.block_size;
  const bool inside = at < job.a.rows, counts = inside && s.member() == 0;
  const int32_t i = static_cast<int32_t>(at / bs);
  const int r = static_cast<int>(at % bs);
  bsi_study_row_clear(bs, row);
  if (inside)
    for (int32_t p = job.a.row_ptr[i] + s.member(); p < job.a.row_ptr[i + 1]; p += s.lanes)
      bsi_study_row_add(bs, &job.a, job.probes != nullptr, i, r, p, row);
  if (BS == 1) add_lanes(s, row);
  if (counts) job.off[at] = bsi_study_row_end(bs, r, row, record);
  return counts;
}

/* The number of thread blocks is a multiple of the block size: a thread takes rows of a component.
 */
template <int BS>
__global__ void __launch_bounds__(THREADS) study_rows(const study_job job, const sharing s) {
  const int64_t threads = gridDim.x * static_cast<int64_t>(THREADS);
  const int r = static_cast<int>(thread_of_grid() / s.lanes % BS);
  double probe = 0.0, size = 0.0;
  bsi_study_record record;
  bsi_study_row row;
  bsi_study_clear(&record);
  for (int64_t from = thread_of_grid() - threadIdx.x; from < job.a.rows * s.lanes;
       from += threads) {
    if (!study_row<BS>(job, s, (from + threadIdx.x) / s.lanes, &row, &record)) continue;
    probe += row.probe;
    size += row.probe_size;
  }
  if (job.probes) add_probes(BS, r, probe, size, job.probes);
  add_record(record, job.record);
}

/* As study_rows(), for any block size. A thread takes one row. */
__global__ void __launch_bounds__(LARGE_THREADS)
    study_large_rows(const study_job job, const sharing s) {
  __shared__ bsi_study_row rows[LARGE_THREADS];
  const int64_t at = blockIdx.x * static_cast<int64_t>(LARGE_THREADS) + threadIdx.x;
  bsi_study_row *row = &rows[threadIdx.x];
  bsi_study_record record;
  bsi_study_clear(&record);
  const bool counts = study_row<0>(job, s, at, row, &record);
  if (job.probes)
    add_probes(job.a.block_size, static_cast<int>(at % job.a.block_size), counts ? row->probe : 0.0,
               counts ? row->probe_size : 0.0, job.probes);
  add_record(record, job.record);
}

/* A thread takes block rows. */
template <int BS> __global__ void __launch_bounds__(THREADS) study_diagonal(const study_job job) {
  const int64_t threads = gridDim.x * static_cast<int64_t>(THREADS);
  bsi_study_record record;
  bsi_study_clear(&record);
  for (int64_t i = thread_of_grid(); i < job.a.block_rows; i += threads) {
    const int32_t row = static_cast<int32_t>(i);
    const double *off = job.off + i * BS;
    const bsi_study_block found = bsi_study_block_row(BS, &job.a, row, off, &record);
    double inverse[BS * BS];
    job.zeros[i] = found.zeros;
    if (found.diagonal >= 0 && !job.a.brief)
      bsi_study_invert_diagonal(BS, bsi_study_block_at(BS, &job.a, found.diagonal), off, row,
                                inverse, &record);
  }
  add_record(record, job.record);
}

/* As study_diagonal(), for any block size. A warp, which is a thread block, takes a block row. */
__global__ void __launch_bounds__(BSI_WARP) study_large_diagonal(const study_job job) {
  extern __shared__ double inverse[];
  const int bs = job.a.block_size, lane = threadIdx.x;
  const int32_t i = static_cast<int32_t>(blockIdx.x);
  const double *off = job.off + static_cast<int64_t>(i) * bs;
  bsi_study_record record;
  bsi_study_block found = {-1, 0};
  bsi_study_clear(&record);
  if (lane == 0) found = bsi_study_block_row(bs, &job.a, i, off, &record);
  if (lane == 0) job.zeros[i] = found.zeros;
  const int32_t p = __shfl_sync(BSI_FULL_WARP, found.diagonal, 0);
  if (p >= 0 && !job.a.brief) {
    const double *block = bsi_study_block_at(bs, &job.a, p);
    double condition;
    const bool singular = bsi_warp_invert<0>(bs, block, inverse, &condition) == BSI_BLOCK_SINGULAR,
               below = singular || lane >= bs ||
                       bsi_study_dominated(bs, block, inverse, off, lane) <= 1.0 + BSI_STUDY_ZERO,
               dominant = __all_sync(BSI_FULL_WARP, below);
    if (lane == 0) bsi_study_diagonal_block(singular, condition, dominant, i, &record);
  }
  add_record(record, job.record);
}

/* The thread blocks for so many threads, at most BLOCKS for each multiprocessor, in multiples. */
unsigned grid_of(const bisai_context *context, int64_t threads, int multiple) {
  const unsigned wanted = bsi_grid(threads, THREADS),
                 most = static_cast<unsigned>(BLOCKS * context->limits.processors),
                 parts = bsi_grid(wanted < most ? wanted : most, multiple);
  return parts * static_cast<unsigned>(multiple);
}

template <int BS> void launch_rows(bisai_context *context, const study_job &job) {
  const bsi_study_view &a = job.a;
  const int lanes = BS == 1 ? lanes_for(mean_length(a.block_rows, a.blocks), 2) : 1;
  const sharing s = {static_cast<int32_t>(a.rows), lanes};
  study_rows<BS>
      <<<grid_of(context, a.rows * lanes, BS), THREADS, 0, bsi_stream_of(context)>>>(job, s);
  study_diagonal<BS>
      <<<grid_of(context, a.block_rows, 1), THREADS, 0, bsi_stream_of(context)>>>(job);
}

void launch_large_rows(bisai_context *context, const study_job &job) {
  const bsi_study_view &a = job.a;
  const size_t bytes = static_cast<size_t>(a.block_size) * a.block_size * sizeof(double);
  const sharing s = {static_cast<int32_t>(a.rows), 1};
  study_large_rows<<<bsi_grid(a.rows, LARGE_THREADS), LARGE_THREADS, 0, bsi_stream_of(context)>>>(
      job, s);
  study_large_diagonal<<<static_cast<unsigned>(a.block_rows), BSI_WARP, bytes,
                         bsi_stream_of(context)>>>(job);
}

void launch_rows_of(bisai_context *context, const study_job &job) {
  switch (job.a.block_size) {
#define CASE(BS)                                                                                   \
  case BS:                                                                                         \
    if constexpr (BS <= LARGEST) return launch_rows<BS>(context, job);                             \
    break;
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  }
  launch_large_rows(context, job);
}

bisai_status rows(bisai_context *context, const bsi_study_view *a, uint32_t *zeros, double *probes,
                  bsi_study_record *record) {
  const size_t count = static_cast<size_t>(a->block_rows) * a->block_size, sums = 2 * a->block_size;
  bsi_temporary memory(context);
  study_job job = {.a = *a, .zeros = zeros};
  if (probes) memset(probes, 0, sums * sizeof *probes);
  if (a->block_rows == 0) return BISAI_OK;
  BSI_TRY(begin(context, &memory, &job.record));
  BSI_TRY(zeros_of(context, &memory, count, &job.off));
  if (probes) BSI_TRY(zeros_of(context, &memory, sums, &job.probes));
  launch_rows_of(context, job);
  BSI_TRY(bsi_launched(context, what));
  BSI_TRY(fetch(context, job.record, record));
  if (!probes) return BISAI_OK;
  return context->backend->memory->fetch(context, probes, job.probes, sums * sizeof *probes);
}

/* --- rows with a zero on the diagonal --- */

__global__ void __launch_bounds__(THREADS)
    count_inner(const bsi_study_view a, const uint32_t *zeros, word *inner) {
  const int64_t at = thread_of_grid();
  word found = 0;
  if (at < a.rows) {
    const int32_t i = static_cast<int32_t>(at / a.block_size);
    const int r = static_cast<int>(at % a.block_size);
    if (zeros[i] >> r & 1u) found = bsi_study_inner_entries(&a, zeros, i, r);
  }
  found = bsi_warp_sum(found);
  if (threadIdx.x % BSI_WARP == 0 && found > 0) atomicAdd(inner, found);
}

bisai_status inner(bisai_context *context, const bsi_study_view *a, const uint32_t *zeros,
                   int64_t *entries) {
  bsi_temporary memory(context);
  word *found;
  BSI_TRY(zeros_of(context, &memory, 1, &found));
  count_inner<<<bsi_grid(a->rows, THREADS), THREADS, 0, bsi_stream_of(context)>>>(*a, zeros, found);
  BSI_TRY(bsi_launched(context, what));
  return context->backend->memory->fetch(context, entries, found, sizeof *entries);
}

/* --- columns --- */

/* A thread adds scalar row `at` to the sums of its columns. The order of the additions changes
 * their last bits, which are below the limit for zero. */
__device__ void add_to_columns(const bsi_study_view &a, int64_t at, double *sums, double *sizes) {
  const int bs = a.block_size;
  const int32_t i = static_cast<int32_t>(at / bs);
  const int r = static_cast<int>(at % bs);
  for (int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; p++)
    for (int c = 0; c < bs; c++) {
      const double value = a.values[(static_cast<int64_t>(p) * bs + c) * bs + r];
      const int64_t to = (static_cast<int64_t>(a.col_idx[p]) * bs + c) * bs + r;
      atomicAdd(&sums[to], value);
      atomicAdd(&sizes[to], fabs(value));
    }
}

__global__ void __launch_bounds__(THREADS)
    study_columns(const bsi_study_view a, const double *sums, const double *sizes,
                  bsi_study_record *all) {
  const int64_t at = thread_of_grid();
  bsi_study_record record;
  bsi_study_clear(&record);
  if (at < a.rows)
    bsi_study_take_out(a.block_size, sums + at * a.block_size, sizes + at * a.block_size, &record);
  add_record(record, all);
}

bisai_status columns(bisai_context *context, const bsi_study_view *a, bsi_study_record *record) {
  const size_t bs = static_cast<size_t>(a->block_size),
               count = static_cast<size_t>(a->block_rows) * bs * bs;
  bsi_temporary memory(context);
  bsi_study_record *found;
  double *sums;
  if (a->rows == 0) return BISAI_OK;
  BSI_TRY(begin(context, &memory, &found));
  BSI_TRY(zeros_of(context, &memory, 2 * count, &sums));
  const bsi_study_view view = *a;
  BSI_TRY(bsi_for_each(context, what, a->rows, [=] __device__(int64_t at) {
    add_to_columns(view, at, sums, sums + count);
  }));
  study_columns<<<bsi_grid(a->rows, THREADS), THREADS, 0, bsi_stream_of(context)>>>(
      *a, sums, sums + count, found);
  BSI_TRY(bsi_launched(context, what));
  return fetch(context, found, record);
}

/* --- constants in the rows of a pressure --- */

__device__ bool row_vanishes(const bsi_study_view &a, bsi_study_range range, int32_t i) {
  double sum = 0.0, size = 0.0;
  for (int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; p++)
    if (a.col_idx[p] >= range.first && a.col_idx[p] < range.end) {
      sum += a.values[p];
      size += fabs(a.values[p]);
    }
  return bsi_study_vanishes(sum, size);
}

bisai_status pressure(bisai_context *context, const bsi_study_view *a, bsi_study_range range,
                      bool *right, bool *left) {
  const size_t count = static_cast<size_t>(a->block_rows);
  bsi_temporary memory(context);
  double *sums;
  int32_t *differ, found[2];
  BSI_TRY(zeros_of(context, &memory, 2 * count, &sums));
  BSI_TRY(zeros_of(context, &memory, 2, &differ));
  const bsi_study_view view = *a;
  BSI_TRY(bsi_for_each(context, what, range.end - range.first, [=] __device__(int64_t at) {
    add_to_columns(view, range.first + at, sums, sums + count);
  }));
  BSI_TRY(bsi_for_each(context, what, a->block_rows, [=] __device__(int64_t at) {
    if (!row_vanishes(view, range, static_cast<int32_t>(at))) differ[0] = 1;
    if (!bsi_study_vanishes(sums[at], sums[count + at])) differ[1] = 1;
  }));
  BSI_TRY(context->backend->memory->fetch(context, found, differ, sizeof found));
  *right = found[0] == 0;
  *left = found[1] == 0;
  return BISAI_OK;
}

/* --- samples --- */

/* Sets the sums of a warp, one for each component and lane, to zero. */
__device__ bsi_study_pairs pairs_in(double *room, int bs) {
  const int lane = threadIdx.x;
  for (int k = lane; k < 3 * bs * BSI_WARP; k += BSI_WARP) room[k] = 0.0;
  __syncwarp();
  return {room + lane, room + bs * BSI_WARP + lane, room + 2 * bs * BSI_WARP + lane, BSI_WARP};
}

/* A warp, which is a thread block, compares a row of the sample with its column, each lane some
 * blocks. */
__global__ void __launch_bounds__(BSI_WARP)
    study_sample(const bsi_study_view a, int32_t count, bsi_study_record *all) {
  extern __shared__ double room[];
  const int bs = a.block_size, lane = threadIdx.x;
  const int32_t i = bsi_study_sample(a.block_rows, count, static_cast<int32_t>(blockIdx.x)),
                begin = a.row_ptr[i] + lane, end = a.row_ptr[i + 1];
  const double *here = bsi_study_block_at(bs, &a, bsi_find_diagonal(a.row_ptr, a.col_idx, i));
  const bsi_study_pairs pairs = pairs_in(room, bs);
  bsi_study_record record;
  bsi_study_clear(&record);
  for (int32_t p = begin; p < end; p += BSI_WARP)
    bsi_study_sample_block(bs, &a, i, p, here, &pairs, &record);
  for (int r = 0; r < bs; r++) {
    const double largest = bsi_warp_max_magnitude(pairs.largest[r * BSI_WARP]),
                 difference = bsi_warp_sum(pairs.difference[r * BSI_WARP]),
                 size = bsi_warp_sum(pairs.size[r * BSI_WARP]);
    if (largest == 0.0) continue;
    bsi_study_strengths s = bsi_study_strengths_of(bs, &a, i, r, largest, begin, BSI_WARP);
    s.all = bsi_warp_sum(s.all);
    s.weak = bsi_warp_sum(s.weak);
    if (lane == 0) bsi_study_sample_end(difference, size, s, &record);
  }
  add_record(record, all);
}

bisai_status sample(bisai_context *context, const bsi_study_view *a, int32_t count,
                    bsi_study_record *record) {
  const size_t bytes = 3 * static_cast<size_t>(a->block_size) * BSI_WARP * sizeof(double);
  bsi_temporary memory(context);
  bsi_study_record *found;
  if (count == 0) return BISAI_OK;
  BSI_TRY(begin(context, &memory, &found));
  study_sample<<<static_cast<unsigned>(count), BSI_WARP, bytes, bsi_stream_of(context)>>>(*a, count,
                                                                                          found);
  BSI_TRY(bsi_launched(context, what));
  return fetch(context, found, record);
}

/* The warps that share a row of the sample of unknowns; their inverses are in shared memory. */
int warps_for(int bs) { return bs <= BSI_SPECIAL_SIZES ? 8 : 2; }

/* Inverts the diagonal block of row i by a warp, in `room`. BS: the block size, or 0. */
template <int BS>
__device__ bsi_study_inverse invert(const bsi_study_view &a, int bs, int32_t i, double *room) {
  const double *block = bsi_study_block_at(bs, &a, bsi_find_diagonal(a.row_ptr, a.col_idx, i));
  double condition;
  __syncwarp(); /* all lanes have read the last inverse */
  bsi_study_inverse result = {block, nullptr};
  if (block && bsi_warp_invert<BS>(bs, block, room, &condition) != BSI_BLOCK_SINGULAR)
    result.inverse = room;
  __syncwarp();
  return result;
}

/* Returns the coupling of block q = (i, j) in the matrix of unknown k, the lane's number, or 0. */
template <int BS>
__device__ double couple(const bsi_study_view &a, int bs, int32_t i, int32_t q,
                         const bsi_study_inverse &here, double *room) {
  const int k = threadIdx.x % BSI_WARP;
  const int32_t j = a.col_idx[q];
  const int32_t mirror =
      j == i ? -1 : bsi_find_column(a.col_idx, a.row_ptr[j], a.row_ptr[j + 1], i);
  if (mirror < 0) return 0.0; /* all lanes */
  const bsi_study_inverse there = invert<BS>(a, bs, j, room);
  if (!there.diagonal || k >= bs) return 0.0;
  return bsi_study_coupling(bs, &here, &there, bsi_study_block_at(bs, &a, q),
                            bsi_study_block_at(bs, &a, mirror), k);
}

/* A thread block measures a row of the sample, each warp some blocks. Lane k has unknown k. Shared
 * memory has two inverses for each warp, then the couplings of all warps.
 *   BS: the block size, or 0 */
template <int BS>
__global__ void study_unknowns(const bsi_study_view a, int32_t count, word *sums) {
  extern __shared__ double shared[];
  const int bs = BS > 0 ? BS : a.block_size, size = bs * bs;
  const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP,
            warps = static_cast<int>(blockDim.x) / BSI_WARP;
  const int32_t i = bsi_study_sample(a.block_rows, count, static_cast<int32_t>(blockIdx.x)),
                end = a.row_ptr[i + 1];
  double *own = shared + 2 * warp * size, *couplings = shared + 2 * warps * size;
  double coupling = 0.0;
  const bsi_study_inverse here = invert<BS>(a, bs, i, own);
  if (here.diagonal)
    for (int32_t q = a.row_ptr[i] + warp; q < end; q += warps)
      coupling += couple<BS>(a, bs, i, q, here, own + size);
  if (lane < bs) couplings[warp * bs + lane] = coupling;
  __syncthreads();
  for (int p = threadIdx.x; p < bs; p += static_cast<int>(blockDim.x)) {
    double sum = 0.0;
    for (int w = 0; w < warps; w++) sum += couplings[w * bs + p];
    atomicAdd(&sums[2 * p], static_cast<word>(bsi_study_units(sum)));
  }
  for (int v = threadIdx.x; v < size; v += static_cast<int>(blockDim.x)) {
    const word reach = bsi_study_reach(bs, &a, i, v % bs, v / bs, here.diagonal);
    atomicAdd(&sums[2 * (v / bs) + 1], reach);
  }
}

template <int BS>
void launch_unknowns(bisai_context *context, const bsi_study_view &a, int32_t count, word *sums) {
  const size_t bs = static_cast<size_t>(a.block_size), warps = warps_for(a.block_size);
  study_unknowns<BS>
      <<<static_cast<unsigned>(count), static_cast<unsigned>(warps * BSI_WARP),
         warps *(2 * bs * bs + bs) * sizeof(double), bsi_stream_of(context)>>>(a, count, sums);
}

bisai_status unknowns(bisai_context *context, const bsi_study_view *a, int32_t count,
                      uint64_t *sums) {
  const size_t words = 2 * static_cast<size_t>(a->block_size);
  bsi_temporary memory(context);
  word *found;
  BSI_TRY(zeros_of(context, &memory, words, &found));
  switch (a->block_size) {
  case 2: launch_unknowns<2>(context, *a, count, found); break;
  case 3: launch_unknowns<3>(context, *a, count, found); break;
  case 4: launch_unknowns<4>(context, *a, count, found); break;
  case 5: launch_unknowns<5>(context, *a, count, found); break;
  default: launch_unknowns<0>(context, *a, count, found);
  }
  BSI_TRY(bsi_launched(context, what));
  return context->backend->memory->fetch(context, sums, found, words * sizeof *sums);
}

/* --- fields --- */

/* A thread takes an unknown of a sampled node, for m = 2 + blockIdx.y fields. */
__global__ void __launch_bounds__(THREADS)
    study_fields(const bsi_study_view a, bsi_study_fields_count *all) {
  const int m = 2 + static_cast<int>(blockIdx.y);
  const int64_t at = thread_of_grid();
  const int field = static_cast<int>(at % BSI_STUDY_FIELDS);
  const int32_t s = static_cast<int32_t>(at / BSI_STUDY_FIELDS);
  if (field >= m || s >= bsi_study_sampled_nodes(a.block_rows, m)) return;
  const bsi_study_field_row mine =
      bsi_study_field_row_of(a.row_ptr, a.col_idx, a.block_rows, m, s, field);
  bsi_study_fields_count *sums = all + m;
  atomicAdd(word_of(&sums->common), static_cast<word>(mine.common));
  atomicAdd(word_of(&sums->either), static_cast<word>(mine.either));
  atomicAdd(word_of(&sums->outside), static_cast<word>(mine.outside));
  atomicAdd(word_of(&sums->matched), static_cast<word>(mine.matched));
  for (int g = 0; g < m; g++)
    if (mine.coupled >> g & 1u)
      atomicAdd(word_of(&sums->coupled[field * BSI_STUDY_FIELDS + g]), word(1));
}

bisai_status fields(bisai_context *context, const bsi_study_view *a, bsi_study_fields_count *sums) {
  constexpr int64_t most = static_cast<int64_t>(BSI_STUDY_SAMPLE_NODES) * BSI_STUDY_FIELDS;
  bsi_temporary memory(context);
  bsi_study_fields_count *found;
  BSI_TRY(zeros_of(context, &memory, BSI_STUDY_FIELDS + 1, &found));
  const dim3 grid(bsi_grid(most, THREADS), BSI_STUDY_FIELDS - 1);
  study_fields<<<grid, THREADS, 0, bsi_stream_of(context)>>>(*a, found);
  BSI_TRY(bsi_launched(context, what));
  return context->backend->memory->fetch(context, sums, found,
                                         (BSI_STUDY_FIELDS + 1) * sizeof *sums);
}

} // namespace

const bsi_study_ops bsi_study_cuda = {.rows = rows,
                                      .inner = inner,
                                      .columns = columns,
                                      .pressure = pressure,
                                      .sample = sample,
                                      .unknowns = unknowns,
                                      .fields = fields};
