/* SPDX-License-Identifier: BSD-3-Clause */
/* A product C = A B of sparse matrices on a device, and what its kernels share: how they load and
 * add blocks, and how they smooth them. For multigrid/spgemm/spgemm_cuda.cu only. */
#ifndef BSI_SPGEMM_PRODUCT_CUDA_CUH
#define BSI_SPGEMM_PRODUCT_CUDA_CUH

#include "multigrid/spgemm/rows_cuda.cuh"

namespace {

/* A, B or T of a product. values NULL: of identity blocks */
struct operand {
  const int32_t *ptr, *col;
  const double *values;
};

struct product {
  /* those of C; `inner`: the width of the blocks of A */
  int32_t rows, blocks;
  int height, inner, width;
  operand a, b;
  /* the factors of identity blocks of A, `inner`² values apart; NULL: 1 */
  const double *weights;
  struct {
    const int32_t *ptr, *col;
    double *values;
  } c;
  /* those of the products (multigrid/spgemm/block_matrix.h) */
  struct {
    const int32_t *before;
    const uint8_t *of;
  } slots;
  /* bsi_smoothing */
  struct {
    operand t;
    const double *inverse;
    double omega;
  } smoothing;
  /* the lanes of a row, a power of two; multiply_rows: at least `width`, and the blocks of C that
   * they have in shared memory */
  int lanes, window, longest;
  /* bsi_product_slots, or NULL: all blocks of C are computed */
  const int32_t *upper;
};

/* Loads the column of B_q that A_p multiplies; if A or B has identity blocks, the column of the
 * product.
 *   H, M: the height and the width of the blocks of A
 *   A, B: the blocks have values; otherwise they are identities, and H = M */
template <int H, int M, bool A, bool B>
__device__ __forceinline__ void load_factor(const product &s, int32_t p, int32_t q, int column,
                                            double (&right)[A && B ? M : H]) {
  if constexpr (B)
    load_cached(s.b.values + (static_cast<int64_t>(q) * s.width + column) * M, right);
  else
    load_cached(s.a.values + (static_cast<int64_t>(p) * M + column) * H, right);
}

/* Blocks of more values are loaded column by column, to have registers for them. */
enum { MOST_AT_ONCE = 16 };

/* sum ← sum + A times a column of B, in this order. `left` has A column by column. */
template <int H, int M>
__device__ __forceinline__ void add_columns(const double (&left)[H * M], const double (&right)[M],
                                            double (&sum)[H]) {
#pragma unroll
  for (int k = 0; k < M; k++) {
#pragma unroll
    for (int r = 0; r < H; r++) sum[r] += left[k * H + r] * right[k];
  }
}

/* Returns the factor of identity block p of A. */
__device__ __forceinline__ double weight_of(const product &s, int32_t p) {
  return s.weights ? __ldg(s.weights + static_cast<int64_t>(p) * (s.inner * s.inner)) : 1.0;
}

/* sum ← sum + A_p times what load_factor() gave. The template parameters are its own. */
template <int H, int M, bool A, bool B>
__device__ __forceinline__ void add_product(const product &s, int32_t p,
                                            const double (&right)[A && B ? M : H],
                                            double (&sum)[H]) {
  const double *left = s.a.values + static_cast<int64_t>(p) * (H * M);
  if constexpr (A && B && H * M <= MOST_AT_ONCE) {
    double a[H * M];
    load_in_pairs(left, a);
    add_columns<H, M>(a, right, sum);
  } else if constexpr (A && B) {
#pragma unroll
    for (int k = 0; k < M; k++) {
      double a[H];
      load_cached(left + k * H, a);
#pragma unroll
      for (int r = 0; r < H; r++) sum[r] += a[r] * right[k];
    }
  } else if constexpr (B) {
    const double weight = weight_of(s, p);
#pragma unroll
    for (int r = 0; r < H; r++) sum[r] += weight * right[r];
  } else {
#pragma unroll
    for (int r = 0; r < H; r++) sum[r] += right[r];
  }
}

/* --- smoothing --- */

/* How the blocks of C are smoothed before they are written (bsi_smoothing): not at all, from the
 * left column by column, from the right row by row. */
enum side { PLAIN, LEFT, RIGHT };

/* D_i⁻¹ or D_j⁻¹.
 *   HELD: it is in registers */
template <int SIZE, bool HELD> struct inverse_block {
  const double *there;
  double held[HELD ? SIZE * SIZE : 1];
  __device__ __forceinline__ inverse_block(const product &s, int64_t at)
      : there(s.smoothing.inverse + at * (SIZE * SIZE)) {
    if constexpr (HELD) load_in_pairs(there, held);
  }
  __device__ __forceinline__ double operator[](int v) const {
    return HELD ? held[v] : __ldg(there + v);
  }
};

/* values ← column `member` of block (i, j) of T, or row `member` from the right, minus omega·D⁻¹
 * times the values. */
template <int SIZE, side SIDE, bool HELD>
__device__ __forceinline__ void smooth_values(const product &s, int64_t i, int32_t j, int member,
                                              const inverse_block<SIZE, HELD> &d,
                                              double (&values)[SIZE]) {
  constexpr bool right = SIDE == RIGHT;
  const int32_t own =
      bsi_find_column(bsi_read_only<int32_t>{s.smoothing.t.col}, __ldg(s.smoothing.t.ptr + i),
                      __ldg(s.smoothing.t.ptr + i + 1), j);
  const double *t = s.smoothing.t.values +
                    (own * static_cast<int64_t>(right ? s.height : s.width)) * SIZE +
                    (right ? member : member * SIZE);
  double before[SIZE];
#pragma unroll
  for (int k = 0; k < SIZE; k++) before[k] = values[k];
#pragma unroll
  for (int v = 0; v < SIZE; v++) {
    double sum = 0.0;
#pragma unroll
    for (int k = 0; k < SIZE; k++) sum += d[right ? v * SIZE + k : k * SIZE + v] * before[k];
    values[v] = -s.smoothing.omega * sum;
    if (own >= 0)
      values[v] += s.smoothing.t.values ? __ldg(t + v * (right ? s.height : 1))
                   : v == member        ? 1.0
                                        : 0.0;
  }
}

} // namespace

#endif
