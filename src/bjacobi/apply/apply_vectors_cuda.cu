/* SPDX-License-Identifier: BSD-3-Clause */
/* Y = D⁻¹ X for several vectors and inverses of one size in any formats. The vectors lie in shared
 * memory in pairs. A lane takes one or two rows of a block: each pair that it reads serves both.
 * Each sum has the order of the other kernels. */
#include "bjacobi/apply/apply_stored_cuda.cuh"
#include "core/context/context_impl.h"

namespace {

constexpr int WARPS = 4;
/* Vectors that one pass over the blocks takes. */
constexpr int PASS = 4, LONG_PASS = 8;
/* Registers for the values that a lane has under way, and the thread blocks that a multiprocessor
 * is to hold, which bounds the registers of a thread. */
constexpr int REGISTERS = 16, RESIDENT = 5;

/* The places of a warp, which takes several groups of blocks of M rows. */
template <int M> struct shape {
  /* Rows of a lane. If M is odd, the last lane of a block has one row only; small blocks would lose
   * more by this than by further reads of the vectors. */
  static constexpr int rows = M % 2 == 0 || M > 5 ? 2 : 1;
  static constexpr int of_block = (M + rows - 1) / rows;
  static constexpr int per_group = BSI_WARP / M, height = per_group * M;
  /* lanes of a group; groups and rows of a warp, and the steps in which it copies parts of the
   * vectors */
  static constexpr int lanes = per_group * of_block, groups = BSI_WARP / lanes,
                       all = groups * height, steps = (all + BSI_WARP - 1) / BSI_WARP;
  /* The distance between the vectors of two blocks, which is odd: the lanes of eight blocks read
   * without bank conflicts. */
  static constexpr int pitch = M | 1;
  static constexpr int group_pitch = per_group * pitch, shared = groups * group_pitch;
};

/* A lane's values of a column, in BYTES bytes each: two together, or one by one if M is odd. */
template <int M, int BYTES> struct column_values {
  static constexpr int pieces = M % shape<M>::rows == 0 ? 1 : shape<M>::rows,
                       each = shape<M>::rows / pieces;
  /* as in apply_rows_cuda.cu */
  static constexpr bool shares_sectors = shape<M>::height * BYTES % 32 != 0;
  static constexpr int registers = pieces * stored<BYTES, each>::registers;
  stored<BYTES, each, shares_sectors> piece[pieces];
  /* second: rows from the first to the second, 0: there is none */
  __device__ __forceinline__ void load(const char *from, int second) {
#pragma unroll
    for (int k = 0; k < pieces; k++) piece[k].load(from + k * second * BYTES);
  }
  template <bisai_value_type FORMAT> __device__ __forceinline__ double value(int r) const {
    return decoded<FORMAT>(piece[r % pieces].part, r / pieces);
  }
};

/* Columns of M rows that a lane has under way. */
template <int M, bisai_value_type FORMAT>
constexpr int ahead =
    columns_ahead<REGISTERS, column_values<M, static_cast<int>(bsi_value_bytes(FORMAT))>::registers,
                  M>;

template <int M, bisai_value_type FORMAT>
using columns = column_values<M, static_cast<int>(bsi_value_bytes(FORMAT))>[ahead<M, FORMAT>];

/* A lane's rows of a block. */
template <int M> struct part {
  /* its format, or ADAPTIVE if the block does not exist */
  int format;
  /* the group has as many blocks as others */
  bool whole;
  /* the first row in the group, and the rows from it to the second, 0: there is none */
  int row, second;
  const char *values;
  columns<M, BISAI_FP16> first;
};

/* Loads the columns from `from` on of the lane's rows. */
template <int M, bisai_value_type FORMAT>
__device__ __forceinline__ void load(const part<M> &l, int from, columns<M, FORMAT> &e) {
  constexpr int bytes = static_cast<int>(bsi_value_bytes(FORMAT));
#pragma unroll
  for (int c = 0; c < ahead<M, FORMAT>; c++)
    if (from + c < M)
      e[c].load(l.values + l.row * bytes + (from + c) * shape<M>::height * bytes, l.second);
}

/* sum ← sum + value x, for row r of the lane. x: a column's place in the first pair of vectors. */
template <int M, int VECTORS>
__device__ __forceinline__ void add_value(double value, const double2 *x, double (&sum)[VECTORS]) {
#pragma unroll
  for (int v = 0; v < VECTORS; v += 2) {
    const double2 two = x[v / 2 * shape<M>::shared];
    sum[v] = fma(value, two.x, sum[v]);
    sum[v + 1] = fma(value, two.y, sum[v + 1]);
  }
}

/* sum ← sum + E x for the columns from `from` on. x: the place of the lane's block. */
template <int M, bisai_value_type FORMAT, int VECTORS>
__device__ __forceinline__ void add(const columns<M, FORMAT> &e, int from, const double2 *x,
                                    double (&sum)[shape<M>::rows][VECTORS]) {
#pragma unroll
  for (int c = 0; c < ahead<M, FORMAT> && from + c < M; c++)
#pragma unroll
    for (int r = 0; r < shape<M>::rows; r++)
      add_value<M>(e[c].template value<FORMAT>(r), x + from + c, sum[r]);
}

/* The same for all columns. l.first has the first ones if they are narrow and `preloaded`. */
template <int M, bisai_value_type FORMAT, int VECTORS>
__device__ __forceinline__ void multiply(part<M> &l, const double2 *x, bool preloaded,
                                         double (&sum)[shape<M>::rows][VECTORS]) {
  constexpr bool narrow = bsi_value_bytes(FORMAT) == 2;
  if constexpr (narrow) {
    if (!preloaded) load<M, FORMAT>(l, 0, l.first);
    add<M, FORMAT>(l.first, 0, x, sum);
  }
#pragma unroll
  for (int from = narrow ? ahead<M, FORMAT> : 0; from < M; from += ahead<M, FORMAT>) {
    columns<M, FORMAT> e;
    load<M, FORMAT>(l, from, e);
    add<M, FORMAT>(e, from, x, sum);
  }
}

/* The same for a last group with fewer blocks, and therefore another `height`. */
template <int M, int VECTORS>
__device__ __forceinline__ void multiply_last(const part<M> &l, int height, const double2 *x,
                                              double (&sum)[shape<M>::rows][VECTORS]) {
  const bisai_value_type format = static_cast<bisai_value_type>(l.format);
#pragma unroll
  for (int r = 0; r < shape<M>::rows; r++)
#pragma unroll 1
    for (int from = 0; from < M; from += BATCH) {
      uint64_t bits[BATCH];
      load_bits(l.values, format, from * height + l.row + r * l.second, height, M - from, bits);
#pragma unroll
      for (int c = 0; c < BATCH; c++)
        if (from + c < M) add_value<M>(bsi_value_load(format, &bits[c], 0), x + from + c, sum[r]);
    }
}

/* y ← E x for the lane's rows, in place. x: the place of the lane's block in the first pair of
 * vectors. All lanes of the warp call. */
template <int M, int VECTORS>
__device__ __forceinline__ void apply_part(const bsi_apply_job &p, part<M> &l, double2 *x) {
  double sum[shape<M>::rows][VECTORS];
#pragma unroll
  for (int r = 0; r < shape<M>::rows; r++)
#pragma unroll
    for (int v = 0; v < VECTORS; v++) sum[r][v] = 0.0;
  /* Lanes without rows, and those of a last group with fewer blocks, do nothing here. */
  bsi_in_format(l.whole ? l.format : static_cast<int>(BISAI_ADAPTIVE),
                [&](auto format) { multiply<M, format.value>(l, x, p.narrow, sum); });
  if (!l.whole && l.format != BISAI_ADAPTIVE)
    multiply_last(l, p.partition.rows % shape<M>::height, x, sum);
  __syncwarp();
  if (l.format == BISAI_ADAPTIVE) return;
  x += l.row % M;
#pragma unroll
  for (int r = 0; r < shape<M>::rows; r++)
#pragma unroll
    for (int v = 0; v < VECTORS; v += 2)
      if (r <= l.second) x[v / 2 * shape<M>::shared + r] = make_double2(sum[r][v], sum[r][v + 1]);
}

/* M: the rows of every block. VECTORS: the vectors. */
template <int M, int VECTORS>
__global__ void __launch_bounds__(WARPS *BSI_WARP, RESIDENT)
    apply_vectors(const __grid_constant__ bsi_apply_job p) {
  using s = shape<M>;
  __shared__ double2 vectors[WARPS][VECTORS / 2][s::shared];
  const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP;
  const int32_t group = static_cast<int32_t>(blockIdx.x * WARPS + warp) * s::groups;
  const int64_t top = static_cast<int64_t>(group) * s::height + lane;
  const int left = static_cast<int>(min(p.partition.rows - top, int64_t{s::all - lane}));
  double own[s::steps][VECTORS];
  bsi_wait_for_predecessor();
#pragma unroll
  for (int k = 0; k < s::steps; k++)
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
      own[k][v] = k * BSI_WARP < left ? __ldcs(p.x + top + k * BSI_WARP + v * p.ldx) : 0.0;
  const int sub = lane / s::lanes, block = lane % s::lanes / s::of_block,
            in_block = lane % s::lanes % s::of_block * s::rows;
  const int32_t its = group + sub;
  part<M> l;
  l.row = block * M + in_block, l.second = in_block + 1 < M ? 1 : 0;
  l.values = p.data + static_cast<int64_t>(its) * (s::height * M * p.slot_bytes);
  l.whole = s::per_group == 1 || its < p.partition.rows / s::height;
  l.format = BISAI_ADAPTIVE;
  if (sub < s::groups && static_cast<int64_t>(its) * s::height + l.row < p.partition.rows) {
    l.format = p.format ? __ldg(p.format + its) : p.storage;
    /* as in apply_rows_cuda.cu */
    if (l.whole && p.narrow) load<M, BISAI_FP16>(l, 0, l.first);
  }
#pragma unroll
  for (int k = 0; k < s::steps; k++) {
    const int i = k * BSI_WARP + lane;
#pragma unroll
    for (int v = 0; v < VECTORS; v += 2)
      if (i < s::all)
        vectors[warp][v / 2][i / M * s::pitch + i % M] = make_double2(own[k][v], own[k][v + 1]);
  }
  __syncwarp();
  apply_part<M, VECTORS>(
      p, l, vectors[warp][0] + min(sub, s::groups - 1) * s::group_pitch + block * s::pitch);
  __syncwarp();
#pragma unroll
  for (int k = 0; k < s::steps; k++) {
    const int i = k * BSI_WARP + lane;
#pragma unroll
    for (int v = 0; v < VECTORS; v += 2) {
      if (k * BSI_WARP >= left) continue;
      const double2 two = vectors[warp][v / 2][i / M * s::pitch + i % M];
      p.y[top + k * BSI_WARP + v * p.ldy] = two.x;
      p.y[top + k * BSI_WARP + (v + 1) * p.ldy] = two.y;
    }
  }
}

template <int M, int VECTORS>
int32_t enqueue_passes(const bisai_context *context, bsi_apply_job *p, int32_t count) {
  const int64_t units =
      (static_cast<int64_t>(p->partition.groups) + shape<M>::groups - 1) / shape<M>::groups;
  for (; count >= VECTORS; count -= VECTORS, p->x += VECTORS * p->ldx, p->y += VECTORS * p->ldy)
    bsi_launch_early(context, apply_vectors<M, VECTORS>, bsi_grid(units, WARPS), WARPS * BSI_WARP,
                     0, *p);
  return count;
}

/* Enqueues the kernels of the size, which is M or smaller. Common sizes have kernels in
 * apply_cuda.cu, which take all whole passes. */
template <int M = BSI_BJACOBI_MAX_ROWS>
int32_t enqueue(const bisai_context *context, bsi_apply_job *p, int32_t count) {
  if constexpr (M > 1)
    if (p->partition.uniform < M) return enqueue<M - 1>(context, p, count);
  if constexpr (!bsi_is_common_size(M)) {
    count = enqueue_passes<M, LONG_PASS>(context, p, count);
    count = enqueue_passes<M, PASS>(context, p, count);
  }
  return count;
}

} // namespace

int32_t bsi_enqueue_vectors(const bisai_context *context, bsi_apply_job *p, int32_t count) {
  return enqueue<>(context, p, count);
}
