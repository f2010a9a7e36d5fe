/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves with decompositions on a device: equations in bjacobi/bjacobi.h. A thread block is a warp.
 * It copies some blocks into shared memory, where the values wait for their turn without registers,
 * and where rows are as near as columns. Then a sub-warp of few lanes solves with each block. Lane
 * q of L has rows q, q + L, … of the block, so that a sum over a row takes log₂ L exchanges. Blocks
 * of similar sizes share a warp: the groups are in the order of their classes, and each class has a
 * launch. */
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
    {4, 1, 4}, {8, 2, 8}, {16, 4, 16}, {24, 8, 32}, {32, 8, 32},
};
constexpr int CLASSES = sizeof SOLVE_CLASSES / sizeof *SOLVE_CLASSES;

/* Columns of a block that a lane copies between two jumps. */
constexpr int COPIES = 8;

/* Banks of doubles in the shared memory. */
constexpr int BANKS = 16;

/* The distance between columns of a block in shared memory. It is odd, so that lanes read rows and
 * columns from different banks. */
template <int K> constexpr int LD = SOLVE_CLASSES[K].rows | 1;

/* The doubles from a block in shared memory to the next one. Blocks begin so that the lanes of all
 * of them read columns from different banks. */
template <int K>
constexpr int PLACE = (SOLVE_CLASSES[K].rows * LD<K> + BANKS - 1) / BANKS *BANKS
                      + SOLVE_CLASSES[K].lanes;

template <int K> __host__ __device__ constexpr int slots_of(int per_group) {
  return BSI_WARP / SOLVE_CLASSES[K].lanes / per_group;
}

/* A job for the groups of one class. */
struct solve_job {
  bsi_apply_job all;
  /* groups by class, ascending in each; NULL: as they are */
  const int32_t *order;
  /* the job's groups in the order */
  int32_t from, end;
  /* true: the previous launch is that of another class of the same solve, and this one runs beside
   * it */
  bool beside;
};

/* The part of a block that one lane has. */
struct share {
  /* the lane among those of the block, and the block's first lane */
  int q, base;
  /* the block's first scalar row, its rows, and the most rows in the warp */
  int32_t start;
  int m, most;
  /* the block in shared memory */
  const double *values;
};

__device__ __forceinline__ int64_t first_value_of(const bsi_apply_job &p, int32_t group) {
  if (p.first_value) return __ldg(p.first_value + group);
  return static_cast<int64_t>(group) * p.per_group * p.uniform * p.uniform;
}

/* Copies row `row` of a block of m rows into columns 0 … count − 1 of its place, and zeros beyond
 * the block. `first`: the place of the block's first value in the data, where columns are `height`
 * apart. A lower triangle that is transposed about the anti-diagonal is put back. Copies in fp64
 * only begin.
 * FORMAT: the format of the data.
 * LD: the distance between columns of the place. */
template <bisai_value_type FORMAT, int LD>
__device__ __forceinline__ void copy_row(const bsi_apply_job &p, int64_t first, int height, int row,
                                         int m, int count, double *to) {
  constexpr size_t bytes = bsi_value_bytes(FORMAT);
  const bool transposed = p.form == BISAI_FORM_GAUSS_HUARD_TRANSPOSED;
  const char *from = p.data + (first + row) * static_cast<int64_t>(bytes);
  double *const mirrored = to + (m - 1 - row) * LD + m - 1;
  if (row < m) {
#pragma unroll COPIES
    for (int c = 0; c < m; c++, from += bytes * static_cast<size_t>(height)) {
      double *const place = transposed && row > c ? mirrored - c : to + c * LD + row;
      if constexpr (FORMAT == BISAI_FP64)
        bsi_copy_ahead(place, from, bytes);
      else
        *place = bsi_value_load(FORMAT, from, 0);
    }
  }
  for (int c = row < m ? m : 0; c < count; c++) to[c * LD + row] = 0.0;
}

/* Copies the blocks of a warp. `first`, `height`: as in copy_row(), of the lane's block. */
template <int K>
__device__ __forceinline__ void copy_blocks(const bsi_apply_job &p, const share &b, int64_t first,
                                            int height, double *tile) {
  constexpr solve_class c = SOLVE_CLASSES[K];
  constexpr int blocks = BSI_WARP / c.lanes, at_once = BSI_WARP / c.copiers;
  const int lane = threadIdx.x, row = lane % c.copiers,
            count = (b.most + c.lanes - 1) / c.lanes * c.lanes;
#pragma unroll 1
  for (int from = 0; from < blocks; from += at_once) {
    const int sub = from + lane / c.copiers, owner = sub * c.lanes;
    const int64_t of_owner = __shfl_sync(BSI_FULL_WARP, static_cast<long long>(first), owner);
    const int apart = __shfl_sync(BSI_FULL_WARP, height, owner),
              m = __shfl_sync(BSI_FULL_WARP, b.m, owner);
    if (row >= count) continue;
    double *const to = tile + sub * PLACE<K>;
    switch (p.storage) {
#define CASE(FORMAT, word, bytes, mantissa)                                                        \
  case FORMAT: copy_row<FORMAT, LD<K>>(p, of_owner, apart, row, m, count, to); break;
      BISAI_BLOCK_TYPE_LIST(CASE)
#undef CASE
    default: break; /* decompositions have no other */
    }
  }
  bsi_commit_copies();
}

/* Solves with L∖U for y, which is in the order of the pivots. Values and y beyond the block are
 * zeros, which change nothing.
 * L, R: lanes of a block, and rows of a lane.
 * LD: the distance between columns.
 * VECTORS: right-hand sides. */
template <int L, int R, int LD, int VECTORS>
__device__ __forceinline__ void solve_lu(const share &b, double (&y)[R][VECTORS]) {
  const double *const mine = b.values + b.q;
#pragma unroll
  for (int i = 0; i < R; i++) {
    if (i * L >= b.most) break;
#pragma unroll
    for (int t = 0; t < L; t++) {
      const int k = i * L + t;
      double e[R];
#pragma unroll
      for (int s = i; s < R; s++) e[s] = mine[k * LD + L * s];
      if (b.q <= t) e[i] = 0.0;
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
#pragma unroll
    for (int t = L - 1; t >= 0; t--) {
      const int k = i * L + t;
      double e[R];
      const double pivot = b.values[k * (LD + 1)];
#pragma unroll
      for (int s = 0; s <= i; s++) e[s] = mine[k * LD + L * s];
      if (b.q >= t) e[i] = 0.0;
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
 * all lanes of the block get y_k from the exchanges. Template parameters, and zeros beyond the
 * block: as those of solve_lu(). */
template <int L, int R, int LD, int VECTORS>
__device__ __forceinline__ void solve_gauss_huard(const share &b, double (&y)[R][VECTORS]) {
  const double *const rows = b.values + b.q * LD, *const mine = b.values + b.q;
#pragma unroll
  for (int i = 0; i < R; i++) {
    if (i * L >= b.most) break;
#pragma unroll
    for (int t = 0; t < L; t++) {
      const int k = i * L + t;
      double left[R], above[R];
      const double pivot = b.values[k * (LD + 1)];
#pragma unroll
      for (int s = 0; s <= i; s++) {
        left[s] = rows[L * s * LD + k];
        above[s] = mine[k * LD + L * s];
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
}

/* y_b ← D_b⁻¹ x_b for the blocks of class K.
 * FORM: LU, or GAUSS_HUARD for both of its layouts.
 * VECTORS: right-hand sides. */
template <bisai_form FORM, int K, int VECTORS>
__global__ void __launch_bounds__(BSI_WARP) solve(const __grid_constant__ solve_job p) {
  extern __shared__ double tile[];
  constexpr solve_class c = SOLVE_CLASSES[K];
  constexpr int R = (c.rows + c.lanes - 1) / c.lanes;
  const int lane = threadIdx.x, sub = lane / c.lanes, per_group = p.all.per_group,
            slot = sub / per_group;
  const int32_t from = p.from + static_cast<int32_t>(blockIdx.x) * slots_of<K>(p.all.per_group);
  share b = {.q = lane % c.lanes, .base = sub * c.lanes, .start = 0, .m = 0};
  int64_t first = 0;
  int height = 0;
  if (slot < slots_of<K>(per_group) && from + slot < p.end) {
    const int32_t group = p.order ? __ldg(p.order + from + slot) : from + slot;
    const int64_t begin = static_cast<int64_t>(group) * per_group, block = begin + sub % per_group;
    const int32_t top = bsi_start_of(p.all, begin);
    b.start = bsi_start_of(p.all, block);
    b.m = bsi_start_of(p.all, block + 1) - b.start;
    height = bsi_start_of(p.all, begin + per_group) - top;
    first = first_value_of(p.all, group) + b.start - top;
  }
  b.most = bsi_warp_max(b.m);
  b.values = tile + sub * PLACE<K>;
  copy_blocks<K>(p.all, b, first, height, tile);
  int pivot[R];
#pragma unroll
  for (int s = 0; s < R; s++) {
    const int row = b.q + c.lanes * s;
    pivot[s] = row < b.m ? p.all.pivots[b.start + row] : 0;
  }
  if (!p.beside) bsi_wait_for_predecessor();
  bsi_release_successor();
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
    solve_lu<c.lanes, R, LD<K>>(b, y);
  else
    solve_gauss_huard<c.lanes, R, LD<K>>(b, y);
#pragma unroll
  for (int s = 0; s < R; s++) {
    const int row = b.q + c.lanes * s;
    double *to = p.all.y + b.start + (FORM == BISAI_FORM_LU ? row : pivot[s]);
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
      if (row < b.m) to[v * p.all.ldy] = y[s][v];
  }
  /* The launch ends after those beside it, so that its successor need not know of them. */
  if (p.beside) bsi_wait_for_predecessor();
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

/* Enqueues the groups of class K and of the smaller ones, which end before `end` of the order. The
 * first launch waits for x, and the others run beside it. */
template <bisai_form FORM, int VECTORS, int K = CLASSES - 1>
void enqueue_classes(const bisai_context *context, const bsi_bjacobi *jacobi, solve_job p,
                     int32_t end) {
  const int least = K > 0 ? SOLVE_CLASSES[K > 0 ? K - 1 : 0].rows : 0;
  p.end = end, p.from = end - groups_between(jacobi, least, SOLVE_CLASSES[K].rows);
  if (p.from < end) {
    bsi_launch_early(context, solve<FORM, K, VECTORS>,
                     bsi_grid(end - p.from, slots_of<K>(p.all.per_group)), BSI_WARP,
                     sizeof(double) * BSI_WARP / SOLVE_CLASSES[K].lanes * PLACE<K>, p);
    p.beside = true;
  }
  if constexpr (K > 0) enqueue_classes<FORM, VECTORS, K - 1>(context, jacobi, p, p.from);
}

/* Enqueues a pass over the blocks for each VECTORS of the `count` vectors, and returns how many
 * vectors are left, which p then begins with. */
template <bisai_form FORM, int VECTORS>
int32_t enqueue_solves(const bisai_context *context, const bsi_bjacobi *jacobi, solve_job *p,
                       int32_t count) {
  for (; count >= VECTORS;
       count -= VECTORS, p->all.x += VECTORS * p->all.ldx, p->all.y += VECTORS * p->all.ldy)
    enqueue_classes<FORM, VECTORS>(context, jacobi, *p, p->all.groups);
  return count;
}

template <bisai_form FORM>
void solve_form(const bisai_context *context, const bsi_bjacobi *jacobi, const bsi_apply_job &all,
                int32_t count) {
  solve_job p = {.all = all, .order = all.uniform ? nullptr : jacobi->order};
  count = enqueue_solves<FORM, 4>(context, jacobi, &p, count);
  enqueue_solves<FORM, 1>(context, jacobi, &p, count);
}

} // namespace

void bsi_enqueue_solves(const bisai_context *context, const bsi_bjacobi *jacobi,
                        const bsi_apply_job &p, int32_t count) {
  if (p.form == BISAI_FORM_LU)
    solve_form<BISAI_FORM_LU>(context, jacobi, p, count);
  else
    solve_form<BISAI_FORM_GAUSS_HUARD>(context, jacobi, p, count);
}
