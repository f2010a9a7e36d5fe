/* SPDX-License-Identifier: BSD-3-Clause */
/* The scales of the pressure equations on a device. Lanes of a warp share a row, an entry each. */
#include "cpr/cpr_ops.h"
#include "cpr/scales.h"
#include "gpu/for_each.cuh"
#include "gpu/lanes.cuh"
#include "gpu/record.cuh"

namespace {

enum { THREADS = 128 };
constexpr char what[] = "scales of the pressure equations";

struct sums_record {
  static constexpr int firsts = 0;
  unsigned long long sum, weight;
};

struct scales_job {
  sharing s;
  const int32_t *row_ptr, *col_idx;
  double *values;
  int32_t *pairs;
};

__device__ __forceinline__ part_of_row own_part(const scales_job &job) {
  return part_of(job.s, job.row_ptr,
                 (blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x) / job.s.lanes);
}

__global__ void __launch_bounds__(THREADS)
    find_pairs(const scales_job job, const int32_t *x, sums_record *record) {
  bsi_imbalance sums = {};
  bsi_wait_for_predecessor();
  const part_of_row part = own_part(job);
  for (int32_t q = part.begin; q < part.end; q += job.s.lanes)
    if (__ldg(job.col_idx + q) > part.row)
      bsi_pair_find(job.row_ptr, job.col_idx, job.values, x, part.row, q, job.pairs, &sums);
  const unsigned long long sum = bsi_warp_sum(static_cast<unsigned long long>(sums.sum)),
                           weight = bsi_warp_sum(static_cast<unsigned long long>(sums.weight));
  if (threadIdx.x % BSI_WARP > 0 || weight == 0) return;
  atomicAdd(&record->sum, sum);
  atomicAdd(&record->weight, weight);
}

__global__ void __launch_bounds__(THREADS)
    sweep_rows(const scales_job job, double omega, const int32_t *from, int32_t *to) {
  long long sum = 0, weight = 0;
  bsi_wait_for_predecessor();
  const part_of_row part = own_part(job);
  const int32_t x = from && part.inside ? from[part.row] : 0;
  for (int32_t q = part.begin; q < part.end; q += job.s.lanes) {
    int64_t term = 0, of_pair = 0;
    bsi_sweep_add(job.pairs[q], from ? from[__ldg(job.col_idx + q)] - x : 0, &term, &of_pair);
    sum += term, weight += of_pair;
  }
  sum = sum_of_lanes(job.s, sum);
  weight = sum_of_lanes(job.s, weight);
  if (part.inside && job.s.member() == 0) to[part.row] = bsi_sweep_end(x, sum, weight, omega);
}

__global__ void __launch_bounds__(THREADS)
    scale_rows(const scales_job job, const int32_t *x, const int32_t *diagonal, int bs,
               double *weights) {
  bsi_wait_for_predecessor();
  const part_of_row part = own_part(job);
  const double scale =
      part.inside ? bsi_row_scale(x[part.row], job.values[diagonal[part.row]]) : 1.0;
  __syncwarp(); /* all lanes have read the diagonal entry */
  if (scale == 1.0) return;
  for (int32_t q = part.begin; q < part.end; q += job.s.lanes) job.values[q] *= scale;
  for (int k = job.s.member(); k < bs; k += job.s.lanes)
    weights[static_cast<int64_t>(part.row) * bs + k] *= scale;
}

/* Launches a kernel, whose first argument is the job. */
template <typename Kernel, typename... Arguments>
bisai_status launch(bisai_context *context, const bsi_scaling *s, Kernel kernel,
                    Arguments... arguments) {
  const bisai_bcsr *p = s->p;
  if (p->block_rows == 0) return BISAI_OK;
  const int lanes = lanes_for(mean_length(p->block_rows, p->blocks), 1);
  const scales_job job = {.s = {p->block_rows, lanes},
                          .row_ptr = p->row_ptr,
                          .col_idx = p->col_idx,
                          .values = static_cast<double *>(p->values),
                          .pairs = s->pairs};
  bsi_launch_early(context, kernel, bsi_grid(static_cast<int64_t>(p->block_rows) * lanes, THREADS),
                   THREADS, 0, job, arguments...);
  return bsi_launched(context, what);
}

} // namespace

static bisai_status begin(bisai_context *context, const bsi_scaling *s) {
  const bsi_scaling job = *s;
  const double *values = static_cast<const double *>(s->p->values);
  BSI_TRY(bsi_gpu_fill(context, what, s->pairs, 0,
                       static_cast<size_t>(s->p->blocks) * sizeof *s->pairs));
  return bsi_for_each(context, what, s->p->block_rows,
                      [=] __device__(int64_t i) { job.x[i] = -bsi_log2(values[job.diagonal[i]]); });
}

static bisai_status pair(bisai_context *context, const bsi_scaling *s, bsi_imbalance *sums) {
  sums_record record;
  BSI_TRY(bsi_record_begin<sums_record>(context, what));
  BSI_TRY(launch(context, s, find_pairs, static_cast<const int32_t *>(s->x),
                 bsi_record_of<sums_record>(context)));
  BSI_TRY(bsi_record_fetch(context, what, &record));
  *sums = {static_cast<int64_t>(record.sum), static_cast<int64_t>(record.weight)};
  return BISAI_OK;
}

static bisai_status sweep(bisai_context *context, const bsi_scaling *s, double omega,
                          const int32_t *from, int32_t *to) {
  return launch(context, s, sweep_rows, omega, from, to);
}

static bisai_status scale(bisai_context *context, const bsi_scaling *s, int bs, double *weights) {
  return launch(context, s, scale_rows, static_cast<const int32_t *>(s->x), s->diagonal, bs,
                weights);
}

const bsi_scales_ops bsi_scales_cuda = {
    .begin = begin, .pair = pair, .sweep = sweep, .scale = scale};
