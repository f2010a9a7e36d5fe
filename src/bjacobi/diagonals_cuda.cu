/* SPDX-License-Identifier: BSD-3-Clause */
/* The places of the diagonal blocks of a matrix, on a device: a thread for each block row. */
#include "bjacobi/bjacobi_ops.h"
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "gpu/launch.cuh"
#include "gpu/record.cuh"

namespace {

constexpr int THREADS = 256;

/* Writes the positions. *first ← the first row without a block; with `expected`, the first row
 * whose position is another one. */
__global__ void __launch_bounds__(THREADS)
    locate(int32_t n, const int32_t *row_ptr, const int32_t *col_idx, const int32_t *expected,
           int32_t *position, unsigned long long *first) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * THREADS + threadIdx.x);
  bool found = false;
  if (i < n) {
    const int32_t at = bsi_find_diagonal(row_ptr, col_idx, i);
    if (position) position[i] = at;
    found = expected ? at != expected[i] : at < 0;
  }
  const int lane = __ffs(static_cast<int>(__ballot_sync(BSI_FULL_WARP, found))) - 1;
  if (lane == static_cast<int>(threadIdx.x % BSI_WARP))
    atomicMin(first, static_cast<unsigned long long>(i));
}

bisai_status locate_all(bisai_context *context, const bisai_bcsr *a, const int32_t *expected,
                        int32_t *position, int32_t *first) {
  const char *what = "diagonal blocks";
  *first = -1;
  if (a->block_rows == 0) return BISAI_OK;
  BSI_TRY(bsi_record_begin<bsi_first_record>(context, what));
  locate<<<bsi_grid(a->block_rows, THREADS), THREADS, 0, bsi_stream_of(context)>>>(
      a->block_rows, a->row_ptr, a->col_idx, expected, position,
      &bsi_record_of<bsi_first_record>(context)->index);
  BSI_TRY(bsi_launched(context, what));
  bsi_first_record record;
  BSI_TRY(bsi_record_fetch(context, what, &record));
  *first = static_cast<int32_t>(bsi_index_of(record.index));
  return BISAI_OK;
}

} // namespace

static bisai_status find_diagonals(bisai_context *context, const bisai_bcsr *matrix,
                                   int32_t *position, int32_t *missing) {
  return locate_all(context, matrix, nullptr, position, missing);
}

static bisai_status compare_diagonals(bisai_context *context, const bisai_bcsr *matrix,
                                      const int32_t *position, int32_t *moved) {
  return locate_all(context, matrix, position, nullptr, moved);
}

const bsi_diagonal_ops bsi_diagonals_cuda = {.find = find_diagonals, .compare = compare_diagonals};
