/* SPDX-License-Identifier: BSD-3-Clause */
/* Block products on the device: y_i ← alpha·Σ_j A_ij x_j + beta·z_i.
 *
 * A lane takes one column of every SPLIT-th block of its block row, or two narrow columns. It reads
 * consecutive values in the widest words that their address allows, and one value of x for each
 * column, without a division. The bs·SPLIT lanes of a block row each add up the sums of one row,
 * which the others pass to it in a fixed order, so that the bits repeat. The bytes under way limit
 * the speed, hence a lane has UNROLLED columns under way. Small matrices are limited by the launch:
 * y ← A x has kernels of its own without alpha, beta and an implied diagonal. Block sizes without
 * code of their own go by rows: each lane sums one row of some of the columns. */
#include <cfloat>

#include "apply/apply_ops.h"
#include "core/bcsr_impl.h"
#include "core/block_sizes.h"
#include "core/context_impl.h"
#include "core/values.h"
#include "gpu/launch.cuh"
#include "gpu/load.cuh"

namespace {

enum { THREADS = 64, VECTORS_AT_ONCE = 4, DIAGONAL_THREADS = 256 };

/* Messages of failures begin with it. */
constexpr char what[] = "block product";

struct product {
  int32_t block_rows, block_size;
  const int32_t *row_ptr, *col_idx;
  const void *values;
  bool unit_diagonal, passing_once;
  double alpha, beta;
  const double *x, *z;
  double *y;
  int64_t ldx, ldz, ldy;
};

/* Adds up sums[r], r < BS, over the LANES·SPLIT lanes of a group. Lane `member` gets the sums of
 * its BS/LANES rows, from row member·BS/LANES on, as the first of `sums`. All lanes of the warp
 * call. The group begins at lane `first`.
 *   BS: the block size
 *   LANES: lanes of a block
 *   SPLIT: blocks of a row that go side by side, 1 or 2 */
template <int BS, int LANES, int SPLIT>
__device__ __forceinline__ void add_up(double (&sums)[BS], int first, int member) {
  if (SPLIT == 2) {
#pragma unroll
    for (int r = 0; r < BS; r++) sums[r] += __shfl_down_sync(BSI_FULL_WARP, sums[r], LANES);
  }
  if (LANES == 1) return;
  if ((BS & (BS - 1)) == 0) {
    /* By halves: a lane keeps the rows of its half and passes the others on. */
    constexpr int EACH = BS / LANES;
#pragma unroll
    for (int half = BS / 2; half >= EACH; half /= 2) {
#pragma unroll
      for (int r = 0; r < half; r++) {
        const bool upper = (member * EACH & half) != 0;
        const double other = upper ? sums[r] : sums[r + half];
        sums[r] =
            (upper ? sums[r + half] : sums[r]) + __shfl_xor_sync(BSI_FULL_WARP, other, half / EACH);
      }
    }
    return;
  }
  double mine = 0.0;
#pragma unroll
  for (int step = 0; step < BS; step++) {
    /* Each lane passes a row to the lane `step` places before it, around the group. */
    const int from = member + step < BS ? member + step : member + step - BS;
    double passed = 0.0;
#pragma unroll
    for (int r = 0; r < BS; r++)
      if (member == (r + step) % BS) passed = sums[r];
    mine += step == 0 ? passed : __shfl_sync(BSI_FULL_WARP, passed, first + from);
  }
  sums[0] = mine;
}

/* y ← alpha·sum + beta·z for row r of block row i and vector v. */
__device__ __forceinline__ void finish(const product &p, int32_t i, int bs, int r, int v,
                                       double sum) {
  const int64_t row = static_cast<int64_t>(i) * bs + r;
  if (p.unit_diagonal) sum += p.x[v * p.ldx + row];
  p.y[v * p.ldy + row] =
      p.beta == 0.0 ? p.alpha * sum : p.alpha * sum + p.beta * p.z[v * p.ldz + row];
}

/* Returns the columns of a lane: two if they are 16 bytes together or less. */
template <typename T, int BS> __host__ __device__ constexpr int columns_of_a_lane() {
  return (BS == 2 || BS == 4) && 2 * BS * sizeof(T) <= 16 ? 2 : 1;
}

/* T: the type of the values
 * BS: the block size
 * SPLIT: blocks of a row that go side by side, 1 or 2
 * UNROLLED: blocks of a lane that are under way together
 * VECTORS: how many vectors
 * RESIDENT: threads that a multiprocessor is to hold, if there is one vector
 * PLAIN: alpha is 1, beta is 0, and no diagonal is implied */
template <typename T, int BS, int SPLIT, int UNROLLED, int VECTORS, int RESIDENT, bool PLAIN>
__global__ void __launch_bounds__(THREADS, VECTORS == 1 ? RESIDENT / THREADS : 1)
    multiply(product p) {
  constexpr int COLUMNS = columns_of_a_lane<T, BS>(), LANES = BS / COLUMNS, GROUP = LANES * SPLIT,
                ROWS = BSI_WARP / GROUP;
  const int lane = threadIdx.x % BSI_WARP, group = lane / GROUP, member = lane % GROUP,
            c = member % LANES * COLUMNS;
  const int32_t i =
      static_cast<int32_t>((blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x) / BSI_WARP *
                           ROWS) +
      group;
  const bool working = group < ROWS && i < p.block_rows;
  double sum[VECTORS][BS] = {};
  bsi_wait_for_predecessor();
  if (working) {
    const int32_t end = __ldg(p.row_ptr + i + 1);
    int32_t q = __ldg(p.row_ptr + i) + member / LANES;
    const T *values = static_cast<const T *>(p.values) + (static_cast<int64_t>(q) * BS + c) * BS;
    const double *x_c = p.x + c;
    const passing way(p.passing_once);
    for (; q < end; q += UNROLLED * SPLIT, values += UNROLLED * SPLIT * BS * BS) {
      int32_t column[UNROLLED];
      double a[UNROLLED][COLUMNS * BS] = {}, x[UNROLLED][VECTORS][COLUMNS] = {};
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
            if (q + u * SPLIT < end) x[u][v][k] = __ldg(x_c + v * p.ldx + column[u] * BS + k);
#pragma unroll
      for (int u = 0; u < UNROLLED; u++)
#pragma unroll
        for (int v = 0; v < VECTORS; v++)
#pragma unroll
          for (int e = 0; e < COLUMNS * BS; e++)
            if (q + u * SPLIT < end) sum[v][e % BS] += a[u][e] * x[u][v][e / BS];
    }
  }
#pragma unroll
  for (int v = 0; v < VECTORS; v++) {
    add_up<BS, LANES, SPLIT>(sum[v], group * GROUP, member % LANES);
    if (!working || member >= LANES) continue;
#pragma unroll
    for (int k = 0; k < COLUMNS; k++) {
      if (PLAIN)
        p.y[v * p.ldy + i * BS + c + k] = sum[v][k];
      else
        finish(p, i, BS, c + k, v, sum[v][k]);
    }
  }
}

/* A warp takes a block row. Lane (r, s) sums row r over the columns s, s + split, … of the row's
 * blocks.
 *   T: the type of the values */
template <typename T> __global__ void __launch_bounds__(THREADS) multiply_any(product p) {
  const int bs = p.block_size, lane = threadIdx.x % BSI_WARP, split = BSI_WARP / bs, s = lane / bs,
            r = lane % bs;
  const int32_t i =
      static_cast<int32_t>((blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x) / BSI_WARP);
  if (i >= p.block_rows) return;
  const int v = static_cast<int>(blockIdx.y);
  double sum = 0.0;
  if (s < split) {
    const int32_t end = p.row_ptr[i + 1];
    int c = s;
    for (int32_t q = p.row_ptr[i]; q < end; q++, c -= bs)
      for (; c < bs; c += split)
        sum +=
            widen(static_cast<const T *>(p.values)[(static_cast<int64_t>(q) * bs + c) * bs + r]) *
            p.x[v * p.ldx + static_cast<int64_t>(p.col_idx[q]) * bs + c];
  }
  for (int step = 1; step < split; step *= 2) {
    const double other = __shfl_down_sync(BSI_FULL_WARP, sum, step * bs);
    if (s + step < split) sum += other;
  }
  if (s == 0) finish(p, i, bs, r, v, sum);
}

/* How a product goes: template parameters of multiply(). */
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
 * three times, and not once more for every two blocks, which makes up for fewer threads. Measured
 * on an H200: values of 8 bytes with commit e4afd66, narrower ones in
 * bench/results/h200-kernels.md, "Block product", third measurement. 7 × 2 bytes are not here,
 * because they spill registers. */
constexpr tuned_shape TUNED[] = {
    {3, 8, 4.0, {1, 3, 1280}},      /* triangles of meshes */
    {3, 8, LONG_ROW, {1, 6, 768}},  /* meshes */
    {4, 8, 4.0, {1, 3, 1024}},      /* triangles of meshes */
    {4, 8, 5.0, {1, 4, 768}},       /* 5-point meshes */
    {4, 8, ABOVE_9, {1, 2, 1024}},  /* 7-point and 9-point meshes */
    {4, 8, LONG_ROW, {1, 6, 640}},  /* longer rows */
    {5, 4, LONG_ROW, {1, 3, 1024}}, /* narrow columns of odd sizes */
    {5, 2, LONG_ROW, {1, 3, 1024}}, {7, 4, LONG_ROW, {1, 3, 1024}},
};

/* Returns the shape for all other matrices. Columns of few bytes need several under way
 * (bench/results/h200-kernels.md, "Block product"). */
constexpr shape usual_shape(int block_size, int bytes, int vectors, bool long_rows) {
  if (long_rows) return {2, vectors == 1 && block_size <= 2 ? 4 : 2, 1024};
  return {1, vectors == 1 && block_size * bytes < 64 ? 2 : 1, 1024};
}

constexpr double long_row(int block_size, int vectors) {
  return block_size <= 2 || (block_size == 5 && vectors == 1) ? LONG_ROW_OF_SMALL_BLOCKS : LONG_ROW;
}

/* The template parameters are those of multiply(). */
template <typename T, int BS, int SPLIT, int UNROLLED, int VECTORS, int RESIDENT>
bisai_status launch(bisai_context *context, const product &p) {
  constexpr int ROWS = BSI_WARP / (BS / columns_of_a_lane<T, BS>() * SPLIT);
  const int64_t warps = (p.block_rows + ROWS - 1) / ROWS;
  const bool plain = p.alpha == 1.0 && p.beta == 0.0 && !p.unit_diagonal;
  bsi_launch_early(context,
                   plain ? multiply<T, BS, SPLIT, UNROLLED, VECTORS, RESIDENT, true>
                         : multiply<T, BS, SPLIT, UNROLLED, VECTORS, RESIDENT, false>,
                   bsi_grid(warps * BSI_WARP, THREADS), THREADS, 0, p);
  return bsi_launched(context, what);
}

/* Launches the product in the shape for its matrix.
 *   T: the type of the values
 *   BS: the block size
 *   VECTORS: how many vectors
 *   LINE: the line of TUNED from which on to look */
template <typename T, int BS, int VECTORS, size_t LINE = 0>
bisai_status enqueue(bisai_context *context, const product &p, double blocks_per_row) {
  if constexpr (LINE < sizeof TUNED / sizeof *TUNED) {
    constexpr tuned_shape line = TUNED[LINE];
    if constexpr (VECTORS == 1 && line.block_size == BS && line.bytes == sizeof(T))
      if (blocks_per_row < line.blocks_below)
        return launch<T, BS, line.how.split, line.how.unrolled, VECTORS, line.how.resident>(context,
                                                                                            p);
    return enqueue<T, BS, VECTORS, LINE + 1>(context, p, blocks_per_row);
  } else {
    constexpr shape rows = usual_shape(BS, sizeof(T), VECTORS, false),
                    long_rows = usual_shape(BS, sizeof(T), VECTORS, true);
    return blocks_per_row < long_row(BS, VECTORS)
               ? launch<T, BS, rows.split, rows.unrolled, VECTORS, rows.resident>(context, p)
               : launch<T, BS, long_rows.split, long_rows.unrolled, VECTORS, long_rows.resident>(
                     context, p);
  }
}

/* Launches the product for any block size.
 *   T: the type of the values */
template <typename T>
bisai_status enqueue_type(bisai_context *context, const product &p, int vectors, double length) {
  switch (p.block_size) {
#define CASE(BS)                                                                                   \
  case BS:                                                                                         \
    return vectors == 1 ? enqueue<T, BS, 1>(context, p, length)                                    \
                        : enqueue<T, BS, VECTORS_AT_ONCE>(context, p, length);
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  }
  const dim3 grid(bsi_grid(static_cast<int64_t>(p.block_rows) * BSI_WARP, THREADS),
                  static_cast<unsigned>(vectors));
  multiply_any<T><<<grid, THREADS, 0, bsi_stream_of(context)>>>(p);
  return bsi_launched(context, what);
}

} // namespace

static bisai_status multiply(bisai_context *context, const bisai_bcsr *a, int32_t count,
                             double alpha, const double *x, int64_t ldx, double beta,
                             const double *z, int64_t ldz, double *y, int64_t ldy,
                             int64_t cached_bytes) {
  if (a->block_rows == 0) return BISAI_OK;
  const double length = static_cast<double>(a->blocks) / a->block_rows;
  const int64_t bytes =
      static_cast<int64_t>(bsi_block_offset(a, a->blocks) * bsi_value_bytes(a->type));
  bisai_status status = BISAI_OK;
  for (int32_t v = 0; v < count && !status;) {
    const int vectors = count - v >= VECTORS_AT_ONCE ? VECTORS_AT_ONCE : 1;
    const product p = {.block_rows = a->block_rows,
                       .block_size = a->block_size,
                       .row_ptr = a->row_ptr,
                       .col_idx = a->col_idx,
                       .values = a->values,
                       .unit_diagonal = a->unit_diagonal,
                       .passing_once = bytes + cached_bytes > context->limits.cache,
                       .alpha = alpha,
                       .beta = beta,
                       .x = x + v * ldx,
                       .z = z ? z + v * ldz : nullptr,
                       .y = y + v * ldy,
                       .ldx = ldx,
                       .ldz = ldz,
                       .ldy = ldy};
    switch (a->type) {
#define ENQUEUE(enumerator, word, bytes, mantissa)                                                 \
  case enumerator:                                                                                 \
    status = enqueue_type<bsi_stored<enumerator>::type>(context, p, vectors, length);              \
    break;
      BISAI_MATRIX_TYPE_LIST(ENQUEUE)
#undef ENQUEUE
    default: break; /* matrices have no other */
    }
    v += vectors;
  }
  return status;
}

/* A thread computes one row of D x. */
namespace {
__global__ void multiply_diagonal(int64_t rows, int bs, const double *blocks, const double *x,
                                  int64_t ldx, double *y, int64_t ldy) {
  const int64_t row = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (row >= rows) return;
  const int64_t i = row / bs;
  const int r = static_cast<int>(row % bs);
  const double *block = blocks + i * bs * bs, *in = x + blockIdx.y * ldx + i * bs;
  double sum = 0.0;
  for (int c = 0; c < bs; c++) sum += block[c * bs + r] * in[c];
  y[blockIdx.y * ldy + row] = sum;
}
} // namespace

static bisai_status multiply_diagonal(bisai_context *context, int32_t n, int bs,
                                      const double *blocks, int32_t count, const double *x,
                                      int64_t ldx, double *y, int64_t ldy) {
  const int64_t rows = static_cast<int64_t>(n) * bs;
  if (rows == 0 || count == 0) return BISAI_OK;
  const dim3 grid(bsi_grid(rows, DIAGONAL_THREADS), static_cast<unsigned>(count));
  multiply_diagonal<<<grid, DIAGONAL_THREADS, 0, bsi_stream_of(context)>>>(rows, bs, blocks, x, ldx,
                                                                           y, ldy);
  return bsi_launched(context, "product with diagonal blocks");
}

const bsi_product_ops bsi_products_cuda = {.multiply = multiply,
                                           .multiply_diagonal = multiply_diagonal};
