/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves with LU decompositions on a device: equations in bjacobi/bjacobi.h. A lane has the values
 * of its rows in registers. No sums go over lanes, and one exchange for each column of L and of U
 * serves all rows of a lane. */
#include "bjacobi/apply/apply_solve_job_cuda.cuh"

namespace {

constexpr int LU_WARPS = 2;

/* Thread blocks that a multiprocessor is to hold, which bounds the registers of a thread. Every
 * device holds 16. */
constexpr int resident(int m, int rows) {
  const int blocks = 65536 / LU_WARPS / BSI_WARP / (2 * m * rows + 32);
  return blocks < 16 ? blocks : 16;
}

/* e ← the lane's rows, with zeros beyond the block, which change nothing. EXACT: as in
 * share_of(). */
template <bisai_value_type FORMAT, int M, int L, bool EXACT>
__device__ __forceinline__ void load_rows(const bsi_apply_job &p, const share &b,
                                          double (&e)[shape<M, L>::rows][M]) {
  const char *const values =
      p.data + (b.first + b.q) * static_cast<int64_t>(bsi_value_bytes(FORMAT));
#pragma unroll
  for (int c = 0; c < M; c++)
#pragma unroll
    for (int s = 0; s < shape<M, L>::rows; s++)
      e[s][c] = b.q + L * s < b.m && (EXACT || c < b.m)
                    ? bsi_value_of<FORMAT>(values, c * b.height + L * s)
                    : 0.0;
}

/* Solves for y, which is in the order of the pivots. */
template <int M, int L, int VECTORS>
__device__ __forceinline__ void solve_rows(const share &b, const double (&e)[shape<M, L>::rows][M],
                                           double (&y)[shape<M, L>::rows][VECTORS]) {
  constexpr int R = shape<M, L>::rows;
#pragma unroll
  for (int k = 0; k < M; k++) {
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
      const double top = __shfl_sync(BSI_FULL_WARP, y[k / L][v], (b.base + k % L) % BSI_WARP);
#pragma unroll
      for (int s = k / L; s < R; s++)
        if (b.q + L * s > k) y[s][v] = fma(-e[s][k], top, y[s][v]);
    }
  }
#pragma unroll
  for (int k = M - 1; k >= 0; k--) {
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
      if (b.q == k % L) y[k / L][v] *= e[k / L][k];
      const double bottom = __shfl_sync(BSI_FULL_WARP, y[k / L][v], (b.base + k % L) % BSI_WARP);
#pragma unroll
      for (int s = 0; s <= k / L; s++)
        if (b.q + L * s < k) y[s][v] = fma(-e[s][k], bottom, y[s][v]);
    }
  }
}

/* Puts x into the order of the pivots. */
template <int L, int R, int VECTORS>
__device__ __forceinline__ void permute(const share &b, const int (&pivot)[R],
                                        double (&x)[R][VECTORS]) {
  double y[R][VECTORS];
#pragma unroll
  for (int s = 0; s < R; s++)
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
#pragma unroll
      for (int from = 0; from < R; from++) {
        const double other =
            __shfl_sync(BSI_FULL_WARP, x[from][v], (b.base + pivot[s] % L) % BSI_WARP);
        if (from == 0 || pivot[s] / L == from) y[s][v] = other;
      }
#pragma unroll
  for (int s = 0; s < R; s++)
#pragma unroll
    for (int v = 0; v < VECTORS; v++) x[s][v] = b.q + L * s < b.m ? y[s][v] : 0.0;
}

/* y ← the lane's part of x in the order of the pivots. One vector is loaded at the same time as the
 * pivots, and lanes exchange its values. Where lanes have several rows of several vectors, loads
 * after the pivots cost less than so many exchanges. */
template <int L, int R, int VECTORS>
__device__ __forceinline__ void load_permuted(const bsi_apply_job &p, const share &b,
                                              const int (&pivot)[R], double (&y)[R][VECTORS]) {
  if constexpr (VECTORS == 1 || R == 1) {
    load_vectors<L>(p, b, y);
    permute<L>(b, pivot, y);
  } else {
#pragma unroll
    for (int s = 0; s < R; s++)
#pragma unroll
      for (int v = 0; v < VECTORS; v++)
        y[s][v] = b.q + L * s < b.m ? p.x[b.start + pivot[s] + v * p.ldx] : 0.0;
  }
}

/* The SOLVER of solve_units(). Template parameters: as those of `kernel` in solves. */
template <bisai_value_type FORMAT, int M, int L, bool EXACT, int VECTORS> struct lu_solver {
  static constexpr int R = shape<M, L>::rows;
  const bsi_apply_job &p;
  double e[R][M], y[R][VECTORS];
  int pivot[R];
  __device__ __forceinline__ explicit lu_solver(const solve_job &job) : p(job.all) {}
  __device__ __forceinline__ void load(const share &b) {
    load_pivots<L>(p, b, pivot);
    bsi_in_format<FORMAT>(p.storage,
                          [&](auto format) { load_rows<format.value, M, L, EXACT>(p, b, e); });
  }
  __device__ __forceinline__ void load_vectors(const share &b) { load_permuted<L>(p, b, pivot, y); }
  __device__ __forceinline__ void solve(const share &b, const share &) {
    int row[R];
    solve_rows<M, L>(b, e, y);
#pragma unroll
    for (int s = 0; s < R; s++) row[s] = b.q + L * s;
    store_vectors<L>(p, b, row, y);
  }
};

/* y_b ← D_b⁻¹ x_b. Template parameters: as those of `kernel` in solves. */
template <bisai_value_type FORMAT, int M, int L, bool EXACT, int VECTORS>
__global__ void __launch_bounds__(LU_WARPS *BSI_WARP, resident(M, shape<M, L>::rows))
    solve_lu(const __grid_constant__ solve_job p) {
  solve_units<LU_WARPS, M, L, EXACT>(p, lu_solver<FORMAT, M, L, EXACT, VECTORS>(p));
}

struct lu {
  static constexpr int WARPS = LU_WARPS;
  static constexpr int RESIDENT = 32;
  static constexpr solve_class CLASSES[] = {{4, 1},   {8, 4},   {16, 8}, {20, 16},
                                            {24, 16}, {28, 16}, {32, 16}};
  static constexpr solve_class SIZES[] = {{1, 1},   {2, 2},   {3, 3},   {4, 4},  {5, 5},
                                          {6, 6},   {7, 7},   {8, 4},   {12, 6}, {16, 8},
                                          {20, 10}, {24, 12}, {28, 16}, {32, 32}};
  template <bisai_value_type FORMAT, int M, int L, bool EXACT, int VECTORS> static auto kernel() {
    return solve_lu<FORMAT, M, L, EXACT, VECTORS>;
  }
};

} // namespace

void bsi_enqueue_lu(const bisai_context *context, const bsi_bjacobi *jacobi, const bsi_apply_job &p,
                    int32_t count) {
  solves<lu>{context, jacobi}.enqueue(p, count);
}
