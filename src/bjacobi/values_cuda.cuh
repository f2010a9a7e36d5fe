/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of block-Jacobi on a device: a warp extracts the blocks of a group or several,
 * decomposes them in registers, chooses their format and stores them. For *_cuda.cu only. */
#ifndef BSI_VALUES_CUDA_CUH
#define BSI_VALUES_CUDA_CUH

#include <algorithm>

#include "bjacobi/extract_cuda.cuh"
#include "bjacobi/store_cuda.cuh"

enum { BSI_NUMBERS_WARPS = 4, BSI_NUMBERS_THREADS = BSI_NUMBERS_WARPS * BSI_WARP };

template <bisai_form FORM>
static __device__ __forceinline__ void bsi_count(const bsi_numbers &p, int m, int32_t number,
                                                 double norm, double smallest, double condition,
                                                 bool repaired) {
  const unsigned long long block = static_cast<unsigned long long>(number);
  const bool near = FORM == BISAI_FORM_INVERSE ? bsi_near_singular(m, condition)
                                               : bsi_near_singular_pivot(m, norm, smallest);
  if (near) {
    atomicMax(&p.met->near_singular, ~block);
    atomicAdd(&p.met->near_singulars, 1ull);
  }
  if (repaired) {
    atomicMax(&p.met->repaired, ~block);
    atomicAdd(&p.met->repairs, 1ull);
  }
}

/* Decomposes the lane's rows a, or what the tile holds of them, and leaves the result in the tile;
 * true in all lanes of a block that is singular. bsi_by_shuffles: norms are sums over the lanes of
 * a block, not over columns of the tile. */
template <int M, int R, int LANES, bisai_form FORM, bool EXACT>
static __device__ __forceinline__ bool bsi_decompose(const bsi_numbers &p, const bsi_lane &l,
                                                     double norm, double *tile, double (&a)[R][M],
                                                     double *smallest, double *condition) {
  bool bad = false;
  if constexpr (FORM == BISAI_FORM_INVERSE) {
    const bsi_inverted<R> e = bsi_sub_gauss_jordan<M, R, LANES, EXACT>(l.w, a);
    double inverse_norm;
    if constexpr (bsi_by_shuffles<LANES, EXACT>) inverse_norm = bsi_sub_norm1<M, R, LANES>(l.w, a);
    __syncwarp(); /* the norm was read */
#pragma unroll
    for (int q = 0; q < M; q++) {
      const int c = EXACT ? q : q - (M - l.w.most);
      if (c < 0) continue;
      const int column = bsi_sub_pivot_of<R>(l.w, e, c);
#pragma unroll
      for (int s = 0; s < R; s++)
        if (l.w.row + s * l.w.lanes < l.w.m && (EXACT || c < l.w.m))
          tile[l.tile + column * l.lead + e.step[s]] = a[s][q];
    }
    __syncwarp();
    if constexpr (!bsi_by_shuffles<LANES, EXACT>) inverse_norm = bsi_norm1<LANES>(l, tile);
    *condition = norm * inverse_norm;
    bad = e.singular || !isfinite(inverse_norm);
  } else {
    static_assert(R == 1, "a lane has one row or column");
    const bool mine = l.w.row < l.w.m;
    double *block = tile + l.tile;
    bsi_eliminated e;
    if constexpr (FORM == BISAI_FORM_LU) {
      e = bsi_sub_lu<M, LANES>(l.w, a[0]);
    } else {
#pragma unroll
      for (int r = 0; r < M; r++) a[0][r] = mine && r < l.w.m ? block[l.w.row * l.lead + r] : 0.0;
      e = bsi_sub_gauss_huard<M, LANES>(l.w, a[0]);
    }
    __syncwarp();
    double sum = 0.0;
#pragma unroll
    for (int q = 0; q < M; q++) {
      if (!mine || q >= l.w.m) continue;
      sum += fabs(a[0][q]);
      int r = e.step, c = q;
      if (FORM != BISAI_FORM_LU) r = q, c = e.step;
      if (p.form == BISAI_FORM_GAUSS_HUARD_TRANSPOSED && r > c) {
        const int turned = l.w.m - 1 - c;
        c = l.w.m - 1 - r, r = turned;
      }
      block[c * l.lead + r] = a[0][q];
    }
    bad = e.singular || !isfinite(sum);
    *condition = 0.0, *smallest = e.smallest;
    if (mine) p.pivots[l.start + l.w.row] = static_cast<uint8_t>(e.pivot);
    __syncwarp();
  }
  return (__ballot_sync(BSI_EVERYONE, bad) & l.w.mask) != 0;
}

/* The worst of some blocks, as bsi_numbers_met has it: maxima of whole numbers, whose order does
 * not matter. */
struct bsi_worst {
  unsigned long long condition, block;
};

static __device__ __forceinline__ void bsi_take_worst(bsi_worst *worst, double condition,
                                                      int32_t block) {
  if (!(condition > 0.0)) return;
  const unsigned long long bits = static_cast<unsigned long long>(__double_as_longlong(condition));
  worst->condition = max(worst->condition, bits);
  worst->block =
      max(worst->block, bits >> 30 << 31 | (~static_cast<unsigned>(block) & 0x7fffffffu));
}

/* The first step of a kernel. */
static __device__ __forceinline__ void bsi_begin(const bsi_numbers &p) {
  constexpr int words = sizeof *p.next / sizeof(unsigned long long);
  static_assert(words <= BSI_NUMBERS_THREADS, "a word a thread");
  if (blockIdx.x == 0 && threadIdx.x < words)
    reinterpret_cast<unsigned long long *>(p.next)[threadIdx.x] = 0ull;
}

static __device__ __forceinline__ unsigned long long bsi_largest_of_warp(unsigned long long bits) {
  const bsi_sub_warp everyone = {BSI_WARP, 0, 0, 0, 0, BSI_EVERYONE};
  const double largest =
      bsi_sub_largest<BSI_WARP>(everyone, __longlong_as_double(static_cast<long long>(bits)));
  return static_cast<unsigned long long>(__double_as_longlong(largest));
}

/* The last one: tells the worst block. All threads call, each with its own. Thread blocks do not
 * wait for each other, which would take as long as the inversion of a small batch. */
static __device__ __forceinline__ void bsi_end(const bsi_numbers &p, const bsi_worst &mine) {
  __shared__ bsi_worst worst[BSI_NUMBERS_WARPS];
  if (p.form != BISAI_FORM_INVERSE) return;
  const bsi_worst of_warp = {bsi_largest_of_warp(mine.condition), bsi_largest_of_warp(mine.block)};
  if (threadIdx.x % BSI_WARP == 0) worst[threadIdx.x / BSI_WARP] = of_warp;
  __syncthreads();
  if (threadIdx.x > 0) return;
  bsi_worst all = of_warp;
  for (int warp = 1; warp < BSI_NUMBERS_WARPS; warp++) {
    all.condition = max(all.condition, worst[warp].condition);
    all.block = max(all.block, worst[warp].block);
  }
  atomicMax(&p.met->condition, all.condition);
  atomicMax(&p.met->condition_block, all.block);
}

/* Warps that a multiprocessor is to hold, so many on each of its four parts that some 56 registers
 * are left besides those of a. */
template <int M, int R>
constexpr int bsi_numbers_warps = M *R <= 8    ? 32
                                  : M *R <= 20 ? 20
                                  : M *R <= 32 ? 16
                                  : M *R <= 54 ? 12
                                               : 8;

/* M: most rows of a block, R of a lane, LANES: those of a sub-warp, 0: p.lanes. PLAIN: blocks lie
 * side by side and stay in fp64, and what is singular is repaired by another launch: less to keep
 * in registers. EXACT: PLAIN, natural, and all have M rows. */
template <int M, int R, int LANES, bisai_form FORM, bool PLAIN, bool EXACT>
__global__ void __launch_bounds__(BSI_NUMBERS_THREADS, bsi_numbers_warps<M, R> / BSI_NUMBERS_WARPS)
    bsi_make_numbers(const __grid_constant__ bsi_numbers p) {
  extern __shared__ double tiles[];
  __shared__ bsi_numbers_formats formats;
  __shared__ bsi_worst worst[BSI_NUMBERS_THREADS];
  const int warp = threadIdx.x / BSI_WARP;
  double *tile = tiles + warp * bsi_tile_values<M, R>;
  bsi_begin(p);
  worst[threadIdx.x] = {};
  if (!PLAIN && threadIdx.x < BSI_FORMATS)
    formats.blocks[threadIdx.x] = 0u, formats.values[threadIdx.x] = 0ull;
  __syncthreads();
  const int together = bsi_groups_a_warp(p);
  const int32_t count = !PLAIN && p.count_there ? *p.count_there : p.count;
  const int32_t units = count / together + (count % together > 0);
  for (int32_t unit = static_cast<int32_t>(blockIdx.x * BSI_NUMBERS_WARPS) + warp; unit < units;
       unit += static_cast<int32_t>(gridDim.x * BSI_NUMBERS_WARPS)) {
    const bsi_lane l = bsi_lane_of<M, R, LANES>(p, unit, count);
    double a[R][M], shift = 0.0, norm, smallest = INFINITY, condition;
    bool singular;
    if constexpr (PLAIN) {
      bsi_load_plain<M, R, EXACT>(p, l, 0.0, a);
      if constexpr (bsi_by_shuffles<LANES, EXACT>) {
        norm = bsi_sub_norm1<M, R, LANES>(l.w, a);
      } else {
        bsi_put_rows<M, R, EXACT>(l, a, tile);
        norm = bsi_norm1<LANES>(l, tile);
      }
      singular =
          bsi_decompose<M, R, LANES, FORM, EXACT>(p, l, norm, tile, a, &smallest, &condition);
    } else {
      double rows_norm = 0.0;
      for (;;) {
        bsi_load_blocks<M, R>(p, l, shift, tile, a);
        norm = bsi_norm1<LANES>(l, tile);
        singular =
            bsi_decompose<M, R, LANES, FORM, EXACT>(p, l, norm, tile, a, &smallest, &condition);
        if (p.amount == 0.0 || !__any_sync(BSI_EVERYONE, singular)) break;
        if (__any_sync(BSI_EVERYONE, singular && shift == 0.0)) {
          const double found = bsi_rows_norm(p, l);
          if (shift == 0.0) rows_norm = found;
        }
        const double next = singular ? bsi_next_shift(p.amount, rows_norm, shift) : 0.0;
        if (!__any_sync(BSI_EVERYONE, next > 0.0)) break; /* what is left cannot be repaired */
        if (next > 0.0) shift = next;
        __syncwarp(); /* the tile was read */
      }
    }
    const bool spoiled = (__ballot_sync(BSI_EVERYONE, singular) & l.group) != 0; /* the group */
    if (PLAIN && p.list && spoiled) {
      if (l.group_leader) p.list[atomicAdd(&p.met->listed, 1)] = l.block / p.per_group;
    } else if (l.leader) {
      if (singular)
        atomicMax(&p.met->singular, ~static_cast<unsigned long long>(l.block));
      else
        bsi_count<FORM>(p, l.w.m, l.block, norm, smallest, condition, shift > 0.0);
      /* listed groups come in any order */
      bsi_take_worst(&worst[threadIdx.x], condition, l.block);
    }
    if constexpr (EXACT) {
      bsi_store_groups<M, R>(p, unit, tile);
    } else if constexpr (PLAIN) {
      bsi_store_as<BISAI_FP64>(p, l, tile);
    } else {
      const bisai_value_type format =
          bsi_settle_format<LANES>(p, l, norm, condition, tile, &formats);
      if (p.format && l.group_leader)
        p.format[l.block / p.per_group] = static_cast<uint8_t>(format);
      bsi_store_blocks(p, l, tile, format);
    }
    __syncwarp();
  }
  if (!PLAIN && p.storage == BISAI_ADAPTIVE) {
    __syncthreads();
    if (threadIdx.x < BSI_FORMATS && formats.blocks[threadIdx.x] > 0) {
      atomicAdd(&p.met->formats[threadIdx.x],
                static_cast<unsigned long long>(formats.blocks[threadIdx.x]));
      atomicAdd(&p.met->values[threadIdx.x], formats.values[threadIdx.x]);
    }
  }
  bsi_end(p, worst[threadIdx.x]);
}

/* Bytes of shared memory that a thread block takes without asking. */
enum { BSI_NUMBERS_STATIC_SHARED = 2304 };

/* Enqueue the decomposition of p's groups, of blocks of at most `most` rows. Plain ones are of
 * blocks that lie side by side and stay in fp64; small and uniform ones besides natural, all of one
 * size, at most 8 rows or more, in groups as large as fit a warp: false, and nothing done, where
 * thread blocks of the device cannot have the shared memory for that. */
void bsi_enqueue_inverses(const bisai_context *context, int most, const bsi_numbers &p);
void bsi_enqueue_plain_inverses(const bisai_context *context, int most, const bsi_numbers &p);
bool bsi_enqueue_small_inverses(const bisai_context *context, const bsi_numbers &p);
bool bsi_enqueue_uniform_inverses(const bisai_context *context, const bsi_numbers &p);
void bsi_enqueue_decompositions(const bisai_context *context, int most, const bsi_numbers &p);

/* Enqueues a kernel that gives each warp a unit of work at a time and `warp_bytes` of shared
 * memory, with as many thread blocks as are resident together, so that all are busy to the end:
 * `warps` on a multiprocessor where its shared memory is enough for them. False as above; a lane a
 * row takes 36 KiB at most, which every device has. */
static inline bool bsi_launch_resident(const bisai_context *context, void (*kernel)(bsi_numbers),
                                       int warps, size_t warp_bytes, int64_t units,
                                       const bsi_numbers &p) {
  const bsi_device_limits *has = &context->limits;
  const int asked = static_cast<int>(BSI_NUMBERS_WARPS * warp_bytes),
            bytes = asked + BSI_NUMBERS_STATIC_SHARED;
  if (bytes > has->block_shared) return false;
  if (asked > 40 << 10)
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, asked);
  const int fit = std::max(has->shared / (bytes + BSI_SHARED_TAKEN), 1),
            each = std::min(warps / BSI_NUMBERS_WARPS, fit);
  const unsigned grid =
      std::min(bsi_grid(units, BSI_NUMBERS_WARPS), static_cast<unsigned>(has->processors * each));
  kernel<<<grid, BSI_NUMBERS_THREADS, asked, bsi_stream_of(context)>>>(p);
  return true;
}

/* Units of a launch, p.lanes lanes to a block. */
static inline int64_t bsi_units(const bsi_numbers &p) {
  const int together = bsi_groups_a_warp(p);
  return (static_cast<int64_t>(p.count) + together - 1) / together;
}

template <int M, int R, int LANES, bisai_form FORM, bool PLAIN, bool EXACT = false>
static inline bool bsi_enqueue_numbers(const bisai_context *context, bsi_numbers p) {
  p.lanes = LANES > 0 ? LANES : (p.largest + R - 1) / R;
  return bsi_launch_resident(context, bsi_make_numbers<M, R, LANES, FORM, PLAIN, EXACT>,
                             bsi_numbers_warps<M, R>, sizeof(double) * bsi_tile_values<M, R>,
                             bsi_units(p), p);
}

#endif
