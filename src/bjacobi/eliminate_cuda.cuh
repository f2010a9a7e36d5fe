/* SPDX-License-Identifier: BSD-3-Clause */
/* Decompositions of small dense blocks in the registers of a sub-warp: Gauss–Jordan, LU and
 * Gauss–Huard with implicit pivoting (Anzt, Dongarra, Flegar, Quintana-Ortí 2017, section 3.2, and
 * 2018; Gauss–Huard: 2017). For *_cuda.cu only.
 *
 * A sub-warp is `lanes` lanes that follow each other and hold a row (Gauss–Huard: a column) of one
 * block each, in registers that constants alone index; for Gauss–Jordan R rows, row, row + lanes,
 * …, so that what is told to other lanes serves R rows: that is what takes most of the time. Rows
 * do not move: the one that has a step's pivot is remembered, and the permutation is applied when
 * the result is written. Lanes and registers beyond the block are zeros. All lanes of a warp call
 * groups_per_warp. */
#ifndef BSI_ELIMINATE_CUDA_CUH
#define BSI_ELIMINATE_CUDA_CUH

#include "gpu/launch.cuh"

struct bsi_sub_warp {
  /* row: the lane's place in it */
  int lanes, row;
  /* its first lane */
  int base;
  /* rows of its block, 0: none */
  int m;
  /* rows of the warp's largest block */
  int max_rows;
  /* its lanes that have rows */
  unsigned mask;
};

/* What a decomposition leaves in a lane. */
struct bsi_eliminated {
  /* at which the lane's row was the pivot */
  int step;
  /* the lane of the sub-warp that was the pivot in step `row` */
  int pivot;
  /* magnitude of a pivot */
  double smallest;
  bool singular;
};

/* The larger of two magnitudes; NaN if one is. */
static __device__ __forceinline__ double bsi_larger(double a, double b) {
  return b > a || isnan(b) ? b : a;
}

/* The largest over a sub-warp, LANES of them, or w.lanes ≤ 16 where LANES is 0. */
template <int LANES>
static __device__ __forceinline__ unsigned bsi_sub_largest(const bsi_sub_warp &w, unsigned value) {
  if constexpr (LANES == BSI_WARP) {
    value = bsi_warp_max(value);
  } else if constexpr (LANES > 0 && (LANES & (LANES - 1)) == 0) {
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2)
      value = max(value, __shfl_xor_sync(BSI_FULL_WARP, value, step));
  } else { /* a window that doubles, and may go round more than once */
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

/* The same of magnitudes; NaN if any is. */
template <int LANES>
static __device__ __forceinline__ double bsi_sub_largest(const bsi_sub_warp &w, double magnitude) {
  const unsigned high = static_cast<unsigned>(__double2hiint(magnitude)),
                 top = bsi_sub_largest<LANES>(w, high);
  const unsigned low = high == top ? static_cast<unsigned>(__double2loint(magnitude)) : 0u;
  return __hiloint2double(static_cast<int>(top), static_cast<int>(bsi_sub_largest<LANES>(w, low)));
}

/* The candidate with the largest magnitude (NaN counts as that), the first of equals; 0 where there
 * is none. */
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

/* 1/x to the last digit or so, by two steps of Newton's from the unit's 20 bits; NaN where x is
 * zero or subnormal, 0 or NaN where 1/x is. */
static __device__ __forceinline__ double bsi_reciprocal(double x) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  r = fma(r, fma(-x, r, 1.0), r);
  return fma(r, fma(-x, r, 1.0), r);
}

/* One step's pivot, its reciprocal and what is remembered of it. */
struct bsi_step {
  int pivot;
  double inverse;
  /* the block has this step */
  bool active;
};

template <int LANES>
static __device__ __forceinline__ bsi_step bsi_sub_step(const bsi_sub_warp &w, int k, double value,
                                                        bool *used, bsi_eliminated *e) {
  bsi_step s;
  s.active = k < w.m;
  s.pivot = bsi_sub_pivot<LANES>(w, value, !*used);
  const double pivot = __shfl_sync(BSI_FULL_WARP, value, w.base + s.pivot);
  s.inverse = bsi_reciprocal(pivot);
  if (s.active) {
    e->singular |= s.inverse == 0.0; /* a pivot that is zero or NaN shows in the result */
    e->smallest = fmin(e->smallest, fabs(pivot));
    if (w.row == k) e->pivot = s.pivot;
    if (w.row == s.pivot) {
      e->step = k;
      *used = true;
    }
  }
  return s;
}

/* What Gauss–Jordan leaves in a lane, for each of its rows. */
template <int R> struct bsi_inverted {
  /* at which it was the pivot */
  int step[R];
  /* the row of the block that was the pivot in the step of its number */
  int pivot[R];
  bool singular;
};

/* The row that was the pivot in step c < m. */
template <int R>
static __device__ __forceinline__ int bsi_sub_pivot_of(const bsi_sub_warp &w,
                                                       const bsi_inverted<R> &e, int c) {
  int pivot = e.pivot[0], lane = c;
#pragma unroll
  for (int s = 1; s < R; s++)
    if (c >= s * w.lanes) pivot = e.pivot[s], lane = c - s * w.lanes;
  return __shfl_sync(BSI_FULL_WARP, pivot, w.base + lane);
}

/* a: the lane's rows of the block in a[·][0 … m − 1]. Row s becomes the row e.step[s] of the
 * inverse, whose column e.pivot of row j is in a[s][M − most + j]. Columns move down a register a
 * step, so that every step is the same code; pivot rows are scaled in the end. Pivots that agree in
 * 20 bits behind the leading one are equal. EXACT: all blocks have M rows; what lanes without a
 * block get means nothing then. */
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
    if (active) e.singular |= inverse == 0.0; /* a pivot that is zero or NaN shows in the result */
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
#pragma unroll
  for (int s = 0; s < R; s++)
#pragma unroll
    for (int j = 0; j < M; j++) a[s][j] *= scale[s];
  return e;
}

/* Whether norms of blocks are found by shuffles between 2ⁿ lanes that have all the rows. */
template <int LANES, bool EXACT>
constexpr bool bsi_by_shuffles = EXACT &&LANES > 0 && (LANES & (LANES - 1)) == 0;

/* ‖a‖₁ in every lane of the block; NaN if any value is. Lanes halve the columns that they sum until
 * each has its share. */
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

/* a: row `row` of the block. It becomes the row e.step of L∖U, diagonal inverted. */
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

/* a: column `row` of the block. It becomes the column e.step of the Gauss–Huard decomposition,
 * diagonal inverted. */
template <int M, int LANES>
static __device__ __forceinline__ bsi_eliminated bsi_sub_gauss_huard(const bsi_sub_warp &w,
                                                                     double (&a)[M]) {
  bsi_eliminated e = bsi_eliminated_nothing(w);
  bool used = w.row >= w.m;
  unsigned pivots[(M + 5) / 6] = {}; /* of the steps so far, 5 bits each */
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
