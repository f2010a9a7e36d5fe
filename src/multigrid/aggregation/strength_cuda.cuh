/* SPDX-License-Identifier: BSD-3-Clause */
/* Strengths on the device, for multigrid/aggregation/aggregate_cuda.cu only. They take four
 * launches: weights, couplings, the rows that stay out, strong couplings. */
#ifndef BSI_STRENGTH_CUDA_CUH
#define BSI_STRENGTH_CUDA_CUH

#include "core/block/block_sizes.h"
#include "core/context/context_impl.h"
#include "core/matrix/asymmetry.h"
#include "core/matrix/bcsr_impl.h"
#include "gpu/lanes.cuh"
#include "gpu/temporary.cuh"
#include "multigrid/aggregation/strength.h"

namespace {

/* TOGETHER: blocks of a lane that are loaded at the same time. */
constexpr int THREADS = 256, TOGETHER = 4;

struct weigh_job {
  sharing s;
  int block_size;
  const int32_t *row_ptr, *col_idx;
  const double *inverse, *values;
  bsi_strength_rule rule;
  /* blocks: the weights */
  float *weight;
  /* blocks: the couplings, then the strengths */
  float *strength;
  /* rows: bsi_role */
  uint8_t *role;
  /* rows: the largest coupling of each row */
  float *largest;
};

/* The row of a thread if `lanes` threads take a row. */
__device__ __forceinline__ int64_t row_of_thread(int lanes) {
  return (static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x) / lanes;
}

/* Returns true if block p is in the column of a ghost, which has no strength. */
__device__ __forceinline__ bool is_ghost(const weigh_job &job, int32_t p) {
  return __ldg(job.col_idx + p) >= job.s.rows;
}

/* weight[p] ← the weight of each block p, 0 in the columns of ghosts. A lane takes a block.
 * BS: the block size */
template <int BS> __global__ void __launch_bounds__(THREADS) weigh_blocks(const weigh_job job) {
  bsi_wait_for_predecessor();
  const part_of_row part = part_of(job.s, job.row_ptr, row_of_thread(job.s.lanes));
  for (int32_t p = part.begin; p < part.end; p += job.s.lanes)
    job.weight[p] = __ldg(job.col_idx + p) == part.row || is_ghost(job, p)
                        ? 0.0f
                        : bsi_weight(BS, job.inverse + static_cast<int64_t>(part.row) * (BS * BS),
                                     job.values + static_cast<int64_t>(p) * (BS * BS));
}

/* The same for any block size. A thread block takes a row, a warp a block, and a lane a row of the
 * block. */
__global__ void __launch_bounds__(THREADS) weigh_large_blocks(const weigh_job job) {
  const int64_t i = blockIdx.x;
  const int bs = job.block_size, lane = threadIdx.x % BSI_WARP;
  bsi_wait_for_predecessor();
  const double *inverse = job.inverse + i * bs * bs + lane;
  const int32_t end = __ldg(job.row_ptr + i + 1);
  for (int32_t p = __ldg(job.row_ptr + i) + static_cast<int32_t>(threadIdx.x) / BSI_WARP; p < end;
       p += THREADS / BSI_WARP) {
    const double *block = job.values + static_cast<int64_t>(p) * bs * bs;
    double sum = 0.0;
    for (int c = 0; c < bs && lane < bs; c++) {
      double value = 0.0;
      for (int k = 0; k < bs; k++) value += inverse[k * bs] * block[c * bs + k];
      sum += value * value;
    }
    sum = bsi_warp_sum(sum);
    if (lane == 0)
      job.weight[p] =
          __ldg(job.col_idx + p) == i || is_ghost(job, p) ? 0.0f : bsi_weight_round(sqrt(sum / bs));
  }
}

/* TOGETHER blocks of a lane and their weights or couplings, which are loaded together, from block p
 * on. */
struct some_blocks {
  float value[TOGETHER];
  /* −1: there is no block, or it is in the column of a ghost */
  int32_t j[TOGETHER];
  __device__ __forceinline__ some_blocks(const weigh_job &job, const part_of_row &part, int32_t p,
                                         const float *values) {
#pragma unroll
    for (int t = 0; t < TOGETHER; t++) {
      const int32_t at = p + t * job.s.lanes;
      j[t] = at < part.end ? __ldg(job.col_idx + at) : -1;
      value[t] = at < part.end ? values[at] : 0.0f;
      if (j[t] >= job.s.rows) j[t] = -1;
    }
  }
  __device__ __forceinline__ bool there(int t) const { return j[t] >= 0; }
};

/* mirror[t] ← the place of block (j[t], i), where (i, j[t]) is block p + t·lanes, or −1. Guesses
 * are looked up together. */
__device__ __forceinline__ void find_mirrors(const weigh_job &job, int32_t i, int32_t p,
                                             const int32_t (&j)[TOGETHER],
                                             int32_t (&mirror)[TOGETHER]) {
  int32_t found[TOGETHER];
#pragma unroll
  for (int t = 0; t < TOGETHER; t++)
    mirror[t] = j[t] < 0 ? -1 : bsi_guess_mirror(job.row_ptr, i, p + t * job.s.lanes, j[t]);
#pragma unroll
  for (int t = 0; t < TOGETHER; t++) found[t] = mirror[t] < 0 ? -1 : __ldg(job.col_idx + mirror[t]);
    /* a guess before row j that finds column i is in another row */
#pragma unroll
  for (int t = 0; t < TOGETHER; t++)
    if (j[t] >= 0 && (found[t] != i || mirror[t] < __ldg(job.row_ptr + j[t])))
      mirror[t] =
          bsi_find_column(job.col_idx, __ldg(job.row_ptr + j[t]), __ldg(job.row_ptr + j[t] + 1), i);
}

/* strength[p] ← the coupling of each block p, and role[i]. */
__global__ void __launch_bounds__(THREADS) couple(const weigh_job job) {
  bsi_wait_for_predecessor();
  const part_of_row part = part_of(job.s, job.row_ptr, row_of_thread(job.s.lanes));
  long long weights = 0, couplings = 0;
  for (int32_t p = part.begin; p < part.end; p += TOGETHER * job.s.lanes) {
    const some_blocks b(job, part, p, job.weight);
    int32_t mirror[TOGETHER];
    find_mirrors(job, part.row, p, b.j, mirror);
    float there[TOGETHER];
#pragma unroll
    for (int t = 0; t < TOGETHER; t++) there[t] = mirror[t] < 0 ? 0.0f : job.weight[mirror[t]];
#pragma unroll
    for (int t = 0; t < TOGETHER; t++) {
      const int32_t at = p + t * job.s.lanes;
      const float coupling =
          b.there(t) ? bsi_coupling(job.rule.least_return, b.value[t], there[t]) : 0.0f;
      if (at < part.end) job.strength[at] = coupling;
      if (!b.there(t)) continue;
      weights += bsi_coupling_units(b.value[t]);
      couplings += bsi_coupling_units(coupling);
    }
  }
  weights = sum_of_lanes(job.s, weights);
  couplings = sum_of_lanes(job.s, couplings);
  if (part.inside && job.s.member() == 0)
    job.role[part.row] = bsi_role_of(job.block_size, weights, couplings);
}

/* Drops couplings of and to rows that stay out, and to rows that follow. largest[i] ← the largest
 * coupling before that to a row that does not follow. */
__global__ void __launch_bounds__(THREADS) leave_out(const weigh_job job) {
  bsi_wait_for_predecessor();
  const part_of_row part = part_of(job.s, job.row_ptr, row_of_thread(job.s.lanes));
  const bool out = part.inside && job.role[part.row] == BSI_ROW_OUT;
  float largest = 0.0f;
  for (int32_t p = part.begin; p < part.end; p += TOGETHER * job.s.lanes) {
    const some_blocks c(job, part, p, job.strength);
    uint8_t role[TOGETHER];
#pragma unroll
    for (int t = 0; t < TOGETHER; t++) role[t] = c.there(t) ? job.role[c.j[t]] : BSI_ROW_FOLLOWS;
#pragma unroll
    for (int t = 0; t < TOGETHER; t++) {
      if (!c.there(t)) continue;
      if (role[t] != BSI_ROW_FOLLOWS) largest = max(largest, c.value[t]);
      if (out || role[t] != BSI_ROW_IN) job.strength[p + t * job.s.lanes] = 0.0f;
    }
  }
  largest = largest_of_lanes(job.s, largest);
  if (part.inside && job.s.member() == 0) job.largest[part.row] = largest;
}

/* strength[p] ← the strength of each block p. */
__global__ void __launch_bounds__(THREADS) drop_weak(const weigh_job job) {
  bsi_wait_for_predecessor();
  const part_of_row part = part_of(job.s, job.row_ptr, row_of_thread(job.s.lanes));
  unsigned long long best = 0;
  int32_t place = 0;
  int strong = 0;
  float coupling = 0.0f;
  const float largest = part.inside ? job.largest[part.row] : 0.0f, threshold = job.rule.threshold;
  const bool may_be_strong = part.inside && job.role[part.row] == BSI_ROW_IN;
  for (int32_t p = part.begin; p < part.end; p += TOGETHER * job.s.lanes) {
    const some_blocks c(job, part, p, job.strength);
    float of_there[TOGETHER];
#pragma unroll
    for (int t = 0; t < TOGETHER; t++) of_there[t] = c.there(t) ? job.largest[c.j[t]] : 0.0f;
#pragma unroll
    for (int t = 0; t < TOGETHER; t++) {
      if (!c.there(t)) continue;
      const bool kept = may_be_strong && bsi_is_strong(c.value[t], largest, of_there[t], threshold);
      strong |= kept;
      if (!kept) job.strength[p + t * job.s.lanes] = 0.0f;
      if (!bsi_is_worth_following(c.value[t], largest, threshold)) continue;
      const unsigned long long preference = bsi_preference(c.value[t], c.j[t]);
      if (preference <= best) continue;
      best = preference;
      place = p + t * job.s.lanes;
      coupling = c.value[t];
    }
  }
  const unsigned long long of_row = largest_of_lanes(job.s, best);
  strong = largest_of_lanes(job.s, strong);
  /* one lane alone has the block that the row follows, because all preferences differ */
  if (!strong && of_row > 0 && best == of_row) job.strength[place] = -coupling;
}

using weigh_kernel = void(weigh_job);

void enqueue_weigh(const bisai_context *context, const weigh_job &job) {
#define ENTRY(BS) , weigh_blocks<BS>
  static weigh_kernel *const kernels[] = {weigh_large_blocks BSI_BLOCK_SIZES(ENTRY)};
#undef ENTRY
  const bool special = job.block_size <= BSI_SPECIAL_SIZES;
  const unsigned grid = bsi_grid(static_cast<int64_t>(job.s.rows) * job.s.lanes, THREADS);
  bsi_launch_early(context, kernels[special ? job.block_size : 0],
                   special ? grid : static_cast<unsigned>(job.s.rows), THREADS, 0, job);
  weigh_job few = job;
  few.s.lanes = (job.s.lanes + TOGETHER - 1) / TOGETHER;
  const unsigned fewer = bsi_grid(static_cast<int64_t>(few.s.rows) * few.s.lanes, THREADS);
  bsi_launch_early(context, couple, fewer, THREADS, 0, few);
  bsi_launch_early(context, leave_out, fewer, THREADS, 0, few);
  bsi_launch_early(context, drop_weak, fewer, THREADS, 0, few);
}

} // namespace

static bisai_status weigh(bisai_context *context, const bisai_bcsr *a, const double *inverse,
                          const bsi_strength_rule *rule, float *strength) {
  if (a->block_rows == 0) return BISAI_OK;
  bsi_temporary temporary(context);
  weigh_job job = {.s = {a->block_rows, lanes_for(mean_length(a->block_rows, a->blocks), 1)},
                   .block_size = a->block_size,
                   .row_ptr = a->row_ptr,
                   .col_idx = a->col_idx,
                   .inverse = inverse,
                   .values = static_cast<const double *>(a->values),
                   .rule = *rule,
                   .strength = strength};
  job.weight = temporary.reserve<float>(static_cast<size_t>(a->blocks));
  if (temporary.complete) job.role = temporary.reserve<uint8_t>(static_cast<size_t>(a->block_rows));
  if (temporary.complete)
    job.largest = temporary.reserve<float>(static_cast<size_t>(a->block_rows));
  if (!temporary.complete) return BISAI_OUT_OF_MEMORY;
  enqueue_weigh(context, job);
  return bsi_launched(context, "strength of couplings");
}

#endif
