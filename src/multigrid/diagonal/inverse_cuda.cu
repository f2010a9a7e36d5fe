/* SPDX-License-Identifier: BSD-3-Clause */
/* Inverses of the diagonal blocks of a level on a GPU. A thread inverts a small block, which takes
 * a tenth of the time that a warp takes (bsi_inversion_cuda), and larger blocks go there. A second
 * launch of one thread completes the statistics, for which the host waits once. */
#include "core/block/block_sizes.h"
#include "core/matrix/triangular.h"
#include "factor/factor_ops.h"
#include "factor/inversion_record_cuda.cuh"
#include "gpu/launch.cuh"
#include "gpu/warp.cuh"
#include "multigrid/diagonal/diagonal_ops.h"
#include "multigrid/spgemm/rows_cuda.cuh"

namespace {

constexpr char what[] = "inverses of diagonal blocks";
constexpr int THREADS = 128;
/* Blocks of more rows do not fit the registers of a thread. */
constexpr int LARGEST = 6;

struct report {
  static constexpr int firsts = bsi_inversion_record::firsts;
  bsi_inversion_record inversion;
  /* the bits of the largest magnitude in the inverses */
  unsigned long long largest;
};

struct inversion {
  int32_t block_rows;
  const int32_t *row_ptr, *position;
  const double *values;
  double amount;
  double *inverses;
  bsi_inversion_record *record;
  /* report::largest */
  unsigned long long *largest;
};

/* Inverts the block of a row.
 *   BS: the block size */
template <int BS>
__device__ __forceinline__ bsi_block_result invert(const inversion &p, int64_t i,
                                                   double (&inverse)[BS * BS], double *condition) {
  constexpr int VALUES = BS * BS;
  double a[VALUES];
  const int32_t begin = __ldg(p.row_ptr + i), position = __ldg(p.position + i);
#pragma unroll
  for (int v = 0; v < VALUES; v++) a[v] = 0.0;
  if (position >= 0) load_in_pairs(p.values + static_cast<int64_t>(position) * VALUES, a);
  return bsi_block_invert_shifted(BS, a, p.amount, p.values + static_cast<int64_t>(begin) * VALUES,
                                  __ldg(p.row_ptr + i + 1) - begin, inverse, condition);
}

__device__ __forceinline__ unsigned long long magnitude_bits(double value) {
  return static_cast<unsigned long long>(__double_as_longlong(fabs(value)));
}

/* The upper half of `word` is that of the condition, and the lower half prefers the first row. */
__device__ __forceinline__ unsigned long long word_of(double condition, int64_t i) {
  if (!(condition > 0.0)) return 0;
  const unsigned long long bits = static_cast<unsigned long long>(__double_as_longlong(condition));
  return (bits & 0xffffffff00000000ull) | (0xffffffffull - static_cast<unsigned long long>(i));
}

/* The lanes of a warp write the inverses of their blocks one after the other, so that each request
 * writes whole lines. */
template <int BS> __global__ void __launch_bounds__(THREADS) invert_blocks(const inversion p) {
  constexpr int VALUES = BS * BS;
  __shared__ double of_warps[THREADS / BSI_WARP][BSI_WARP * VALUES];
  const int lane = threadIdx.x % BSI_WARP;
  double *of_warp = of_warps[threadIdx.x / BSI_WARP];
  const int64_t i = blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x;
  unsigned long long word = 0, largest = 0;
  bsi_wait_for_predecessor();
  if (i < p.block_rows) {
    double inverse[VALUES], condition;
    const bsi_block_result result = invert<BS>(p, i, inverse, &condition);
    if (result != BSI_BLOCK_OK) bsi_record_inversion(p.record, result, i);
#pragma unroll
    for (int v = 0; v < VALUES; v++) {
      of_warp[lane * VALUES + v] = inverse[v];
      largest = max(largest, magnitude_bits(inverse[v]));
    }
    word = word_of(condition, i);
  }
  __syncwarp();
  const int64_t first = i - lane, last = min(first + BSI_WARP, static_cast<int64_t>(p.block_rows));
  for (int v = lane; v < (last - first) * VALUES; v += BSI_WARP)
    p.inverses[first * VALUES + v] = of_warp[v];
  word = bsi_warp_max(word);
  largest = bsi_warp_max(largest);
  if (threadIdx.x % BSI_WARP > 0) return;
  if (word > p.record->condition) atomicMax(&p.record->condition, word);
  if (largest > *p.largest) atomicMax(p.largest, largest);
}

/* Puts the condition itself and its row into the record. */
template <int BS> __global__ void name_condition(const inversion p) {
  bsi_wait_for_predecessor();
  const unsigned long long word = p.record->condition;
  if (word == 0) return;
  const int64_t i = static_cast<int64_t>(0xffffffffull - (word & 0xffffffffull));
  double inverse[BS * BS], condition;
  invert<BS>(p, i, inverse, &condition);
  p.record->condition = static_cast<unsigned long long>(__double_as_longlong(condition));
  p.record->condition_row = static_cast<unsigned long long>(i);
}

template <int BS> void enqueue(const bisai_context *context, const inversion &p) {
  bsi_launch_early(context, invert_blocks<BS>, bsi_grid(p.block_rows, THREADS), THREADS, 0, p);
  bsi_launch_early(context, name_condition<BS>, 1, 1, 0, p);
}

} // namespace

/* Enqueues the inversions. */
static void enqueue_all(const bisai_context *context, int block_size, const inversion &p) {
  switch (block_size) {
#define CASE(BS)                                                                                   \
  case BS:                                                                                         \
    if constexpr (BS <= LARGEST) enqueue<BS>(context, p);                                          \
    break;
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  }
}

static void read(const void *record, bsi_invert_stats *stats, double *largest) {
  const report *found = static_cast<const report *>(record);
  bsi_inversion_record_add(found->inversion, stats);
  if (largest) memcpy(largest, &found->largest, sizeof *largest);
}

static bisai_status invert(bisai_context *context, const bisai_bcsr *matrix,
                           const int32_t *position, double shift_amount, double *inverses,
                           void *record, bsi_inversion_findings *result) {
  const int64_t values = static_cast<int64_t>(bsi_block_offset(matrix, matrix->block_rows));
  if (matrix->block_size > LARGEST || matrix->block_rows == 0) {
    BSI_TRY(bsi_inversion_cuda.invert(context, matrix, position, shift_amount, inverses,
                                      result->stats));
    if (!result->largest) return BISAI_OK;
    return bsi_vectors_cuda.largest(context, values, inverses, result->largest);
  }
  report *to = record ? static_cast<report *>(record) : bsi_record_of<report>(context), found;
  const inversion p = {.block_rows = matrix->block_rows,
                       .row_ptr = matrix->row_ptr,
                       .position = position,
                       .values = static_cast<const double *>(matrix->values),
                       .amount = shift_amount,
                       .inverses = inverses,
                       .record = &to->inversion,
                       .largest = &to->largest};
  BSI_TRY(bsi_record_begin(context, what, to));
  enqueue_all(context, matrix->block_size, p);
  BSI_TRY(bsi_launched(context, what));
  if (record) {
    result->deferred = true;
    return BISAI_OK;
  }
  BSI_TRY(bsi_record_fetch(context, what, &found));
  read(&found, result->stats, result->largest);
  return BISAI_OK;
}

static bisai_status load(bisai_context *context) { return bsi_gpu_load(context, invert_blocks<1>); }

const bsi_level_inversion_ops bsi_level_inversion_cuda = {
    .record_bytes = sizeof(report), .invert = invert, .read = read, .load = load};
