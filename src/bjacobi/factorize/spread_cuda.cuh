/* SPDX-License-Identifier: BSD-3-Clause */
/* A block of 17 … 32 rows in the registers of a warp. It is padded by the identity to N × N patches
 * of 8 × 8 values. These are spread over the lanes as bsi_add_product() wants them. All lanes of a
 * warp call together. For *_cuda.cu only. */
#ifndef BSI_SPREAD_CUDA_CUH
#define BSI_SPREAD_CUDA_CUH

#include <bisai/precond_bjacobi.h>

#include "bjacobi/factorize/eliminate_cuda.cuh"

/* The patches of a row of blocks of at most M rows. */
template <int M> constexpr int bsi_patches = (M + 7) / 8;

/* The lane's values of a block. Value e of patch [t][u] is in row 8 t + bsi_patch_row() and column
 * 8 u + bsi_patch_column() + e. */
template <int N> struct bsi_spread { double v[N][N][2]; };

static __device__ __forceinline__ int bsi_patch_row() { return threadIdx.x % BSI_WARP / 4; }
static __device__ __forceinline__ int bsi_patch_column() { return threadIdx.x % 4 * 2; }

/* Returns the block of m rows, the transposed one for Gauss–Huard, with its padding. Its columns
 * begin `ld` values apart. there: false for a block of zeros. */
template <int N, bisai_form FORM>
static __device__ __forceinline__ bsi_spread<N> bsi_spread_block(const double *from, int ld, int m,
                                                                 bool there) {
  const int of_row = FORM == BISAI_FORM_GAUSS_HUARD ? ld : 1,
            of_column = FORM == BISAI_FORM_GAUSS_HUARD ? 1 : ld;
  const int row = bsi_patch_row(), column = bsi_patch_column(), width = there ? m : 0;
  bsi_spread<N> a;
  from += column * of_column + row * of_row;
#pragma unroll
  for (int u = 0; u < N; u++)
#pragma unroll
    for (int e = 0; e < 2; e++)
#pragma unroll
      for (int t = 0; t < N; t++)
        a.v[t][u][e] = 8 * u + column + e < width && 8 * t + row < width
                           ? from[(8 * u + e) * of_column + 8 * t * of_row]
                       : t == u && column + e == row && 8 * t + row >= m ? 1.0
                                                                         : 0.0;
  return a;
}

/* Adds `shift` to the diagonal of a block of m rows. */
template <int N>
static __device__ __forceinline__ void bsi_shift_spread(double shift, int m, bsi_spread<N> *a) {
#pragma unroll
  for (int t = 0; t < N; t++)
#pragma unroll
    for (int e = 0; e < 2; e++)
      if (bsi_patch_row() == bsi_patch_column() + e && 8 * t + bsi_patch_row() < m)
        a->v[t][t][e] += shift;
}

/* Returns the largest sum of magnitudes of one of the first m columns in every lane; NaN if a value
 * is NaN. Each exchange halves the number of columns that a lane sums while it is even. */
template <int N>
static __device__ __forceinline__ double bsi_spread_columns(const bsi_spread<N> &a, int m) {
  double sum[2 * N];
#pragma unroll
  for (int c = 0; c < 2 * N; c++) {
    sum[c] = 0.0;
#pragma unroll
    for (int t = 0; t < N; t++) sum[c] += fabs(a.v[t][c / 2][c % 2]);
    if (c / 2 * 8 + bsi_patch_column() + c % 2 >= m) sum[c] = 0.0;
  }
  int width = 2 * N;
#pragma unroll
  for (int step = BSI_WARP / 2; step >= 4; step /= 2) {
    const bool halves = width % 2 == 0, upper = halves && (threadIdx.x & step) != 0;
    if (halves) width /= 2;
#pragma unroll
    for (int c = 0; c < 2 * N; c++) {
      if (c >= width) break;
      const double other = halves ? sum[(c + width) % (2 * N)] : sum[c];
      const double given = __shfl_xor_sync(BSI_FULL_WARP, upper ? sum[c] : other, step);
      sum[c] = (upper ? other : sum[c]) + given;
    }
  }
  double largest = 0.0;
#pragma unroll
  for (int c = 0; c < 2 * N; c++)
    if (c < width) largest = bsi_larger(largest, sum[c]);
  return bsi_warp_max_magnitude(largest);
}

/* The same for rows. */
template <int N>
static __device__ __forceinline__ double bsi_spread_rows(const bsi_spread<N> &a, int m) {
  double largest = 0.0;
#pragma unroll
  for (int t = 0; t < N; t++) {
    double sum = 0.0;
#pragma unroll
    for (int u = 0; u < N; u++) sum += fabs(a.v[t][u][0]) + fabs(a.v[t][u][1]);
    sum += __shfl_xor_sync(BSI_FULL_WARP, sum, 1);
    sum += __shfl_xor_sync(BSI_FULL_WARP, sum, 2);
    if (8 * t + bsi_patch_row() < m) largest = bsi_larger(largest, sum);
  }
  return bsi_warp_max_magnitude(largest);
}

#endif
