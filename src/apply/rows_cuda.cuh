/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of block rows with vectors on the device, for kernels that do more with the sums.
 *
 * A lane takes one column of every SPLIT-th block of its block row, or two narrow columns. It reads
 * consecutive values in the widest words that their address allows, and one value of x for each
 * column, without a division. The bs·SPLIT lanes of a block row each add up the sums of one row,
 * which the others pass to it in a fixed order, so that the bits repeat. The bytes under way limit
 * the speed, hence a lane has UNROLLED columns under way. */
#ifndef BSI_ROWS_CUDA_CUH
#define BSI_ROWS_CUDA_CUH

#include <cfloat>
#include <type_traits>

#include "core/block/values.h"
#include "core/matrix/bcsr_impl.h"
#include "core/vector/row_list.h"
#include "gpu/launch.cuh"
#include "gpu/load.cuh"

namespace {

enum { ROW_THREADS = 64 };

/* The operands of products with the vectors x, ldx values apart. */
struct block_rows {
  int32_t count, block_size;
  /* the `count` rows; NULL: those from 0 on */
  const int32_t *list;
  const int32_t *row_ptr, *col_idx;
  const void *values;
  /* the blocks are read past the cache: apply/apply_ops.h */
  bool passing_once;
  /* doubles or floats */
  const void *x;
  int64_t ldx;
};

/* Returns value i of a vector of floats, if it is narrow, or doubles as an S. All vectors of a
 * kernel that computes in fp64 are in fp64. */
template <typename S> __device__ __forceinline__ S value_of(const void *v, bool narrow, int64_t i) {
  return std::is_same_v<S, float> && narrow ? static_cast<S>(static_cast<const float *>(v)[i])
                                            : static_cast<S>(static_cast<const double *>(v)[i]);
}

template <typename S>
__device__ __forceinline__ void set_value(void *v, bool narrow, int64_t i, S value) {
  if (std::is_same_v<S, float> && narrow)
    static_cast<float *>(v)[i] = static_cast<float>(value);
  else
    static_cast<double *>(v)[i] = static_cast<double>(value);
}

/* Returns the row of a place in the list. */
__device__ __forceinline__ int32_t row_at(const int32_t *list, int64_t place) {
  return list ? __ldg(list + place) : static_cast<int32_t>(place);
}

__host__ inline block_rows rows_of(const bisai_context *context, const bisai_bcsr *a,
                                   const bsi_row_list *list, const void *x, int64_t ldx,
                                   int64_t cached_bytes) {
  const int64_t bytes =
      static_cast<int64_t>(bsi_block_offset(a, a->blocks) * bsi_value_bytes(a->type));
  return {.count = list ? list->count : a->block_rows,
          .block_size = a->block_size,
          .list = list ? list->rows : nullptr,
          .row_ptr = a->row_ptr,
          .col_idx = a->col_idx,
          .values = a->values,
          .passing_once = bytes + cached_bytes > context->limits.cache,
          .x = x,
          .ldx = ldx};
}

/* Returns the columns of a lane: two if they are 16 bytes together or less. */
template <typename T, int BS> __host__ __device__ constexpr int columns_of_a_lane() {
  return (BS == 2 || BS == 4) && 2 * BS * sizeof(T) <= 16 ? 2 : 1;
}

/* The block row of a lane.
 *   T: the type of the values
 *   BS: the block size
 *   SPLIT: blocks of a row that go side by side, a power of two
 *   EACH: columns of a lane */
template <typename T, int BS, int SPLIT, int EACH = columns_of_a_lane<T, BS>()> struct row_place {
  static constexpr int COLUMNS = EACH, LANES = BS / COLUMNS, GROUP = LANES * SPLIT,
                       ROWS = BSI_WARP / GROUP;
  /* the group of lanes, the place of the lane in it, and the first column of the lane */
  int group, member, c;
  int32_t i;
  bool working;
  __device__ __forceinline__ explicit row_place(const block_rows &rows) {
    const int lane = threadIdx.x % BSI_WARP;
    group = lane / GROUP, member = lane % GROUP;
    c = member % LANES * COLUMNS;
    i = static_cast<int32_t>((blockIdx.x * static_cast<int64_t>(ROW_THREADS) + threadIdx.x) /
                             BSI_WARP * ROWS) +
        group;
    working = group < ROWS && i < rows.count;
    if (working) i = row_at(rows.list, i);
  }
};

/* Adds the products of the columns of a lane to `sum`.
 *   UNROLLED: blocks of a lane that are under way together
 *   X: the type of the vectors
 *   S: the type of the sums
 *   VECTORS: how many vectors
 *   EACH: columns of a lane */
template <typename T, int BS, int SPLIT, int UNROLLED, typename X, typename S, int VECTORS,
          int EACH>
__device__ __forceinline__ void add_blocks(const block_rows &p,
                                           const row_place<T, BS, SPLIT, EACH> &at,
                                           S (&sum)[VECTORS][BS]) {
  using own = row_place<T, BS, SPLIT, EACH>;
  constexpr int COLUMNS = own::COLUMNS, LANES = own::LANES;
  const int32_t i = at.i;
  const int member = at.member, c = at.c;
  const int32_t end = __ldg(p.row_ptr + i + 1);
  int32_t q = __ldg(p.row_ptr + i) + member / LANES;
  const T *values = static_cast<const T *>(p.values) + (static_cast<int64_t>(q) * BS + c) * BS;
  const X *x_c = static_cast<const X *>(p.x) + c;
  const passing way(p.passing_once);
  for (; q < end; q += UNROLLED * SPLIT, values += UNROLLED * SPLIT * BS * BS) {
    int32_t column[UNROLLED];
    S a[UNROLLED][COLUMNS * BS] = {}, x[UNROLLED][VECTORS][COLUMNS] = {};
#pragma unroll
    for (int u = 0; u < UNROLLED; u++)
      if (q + u * SPLIT < end)
        column[u] = static_cast<int32_t>(
            way.load(reinterpret_cast<const unsigned *>(p.col_idx) + q + u * SPLIT));
#pragma unroll
    for (int u = 0; u < UNROLLED; u++)
      if (q + u * SPLIT < end)
        load_values<T, COLUMNS * BS>(way, values + u * SPLIT * BS * BS, a[u]);
#pragma unroll
    for (int u = 0; u < UNROLLED; u++)
#pragma unroll
      for (int v = 0; v < VECTORS; v++)
#pragma unroll
        for (int k = 0; k < COLUMNS; k++) /* columns fit int32 */
          if (q + u * SPLIT < end)
            x[u][v][k] = static_cast<S>(__ldg(x_c + v * p.ldx + column[u] * BS + k));
#pragma unroll
    for (int u = 0; u < UNROLLED; u++)
#pragma unroll
      for (int v = 0; v < VECTORS; v++)
#pragma unroll
        for (int e = 0; e < COLUMNS * BS; e++)
          if (q + u * SPLIT < end) sum[v][e % BS] += a[u][e] * x[u][v][e / BS];
  }
}

/* Adds up the values of lanes (r, 0) … (r, split − 1) in lane (r, 0). */
template <typename S> __device__ __forceinline__ S add_lanes(S value, int bs, int split, int s) {
  for (int step = 1; step < split; step *= 2) {
    const S other = __shfl_down_sync(BSI_FULL_WARP, value, step * bs);
    if (s + step < split) value += other;
  }
  return value;
}

/* Adds up sums[r], r < BS, over the LANES·SPLIT lanes of a group. Lane `member` gets the sums of
 * its BS/LANES rows, from row member·BS/LANES on, as the first of `sums`. All lanes of the warp
 * call. The group begins at lane `first`.
 *   BS: the block size
 *   LANES: lanes of a block
 *   SPLIT: blocks of a row that go side by side, a power of two
 *   S: the type of the sums */
template <int BS, int LANES, int SPLIT, typename S>
__device__ __forceinline__ void add_up(S (&sums)[BS], int first, int member) {
#pragma unroll
  for (int half = SPLIT / 2; half > 0; half /= 2)
#pragma unroll
    for (int r = 0; r < BS; r++) sums[r] += __shfl_down_sync(BSI_FULL_WARP, sums[r], half * LANES);
  if (LANES == 1) return;
  if ((BS & (BS - 1)) == 0) {
    /* By halves: a lane keeps the rows of its half and passes the others on. */
    constexpr int EACH = BS / LANES;
#pragma unroll
    for (int half = BS / 2; half >= EACH; half /= 2) {
#pragma unroll
      for (int r = 0; r < half; r++) {
        const bool upper = (member * EACH & half) != 0;
        const S other = upper ? sums[r] : sums[r + half];
        sums[r] =
            (upper ? sums[r + half] : sums[r]) + __shfl_xor_sync(BSI_FULL_WARP, other, half / EACH);
      }
    }
    return;
  }
  S mine = 0;
#pragma unroll
  for (int step = 0; step < BS; step++) {
    /* Each lane passes a row to the lane `step` places before it, around the group. */
    const int from = member + step < BS ? member + step : member + step - BS;
    S passed = 0;
#pragma unroll
    for (int r = 0; r < BS; r++)
      if (member == (r + step) % BS) passed = sums[r];
    mine += step == 0 ? passed : __shfl_sync(BSI_FULL_WARP, passed, first + from);
  }
  sums[0] = mine;
}

/* --- shapes --- */

/* How a product goes: template parameters of add_blocks(), and the threads that a multiprocessor is
 * to hold if there is one vector. */
struct shape {
  int split, unrolled, resident;
};

/* A shape for products with one vector, and the matrices that it is for: their block size, the
 * bytes of a value, and the upper bound of the blocks per row. */
struct tuned_shape {
  int block_size, bytes;
  double blocks_below;
  shape how;
};

/* Rows of this many blocks are long enough to feed two lanes a column. */
constexpr double LONG_ROW = 24.0, LONG_ROW_OF_SMALL_BLOCKS = 6.0;

constexpr double ABOVE_9 = 9.0 * (1.0 + DBL_EPSILON);

/* The first line that fits a matrix holds. If a lane has a whole row of a mesh under way, it waits
 * three times, and not once more for every two blocks, which makes up for fewer threads. 7 × 2
 * bytes are not here, because they spill registers (docs/tuning.md, "Block product"). */
constexpr tuned_shape TUNED[] = {
    {1, 8, 4.5, {1, 4, 1024}},      /* prolongations */
    {1, 8, 6.0, {1, 2, 1024}},      /* 5-point meshes */
    {1, 8, 16.0, {2, 4, 1024}},     /* 7-point and 9-point meshes */
    {1, 8, DBL_MAX, {8, 5, 1024}},  /* coarse levels of multigrid, restrictions */
    {1, 4, 6.0, {1, 4, 2048}},      /* the same in fp32 */
    {1, 4, 16.0, {1, 4, 1024}},     /* 7-point and 9-point meshes */
    {1, 4, DBL_MAX, {8, 5, 1024}},  /* coarse levels */
    {3, 4, 4.0, {1, 3, 1536}},      /* prolongations */
    {3, 4, 8.0, {1, 5, 1024}},      /* 5-point and 7-point meshes */
    {3, 4, 16.0, {1, 4, 1024}},     /* level 1 */
    {3, 4, DBL_MAX, {2, 5, 768}},   /* 27-point meshes, restrictions */
    {3, 8, 4.0, {1, 3, 1280}},      /* triangles of meshes */
    {3, 8, LONG_ROW, {1, 6, 768}},  /* meshes */
    {4, 8, 4.0, {1, 3, 1024}},      /* triangles of meshes */
    {4, 8, 5.0, {1, 4, 768}},       /* 5-point meshes */
    {4, 8, ABOVE_9, {1, 2, 1024}},  /* 7-point and 9-point meshes */
    {4, 8, LONG_ROW, {1, 6, 640}},  /* longer rows */
    {5, 4, LONG_ROW, {1, 3, 1024}}, /* narrow columns of odd sizes */
    {5, 2, LONG_ROW, {1, 3, 1024}}, {7, 4, LONG_ROW, {1, 3, 1024}},
};

/* Returns the shape for all other matrices. Columns of few bytes need several under way. */
constexpr shape usual_shape(int block_size, int bytes, int vectors, bool long_rows) {
  if (long_rows) return {2, vectors == 1 && block_size <= 2 ? 4 : 2, 1024};
  return {1, vectors == 1 && block_size * bytes < 64 ? 2 : 1, 1024};
}

constexpr double long_row(int block_size, int vectors) {
  return block_size <= 2 || (block_size == 5 && vectors == 1) ? LONG_ROW_OF_SMALL_BLOCKS : LONG_ROW;
}

/* A shape as a type. */
template <int SPLIT, int UNROLLED, int RESIDENT> struct shape_type {
  static constexpr int split = SPLIT, unrolled = UNROLLED, resident = RESIDENT;
};

/* Returns f(shape_type) of the shape for a matrix.
 *   T: the type of the values
 *   BS: the block size
 *   VECTORS: how many vectors
 *   LINE: the line of TUNED from which on to look
 *   F: the type of f */
template <typename T, int BS, int VECTORS, size_t LINE = 0, typename F>
bisai_status in_shape(double blocks_per_row, F f) {
  if constexpr (LINE < sizeof TUNED / sizeof *TUNED) {
    constexpr tuned_shape line = TUNED[LINE];
    if constexpr (VECTORS == 1 && line.block_size == BS && line.bytes == sizeof(T))
      if (blocks_per_row < line.blocks_below)
        return f(shape_type<line.how.split, line.how.unrolled, line.how.resident>());
    return in_shape<T, BS, VECTORS, LINE + 1>(blocks_per_row, f);
  } else {
    constexpr shape rows = usual_shape(BS, sizeof(T), VECTORS, false),
                    long_rows = usual_shape(BS, sizeof(T), VECTORS, true);
    return blocks_per_row < long_row(BS, VECTORS)
               ? f(shape_type<rows.split, rows.unrolled, rows.resident>())
               : f(shape_type<long_rows.split, long_rows.unrolled, long_rows.resident>());
  }
}

} // namespace

#endif
