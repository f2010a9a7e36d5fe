/* SPDX-License-Identifier: BSD-3-Clause */
/* Decompositions of small dense blocks in the registers of a sub-warp: Gauss–Jordan, LU and
 * Gauss–Huard with implicit pivoting (Anzt, Dongarra, Flegar, Quintana-Ortí 2017, section 3.2, and
 * 2018; Gauss–Huard: 2017). For *_cuda.cu only.
 *
 * A sub-warp is a number of consecutive lanes that have one block. Each lane has a row of it, for
 * Gauss–Huard a column, and for Gauss–Jordan R rows: row, row + lanes, … A broadcast of a value to
 * the other lanes takes most of the time, and serves all R rows. The values are in registers, which
 * are indexed by constants only. Rows do not move: a lane remembers the step in which its row was
 * the pivot, and the permutation is applied when the result is written. Lanes and registers beyond
 * the block are zeros. All lanes of a warp call together. */
#ifndef BSI_ELIMINATE_CUDA_CUH
#define BSI_ELIMINATE_CUDA_CUH

#include "gpu/launch.cuh"
#include "gpu/ptx.cuh"

/* The sub-warp of one lane. */
struct bsi_sub_warp {
  /* the number of lanes, and the lane's index among them */
  int lanes, row;
  /* the first lane, counted in the warp */
  int base;
  /* rows of the block; 0: there is none */
  int m;
  /* rows of the warp's largest block */
  int max_rows;
  /* the lanes that have rows of the block */
  unsigned mask;
};

/* What LU and Gauss–Huard leave in a lane. */
struct bsi_eliminated {
  /* the step in which the lane's row was the pivot */
  int step;
  /* the lane of the sub-warp that was the pivot in step `row` */
  int pivot;
  /* the smallest magnitude of a pivot */
  double smallest;
  bool singular;
};

/* Returns the larger of two magnitudes; NaN if one is NaN. */
static __device__ __forceinline__ double bsi_larger(double a, double b) {
  return b > a || isnan(b) ? b : a;
}

/* Returns the maximum over a sub-warp.
 * LANES: the lanes of the sub-warp; 0: w.lanes, at most 16. */
template <int LANES>
static __device__ __forceinline__ unsigned bsi_sub_largest(const bsi_sub_warp &w, unsigned value) {
  if constexpr (LANES == BSI_WARP) {
    value = bsi_warp_max(value);
  } else if constexpr (LANES > 0 && (LANES & (LANES - 1)) == 0) {
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2)
      value = max(value, __shfl_xor_sync(BSI_FULL_WARP, value, step));
  } else { /* The window doubles with each step, and may overlap itself. */
    const int lanes = LANES > 0 ? LANES : w.lanes;
#pragma unroll
    for (int step = 1; step < 16; step *= 2) {
      if (step >= lanes) break;
      int from = w.row + step;
      from -= from >= lanes ? lanes : 0;
      value = max(value, __shfl_sync(BSI_FULL_WARP, value, w.base + from));
    }
  }
  return value;
}

/* The same for magnitudes; NaN if one is NaN. */
template <int LANES>
static __device__ __forceinline__ double bsi_sub_largest(const bsi_sub_warp &w, double magnitude) {
  const unsigned high = static_cast<unsigned>(__double2hiint(magnitude)),
                 top = bsi_sub_largest<LANES>(w, high);
  const unsigned low = high == top ? static_cast<unsigned>(__double2loint(magnitude)) : 0u;
  return __hiloint2double(static_cast<int>(top), static_cast<int>(bsi_sub_largest<LANES>(w, low)));
}

/* Returns the lane of the sub-warp whose candidate has the largest magnitude, the first of equals,
 * or 0 if there is no candidate. NaN is the largest. LANES: as in bsi_sub_largest(). */
template <int LANES>
static __device__ __forceinline__ int bsi_sub_pivot(const bsi_sub_warp &w, double value,
                                                    bool candidate) {
  const unsigned high = static_cast<unsigned>(__double2hiint(value)) & 0x7fffffffu;
  const unsigned top = bsi_sub_largest<LANES>(w, candidate ? high : 0u);
  candidate = candidate && high == top;
  unsigned found = __ballot_sync(BSI_FULL_WARP, candidate) & w.mask;
  if (__any_sync(BSI_FULL_WARP, __popc(found) > 1)) {
    const unsigned low = static_cast<unsigned>(__double2loint(value));
    const unsigned lowest = bsi_sub_largest<LANES>(w, candidate ? low : 0u);
    candidate = candidate && low == lowest;
    found = __ballot_sync(BSI_FULL_WARP, candidate) & w.mask;
  }
  return found ? __ffs(static_cast<int>(found)) - 1 - w.base : 0;
}

static __device__ __forceinline__ bsi_eliminated bsi_eliminated_nothing(const bsi_sub_warp &w) {
  return {w.row, w.row, INFINITY, false};
}

/* Returns 1/x to about the last digit, by two Newton steps from the hardware's 20 bits. The result
 * is NaN if x is zero or subnormal, and 0 or NaN if 1/x is subnormal. */
static __device__ __forceinline__ double bsi_reciprocal(double x) {
  double r = bsi_rough_reciprocal(x);
  r = fma(r, fma(-x, r, 1.0), r);
  return fma(r, fma(-x, r, 1.0), r);
}

/* The pivot of one step. */
struct bsi_step {
  /* the lane of the sub-warp */
  int pivot;
  /* the reciprocal of the pivot */
  double inverse;
  /* true if the block has this step */
  bool active;
};

/* Chooses the pivot of step k and records it in *e. LANES: as in bsi_sub_largest(). */

template <int LANES>
static __device__ __forceinline__ bsi_step bsi_sub_step(const bsi_sub_warp &w, int k, double value,
                                                        bool *used, bsi_eliminated *e) {
  bsi_step s;
  s.active = k < w.m;
  s.pivot = bsi_sub_pivot<LANES>(w, value, !*used);
  const double pivot = __shfl_sync(BSI_FULL_WARP, value, w.base + s.pivot);
  s.inverse = bsi_reciprocal(pivot);
  if (s.active) {
    e->singular |= s.inverse == 0.0; /* a zero or NaN pivot makes the result NaN */
    e->smallest = fmin(e->smallest, fabs(pivot));
    if (w.row == k) e->pivot = s.pivot;
    if (w.row == s.pivot) {
      e->step = k;
      *used = true;
    }
  }
  return s;
}

/* What Gauss–Jordan leaves in a lane that has R rows. */
template <int R> struct bsi_inverted {
  /* the step in which each row was the pivot */
  int step[R];
  /* for each row r the row of the block that was the pivot in step r */
  int pivot[R];
  bool singular;
};

/* Returns the row that was the pivot in step c < m. R: the rows of a lane. */
template <int R>
static __device__ __forceinline__ int bsi_sub_pivot_of(const bsi_sub_warp &w,
                                                       const bsi_inverted<R> &e, int c) {
  int pivot = e.pivot[0], lane = c;
#pragma unroll
  for (int s = 1; s < R; s++)
    if (c >= s * w.lanes) pivot = e.pivot[s], lane = c - s * w.lanes;
  return __shfl_sync(BSI_FULL_WARP, pivot, w.base + lane);
}

/* Inverts the block whose rows the lane has in a[·][0 … m − 1]. Row s becomes row e.step[s] of the
 * inverse; its column of the pivot of step j is in a[s][M − max_rows + j]. Columns move down by one
 * register in each step, so that every step is the same code. Pivot rows are scaled at the end. Two
 * pivots that agree in their exponent and the first 20 bits of their fraction count as equal.
 * M: the most rows of a block.
 * R: the rows of a lane.
 * LANES: as in bsi_sub_largest().
 * EXACT: all blocks have M rows. Lanes without a block then get meaningless values. */
template <int M, int R, int LANES, bool EXACT>
static __device__ __forceinline__ bsi_inverted<R> bsi_sub_gauss_jordan(const bsi_sub_warp &w,
                                                                       double (&a)[R][M]) {
  bsi_inverted<R> e;
  bool used[R];
  double scale[R];
  e.singular = false;
#pragma unroll
  for (int s = 0; s < R; s++) {
    e.step[s] = e.pivot[s] = w.row + s * w.lanes;
    used[s] = e.step[s] >= w.m;
    scale[s] = 1.0;
  }
#pragma unroll(M *R <= 8 ? M : 1)
  for (int k = 0; k < M; k++) {
    if (!EXACT && k >= w.max_rows) break;
    const bool active = EXACT || k < w.m;
    unsigned high[R], top = 0u;
#pragma unroll
    for (int s = 0; s < R; s++) {
      high[s] = used[s] ? 0u : static_cast<unsigned>(__double2hiint(a[s][0])) & 0x7fffffffu;
      top = max(top, high[s]);
    }
    top = bsi_sub_largest<LANES>(w, top);
    int lane = 0, slot = 0;
#pragma unroll
    for (int s = R - 1; s >= 0; s--) {
      const unsigned found = __ballot_sync(BSI_FULL_WARP, !used[s] && high[s] == top) & w.mask;
      if (found) lane = __ffs(static_cast<int>(found)) - 1 - w.base, slot = s;
    }
    const auto pivot_row = [&](int j) {
      double value = a[0][j];
#pragma unroll
      for (int s = 1; s < R; s++) value = slot == s ? a[s][j] : value;
      return __shfl_sync(BSI_FULL_WARP, value, w.base + lane);
    };
    const double inverse = bsi_reciprocal(pivot_row(0));
    if (active) e.singular |= inverse == 0.0; /* a zero or NaN pivot makes the result NaN */
    double factor[R], entering[R];
#pragma unroll
    for (int s = 0; s < R; s++) {
      const bool mine = active && w.row == lane && slot == s;
      factor[s] = active && !mine ? -a[s][0] * inverse : 0.0;
      entering[s] = mine ? 1.0 : active ? factor[s] : a[s][0];
      if (mine) scale[s] = inverse, e.step[s] = k, used[s] = true;
      if (active && w.row + s * w.lanes == k) e.pivot[s] = lane + slot * w.lanes;
    }
#pragma unroll
    for (int j = 1; j < M; j++) {
      const double value = pivot_row(j);
#pragma unroll
      for (int s = 0; s < R; s++) a[s][j - 1] = fma(factor[s], value, a[s][j]);
    }
#pragma unroll
    for (int s = 0; s < R; s++) a[s][M - 1] = entering[s];
  }
  /* The sum with zero makes all zeros positive. Their signs would depend on how many steps beyond
   * the block the warp has taken, and so on the other blocks of the warp. */
#pragma unroll
  for (int s = 0; s < R; s++)
#pragma unroll
    for (int j = 0; j < M; j++) a[s][j] = fma(a[s][j], scale[s], 0.0);
  return e;
}

/* True if the lanes of a block find its norm by shuffles: they have all its rows, and their number
 * is a power of two. LANES, EXACT: as in bsi_sub_gauss_jordan(). */
template <int LANES, bool EXACT>
constexpr bool bsi_by_shuffles = EXACT &&LANES > 0 && (LANES & (LANES - 1)) == 0;

/* Returns ‖a‖₁ in every lane of the block; NaN if a value is NaN. Each exchange halves the number
 * of columns that a lane sums. Template parameters: as those of bsi_sub_gauss_jordan(). */
template <int M, int R, int LANES>
static __device__ __forceinline__ double bsi_sub_norm1(const bsi_sub_warp &w,
                                                       const double (&a)[R][M]) {
  constexpr int share = (M + LANES - 1) / LANES, columns = share * LANES;
  double sum[columns];
#pragma unroll
  for (int c = 0; c < columns; c++) {
    sum[c] = 0.0;
#pragma unroll
    for (int s = 0; s < R; s++) sum[c] += c < M ? fabs(a[s][c < M ? c : 0]) : 0.0;
  }
#pragma unroll
  for (int halvings = 1; halvings <= 5; halvings++) {
    const int step = LANES >> halvings, width = columns >> halvings;
    if (step == 0) break;
    const bool upper = (w.row & step) != 0;
#pragma unroll
    for (int c = 0; c < columns / 2; c++) {
      if (c >= width) break;
      const double given = __shfl_xor_sync(BSI_FULL_WARP, upper ? sum[c] : sum[c + width], step);
      sum[c] = (upper ? sum[c + width] : sum[c]) + given;
    }
  }
  double largest = sum[0];
#pragma unroll
  for (int c = 1; c < share; c++) largest = bsi_larger(largest, sum[c]);
  return bsi_sub_largest<LANES>(w, largest);
}

/* Decomposes the block of which the lane has row w.row in a. The row becomes row e.step of L∖U with
 * the reciprocals of the pivots. Template parameters: as those of bsi_sub_gauss_jordan(). */
template <int M, int LANES>
static __device__ __forceinline__ bsi_eliminated bsi_sub_lu(const bsi_sub_warp &w, double (&a)[M]) {
  bsi_eliminated e = bsi_eliminated_nothing(w);
  bool used = w.row >= w.m;
#pragma unroll
  for (int k = 0; k < M; k++) {
    if (k >= w.max_rows) break;
    const bsi_step s = bsi_sub_step<LANES>(w, k, a[k], &used, &e);
    const double factor = s.active && !used ? a[k] * s.inverse : 0.0;
#pragma unroll
    for (int j = k + 1; j < M; j++)
      a[j] = fma(-factor, __shfl_sync(BSI_FULL_WARP, a[j], w.base + s.pivot), a[j]);
    if (s.active && !used) a[k] = factor;
    if (s.active && w.row == s.pivot) a[k] = s.inverse;
  }
  return e;
}

/* Decomposes the block of which the lane has column w.row in a. The column becomes column e.step of
 * the Gauss–Huard decomposition with the reciprocals of the pivots. Template parameters: as those
 * of bsi_sub_gauss_jordan(). */
template <int M, int LANES>
static __device__ __forceinline__ bsi_eliminated bsi_sub_gauss_huard(const bsi_sub_warp &w,
                                                                     double (&a)[M]) {
  bsi_eliminated e = bsi_eliminated_nothing(w);
  bool used = w.row >= w.m;
  unsigned pivots[(M + 5) / 6] = {}; /* 5 bits for each step so far */
#pragma unroll
  for (int k = 0; k < M; k++) {
    if (k >= w.max_rows) break;
    double sum = a[k];
#pragma unroll
    for (int i = 0; i < k; i++) {
      const int from = static_cast<int>(pivots[i / 6] >> (i % 6 * 5) & 31u);
      sum = fma(-__shfl_sync(BSI_FULL_WARP, a[k], w.base + from), a[i], sum);
    }
    const bool active = k < w.m;
    if (active && !used) a[k] = sum;
    const bsi_step s = bsi_sub_step<LANES>(w, k, a[k], &used, &e);
    pivots[k / 6] |= static_cast<unsigned>(s.pivot) << (k % 6 * 5);
    const double factor = active && !used ? a[k] * s.inverse : 0.0;
#pragma unroll
    for (int i = 0; i < k; i++)
      a[i] = fma(-__shfl_sync(BSI_FULL_WARP, a[i], w.base + s.pivot), factor, a[i]);
    if (active && !used) a[k] = factor;
    if (active && w.row == s.pivot) a[k] = s.inverse;
  }
  return e;
}

#endif
