/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves with Gauss–Huard decompositions on a device: equations in bjacobi/bjacobi.h. A warp copies
 * its blocks into shared memory, where the values wait for their turn without registers, and where
 * rows are as near as columns: step k adds along row k, and few lanes add fast. */
#include "bjacobi/apply/apply_solve_job_cuda.cuh"
#include "gpu/pipeline.cuh"

namespace {

/* Banks of doubles in the shared memory. */
constexpr int BANKS = 16;

/* The distance between columns of a block in shared memory. It is odd, so that lanes read rows and
 * columns from different banks. */
template <int M> constexpr int LD = M | 1;

/* The doubles from a block in shared memory to the next one. Blocks begin so that the lanes of all
 * of them read columns from different banks. */
template <int M, int L> constexpr int PLACE = (M * LD<M> + BANKS - 1) / BANKS *BANKS + L;

/* The doubles of a warp's blocks. Lanes read the rows of their number, which the last block may not
 * have. */
template <int M, int L>
constexpr int TILE = shape<M, L>::blocks *PLACE<M, L> + (shape<M, L>::rows * L - M) * LD<M>;

/* The lanes that copy a block, a row each. */
template <int M> constexpr int COPIERS = M > 16 ? 32 : M > 8 ? 16 : M > 4 ? 8 : 4;

/* Copies row `row` of a block of m rows to its place, and zeros beyond the block. Copies in fp64
 * only begin. A lower triangle that is TRANSPOSED about the anti-diagonal is put back.
 * from: the row's value of the first column; columns are `height` apart. */
template <bisai_value_type FORMAT, bool TRANSPOSED, int M, bool EXACT>
__device__ __forceinline__ void copy_row(const char *from, int height, int row, int m, double *to) {
  constexpr int ld = LD<M>;
  double *const mirrored = to + (m - 1 - row) * ld + m - 1;
#pragma unroll
  for (int c = 0; c < M; c++) {
    const bool there = row < m && (EXACT || c < m);
    double *const place = TRANSPOSED && there && row > c ? mirrored - c : to + c * ld + row;
    const char *const value =
        from + (there ? c * height : 0) * static_cast<int64_t>(bsi_value_bytes(FORMAT));
    if constexpr (FORMAT == BISAI_FP64)
      bsi_copy_ahead_or_zero(place, value, sizeof(double), there);
    else
      *place = there ? bsi_value_of<FORMAT>(value, 0) : 0.0;
  }
}

/* Copies the blocks of a warp. */
template <bisai_value_type FORMAT, bool TRANSPOSED, int M, int L, bool EXACT>
__device__ __forceinline__ void copy_blocks(const bsi_apply_job &p, const share &b, double *tile) {
  constexpr int copiers = COPIERS<M>;
  const int lane = threadIdx.x % BSI_WARP, row = lane % copiers;
#pragma unroll 1
  for (int from = 0; from < shape<M, L>::blocks; from += BSI_WARP / copiers) {
    const int sub = from + lane / copiers;
    const int64_t first = __shfl_sync(BSI_FULL_WARP, static_cast<long long>(b.first), sub * L);
    const int height = __shfl_sync(BSI_FULL_WARP, b.height, sub * L),
              m = __shfl_sync(BSI_FULL_WARP, b.m, sub * L);
    const int64_t at = first + (row < m ? row : 0);
    if (row < M)
      copy_row<FORMAT, TRANSPOSED, M, EXACT>(
          p.data + at * static_cast<int64_t>(bsi_value_bytes(FORMAT)),
          EXACT && BSI_WARP / M == 1 ? M : height, row, m, tile + sub * PLACE<M, L>);
  }
}

template <bisai_value_type FORMAT, int M, int L, bool EXACT>
__device__ __forceinline__ void copy_format(const bsi_apply_job &p, const share &b, double *tile) {
  if (p.form == BISAI_FORM_GAUSS_HUARD)
    copy_blocks<FORMAT, false, M, L, EXACT>(p, b, tile);
  else
    copy_blocks<FORMAT, true, M, L, EXACT>(p, b, tile);
}

/* Begins to fetch the values of a block that a later unit takes. */
__device__ __forceinline__ void fetch_ahead(const solve_job &p, const share &next) {
  if (next.q == 0 && next.m > 0 && next.height == next.m)
    bsi_fetch_ahead(p.all.data + next.first * p.all.slot_bytes,
                    static_cast<size_t>(next.m * next.m * p.all.slot_bytes));
}

/* Solves for y with the block in shared memory. The lane of y_k adds it to the sum over row k, so
 * that all lanes of the block get y_k from the exchanges. */
template <int M, int L, int VECTORS>
__device__ __forceinline__ void solve_block(const share &b, const double *block,
                                            double (&y)[shape<M, L>::rows][VECTORS]) {
  constexpr int R = shape<M, L>::rows, ld = LD<M>;
  const double *const rows = block + b.q * ld, *const mine = block + b.q;
#pragma unroll
  for (int k = 0; k < M; k++) {
    const int i = k / L, t = k % L;
    const double pivot = block[k * (ld + 1)];
    double left[R], above[R];
#pragma unroll
    for (int s = 0; s <= i; s++) {
      left[s] = rows[L * s * ld + k];
      above[s] = mine[k * ld + L * s];
    }
    if (b.q >= t) left[i] = b.q == t ? -1.0 : 0.0, above[i] = 0.0;
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
      double even = left[i] * y[i][v], odd = 0.0;
#pragma unroll
      for (int s = 0; s < i; s++) {
        if (s % 2)
          odd = fma(left[s], y[s][v], odd);
        else
          even = fma(left[s], y[s][v], even);
      }
      double sum = i > 1 ? even + odd : even;
#pragma unroll
      for (int d = 1; d < L; d *= 2) sum += __shfl_xor_sync(BSI_FULL_WARP, sum, d);
      const double done = -sum * pivot;
#pragma unroll
      for (int s = 0; s <= i; s++) y[s][v] = fma(-above[s], done, y[s][v]);
      if (b.q == t) y[i][v] = done;
    }
  }
}

/* The SOLVER of solve_units(). Template parameters: as those of `kernel` in solves. */
template <bisai_value_type FORMAT, int M, int L, bool EXACT, int VECTORS>
struct gauss_huard_solver {
  static constexpr int R = shape<M, L>::rows;
  const solve_job &p;
  double *const tile;
  double y[R][VECTORS];
  int pivot[R];
  __device__ __forceinline__ gauss_huard_solver(const solve_job &job, double *shared)
      : p(job), tile(shared) {}
  __device__ __forceinline__ void load(const share &b) {
    bsi_in_format<FORMAT>(p.all.storage, [&](auto format) {
      copy_format<format.value, M, L, EXACT>(p.all, b, tile);
    });
    bsi_commit_copies();
    load_pivots<L>(p.all, b, pivot);
  }
  __device__ __forceinline__ void load_vectors(const share &b) {
    ::load_vectors<L>(p.all, b, y);
    bsi_wait_for_copies();
    __syncwarp();
  }
  __device__ __forceinline__ void solve(const share &b, const share &next) {
    fetch_ahead(p, next);
    solve_block<M, L>(b, tile + b.sub * PLACE<M, L>, y);
    store_vectors<L>(p.all, b, pivot, y);
    __syncwarp();
  }
};

constexpr int GAUSS_HUARD_WARPS = 1;

/* y_b ← D_b⁻¹ x_b, for both layouts. Template parameters: as those of `kernel` in solves. */
template <bisai_value_type FORMAT, int M, int L, bool EXACT, int VECTORS>
__global__ void __launch_bounds__(GAUSS_HUARD_WARPS *BSI_WARP)
    solve_gauss_huard(const __grid_constant__ solve_job p) {
  __shared__ double tiles[GAUSS_HUARD_WARPS][TILE<M, L>];
  solve_units<GAUSS_HUARD_WARPS, M, L, EXACT>(
      p, gauss_huard_solver<FORMAT, M, L, EXACT, VECTORS>(p, tiles[threadIdx.x / BSI_WARP]));
}

struct gauss_huard {
  static constexpr int WARPS = GAUSS_HUARD_WARPS;
  static constexpr solve_class CLASSES[] = {{4, 1},  {8, 4},  {12, 4}, {16, 8},
                                            {20, 8}, {24, 8}, {28, 8}, {32, 16}};
  static constexpr solve_class SIZES[] = {{4, 2},  {8, 4},  {12, 4}, {16, 4},
                                          {20, 4}, {24, 8}, {28, 8}, {32, 8}};
  static constexpr int RESIDENT = 12;
  template <bisai_value_type FORMAT, int M, int L, bool EXACT, int VECTORS> static auto kernel() {
    return solve_gauss_huard<FORMAT, M, L, EXACT, VECTORS>;
  }
};

} // namespace

void bsi_enqueue_gauss_huard(const bisai_context *context, const bsi_bjacobi *jacobi,
                             const bsi_apply_job &p, int32_t count) {
  solves<gauss_huard>{context, jacobi}.enqueue(p, count);
}
