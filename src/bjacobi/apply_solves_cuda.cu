/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves with decompositions on a device: equations in bjacobi/bjacobi.h. A thread block is a warp.
 * It copies the values of some groups into shared memory, where the values wait for their turn
 * without registers. Then a sub-warp of few lanes solves with each block. Lane q of L has rows
 * q, q + L, … of the block, so that a sum over a row takes log₂ L exchanges. Blocks of similar sizes
 * share a warp: the groups are in the order of their classes. */
#include <algorithm>

#include "bjacobi/apply_job_cuda.cuh"
#include "gpu/pipeline.cuh"

namespace {

/* How blocks of up to `rows` rows are solved with. */
struct solve_class {
  int rows;
  /* lanes of a block */
  int lanes;
  /* lanes that copy a group */
  int copiers;
};

constexpr solve_class SOLVE_CLASSES[] = {
    /* rows, lanes, copiers */
    {4, 1, 4}, {8, 2, 4}, {16, 4, 8}, {24, 4, 32}, {32, 8, 32},
};
constexpr int CLASSES = sizeof SOLVE_CLASSES / sizeof *SOLVE_CLASSES;

/* Steps of a solve between two jumps of the code. */
constexpr int UNROLL = 1;

/* Bytes of a copy, of a line of shared memory, and between the lines of two groups. */
enum { CHUNK = 16, LINE = 128, APART = 16 };

/* The bytes from the values of a group in shared memory to those of the next one. The first value
 * has the same place in its chunk as in memory. Groups begin in different banks. */
template <int K, bisai_value_type FORMAT>
__host__ __device__ constexpr int slot_bytes_of(int per_group) {
  const int values = per_group * SOLVE_CLASSES[K].rows * SOLVE_CLASSES[K].rows;
  const int bytes = values * static_cast<int>(bsi_value_bytes(FORMAT)) + CHUNK - 1;
  return (bytes + LINE - 1) / LINE * LINE + APART;
}

template <int K> __host__ __device__ constexpr int slots_of(int per_group) {
  return BSI_WARP / SOLVE_CLASSES[K].lanes / per_group;
}

/* A job with its groups by class. */
struct solve_job {
  bsi_apply_job all;
  /* all values */
  int64_t values;
  /* groups by class, ascending in each; NULL: as they are */
  const int32_t *order;
  /* The thread blocks of class k, the largest first, end before last[k]; its groups begin at
   * from[k] of the order and end before end[k]. */
  unsigned last[CLASSES];
  int32_t from[CLASSES], end[CLASSES];
};

/* The part of a block that one lane has. */
struct share {
  /* the lane among those of the block, and the block's first lane */
  int q, base;
  /* the block's first scalar row, its rows, the rows of its group, and the most rows in the warp */
  int32_t start;
  int m, height, most;
  /* the block's first value in shared memory */
  const char *values;
};

__device__ __forceinline__ int64_t first_value_of(const solve_job &p, int32_t group) {
  if (group >= p.all.groups) return p.values;
  if (p.all.first_value) return __ldg(p.all.first_value + group);
  return static_cast<int64_t>(group) * p.all.per_group * p.all.uniform * p.all.uniform;
}

/* Begins to copy the groups of a warp, of which this lane's begins at value `first`. Returns the
 * place of the group's first value. */
template <int K, bisai_value_type FORMAT>
__device__ __forceinline__ const char *copy_groups(const solve_job &p, int slot, int64_t first,
                                                   int64_t values, char *tile) {
  constexpr solve_class c = SOLVE_CLASSES[K];
  constexpr int bytes = static_cast<int>(bsi_value_bytes(FORMAT)), at_once = BSI_WARP / c.copiers;
  const int lane = threadIdx.x, slots = slots_of<K>(p.all.per_group),
            distance = slot_bytes_of<K, FORMAT>(p.all.per_group);
  const char *from = p.all.data + first * bytes;
  const int shift = static_cast<int>(reinterpret_cast<uintptr_t>(from) % CHUNK);
  const int chunks =
      values > 0 ? (shift + static_cast<int>(values) * bytes + CHUNK - 1) / CHUNK : 0;
  from -= shift;
#pragma unroll 1
  for (int s = lane / c.copiers; s < (slots + at_once - 1) / at_once * at_once; s += at_once) {
    const int owner = min(s, slots - 1) * p.all.per_group * c.lanes;
    const char *source = reinterpret_cast<const char *>(
        __shfl_sync(BSI_FULL_WARP, reinterpret_cast<unsigned long long>(from), owner));
    const int of_owner = __shfl_sync(BSI_FULL_WARP, chunks, owner),
              count = s < slots ? of_owner : 0;
    char *const to = tile + s * distance;
#pragma unroll 4
    for (int i = lane % c.copiers; i < count; i += c.copiers)
      bsi_copy_ahead(to + i * CHUNK, source + i * CHUNK, CHUNK);
  }
  bsi_commit_copies();
  return tile + slot * distance + shift;
}

/* Value `at` of a block in shared memory. */
template <bisai_value_type FORMAT>
__device__ __forceinline__ double shared_value(const char *values, int at) {
  if constexpr (FORMAT == BISAI_FP64) return reinterpret_cast<const double *>(values)[at];
  return bsi_value_load(FORMAT, values, static_cast<size_t>(at));
}

/* Solves with L∖U for y, which is in the order of the pivots.
 * FORMAT: the format of the values.
 * L, R: lanes of a block, and rows of a lane.
 * VECTORS: right-hand sides. */
template <bisai_value_type FORMAT, int L, int R, int VECTORS>
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
        e[s] = row > k && row < b.m ? shared_value<FORMAT>(b.values, k * b.height + row) : 0.0;
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
      const double pivot = step ? shared_value<FORMAT>(b.values, k * b.height + k) : 1.0;
#pragma unroll
      for (int s = 0; s <= i; s++) {
        const int row = b.q + L * s;
        e[s] = step && row < k ? shared_value<FORMAT>(b.values, k * b.height + row) : 0.0;
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
 * all lanes of the block get y_k from the exchanges. Template parameters: as those of solve_lu(). */
template <bisai_value_type FORMAT, int L, int R, int VECTORS>
__device__ __forceinline__ void solve_gauss_huard(const share &b, bool transposed,
                                                  double (&y)[R][VECTORS]) {
  /* value (k, j) of the lower triangle is at origin + k·down + j·right */
  const int origin = transposed ? (b.m - 1) * (b.height + 1) : 0, down = transposed ? -b.height : 1,
            right = transposed ? -1 : b.height;
#pragma unroll
  for (int i = 0; i < R; i++) {
    if (i * L >= b.most) break;
#pragma unroll(UNROLL)
    for (int t = 0; t < L; t++) {
      const int k = i * L + t;
      const bool step = k < b.m;
      double left[R], above[R];
      const double pivot = step ? shared_value<FORMAT>(b.values, k * (b.height + 1)) : 0.0;
#pragma unroll
      for (int s = 0; s <= i; s++) {
        const int row = b.q + L * s;
        const bool there = step && (s < i || b.q < t);
        left[s] = there ? shared_value<FORMAT>(b.values, origin + k * down + row * right) : 0.0;
        above[s] = there ? shared_value<FORMAT>(b.values, k * b.height + row) : 0.0;
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
 * Other template parameters: as those of solve_lu(). */
template <bisai_form FORM, bisai_value_type FORMAT, int K, int VECTORS>
__device__ __forceinline__ void solve_groups(const solve_job &p, int32_t from, int32_t end,
                                             char *tile) {
  constexpr solve_class c = SOLVE_CLASSES[K];
  constexpr int R = (c.rows + c.lanes - 1) / c.lanes;
  const int lane = threadIdx.x, sub = lane / c.lanes, per_group = p.all.per_group,
            slot = sub / per_group;
  share b = {.q = lane % c.lanes, .base = lane / c.lanes * c.lanes, .start = 0, .m = 0};
  int64_t first = 0, values = 0;
  int in_group = 0;
  b.height = 0;
  if (slot < slots_of<K>(per_group) && from + slot < end) {
    const int32_t group = p.order ? __ldg(p.order + from + slot) : from + slot;
    const int64_t begin = static_cast<int64_t>(group) * per_group, block = begin + sub % per_group;
    const int32_t top = bsi_start_of(p.all, begin);
    b.start = bsi_start_of(p.all, block);
    b.m = bsi_start_of(p.all, block + 1) - b.start;
    b.height = bsi_start_of(p.all, begin + per_group) - top;
    in_group = b.start - top;
    first = first_value_of(p, group);
    values = first_value_of(p, group + 1) - first;
  }
  b.most = bsi_warp_max(b.m);
  b.values = copy_groups<K, FORMAT>(p, min(slot, slots_of<K>(per_group) - 1), first, values, tile) +
             in_group * static_cast<int>(bsi_value_bytes(FORMAT));
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
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
      y[s][v] = row < b.m
                    ? p.all.x[b.start + (FORM == BISAI_FORM_LU ? pivot[s] : row) + v * p.all.ldx]
                    : 0.0;
  }
  bsi_wait_for_copies();
  __syncwarp();
  if constexpr (FORM == BISAI_FORM_LU)
    solve_lu<FORMAT, c.lanes, R>(b, y);
  else
    solve_gauss_huard<FORMAT, c.lanes, R>(b, p.all.form == BISAI_FORM_GAUSS_HUARD_TRANSPOSED, y);
#pragma unroll
  for (int s = 0; s < R; s++) {
    const int row = b.q + c.lanes * s;
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
      if (row < b.m)
        p.all.y[b.start + (FORM == BISAI_FORM_LU ? row : pivot[s]) + v * p.all.ldy] = y[s][v];
  }
}

template <bisai_form FORM, bisai_value_type FORMAT, int VECTORS, int K = CLASSES - 1>
__device__ __forceinline__ void solve_class_of(const solve_job &p, unsigned before, char *tile) {
  if (blockIdx.x < p.last[K]) {
    const int32_t from =
        p.from[K] + static_cast<int32_t>(blockIdx.x - before) * slots_of<K>(p.all.per_group);
    solve_groups<FORM, FORMAT, K, VECTORS>(p, from, p.end[K], tile);
  } else if constexpr (K > 0) {
    solve_class_of<FORM, FORMAT, VECTORS, K - 1>(p, p.last[K], tile);
  }
}

/* y_b ← D_b⁻¹ x_b for all blocks. Template parameters: as those of solve_groups(). */
template <bisai_form FORM, bisai_value_type FORMAT, int VECTORS>
__global__ void __launch_bounds__(BSI_WARP) solve(const __grid_constant__ solve_job p) {
  extern __shared__ __align__(128) char tile[];
  solve_class_of<FORM, FORMAT, VECTORS>(p, 0u, tile);
}

/* The thread blocks of a job, and the shared memory of each. */
struct solve_shape {
  unsigned grid;
  int bytes;
};

/* Returns the number of groups whose largest block has more than `least` and at most `most` rows. */
int32_t groups_between(const bsi_bjacobi *jacobi, int least, int most) {
  int32_t sum = 0;
  if (jacobi->partition.uniform)
    return jacobi->partition.uniform > least && jacobi->partition.uniform <= most ? jacobi->groups
                                                                                  : 0;
  for (int k = 0; k < BSI_BJACOBI_CLASSES; k++)
    if (4 * k >= least && 4 * k < most) sum += jacobi->class_groups[k];
  return sum;
}

/* Sets the classes of the job, from the largest on. `end`: where those of class K end. */
template <bisai_value_type FORMAT, int K = CLASSES - 1>
void share_out(const bsi_bjacobi *jacobi, int32_t end, solve_job *p, solve_shape *shape) {
  const int32_t count = groups_between(jacobi, K > 0 ? SOLVE_CLASSES[K > 0 ? K - 1 : 0].rows : 0,
                                       SOLVE_CLASSES[K].rows);
  const int slots = slots_of<K>(p->all.per_group);
  p->end[K] = end, p->from[K] = end - count;
  if (count > 0) {
    shape->grid += bsi_grid(count, slots);
    shape->bytes = std::max(shape->bytes, slots * slot_bytes_of<K, FORMAT>(p->all.per_group));
  }
  p->last[K] = shape->grid;
  if constexpr (K > 0) share_out<FORMAT, K - 1>(jacobi, p->from[K], p, shape);
}

/* Enqueues passes of VECTORS vectors, as enqueue_general() does. */
template <bisai_form FORM, bisai_value_type FORMAT, int VECTORS>
int32_t enqueue_solves(const bisai_context *context, const solve_shape &shape, solve_job *p,
                       int32_t count) {
  for (; count >= VECTORS;
       count -= VECTORS, p->all.x += VECTORS * p->all.ldx, p->all.y += VECTORS * p->all.ldy)
    bsi_launch_early(context, solve<FORM, FORMAT, VECTORS>, shape.grid, BSI_WARP,
                     static_cast<size_t>(shape.bytes), *p);
  return count;
}

template <bisai_form FORM, bisai_value_type FORMAT>
void solve_in(const bisai_context *context, const bsi_bjacobi *jacobi, solve_job p, int32_t count) {
  solve_shape shape = {};
  share_out<FORMAT>(jacobi, p.all.groups, &p, &shape);
  count = enqueue_solves<FORM, FORMAT, 4>(context, shape, &p, count);
  enqueue_solves<FORM, FORMAT, 1>(context, shape, &p, count);
}

template <bisai_form FORM>
void solve_form(const bisai_context *context, const bsi_bjacobi *jacobi, const bsi_apply_job &p,
                int32_t count) {
  const solve_job solves = {
      .all = p, .values = jacobi->values, .order = p.uniform ? nullptr : jacobi->order};
  switch (p.storage) {
#define CASE(FORMAT, word, bytes, mantissa)                                                        \
  case FORMAT: return solve_in<FORM, FORMAT>(context, jacobi, solves, count);
    BISAI_BLOCK_TYPE_LIST(CASE)
#undef CASE
  default: return; /* decompositions have no other */
  }
}

} // namespace

void bsi_enqueue_solves(const bisai_context *context, const bsi_bjacobi *jacobi,
                        const bsi_apply_job &p, int32_t count) {
  if (p.form == BISAI_FORM_LU)
    solve_form<BISAI_FORM_LU>(context, jacobi, p, count);
  else
    solve_form<BISAI_FORM_GAUSS_HUARD>(context, jacobi, p, count);
}
