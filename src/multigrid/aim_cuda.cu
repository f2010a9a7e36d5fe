/* SPDX-License-Identifier: BSD-3-Clause */
/* The aims of the blocks on a GPU: four lanes for each block row, which share its blocks. */
#include "core/block_sizes.h"
#include "gpu/for_each.cuh"
#include "gpu/launch.cuh"
#include "multigrid/aim.h"
#include "multigrid/multigrid_ops.h"

namespace {

constexpr char what[] = "aims of multigrid";
constexpr int THREADS = 128, LANES = 4;

struct aim_job {
  int32_t block_rows;
  int block_size;
  const int32_t *row_ptr, *col_idx;
  const double *values, *inverse;
  const int32_t *aggregate;
  int32_t count;
  int32_t *target;
};

/* BS: the block size; 0: any */
template <int BS> __global__ void __launch_bounds__(THREADS) aim_rows(const aim_job job) {
  const int64_t t = blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x;
  const int64_t row = t / LANES;
  if (row >= job.block_rows) return;
  const int bs = BS > 0 ? BS : job.block_size;
  const int32_t i = static_cast<int32_t>(row);
  for (int32_t p = job.row_ptr[i] + static_cast<int32_t>(t % LANES); p < job.row_ptr[i + 1];
       p += LANES)
    job.target[p] = bsi_aim(bs, job.aggregate, job.count, i, job.col_idx[p],
                            job.inverse + row * bs * bs,
                            job.values + static_cast<int64_t>(p) * bs * bs);
}

} // namespace

static bisai_status aim(bisai_context *context, const bisai_bcsr *a, const double *inverse,
                        const int32_t *aggregate, int32_t count, int32_t *target,
                        bsi_sparse *identity) {
  const aim_job job = {.block_rows = a->block_rows,
                       .block_size = a->block_size,
                       .row_ptr = a->row_ptr,
                       .col_idx = a->col_idx,
                       .values = static_cast<const double *>(a->values),
                       .inverse = inverse,
                       .aggregate = aggregate,
                       .count = count,
                       .target = target};
  const unsigned grid = bsi_grid(static_cast<int64_t>(a->block_rows) * LANES, THREADS);
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

const bsi_aim_ops bsi_aim_cuda = {.aim = aim};
