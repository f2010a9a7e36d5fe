/* SPDX-License-Identifier: BSD-3-Clause */
/* How the kernels of a set-up fill its record (bjacobi/factorize/job_cuda.cuh). For *_cuda.cu only.
 * */
#ifndef BSI_RECORD_CUDA_CUH
#define BSI_RECORD_CUDA_CUH

#include "bjacobi/factorize/adaptive.h"
#include "bjacobi/factorize/job_cuda.cuh"
#include "gpu/warp.cuh"

enum { BSI_VALUES_WARPS = 4, BSI_VALUES_THREADS = BSI_VALUES_WARPS * BSI_WARP };

/* Records a regular block of m rows, by one lane. FORM: decides whether `condition`, or `norm`
 * and the `smallest` pivot, show a near singularity. */
template <bisai_form FORM>
static __device__ __forceinline__ void bsi_record_block(const bsi_values_job &p, int m,
                                                        int32_t index, double norm, double smallest,
                                                        double condition, bool repaired) {
  const unsigned long long block = static_cast<unsigned long long>(index);
  const bool near = FORM == BISAI_FORM_INVERSE ? bsi_near_singular(m, condition)
                                               : bsi_near_singular_pivot(m, norm, smallest);
  if (near) {
    atomicMax(&p.record->first_near_singular, ~block);
    atomicAdd(&p.record->near_singulars, 1ull);
  }
  if (repaired) {
    atomicMax(&p.record->first_repaired, ~block);
    atomicAdd(&p.record->repairs, 1ull);
  }
}

static __device__ __forceinline__ void bsi_record_singular(const bsi_values_job &p, int32_t block) {
  atomicMax(&p.record->first_singular, ~static_cast<unsigned long long>(block));
}

/* Lists the group of a block for repair. */
static __device__ __forceinline__ void bsi_list_for_repair(const bsi_values_job &p, int32_t group) {
  p.repair_list[atomicAdd(&p.record->repair_groups, 1)] = group;
}

/* The largest condition of some blocks as bsi_values_record has it: two maxima of integers, which
 * do not depend on the order of the blocks. */
struct bsi_largest_condition {
  unsigned long long condition, block;
};

static __device__ __forceinline__ void bsi_raise_condition(bsi_largest_condition *largest,
                                                           double condition, int32_t block) {
  if (!(condition > 0.0)) return;
  const unsigned long long bits = static_cast<unsigned long long>(__double_as_longlong(condition));
  largest->condition = max(largest->condition, bits);
  largest->block =
      max(largest->block, bits >> 30 << 31 | (~static_cast<unsigned>(block) & 0x7fffffffu));
}

/* Clears the record of the next set-up; the first step of a kernel. */
static __device__ __forceinline__ void bsi_clear_next_record(const bsi_values_job &p) {
  constexpr int words = sizeof *p.next_record / sizeof(unsigned long long);
  static_assert(words <= BSI_VALUES_THREADS, "a word for each thread");
  if (blockIdx.x == 0 && threadIdx.x < words)
    reinterpret_cast<unsigned long long *>(p.next_record)[threadIdx.x] = 0ull;
}

/* Records the largest condition; the last step of a kernel. All threads call, each with the largest
 * of its own blocks. Thread blocks do not wait for each other: that would take as long as the
 * inversion of a small batch. */
static __device__ __forceinline__ void bsi_record_condition(const bsi_values_job &p,
                                                            const bsi_largest_condition &mine) {
  __shared__ bsi_largest_condition largest[BSI_VALUES_WARPS];
  if (p.result.form != BISAI_FORM_INVERSE) return;
  const bsi_largest_condition of_warp = {.condition = bsi_warp_max(mine.condition),
                                         .block = bsi_warp_max(mine.block)};
  if (threadIdx.x % BSI_WARP == 0) largest[threadIdx.x / BSI_WARP] = of_warp;
  __syncthreads();
  if (threadIdx.x > 0) return;
  bsi_largest_condition all = of_warp;
  for (int warp = 1; warp < BSI_VALUES_WARPS; warp++) {
    all.condition = max(all.condition, largest[warp].condition);
    all.block = max(all.block, largest[warp].block);
  }
  atomicMax(&p.record->condition, all.condition);
  atomicMax(&p.record->condition_block, all.block);
}

#endif
