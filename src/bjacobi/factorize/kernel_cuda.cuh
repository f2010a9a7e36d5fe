/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel of block-Jacobi's values. A warp extracts the blocks of one or several groups,
 * decomposes them in registers, chooses their formats and stores them. For *_cuda.cu only. */
#ifndef BSI_KERNEL_CUDA_CUH
#define BSI_KERNEL_CUDA_CUH

#include <algorithm>
#include <climits>

#include "bjacobi/factorize/decompose_cuda.cuh"
#include "bjacobi/factorize/record_cuda.cuh"
#include "bjacobi/factorize/store_cuda.cuh"

/* Records the lane's block, or lists its group for repair. Other template parameters: as those of
 * bsi_compute_values. */
template <bisai_form FORM, bool PLAIN>
static __device__ __forceinline__ void bsi_record(const bsi_values_job &p, const bsi_lane &l,
                                                  const bsi_decomposed &d, bool repaired,
                                                  bsi_largest_condition *largest) {
  const bool group_has_singular = (__ballot_sync(BSI_FULL_WARP, d.singular) & l.group_mask) != 0;
  if (PLAIN && p.repair_list && group_has_singular) {
    if (l.group_leader) bsi_list_for_repair(p, l.block / p.partition.per_group);
  } else if (l.leader) {
    if (d.singular)
      bsi_record_singular(p, l.block);
    else
      bsi_record_block<FORM>(p, l.w.m, l.block, d.norm, d.smallest, d.condition, repaired);
    bsi_raise_condition(largest, d.condition, l.block);
  }
}

struct bsi_residency {
  /* the most values of blocks in the registers of a lane */
  int values;
  /* warps of a multiprocessor */
  int warps;
};

/* The warps that a multiprocessor is to hold. They share its 65,536 registers; some 56 are left for
 * each lane besides the block's. The number is a multiple of four, one for each part of the
 * multiprocessor. */
constexpr bsi_residency BSI_RESIDENCY[] = {
    {.values = 8, .warps = 32},      /* small classes of classes_cuda.cu, see there */
    {.values = 20, .warps = 20},     /* 10 rows */
    {.values = 32, .warps = 16},     /* 16 rows */
    {.values = 54, .warps = 12},     /* 12 and 18 rows */
    {.values = INT_MAX, .warps = 8}, /* 23 rows */
};

constexpr int bsi_warps_for(int values) {
  int k = 0;
  while (BSI_RESIDENCY[k].values < values) k++;
  return BSI_RESIDENCY[k].warps;
}

/* The number of warps for lanes that have R rows of at most M values. */
template <int M, int R> constexpr int bsi_resident_warps = bsi_warps_for(M *R);

/* The number of doubles of shared memory that a warp has. Template parameters: as those of
 * bsi_compute_values. */
template <int M, int R, int LANES, bisai_form FORM>
constexpr int bsi_warp_values = bsi_tile_values<M, R> +
                                (bsi_by_patches<LANES> && FORM == BISAI_FORM_GAUSS_HUARD
                                     ? BSI_PANEL_VALUES
                                     : 0);

/* Computes the values of the job's groups.
 * M: the most rows of a block.
 * R: the rows of a lane.
 * LANES: the lanes of a sub-warp; 0: p.launch.lanes.
 * FORM: INVERSE, LU, or GAUSS_HUARD for both of its layouts.
 * PLAIN: inverses of blocks that lie side by side, in fp64. Another launch repairs singular ones:
 *   this one needs fewer registers.
 * EXACT: PLAIN, natural blocks, and all of them have M rows. */
template <int M, int R, int LANES, bisai_form FORM, bool PLAIN, bool EXACT>
__global__ void __launch_bounds__(BSI_VALUES_THREADS, bsi_resident_warps<M, R> / BSI_VALUES_WARPS)
    bsi_compute_values(const __grid_constant__ bsi_values_job p) {
  extern __shared__ __align__(16) double tiles[];
  __shared__ bsi_format_counts formats;
  __shared__ bsi_largest_condition largest[BSI_VALUES_THREADS];
  const int warp = threadIdx.x / BSI_WARP;
  double *tile = tiles + warp * bsi_warp_values<M, R, LANES, FORM>;
  bsi_release_successor();
  bsi_clear_next_record(p);
  largest[threadIdx.x] = {};
  if (!PLAIN) bsi_clear_formats(&formats);
  __syncthreads();
  const int groups_per_warp = bsi_groups_per_warp(p);
  const int32_t count = !PLAIN && p.launch.device_count ? *p.launch.device_count : p.launch.count;
  const int32_t units = count / groups_per_warp + (count % groups_per_warp > 0);
  constexpr bool ahead = bsi_by_patches<LANES> && !PLAIN;
  const int32_t stride = static_cast<int32_t>(gridDim.x * BSI_VALUES_WARPS),
                first = static_cast<int32_t>(blockIdx.x * BSI_VALUES_WARPS) + warp;
  bsi_blocks_ahead next;
  if constexpr (ahead) {
    next.group = bsi_group_at(p, first, count);
    bsi_fetch_block(p, &next);
    bsi_fetch_rows(p, &next);
    next.group = bsi_group_at(p, static_cast<int64_t>(first) + stride, count);
  }
  for (int32_t unit = first; unit < units; unit += stride) {
    bsi_lane l;
    if constexpr (ahead) {
      l = bsi_lane_of_next(next);
      bsi_fetch_block(p, &next);
      next.group = bsi_group_at(p, unit + 2ll * stride, count);
    } else {
      l = bsi_lane_of<M, R, LANES, EXACT>(p, unit, count);
    }
    bsi_decomposed d;
    double shift = 0.0;
    if constexpr (PLAIN)
      d = bsi_invert_plain<M, R, LANES, EXACT>(p, l, tile);
    else
      d = bsi_decompose_shifted<M, R, LANES, FORM>(p, l, tile, &shift);
    if constexpr (ahead) bsi_fetch_rows(p, &next);
    bsi_record<FORM, PLAIN>(p, l, d, shift > 0.0, &largest[threadIdx.x]);
    if constexpr (EXACT)
      bsi_store_groups<M, R>(p, unit, tile);
    else if constexpr (PLAIN)
      bsi_store_as<BISAI_FP64, R>(p, l, tile);
    else
      bsi_store_rounded<R, LANES>(p, l, d.norm, d.condition, tile, &formats);
    __syncwarp();
  }
  if (!PLAIN) bsi_record_formats(p, formats);
  bsi_record_condition(p, largest[threadIdx.x]);
  /* The launch ends after those beside it, so that its successor need not know of them. */
  bsi_wait_for_predecessor();
}

/* An upper bound of the bytes of the shared arrays that the kernels declare. */
constexpr int BSI_VALUES_STATIC_SHARED = 2304;
static_assert(sizeof(bsi_format_counts) +
                      (BSI_VALUES_THREADS + BSI_VALUES_WARPS) * sizeof(bsi_largest_condition) <=
                  BSI_VALUES_STATIC_SHARED,
              "room for the shared arrays");

/* Kernels may use so many bytes of dynamic shared memory without permission: 48 KiB less those of
 * the declared arrays, rounded down. */
constexpr int BSI_VALUES_FREE_SHARED = 40 << 10;

/* Enqueue the job for blocks of at most max_rows rows. Plain inverses: blocks lie side by side and
 * stay in fp64. Small and uniform inverses: in addition the blocks are natural, of one size (up to
 * 8 rows, or 9 … 23), in groups as large as fit a warp. These two return false, and enqueue
 * nothing, for other sizes, or if a thread block cannot have the shared memory. */
void bsi_enqueue_inverses(bisai_context *context, int max_rows, const bsi_values_job &p);
void bsi_enqueue_plain_inverses(bisai_context *context, int max_rows, const bsi_values_job &p);
bool bsi_enqueue_small_inverses(bisai_context *context, const bsi_values_job &p);
bool bsi_enqueue_uniform_inverses(bisai_context *context, const bsi_values_job &p);
void bsi_enqueue_decompositions(bisai_context *context, int max_rows, const bsi_values_job &p);

/* Enqueues a kernel whose warps take one unit of work after the other and have `warp_bytes` of
 * shared memory each. The launch has as many thread blocks as are resident at the same time, so
 * that all are busy to the end. A multiprocessor holds `warps` warps, or fewer if its shared memory
 * is too small for them. Returns false, and enqueues nothing, if it is too small for one thread
 * block. Kernels with a block for each warp need at most 46 KiB, which every device has. */
static inline bool bsi_launch_resident(bisai_context *context, void (*kernel)(bsi_values_job),
                                       int warps, size_t warp_bytes, int64_t units,
                                       const bsi_values_job &p) {
  const bsi_device_limits *has = &context->limits;
  const int asked = static_cast<int>(BSI_VALUES_WARPS * warp_bytes),
            bytes = asked + BSI_VALUES_STATIC_SHARED;
  if (bytes > has->block_shared) return false;
  /* bsi_launched() reports a failure. */
  if (asked > BSI_VALUES_FREE_SHARED)
    bsi_gpu_allow_shared(context, "block-Jacobi's values", kernel, asked);
  const int fit = std::max(has->shared / (bytes + BSI_SHARED_TAKEN), 1),
            each = std::min(warps / BSI_VALUES_WARPS, fit);
  const unsigned grid =
      std::min(bsi_grid(units, BSI_VALUES_WARPS), static_cast<unsigned>(has->processors * each));
  if (p.launch.beside)
    bsi_launch_early(context, kernel, grid, BSI_VALUES_THREADS, static_cast<size_t>(asked), p);
  else
    kernel<<<grid, BSI_VALUES_THREADS, asked, bsi_stream_of(context)>>>(p);
  return true;
}

/* Returns the number of units of a launch whose sub-warps have p.launch.lanes lanes. */
static inline int64_t bsi_units(const bsi_values_job &p) {
  const int groups_per_warp = bsi_groups_per_warp(p);
  return (static_cast<int64_t>(p.launch.count) + groups_per_warp - 1) / groups_per_warp;
}

/* Enqueues bsi_compute_values(), which explains the template parameters. */
template <int M, int R, int LANES, bisai_form FORM, bool PLAIN, bool EXACT = false>
static inline bool bsi_enqueue_values(bisai_context *context, bsi_values_job p) {
  p.launch.lanes = LANES > 0 ? LANES : (p.launch.largest + R - 1) / R;
  return bsi_launch_resident(context, bsi_compute_values<M, R, LANES, FORM, PLAIN, EXACT>,
                             bsi_resident_warps<M, R>,
                             sizeof(double) * bsi_warp_values<M, R, LANES, FORM>, bsi_units(p), p);
}

#endif
