/* SPDX-License-Identifier: BSD-3-Clause */
/* The study of a matrix on a device. A thread takes a scalar row, or a few lanes take one if blocks
 * have one value; then a thread takes a diagonal block. A warp takes a row of a sample. */
#include "core/block/block_sizes.h"
#include "gpu/for_each.cuh"
#include "gpu/lanes.cuh"
#include "gpu/temporary.cuh"
#include "study/samples.h"
#include "study/study_ops.h"

namespace {

enum { THREADS = 128 };
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

/* Adds the sums of the rows of a thread block to those of all. */
__device__ void add_probes(int bs, int r, const bsi_study_row &row, bool counts, double *probes) {
  __shared__ double sums[2 * BISAI_MAX_BLOCK_SIZE];
  for (int k = threadIdx.x; k < 2 * bs; k += THREADS) sums[k] = 0.0;
  __syncthreads();
  if (counts) {
    atomicAdd(&sums[2 * r], row.probe);
    atomicAdd(&sums[2 * r + 1], row.probe_size);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 2 * bs; k += THREADS) atomicAdd(&probes[k], sums[k]);
}

/* A thread takes a scalar row, or a lane a part of one. BS: the block size, or 0. */
template <int BS>
__global__ void __launch_bounds__(THREADS) study_rows(const study_job job, const sharing s) {
  const int bs = BS > 0 ? BS : job.a.block_size;
  const int64_t at = thread_of_grid() / s.lanes;
  const bool inside = at < job.a.rows, counts = inside && s.member() == 0;
  const int32_t i = static_cast<int32_t>(at / bs);
  const int r = static_cast<int>(at % bs);
  bsi_study_record record;
  bsi_study_row row;
  bsi_study_clear(&record);
  bsi_study_row_clear(bs, &row);
  if (inside)
    for (int32_t p = job.a.row_ptr[i] + s.member(); p < job.a.row_ptr[i + 1]; p += s.lanes)
      bsi_study_row_add(bs, &job.a, job.probes != nullptr, i, r, p, &row);
  if (BS == 1) add_lanes(s, &row);
  if (job.probes) add_probes(bs, r, row, counts, job.probes);
  if (counts) job.off[at] = bsi_study_row_end(bs, r, &row, &record);
  add_record(record, job.record);
}

/* A thread takes a block row. BS: the block size, or 0. */
template <int BS> __global__ void __launch_bounds__(THREADS) study_diagonal(const study_job job) {
  const int bs = BS > 0 ? BS : job.a.block_size;
  const int64_t i = thread_of_grid();
  double inverse[BS > 0 ? BS * BS : BSI_MAX_BLOCK_VALUES];
  bsi_study_record record;
  bsi_study_clear(&record);
  if (i < job.a.block_rows)
    job.zeros[i] = bsi_study_block_row(bs, &job.a, static_cast<int32_t>(i), job.off + i * bs,
                                       inverse, &record);
  add_record(record, job.record);
}

template <int BS> void launch_rows(bisai_context *context, const study_job &job) {
  const bsi_study_view &a = job.a;
  const int lanes = BS == 1 ? lanes_for(mean_length(a.block_rows, a.blocks), 2) : 1;
  const sharing s = {static_cast<int32_t>(a.rows), lanes};
  study_rows<BS><<<bsi_grid(a.rows * lanes, THREADS), THREADS, 0, bsi_stream_of(context)>>>(job, s);
  study_diagonal<BS><<<bsi_grid(a.block_rows, THREADS), THREADS, 0, bsi_stream_of(context)>>>(job);
}

#define CASE(BS)                                                                                   \
  case BS: launch_rows<BS>(context, job); break;
void launch_rows_of(bisai_context *context, const study_job &job) {
  switch (job.a.block_size) {
    BSI_BLOCK_SIZES(CASE)
  default: launch_rows<0>(context, job);
  }
}
#undef CASE

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

/* --- samples --- */

/* A warp compares a row of the sample with its column, each lane some blocks. */
__global__ void __launch_bounds__(THREADS)
    study_sample(const bsi_study_view a, int32_t count, bsi_study_record *all) {
  const int bs = a.block_size, lane = threadIdx.x % BSI_WARP;
  const int64_t k = thread_of_grid() / BSI_WARP;
  bsi_study_record record;
  bsi_study_pairs pairs;
  bsi_study_clear(&record);
  if (k >= count) return; /* whole warps */
  const int32_t i = bsi_study_sample(a.block_rows, count, static_cast<int32_t>(k)),
                begin = a.row_ptr[i] + lane, end = a.row_ptr[i + 1];
  const double *here = bsi_study_block_at(bs, &a, bsi_find_diagonal(a.row_ptr, a.col_idx, i));
  for (int r = 0; r < bs; r++) pairs.difference[r] = pairs.size[r] = pairs.largest[r] = 0.0;
  for (int32_t p = begin; p < end; p += BSI_WARP)
    bsi_study_sample_block(bs, &a, i, p, here, &pairs, &record);
  for (int r = 0; r < bs; r++) {
    const double largest = bsi_warp_max_magnitude(pairs.largest[r]);
    if (largest == 0.0) continue;
    const double difference = bsi_warp_sum(pairs.difference[r]), size = bsi_warp_sum(pairs.size[r]);
    bsi_study_strengths s = bsi_study_strengths_of(bs, &a, i, r, largest, begin, BSI_WARP);
    s.all = bsi_warp_sum(s.all);
    s.weak = bsi_warp_sum(s.weak);
    if (lane == 0) bsi_study_sample_end(difference, size, s, &record);
  }
  add_record(record, all);
}

bisai_status sample(bisai_context *context, const bsi_study_view *a, int32_t count,
                    bsi_study_record *record) {
  bsi_temporary memory(context);
  bsi_study_record *found;
  if (count == 0) return BISAI_OK;
  BSI_TRY(begin(context, &memory, &found));
  study_sample<<<bsi_grid(static_cast<int64_t>(count) * BSI_WARP, THREADS), THREADS, 0,
                 bsi_stream_of(context)>>>(*a, count, found);
  BSI_TRY(bsi_launched(context, what));
  return fetch(context, found, record);
}

/* A warp, which is a thread block, measures a row of the sample. LARGEST: the largest block size,
 * because inverses are in the memory of a thread. */
template <int LARGEST>
__global__ void __launch_bounds__(BSI_WARP)
    study_unknowns(const bsi_study_view a, int32_t count, word *sums) {
  const int bs = a.block_size, lane = threadIdx.x;
  const int32_t i = bsi_study_sample(a.block_rows, count, static_cast<int32_t>(blockIdx.x)),
                end = a.row_ptr[i + 1];
  double couplings[LARGEST], own[LARGEST * LARGEST], room[LARGEST * LARGEST];
  for (int p = 0; p < bs; p++) couplings[p] = 0.0;
  const bsi_study_inverse here = bsi_study_invert(bs, &a, i, own);
  for (int32_t q = a.row_ptr[i] + lane; q < end; q += BSI_WARP)
    if (a.col_idx[q] != i) bsi_study_couple(bs, &a, i, q, &here, room, couplings);
  for (int p = 0; p < bs; p++) {
    const double coupling = bsi_warp_sum(couplings[p]);
    word reach = 0;
    for (int l = lane; l < bs; l += BSI_WARP)
      reach += bsi_study_reach(bs, &a, i, l, p, here.diagonal);
    reach = bsi_warp_sum(reach);
    if (lane > 0) continue;
    atomicAdd(&sums[2 * p], static_cast<word>(bsi_study_units(coupling)));
    atomicAdd(&sums[2 * p + 1], reach);
  }
}

bisai_status unknowns(bisai_context *context, const bsi_study_view *a, int32_t count,
                      uint64_t *sums) {
  const size_t words = 2 * static_cast<size_t>(a->block_size);
  bsi_temporary memory(context);
  word *found;
  BSI_TRY(zeros_of(context, &memory, words, &found));
  const auto kernel = a->block_size <= BSI_SPECIAL_SIZES ? study_unknowns<BSI_SPECIAL_SIZES>
                                                         : study_unknowns<BISAI_MAX_BLOCK_SIZE>;
  kernel<<<static_cast<unsigned>(count), BSI_WARP, 0, bsi_stream_of(context)>>>(*a, count, found);
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
  bsi_study_fields_count mine = {};
  bsi_study_field_row(a.row_ptr, a.col_idx, a.block_rows, m, s, field, &mine);
  bsi_study_fields_count *sums = all + m;
  atomicAdd(word_of(&sums->common), static_cast<word>(mine.common));
  atomicAdd(word_of(&sums->either), static_cast<word>(mine.either));
  atomicAdd(word_of(&sums->outside), static_cast<word>(mine.outside));
  atomicAdd(word_of(&sums->matched), static_cast<word>(mine.matched));
  for (int g = 0; g < m; g++) {
    const int pair = field * BSI_STUDY_FIELDS + g;
    if (mine.coupled[pair] > 0)
      atomicAdd(word_of(&sums->coupled[pair]), static_cast<word>(mine.coupled[pair]));
  }
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
                                      .sample = sample,
                                      .unknowns = unknowns,
                                      .fields = fields};
