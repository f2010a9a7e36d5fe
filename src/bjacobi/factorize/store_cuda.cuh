/* SPDX-License-Identifier: BSD-3-Clause */
/* The format of each group, and the copy of blocks from the tile to memory. For *_cuda.cu only. */
#ifndef BSI_STORE_CUDA_CUH
#define BSI_STORE_CUDA_CUH

#include "bjacobi/factorize/lanes_cuda.cuh"

/* Returns the largest sum of f(value) over a column, of the lane's R columns of the block.
 * Function: double → double. */
template <int R, typename Function>
static __device__ __forceinline__ double bsi_column_sums(const bsi_lane &l, const double *tile,
                                                         Function f) {
  double largest = 0.0, sum[R] = {};
  const double *column = tile + l.tile + l.w.row * l.ld;
#pragma unroll 4
  for (int r = 0; r < l.w.m; r++)
#pragma unroll
    for (int s = 0; s < R; s++)
      if (l.w.row + s * l.w.lanes < l.w.m) sum[s] += f(column[s * l.w.lanes * l.ld + r]);
#pragma unroll
  for (int s = 0; s < R; s++) largest = bsi_larger(largest, sum[s]);
  return largest;
}

/* Returns ‖block‖₁ in every lane of the block. R: the rows of a lane. LANES: as in
 * bsi_sub_largest(). */
template <int R, int LANES>
static __device__ __forceinline__ double bsi_norm1(const bsi_lane &l, const double *tile) {
  return bsi_sub_largest<LANES>(l.w, bsi_column_sums<R>(l, tile, [](double v) { return fabs(v); }));
}

/* Returns the first format of the list that all blocks of the lane's group may have. R, LANES: as
 * in bsi_norm1(). */
template <int R, int LANES>
static __device__ bisai_value_type bsi_choose_adaptive_format(const bsi_values_job &p,
                                                              const bsi_lane &l, double norm,
                                                              double condition,
                                                              const double *tile) {
  unsigned mask = 1u << (BSI_ADAPTIVE_FORMATS - 1);
#pragma unroll
  for (int k = 0; k < BSI_ADAPTIVE_FORMATS - 1; k++) {
    const bisai_value_type format = bsi_adaptive_format(k);
    const double tolerance = p.result.tolerance;
    const bool wanted = l.w.m > 0 && (p.result.admitted >> k & 1u) != 0 &&
                        bsi_adaptive_allows(format, condition, tolerance);
    bool keeps = wanted && bsi_adaptive_certain(format, l.w.m, norm, condition, tolerance);
    if (__any_sync(BSI_FULL_WARP, wanted && !keeps)) {
      const auto lost = [format](double v) {
        bool fits;
        return fabs(v - bsi_value_round(format, v, &fits));
      };
      const double error = fabs(bsi_sub_largest<LANES>(l.w, bsi_column_sums<R>(l, tile, lost)));
      keeps |= wanted && bsi_adaptive_keeps(norm, error, tolerance);
    }
    if (keeps) mask |= 1u << k;
  }
  if (l.w.m == 0) mask = ~0u;
#pragma unroll
  for (int k = 0; k < BSI_ADAPTIVE_FORMATS; k++)
    if ((__ballot_sync(BSI_FULL_WARP, !(mask >> k & 1u)) & l.group_mask) != 0) mask &= ~(1u << k);
  return bsi_adaptive_first(mask);
}

/* Returns true if the lane's columns fit the format, and if none of its rows and columns vanishes
 * in it, nor the reciprocal of a pivot of a decomposition. */
static __device__ __forceinline__ bool bsi_fits(const bsi_values_job &p, const bsi_lane &l,
                                                const double *tile, bisai_value_type format) {
  bool good = true;
#pragma unroll 1
  for (int own = l.w.row; own < l.w.m; own += l.w.lanes) {
    const double *column = tile + l.tile + own * l.ld, *row = tile + l.tile + own;
    bool column_left = false, row_left = false, fits;
#pragma unroll 1
    for (int k = 0; k < l.w.m; k++) {
      row_left |= bsi_value_round(format, row[k * l.ld], &fits) != 0.0;
      column_left |= bsi_value_round(format, column[k], &fits) != 0.0;
      good &= fits;
    }
    const bool pivot_left = bsi_value_round(format, column[own], &fits) != 0.0;
    good &= column_left && row_left && (pivot_left || p.result.form == BISAI_FORM_INVERSE);
  }
  return good;
}

/* Stores the lane's block, column after column. FORMAT: its format. R: the rows of a lane. */
template <bisai_value_type FORMAT, int R>
static __device__ __forceinline__ void bsi_store_as(const bsi_values_job &p, const bsi_lane &l,
                                                    const double *tile) {
  char *to = p.result.data + l.first * p.result.slot_bytes;
  const double *from = tile + l.tile + l.w.row;
  size_t at = static_cast<size_t>(l.in_group + l.w.row);
#pragma unroll(FORMAT == BISAI_FP64 ? 4 : 1)
  for (int c = 0; c < l.w.m; c++, at += static_cast<size_t>(l.height), from += l.ld)
#pragma unroll
    for (int s = 0; s < R; s++) {
      const int further = s * l.w.lanes;
      if (l.w.row + further < l.w.m)
        bsi_value_store(FORMAT, from[further], to, at + static_cast<size_t>(further));
    }
}

template <int R>
static __device__ __forceinline__ void bsi_store_blocks(const bsi_values_job &p, const bsi_lane &l,
                                                        const double *tile,
                                                        bisai_value_type format) {
  switch (format) {
#define STORE_AS(enumerator, word, bytes, mantissa)                                                \
  case enumerator: return bsi_store_as<enumerator, R>(p, l, tile);
    BISAI_BLOCK_TYPE_LIST(STORE_AS)
#undef STORE_AS
  default: return; /* blocks have no other */
  }
}

/* Stores groups of natural blocks of M rows in fp64. A lane stores a row of a group, column after
 * column. R: the rows of a lane in the tile. */
template <int M, int R>
static __device__ __forceinline__ void bsi_store_groups(const bsi_values_job &p, int32_t unit,
                                                        const double *tile) {
  constexpr int per_group = BSI_WARP / M;
  const int lane = threadIdx.x % BSI_WARP, groups_per_warp = bsi_groups_per_warp(p);
  for (int g = 0; g < groups_per_warp; g++) {
    const int64_t block = (static_cast<int64_t>(unit) * groups_per_warp + g) * per_group;
    const int height =
        static_cast<int>(min(static_cast<int64_t>(per_group), p.partition.blocks - block)) * M;
    if (lane >= height) continue;
    const double *from = tile + g * bsi_group_tile<M, R>(p) + lane;
    double *to = reinterpret_cast<double *>(p.result.data) + block * M * M + lane;
#pragma unroll
    for (int c = 0; c < M; c++, from += height | 1, to += height) *to = *from;
  }
}

/* The number of blocks and values in each format, in the shared memory of a thread block. */
struct bsi_format_counts {
  unsigned blocks[BSI_FORMATS];
  unsigned long long values[BSI_FORMATS];
};

static __device__ __forceinline__ void bsi_clear_formats(bsi_format_counts *formats) {
  if (threadIdx.x < BSI_FORMATS)
    formats->blocks[threadIdx.x] = 0u, formats->values[threadIdx.x] = 0ull;
}

/* Adds a thread block's counts to the record. All threads call. */
static __device__ __forceinline__ void bsi_record_formats(const bsi_values_job &p,
                                                          const bsi_format_counts &formats) {
  if (p.result.storage != BISAI_ADAPTIVE) return;
  __syncthreads();
  if (threadIdx.x < BSI_FORMATS && formats.blocks[threadIdx.x] > 0) {
    atomicAdd(&p.record->formats[threadIdx.x],
              static_cast<unsigned long long>(formats.blocks[threadIdx.x]));
    atomicAdd(&p.record->values[threadIdx.x], formats.values[threadIdx.x]);
  }
}

/* Returns the format of the lane's group. Counts it if formats are adaptive, and records a block
 * that does not fit if the format is fixed. R, LANES: as in bsi_norm1(). */
template <int R, int LANES>
static __device__ __forceinline__ bisai_value_type bsi_select_format(const bsi_values_job &p,
                                                                     const bsi_lane &l, double norm,
                                                                     double condition,
                                                                     const double *tile,
                                                                     bsi_format_counts *formats) {
  if (p.result.storage == BISAI_FP64) return BISAI_FP64;
  if (p.result.storage != BISAI_ADAPTIVE) {
    const bisai_value_type format = static_cast<bisai_value_type>(p.result.storage);
    const bool certain = l.w.m == 0 || (p.result.form == BISAI_FORM_INVERSE &&
                                        bsi_inverse_fits(format, l.w.m, norm, condition));
    if (__all_sync(BSI_FULL_WARP, certain)) return format;
    const unsigned bad = __ballot_sync(BSI_FULL_WARP, !bsi_fits(p, l, tile, format)) & l.w.mask;
    if (l.leader && bad != 0)
      atomicMax(&p.record->first_overflow, ~static_cast<unsigned long long>(l.block));
    return format;
  }
  const bisai_value_type format = bsi_choose_adaptive_format<R, LANES>(p, l, norm, condition, tile);
  if (l.leader) {
    atomicAdd(&formats->blocks[format], 1u);
    atomicAdd(&formats->values[format], static_cast<unsigned long long>(l.w.m) * l.w.m);
  }
  return format;
}

/* Stores the lane's block in the format of its group. R, LANES: as in bsi_norm1(). */
template <int R, int LANES>
static __device__ __forceinline__ void bsi_store_rounded(const bsi_values_job &p, const bsi_lane &l,
                                                         double norm, double condition,
                                                         const double *tile,
                                                         bsi_format_counts *formats) {
  const bisai_value_type format = bsi_select_format<R, LANES>(p, l, norm, condition, tile, formats);
  if (p.result.format && l.group_leader)
    p.result.format[l.block / p.partition.per_group] = static_cast<uint8_t>(format);
  bsi_store_blocks<R>(p, l, tile, format);
}

#endif
