/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves with decompositions on a device: equations in bjacobi/bjacobi.h. A thread block is a warp.
 * It copies some blocks into shared memory, where the values wait for their turn without registers,
 * and where rows are as near as columns. Then a sub-warp of few lanes solves with each block. Lane
 * q of L has rows q, q + L, … of the block, so that a sum over a row takes log₂ L exchanges. Blocks
 * of similar sizes share a warp: the groups are in the order of their classes. */
#include <algorithm>

#include "bjacobi/apply_job_cuda.cuh"
#include "gpu/pipeline.cuh"

namespace {

/* How blocks of up to `rows` rows are solved with. */
struct solve_class {
  int rows;
  /* lanes that solve with a block, and lanes that copy it */
  int lanes, copiers;
};

constexpr solve_class SOLVE_CLASSES[] = {
    /* rows, lanes, copiers */
    {4, 1, 4}, {8, 2, 8}, {16, 4, 16}, {24, 4, 32}, {32, 8, 32},
};
constexpr int CLASSES = sizeof SOLVE_CLASSES / sizeof *SOLVE_CLASSES;

/* Warps of a thread block. They have nothing to do with each other. */
constexpr int WARPS = 1, THREADS = WARPS * BSI_WARP;

/* Steps of a solve between two jumps of the code. */
constexpr int UNROLL = 1;

/* Columns of a block that a lane copies between two jumps. */
constexpr int COPIES = 8;

/* Banks of doubles in the shared memory. */
constexpr int BANKS = 16;

/* The doubles from a block in shared memory to the next one. The distance between columns is odd.
 * Blocks of one size begin so that the lanes of all of them read columns from different banks. */
template <int K> __host__ __device__ constexpr int place_of() {
  constexpr solve_class c = SOLVE_CLASSES[K];
  return (c.rows * (c.rows | 1) + BANKS - 1) / BANKS * BANKS + c.lanes;
}

template <int K> __host__ __device__ constexpr int slots_of(int per_group) {
  return BSI_WARP / SOLVE_CLASSES[K].lanes / per_group;
}

/* A job with its groups by class. */
struct solve_job {
  bsi_apply_job all;
  /* groups by class, ascending in each; NULL: as they are */
  const int32_t *order;
  /* doubles of shared memory for a warp */
  unsigned tile;
  /* The warps of class k, the largest first, end before last[k]; its groups begin at from[k] of the
   * order and end before end[k]. */
  unsigned last[CLASSES];
  int32_t from[CLASSES], end[CLASSES];
};

/* The part of a block that one lane has. */
struct share {
  /* the lane among those of the block, and the block's first lane */
  int q, base;
  /* the block's first scalar row, its rows, and the most rows in the warp */
  int32_t start;
  int m, most;
  /* the block in shared memory, and the distance between its columns */
  const double *values;
  int ld;
};

__device__ __forceinline__ int64_t first_value_of(const bsi_apply_job &p, int32_t group) {
  if (p.first_value) return __ldg(p.first_value + group);
  return static_cast<int64_t>(group) * p.per_group * p.uniform * p.uniform;
}

/* Copies row `row` of a block of m rows, whose first value is value `first` of the data and whose
 * columns are `height` apart there. Copies in fp64 only begin. */
template <bisai_value_type FORMAT>
__device__ __forceinline__ void copy_row(const char *data, int64_t first, int height, int row,
                                         int m, double *to) {
  const char *from = data + (first + row) * static_cast<int64_t>(bsi_value_bytes(FORMAT));
  const int ld = m | 1;
#pragma unroll COPIES
  for (int c = 0; c < m; c++) {
    if constexpr (FORMAT == BISAI_FP64)
      bsi_copy_ahead(to + c * ld + row, from + sizeof(double) * static_cast<size_t>(c * height),
                     sizeof(double));
    else
      to[c * ld + row] = bsi_value_load(FORMAT, from, static_cast<size_t>(c * height));
  }
}

/* Copies the blocks of a warp. `first`, `height`: as in copy_row(), of the lane's block. */
template <int K>
__device__ __forceinline__ void copy_blocks(const bsi_apply_job &p, const share &b, int64_t first,
                                            int height, double *tile) {
  constexpr solve_class c = SOLVE_CLASSES[K];
  constexpr int blocks = BSI_WARP / c.lanes, at_once = BSI_WARP / c.copiers;
  const int lane = threadIdx.x % BSI_WARP, row = lane % c.copiers;
#pragma unroll 1
  for (int from = 0; from < blocks; from += at_once) {
    const int sub = from + lane / c.copiers, owner = sub * c.lanes;
    const int64_t of_owner = __shfl_sync(BSI_FULL_WARP, static_cast<long long>(first), owner);
    const int apart = __shfl_sync(BSI_FULL_WARP, height, owner),
              m = __shfl_sync(BSI_FULL_WARP, b.m, owner);
    if (row >= m) continue;
    double *const to = tile + sub * place_of<K>();
    switch (p.storage) {
#define CASE(FORMAT, word, bytes, mantissa)                                                        \
  case FORMAT: copy_row<FORMAT>(p.data, of_owner, apart, row, m, to); break;
      BISAI_BLOCK_TYPE_LIST(CASE)
#undef CASE
    default: break; /* decompositions have no other */
    }
  }
  bsi_commit_copies();
}

/* Solves with L∖U for y, which is in the order of the pivots.
 * L, R: lanes of a block, and rows of a lane.
 * VECTORS: right-hand sides. */
template <int L, int R, int VECTORS>
__device__ __forceinline__ void solve_lu(const share &b, double (&y)[R][VECTORS]) {
#pragma unroll
  for (int i = 0; i < R; i++) {
    if (i * L >= b.most) break;
#pragma unroll(UNROLL)
    for (int t = 0; t < L; t++) {
      const int k = i * L + t;
      double e[R];
#pragma unroll
      for (int s = i; s < R; s++) {
        const int row = b.q + L * s;
        e[s] = row > k && row < b.m ? b.values[k * b.ld + row] : 0.0;
      }
#pragma unroll
      for (int v = 0; v < VECTORS; v++) {
        const double top = __shfl_sync(BSI_FULL_WARP, y[i][v], b.base + t);
#pragma unroll
        for (int s = i; s < R; s++) y[s][v] = fma(-e[s], top, y[s][v]);
      }
    }
  }
#pragma unroll
  for (int i = R - 1; i >= 0; i--) {
    if (i * L >= b.most) continue;
#pragma unroll(UNROLL)
    for (int t = L - 1; t >= 0; t--) {
      const int k = i * L + t;
      const bool step = k < b.m;
      double e[R];
      const double pivot = step ? b.values[k * b.ld + k] : 1.0;
#pragma unroll
      for (int s = 0; s <= i; s++) {
        const int row = b.q + L * s;
        e[s] = step && row < k ? b.values[k * b.ld + row] : 0.0;
      }
#pragma unroll
      for (int v = 0; v < VECTORS; v++) {
        const double bottom = __shfl_sync(BSI_FULL_WARP, y[i][v], b.base + t) * pivot;
        if (b.q == t) y[i][v] = bottom;
#pragma unroll
        for (int s = 0; s <= i; s++) y[s][v] = fma(-e[s], bottom, y[s][v]);
      }
    }
  }
}

/* Solves with a Gauss–Huard decomposition. The lane of y_k adds it to the sum over row k, so that
 * all lanes of the block get y_k from the exchanges. Template parameters: as those of
 * solve_lu(). */
template <int L, int R, int VECTORS>
__device__ __forceinline__ void solve_gauss_huard(const share &b, bool transposed,
                                                  double (&y)[R][VECTORS]) {
  /* value (k, j) of the lower triangle is at origin + k·down + j·right */
  const int origin = transposed ? (b.m - 1) * (b.ld + 1) : 0, down = transposed ? -b.ld : 1,
            right = transposed ? -1 : b.ld;
#pragma unroll
  for (int i = 0; i < R; i++) {
    if (i * L >= b.most) break;
#pragma unroll(UNROLL)
    for (int t = 0; t < L; t++) {
      const int k = i * L + t;
      const bool step = k < b.m;
      double left[R], above[R];
      const double pivot = step ? b.values[k * (b.ld + 1)] : 0.0;
#pragma unroll
      for (int s = 0; s <= i; s++) {
        const int row = b.q + L * s;
        const bool there = step && (s < i || b.q < t);
        left[s] = there ? b.values[origin + k * down + row * right] : 0.0;
        above[s] = there ? b.values[k * b.ld + row] : 0.0;
      }
      if (b.q == t) left[i] = -1.0;
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
}

/* Solves with the blocks of some groups of class K from `from` of the order on.
 * FORM: LU, or GAUSS_HUARD for both of its layouts.
 * VECTORS: right-hand sides. */
template <bisai_form FORM, int K, int VECTORS>
__device__ __forceinline__ void solve_groups(const solve_job &p, int32_t from, int32_t end,
                                             double *tile) {
  constexpr solve_class c = SOLVE_CLASSES[K];
  constexpr int R = (c.rows + c.lanes - 1) / c.lanes;
  const int lane = threadIdx.x % BSI_WARP, sub = lane / c.lanes, per_group = p.all.per_group,
            slot = sub / per_group;
  share b = {.q = lane % c.lanes, .base = sub * c.lanes, .start = 0, .m = 0};
  int64_t first = 0;
  int height = 0;
  if (slot < slots_of<K>(per_group) && from + slot < end) {
    const int32_t group = p.order ? __ldg(p.order + from + slot) : from + slot;
    const int64_t begin = static_cast<int64_t>(group) * per_group, block = begin + sub % per_group;
    const int32_t top = bsi_start_of(p.all, begin);
    b.start = bsi_start_of(p.all, block);
    b.m = bsi_start_of(p.all, block + 1) - b.start;
    height = bsi_start_of(p.all, begin + per_group) - top;
    first = first_value_of(p.all, group) + b.start - top;
  }
  b.most = bsi_warp_max(b.m);
  b.values = tile + sub * place_of<K>();
  b.ld = b.m | 1;
  copy_blocks<K>(p.all, b, first, height, tile);
  int pivot[R];
#pragma unroll
  for (int s = 0; s < R; s++) {
    const int row = b.q + c.lanes * s;
    pivot[s] = row < b.m ? p.all.pivots[b.start + row] : 0;
  }
  bsi_wait_for_predecessor();
  double y[R][VECTORS];
#pragma unroll
  for (int s = 0; s < R; s++) {
    const int row = b.q + c.lanes * s;
    const double *x = p.all.x + b.start + (FORM == BISAI_FORM_LU ? pivot[s] : row);
#pragma unroll
    for (int v = 0; v < VECTORS; v++) y[s][v] = row < b.m ? x[v * p.all.ldx] : 0.0;
  }
  bsi_wait_for_copies();
  __syncwarp();
  if constexpr (FORM == BISAI_FORM_LU)
    solve_lu<c.lanes, R>(b, y);
  else
    solve_gauss_huard<c.lanes, R>(b, p.all.form == BISAI_FORM_GAUSS_HUARD_TRANSPOSED, y);
#pragma unroll
  for (int s = 0; s < R; s++) {
    const int row = b.q + c.lanes * s;
    double *to = p.all.y + b.start + (FORM == BISAI_FORM_LU ? row : pivot[s]);
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
      if (row < b.m) to[v * p.all.ldy] = y[s][v];
  }
}

template <bisai_form FORM, int VECTORS, int K = CLASSES - 1>
__device__ __forceinline__ void solve_class_of(const solve_job &p, unsigned unit, unsigned before,
                                               double *tile) {
  if (unit < p.last[K]) {
    const int32_t from =
        p.from[K] + static_cast<int32_t>(unit - before) * slots_of<K>(p.all.per_group);
    solve_groups<FORM, K, VECTORS>(p, from, p.end[K], tile);
  } else if constexpr (K > 0) {
    solve_class_of<FORM, VECTORS, K - 1>(p, unit, p.last[K], tile);
  }
}

/* y_b ← D_b⁻¹ x_b for all blocks. Template parameters: as those of solve_groups(). */
template <bisai_form FORM, int VECTORS>
__global__ void __launch_bounds__(THREADS) solve(const __grid_constant__ solve_job p) {
  extern __shared__ double tiles[];
  const unsigned warp = threadIdx.x / BSI_WARP;
  solve_class_of<FORM, VECTORS>(p, blockIdx.x * WARPS + warp, 0u, tiles + warp * p.tile);
}

/* Returns the number of groups whose largest block has more than `least` and at most `most`
 * rows. */
int32_t groups_between(const bsi_bjacobi *jacobi, int least, int most) {
  const int uniform = jacobi->partition.uniform;
  if (uniform) return uniform > least && uniform <= most ? jacobi->groups : 0;
  int32_t sum = 0;
  for (int k = least / 4; k < most / 4; k++) sum += jacobi->class_groups[k];
  return sum;
}

/* Sets the classes of the job, from the largest on. `end`: where those of class K end. */
template <int K = CLASSES - 1>
void share_out(const bsi_bjacobi *jacobi, int32_t end, unsigned before, solve_job *p) {
  const int least = K > 0 ? SOLVE_CLASSES[K > 0 ? K - 1 : 0].rows : 0;
  const int32_t count = groups_between(jacobi, least, SOLVE_CLASSES[K].rows);
  p->end[K] = end, p->from[K] = end - count, p->last[K] = before;
  if (count > 0) {
    p->last[K] += bsi_grid(count, slots_of<K>(p->all.per_group));
    p->tile =
        std::max(p->tile, static_cast<unsigned>(BSI_WARP / SOLVE_CLASSES[K].lanes * place_of<K>()));
  }
  if constexpr (K > 0) share_out<K - 1>(jacobi, p->from[K], p->last[K], p);
}

/* Enqueues a pass over the blocks for each VECTORS of the `count` vectors, and returns how many
 * vectors are left, which p then begins with. */
template <bisai_form FORM, int VECTORS>
int32_t enqueue_solves(const bisai_context *context, solve_job *p, int32_t count) {
  const size_t shared = sizeof(double) * WARPS * p->tile;
  for (; count >= VECTORS;
       count -= VECTORS, p->all.x += VECTORS * p->all.ldx, p->all.y += VECTORS * p->all.ldy)
    bsi_launch_early(context, solve<FORM, VECTORS>, bsi_grid(p->last[0], WARPS), THREADS, shared,
                     *p);
  return count;
}

template <bisai_form FORM>
void solve_form(const bisai_context *context, const bsi_bjacobi *jacobi, const bsi_apply_job &all,
                int32_t count) {
  solve_job p = {.all = all, .order = all.uniform ? nullptr : jacobi->order};
  share_out(jacobi, all.groups, 0u, &p);
  count = enqueue_solves<FORM, 4>(context, &p, count);
  enqueue_solves<FORM, 1>(context, &p, count);
}

} // namespace

void bsi_enqueue_solves(const bisai_context *context, const bsi_bjacobi *jacobi,
                        const bsi_apply_job &p, int32_t count) {
  if (p.form == BISAI_FORM_LU)
    solve_form<BISAI_FORM_LU>(context, jacobi, p, count);
  else
    solve_form<BISAI_FORM_GAUSS_HUARD>(context, jacobi, p, count);
}
