/* SPDX-License-Identifier: BSD-3-Clause */
/* Norms and largest magnitudes of vectors on a device. */
#include <cstring>

#include "core/vector/norms.h"
#include "gpu/launch.cuh"
#include "gpu/record.cuh"
#include "gpu/sums.cuh"

namespace {

/* The bits of the largest magnitude, and the sum of the scaled squares as integers, which thread
 * blocks can add in any order: high·2⁻²⁴ + low·2⁻⁷⁷. All begin as 0. */
struct norm_record {
  unsigned long long largest, high, low;
};

/* The records of vectors whose norms are computed together. */
struct norms_record {
  static constexpr int firsts = 0;
  norm_record of[BSI_NORMS];
};
static_assert(sizeof(norms_record) == BSI_NORMS_BYTES, "others reserve records");

/* Vectors of n values, and their records. blockIdx.y is the number of the vector. */
struct normed {
  int64_t n;
  const double *x[BSI_NORMS];
  norm_record *records;
};

__global__ void __launch_bounds__(BSI_MOST_THREADS) largest_value(const normed v) {
  const double *x = v.x[blockIdx.y];
  norm_record *record = v.records + blockIdx.y;
  unsigned long long largest = 0;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < v.n;
       i += stride)
    largest =
        max(largest, static_cast<unsigned long long>(__double_as_longlong(fabs(__ldg(x + i)))));
  largest = bsi_warp_max(largest);
  if (threadIdx.x % BSI_WARP == 0) atomicMax(&record->largest, largest);
}

/* Adds the scaled squares to the record, which has the largest magnitude. */
__global__ void __launch_bounds__(BSI_MOST_THREADS) sum_squares(const normed v) {
  const double *x = v.x[blockIdx.y];
  norm_record *record = v.records + blockIdx.y;
  const double largest = __longlong_as_double(static_cast<long long>(record->largest));
  if (largest == 0.0 || !isfinite(largest)) return;
  const bsi_norm_scale scale = bsi_norm_scale_of(largest);
  double sums[1] = {};
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < v.n;
       i += stride)
    sums[0] += bsi_norm_square(scale, __ldg(x + i));
  const double sum = bsi_sum_of_block(sums) * 0x1p24;
  if (threadIdx.x > 0) return;
  const double whole = floor(sum);
  atomicAdd(&record->high, static_cast<unsigned long long>(whole));
  atomicAdd(&record->low, static_cast<unsigned long long>((sum - whole) * 0x1p53));
}

/* Enqueues one of these kernels for `count` vectors of n values. */
void enqueue_for(const bisai_context *context, void (*kernel)(normed), int count, int64_t n,
                 const double *const *x, norm_record *records) {
  normed v = {n, {}, records};
  for (int k = 0; k < count; k++) v.x[k] = x[k];
  kernel<<<dim3(bsi_thread_blocks_of_sum(n), static_cast<unsigned>(count)), BSI_MOST_THREADS, 0,
           bsi_stream_of(context)>>>(v);
}

/* Returns the largest magnitude of a record in host memory. */
double largest_of_record(const norm_record &record) {
  double largest;
  std::memcpy(&largest, &record.largest, sizeof largest);
  return largest;
}

/* Returns the norm of a record in host memory. */
double norm_of_record(const norm_record &record) {
  const double largest = largest_of_record(record);
  if (largest == 0.0 || !isfinite(largest)) return largest;
  const double sum =
      static_cast<double>(record.high) * 0x1p-24 + static_cast<double>(record.low) * 0x1p-77;
  return bsi_norm_of(bsi_norm_scale_of(largest), sum);
}

} // namespace

bisai_status bsi_record_norms_cuda(bisai_context *context, int count, int64_t n,
                                   const double *const *x, void *record) {
  const char *what = "norm";
  norms_record *found = static_cast<norms_record *>(record);
  BSI_TRY(bsi_record_begin(context, what, found));
  enqueue_for(context, largest_value, count, n, x, found->of);
  enqueue_for(context, sum_squares, count, n, x, found->of);
  return bsi_launched(context, what);
}

void bsi_read_norms_cuda(const void *record, int count, double *norms) {
  for (int k = 0; k < count; k++)
    norms[k] = norm_of_record(static_cast<const norms_record *>(record)->of[k]);
}

bisai_status bsi_norms_cuda(bisai_context *context, int count, int64_t n, const double *const *x,
                            double *norms) {
  norms_record found;
  BSI_TRY(bsi_record_norms_cuda(context, count, n, x, bsi_record_of<norms_record>(context)));
  BSI_TRY(bsi_record_fetch(context, "norm", &found));
  bsi_read_norms_cuda(&found, count, norms);
  return BISAI_OK;
}

bisai_status bsi_largest_cuda(bisai_context *context, int64_t n, const double *x, double *largest) {
  const char *what = "largest magnitude";
  norms_record found;
  BSI_TRY(bsi_record_begin<norms_record>(context, what));
  enqueue_for(context, largest_value, 1, n, &x, bsi_record_of<norms_record>(context)->of);
  BSI_TRY(bsi_launched(context, what));
  BSI_TRY(bsi_record_fetch(context, what, &found));
  *largest = largest_of_record(found.of[0]);
  return BISAI_OK;
}
