/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves with decompositions of one size in fp64, on a device: equations in bjacobi/bjacobi.h. A
 * lane has a scalar row of a group, and all its values in registers. This is the fastest way where
 * no sums over rows are needed (LU), or few lanes add them. */
#include "bjacobi/apply_job_cuda.cuh"

namespace {

constexpr int THREADS = 64, WARPS = THREADS / BSI_WARP;

/* The row of a group that one lane has. */
struct place {
  /* true if there is one */
  bool there;
  /* the first lane of the block, and the row of the block */
  int base, in_block;
};

/* Solves with L∖U for y, which is in the order of the pivots. e: the lane's row.
 * M: the rows of every block.
 * VECTORS: right-hand sides. */
template <int M, int VECTORS>
__device__ __forceinline__ void solve_lu(const place &l, const double (&e)[M],
                                         double (&y)[VECTORS]) {
#pragma unroll
  for (int k = 0; k < M; k++) {
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
      const double top = __shfl_sync(BSI_FULL_WARP, y[v], (l.base + k) % BSI_WARP);
      if (l.there && l.in_block > k) y[v] = fma(-e[k], top, y[v]);
    }
  }
#pragma unroll
  for (int k = M - 1; k >= 0; k--) {
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
      if (l.there && l.in_block == k) y[v] *= e[k];
      const double bottom = __shfl_sync(BSI_FULL_WARP, y[v], (l.base + k) % BSI_WARP);
      if (l.there && l.in_block < k) y[v] = fma(-e[k], bottom, y[v]);
    }
  }
}

/* Returns, in lane k of a block, the sum over the block's lanes 0 … k. */
__device__ __forceinline__ double sum_up(const place &l, int k, double value) {
#pragma unroll
  for (int step = 1; step < BSI_WARP; step *= 2) {
    if (step > k) break;
    const double other = __shfl_up_sync(BSI_FULL_WARP, value, step);
    if (l.in_block >= step) value += other;
  }
  return value;
}

/* Solves with a Gauss–Huard decomposition. In step k each lane j < k has y_j and the value of row k
 * in column j. Rows are read from shared memory. Template parameters: as those of solve_lu(). */
template <int M, int VECTORS>
__device__ __forceinline__ void solve_gauss_huard(const place &l, bool transposed,
                                                  const double (&above)[M], double (&y)[VECTORS]) {
  __shared__ double tiles[WARPS][M][BSI_WARP + 1];
  double(*const tile)[BSI_WARP + 1] = tiles[threadIdx.x / BSI_WARP];
  const int lane = threadIdx.x % BSI_WARP, mirrored = l.base + M - 1 - l.in_block;
  double left[M];
#pragma unroll
  for (int k = 0; k < M; k++) tile[k][lane] = above[k];
  __syncwarp();
#pragma unroll
  for (int k = 0; k < M; k++) {
    left[k] = 0.0;
    if (!l.there || l.in_block >= k) continue;
    left[k] = transposed ? tile[M - 1 - k][mirrored] : tile[l.in_block][l.base + k];
  }
#pragma unroll
  for (int k = 0; k < M; k++) {
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
      const double sum = sum_up(l, k, l.there && l.in_block < k ? left[k] * y[v] : 0.0);
      if (l.there && l.in_block == k) y[v] = (y[v] - sum) * above[k];
      const double done = __shfl_sync(BSI_FULL_WARP, y[v], (l.base + k) % BSI_WARP);
      if (l.there && l.in_block < k) y[v] = fma(-above[k], done, y[v]);
    }
  }
}

/* y_b ← D_b⁻¹ x_b for all blocks. FORM: LU, or GAUSS_HUARD for both of its layouts. M, VECTORS: as
 * in solve_lu(). */
template <bisai_form FORM, int M, int VECTORS>
__global__ void __launch_bounds__(THREADS) solve_uniform(const __grid_constant__ bsi_apply_job p) {
  constexpr int rows = BSI_WARP / M * M;
  const int lane = threadIdx.x % BSI_WARP;
  const int64_t group = static_cast<int64_t>(blockIdx.x) * WARPS + threadIdx.x / BSI_WARP,
                top = group * rows;
  if (group >= p.groups) return;
  const int height = p.rows - top > rows ? rows : static_cast<int>(p.rows - top);
  const place l = {.there = lane < height, .base = lane / M * M, .in_block = lane % M};
  const double *values = reinterpret_cast<const double *>(p.data) + top * M + lane;
  const int64_t first = top + l.base;
  const int pivot = l.there ? p.pivots[top + lane] : 0;
  double e[M], y[VECTORS];
  bsi_wait_for_predecessor();
#pragma unroll
  for (int v = 0; v < VECTORS; v++) y[v] = l.there ? p.x[top + lane + v * p.ldx] : 0.0;
#pragma unroll
  for (int k = 0; k < M; k++) e[k] = l.there ? __ldcs(values + k * height) : 0.0;
  if constexpr (FORM == BISAI_FORM_LU) {
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
      y[v] = __shfl_sync(BSI_FULL_WARP, y[v], (l.base + pivot) % BSI_WARP);
    solve_lu<M>(l, e, y);
  } else {
    solve_gauss_huard<M>(l, p.form == BISAI_FORM_GAUSS_HUARD_TRANSPOSED, e, y);
  }
#pragma unroll
  for (int v = 0; v < VECTORS; v++)
    if (l.there) p.y[first + (FORM == BISAI_FORM_LU ? l.in_block : pivot) + v * p.ldy] = y[v];
}

/* Enqueues a pass over the blocks for each VECTORS of the `count` vectors, and returns how many
 * vectors are left, which p then begins with. Template parameters: as those of the kernel. */
template <bisai_form FORM, int M, int VECTORS>
int32_t enqueue(const bisai_context *context, bsi_apply_job *p, int32_t count) {
  for (; count >= VECTORS; count -= VECTORS, p->x += VECTORS * p->ldx, p->y += VECTORS * p->ldy)
    bsi_launch_early(context, solve_uniform<FORM, M, VECTORS>, bsi_grid(p->groups, WARPS), THREADS,
                     0, *p);
  return count;
}

/* Sizes of blocks with kernels of their own. An application of LU takes 0.96 … 1.02 times as long
 * as a copy, and 1.19 times with 24 rows. Gauss–Huard takes 0.96, 0.97, 1.29 and 1.35 times as long
 * (bench/results/h200-batches.json, H200, commit 8f005d7, section "forms"). Sums over the rows of
 * other sizes would take longer than the kernel of all sizes. */
constexpr int LU_SIZES[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 28, 32};
constexpr int GAUSS_HUARD_SIZES[] = {4, 8, 16, 32};

/* Enqueues the kernel of the size and returns true, if there is one.
 * SIZES: one of the lists above; K: the first of its places to consider. */
template <bisai_form FORM, const auto &SIZES, int K = 0>
bool enqueue_size(const bisai_context *context, bsi_apply_job p, int32_t count) {
  if constexpr (K < static_cast<int>(sizeof SIZES / sizeof *SIZES)) {
    if (p.uniform != SIZES[K]) return enqueue_size<FORM, SIZES, K + 1>(context, p, count);
    count = enqueue<FORM, SIZES[K], 4>(context, &p, count);
    enqueue<FORM, SIZES[K], 1>(context, &p, count);
    return true;
  }
  return false;
}

} // namespace

bool bsi_enqueue_uniform_solves(const bisai_context *context, const bsi_apply_job &p,
                                int32_t count) {
  if (!p.uniform || p.rows % p.uniform != 0 || p.per_group != BSI_WARP / p.uniform) return false;
  if (p.storage != BISAI_FP64) return false;
  return p.form == BISAI_FORM_LU
             ? enqueue_size<BISAI_FORM_LU, LU_SIZES>(context, p, count)
             : enqueue_size<BISAI_FORM_GAUSS_HUARD, GAUSS_HUARD_SIZES>(context, p, count);
}
