/* SPDX-License-Identifier: BSD-3-Clause */
/* The filtered columns of the blocks on a GPU: a few lanes share a block row. */
#include "core/block/block_sizes.h"
#include "core/matrix/bcsr_impl.h"
#include "gpu/for_each.cuh"
#include "gpu/lanes.cuh"
#include "gpu/launch.cuh"
#include "multigrid/aggregation/aggregation_ops.h"
#include "multigrid/aggregation/filter.h"

namespace {

constexpr char what[] = "filter of multigrid";
/* Blocks of a lane: not measured. */
constexpr int THREADS = 128, BLOCKS_OF_LANE = 2;

struct aim_job {
  sharing s;
  int block_size;
  int32_t blocks;
  const int32_t *row_ptr, *col_idx;
  const double *values, *inverse;
  const int32_t *aggregate;
  int32_t count;
  float threshold;
  int32_t *target;
  uint8_t *weak;
};

/* The weights stand in `target` until the largest of the row is known.
 *   BS: the block size; 0: any */
template <int BS> __global__ void __launch_bounds__(THREADS) aim_rows(const aim_job job) {
  const int64_t thread = blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x;
  const part_of_row part = part_of(job.s, job.row_ptr, thread / job.s.lanes);
  const int bs = BS > 0 ? BS : job.block_size;
  const int64_t i = part.row;
  float largest = 0.0f;
  for (int64_t p = part.begin; p < part.end; p += job.s.lanes) {
    const float weight = bsi_filter_weight(bs, part.row, job.col_idx[p], job.inverse + i * bs * bs,
                                           job.values + p * bs * bs);
    largest = max(largest, weight);
    job.target[p] = __float_as_int(weight);
  }
  largest = largest_of_lanes(job.s, largest);
  const bool is_long = bsi_is_long(job.s.rows, job.blocks, part.end - part.begin + job.s.member());
  for (int64_t p = part.begin; p < part.end; p += job.s.lanes) {
    const int32_t j = job.col_idx[p];
    const bool weak =
        part.row != j && (is_long || __int_as_float(job.target[p]) < job.threshold * largest);
    job.target[p] = bsi_filter_rule(job.aggregate[i], job.aggregate[j], job.count, weak);
    if (job.weak) job.weak[p] = weak;
  }
}

} // namespace

bisai_status bsi_filter_cuda(bisai_context *context, const bisai_bcsr *a, const double *inverse,
                             double threshold, const int32_t *aggregate,
                             const bsi_filtered *filtered, bsi_block_matrix *identity) {
  const int32_t count = identity->cols;
  if (a->block_rows == 0) return BISAI_OK;
  const int lanes = lanes_for(mean_length(a->block_rows, a->blocks), BLOCKS_OF_LANE);
  const aim_job job = {.s = {a->block_rows, lanes},
                       .block_size = a->block_size,
                       .blocks = a->blocks,
                       .row_ptr = a->row_ptr,
                       .col_idx = a->col_idx,
                       .values = static_cast<const double *>(a->values),
                       .inverse = inverse,
                       .aggregate = aggregate,
                       .count = count,
                       .threshold = static_cast<float>(threshold),
                       .target = filtered->column,
                       .weak = filtered->weak};
  const unsigned grid = bsi_grid(static_cast<int64_t>(a->block_rows) * lanes, THREADS);
  switch (a->block_size) {
#define CASE(BS)                                                                                   \
  case BS: aim_rows<BS><<<grid, THREADS, 0, bsi_stream_of(context)>>>(job); break;
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  default: aim_rows<0><<<grid, THREADS, 0, bsi_stream_of(context)>>>(job);
  }
  BSI_TRY(bsi_launched(context, what));
  int32_t *row_ptr = identity->row_ptr, *col_idx = identity->col_idx;
  return bsi_for_each(context, what, static_cast<int64_t>(count) + 2, [=] __device__(int64_t k) {
    const int32_t c = static_cast<int32_t>(k);
    row_ptr[c] = c < count ? c : count;
    if (c < count) col_idx[c] = c;
  });
}

bisai_status bsi_filter_again_cuda(bisai_context *context, const bisai_bcsr *a,
                                   const bsi_block_matrix *t, const bsi_filtered *filtered) {
  const bsi_filtered to = *filtered;
  const int32_t none = t->cols, *row_ptr = a->row_ptr, *col_idx = a->col_idx, *t_ptr = t->row_ptr,
                *t_col = t->col_idx;
  return bsi_for_each(context, what, a->block_rows, [=] __device__(int64_t k) {
    const int32_t i = static_cast<int32_t>(k), own = bsi_aggregate_of(t_ptr, t_col, i);
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++)
      to.column[p] =
          bsi_filter_rule(own, bsi_aggregate_of(t_ptr, t_col, col_idx[p]), none, to.weak[p] != 0);
  });
}
