/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies in fp32 on a GPU. A thread copies several values, to have enough bytes under way. */
#include "gpu/launch.cuh"
#include "gpu/record.cuh"
#include "multigrid/cycle/cycle_ops.h"
#include "multigrid/cycle/fp32_values.h"

namespace {

constexpr char what[] = "copy in fp32";
/* Smaller levels would take longer to copy than cycles gain. */
constexpr int64_t least_bytes = 1 << 21;
enum { THREADS = 256, VALUES = 4 };

__global__ void __launch_bounds__(THREADS) copy_values(int64_t count, const double *from, float *to,
                                                       bool small, bsi_first_record *record) {
  const int64_t first = blockIdx.x * static_cast<int64_t>(THREADS * VALUES) + threadIdx.x;
  double values[VALUES];
  bsi_wait_for_predecessor();
#pragma unroll
  for (int u = 0; u < VALUES; u++) {
    const int64_t k = first + u * THREADS;
    values[u] = k < count ? from[k] : 0.0;
  }
#pragma unroll
  for (int u = 0; u < VALUES; u++) {
    const int64_t k = first + u * THREADS;
    if (k < count) to[k] = static_cast<float>(values[u]);
    if (!bsi_fits_fp32(values[u], small))
      atomicMin(&record->index, static_cast<unsigned long long>(k));
  }
}

__global__ void __launch_bounds__(THREADS)
    widen_values(int64_t count, const float *from, double *to) {
  const int64_t first = blockIdx.x * static_cast<int64_t>(THREADS * VALUES) + threadIdx.x;
  bsi_wait_for_predecessor();
#pragma unroll
  for (int u = 0; u < VALUES; u++) {
    const int64_t k = first + u * THREADS;
    if (k < count) to[k] = static_cast<double>(from[k]);
  }
}

} // namespace

static bool fits_narrow(const void *record) {
  return static_cast<const bsi_first_record *>(record)->index == BSI_NONE;
}

static bisai_status copy(bisai_context *context, int arrays, const bsi_fp32_rounding *array,
                         void *later, bool *fits) {
  bsi_first_record *record = later ? static_cast<bsi_first_record *>(later)
                                   : bsi_record_of<bsi_first_record>(context),
                   first;
  BSI_TRY(bsi_record_begin(context, what, record));
  for (int i = 0; i < arrays; i++)
    if (array[i].count > 0)
      bsi_launch_early(context, copy_values, bsi_grid(array[i].count, THREADS * VALUES), THREADS, 0,
                       array[i].count, array[i].from, array[i].to, array[i].small, record);
  BSI_TRY(bsi_launched(context, what));
  if (later) return BISAI_OK;
  BSI_TRY(bsi_record_fetch(context, what, &first));
  *fits = fits_narrow(&first);
  return BISAI_OK;
}

static bisai_status widen(bisai_context *context, int64_t count, const float *from, double *to) {
  if (count == 0) return BISAI_OK;
  bsi_launch_early(context, widen_values, bsi_grid(count, THREADS * VALUES), THREADS, 0, count,
                   from, to);
  return bsi_launched(context, "copy to fp64");
}

const bsi_fp32_copy_ops bsi_fp32_copy_cuda = {.least_bytes = least_bytes,
                                              .record_bytes = sizeof(bsi_first_record),
                                              .copy = copy,
                                              .fits = fits_narrow,
                                              .widen = widen};
