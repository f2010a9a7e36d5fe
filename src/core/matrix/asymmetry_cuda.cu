/* SPDX-License-Identifier: BSD-3-Clause */
/* How far a matrix is from its transpose, on the device. A few lanes share a block row, and a lane
 * takes a block. */
#include <cstring>

#include "core/context/context_impl.h"
#include "core/matrix/asymmetry.h"
#include "core/matrix/matrix_ops.h"
#include "gpu/launch.cuh"
#include "gpu/record.cuh"

namespace {

enum { THREADS = 128 };

struct report {
  static constexpr int firsts = 0;
  /* the bits of the largest quotient: those of non-negative doubles are in the order of their
   * values */
  unsigned long long largest;
  /* 1 if a block has no mirror image */
  unsigned long long unmirrored;
};

__device__ __forceinline__ double as_double(unsigned long long bits) {
  return __longlong_as_double(static_cast<long long>(bits));
}

__global__ void __launch_bounds__(THREADS)
    measure(const bsi_square a, int32_t block_rows, int lanes, double enough, report *found) {
  const int64_t thread = blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x,
                row = thread / lanes;
  if (row >= block_rows) return;
  /* A value in the cache may be too old, but all warps would wait for the newest one. */
  const double so_far = as_double(__ldca(&found->largest));
  if (so_far > enough) return;
  const int32_t i = static_cast<int32_t>(row), end = a.row_ptr[i + 1];
  double largest = 0.0;
  bool mirrored = true;
  for (int32_t p = a.row_ptr[i] + static_cast<int32_t>(thread % lanes); p < end; p += lanes) {
    const double of_block = bsi_asymmetry_of_block(&a, i, p, &mirrored);
    if (of_block > largest) largest = of_block;
  }
  if (largest > so_far &&
      largest > as_double(*static_cast<volatile unsigned long long *>(&found->largest)))
    atomicMax(&found->largest, static_cast<unsigned long long>(__double_as_longlong(largest)));
  if (!mirrored) found->unmirrored = 1;
}

} // namespace

bisai_status bsi_measure_asymmetry_cuda(bisai_context *context, const bisai_bcsr *matrix,
                                        double enough, bsi_asymmetry *asymmetry) {
  static const char what[] = "asymmetry";
  *asymmetry = {.largest = 0.0, .mirrored = true};
  if (matrix->block_rows == 0) return BISAI_OK;
  BSI_TRY(bsi_record_begin<report>(context, what));
  int lanes = 1;
  while (lanes < BSI_WARP && static_cast<int64_t>(lanes) * matrix->block_rows < matrix->blocks)
    lanes *= 2;
  measure<<<bsi_grid(static_cast<int64_t>(matrix->block_rows) * lanes, THREADS), THREADS, 0,
            bsi_stream_of(context)>>>(bsi_square_of(matrix), matrix->block_rows, lanes, enough,
                                      bsi_record_of<report>(context));
  BSI_TRY(bsi_launched(context, what));
  report found;
  BSI_TRY(bsi_record_fetch(context, what, &found));
  std::memcpy(&asymmetry->largest, &found.largest, sizeof asymmetry->largest);
  asymmetry->mirrored = found.unmirrored == 0;
  return BISAI_OK;
}
