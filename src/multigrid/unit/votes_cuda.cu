/* SPDX-License-Identifier: BSD-3-Clause */
/* The votes of the rows on a GPU: one thread for each scalar row. */
#include "core/matrix/bcsr_impl.h"
#include "gpu/launch.cuh"
#include "gpu/record.cuh"
#include "multigrid/unit/votes.h"

namespace {

constexpr char what[] = "nodes of multigrid";
constexpr int THREADS = 256;

struct votes {
  static constexpr int firsts = 0;
  unsigned long long components, points;
};

__global__ void __launch_bounds__(THREADS)
    count_votes(int64_t rows, int bs, const int32_t *row_ptr, const int32_t *col_idx,
                const void *values, votes *found) {
  const int64_t k = blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x;
  const bsi_vote vote =
      k < rows ? bsi_vote_of_row(bs, row_ptr, col_idx, values, static_cast<int32_t>(k / bs),
                                 static_cast<int>(k % bs))
               : BSI_VOTE_NONE;
  const int components = __syncthreads_count(vote == BSI_VOTE_COMPONENTS),
            points = __syncthreads_count(vote == BSI_VOTE_POINTS);
  if (threadIdx.x > 0) return;
  if (components > 0) atomicAdd(&found->components, static_cast<unsigned long long>(components));
  if (points > 0) atomicAdd(&found->points, static_cast<unsigned long long>(points));
}

} // namespace

bisai_status bsi_count_votes_cuda(bisai_context *context, const bisai_bcsr *a, int64_t *components,
                                  int64_t *points) {
  const int64_t rows = static_cast<int64_t>(a->block_rows) * a->block_size;
  *components = *points = 0;
  if (rows == 0) return BISAI_OK;
  BSI_TRY(bsi_record_begin<votes>(context, what));
  count_votes<<<bsi_grid(rows, THREADS), THREADS, 0, bsi_stream_of(context)>>>(
      rows, a->block_size, a->row_ptr, a->col_idx, a->values, bsi_record_of<votes>(context));
  BSI_TRY(bsi_launched(context, what));
  votes found;
  BSI_TRY(bsi_record_fetch(context, what, &found));
  *components = static_cast<int64_t>(found.components);
  *points = static_cast<int64_t>(found.points);
  return BISAI_OK;
}
