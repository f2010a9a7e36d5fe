/* SPDX-License-Identifier: BSD-3-Clause */
/* Block products on the device: y_i ← alpha·Σ_j A_ij x_j + beta·z_i.
 *
 * A lane takes one column of every SPLIT-th block of its block row, or two narrow ones: consecutive
 * values, read in the widest words that their address allows, a value of x for each, no division. A
 * block row is the work of bs·SPLIT lanes; each adds up the sums of one row, which the others hand
 * to it in an order of their own, so that the bits repeat. What bounds all this is bytes under way,
 * hence UNROLLED columns at once, and for small matrices the launch: y ← A x has kernels of its own
 * without alpha, beta and an implied diagonal. Sizes without code of their own go by rows: each
 * lane sums one row of some of the columns. */
#include "apply/apply_ops.h"
#include "core/bcsr_impl.h"
#include "core/block_sizes.h"
#include "core/context_impl.h"
#include "core/values.h"
#include "gpu/launch.cuh"
#include "gpu/load.cuh"

namespace {

enum { THREADS = 64, COLUMNS_AT_ONCE = 4 };

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

/* The sums over the LANES·SPLIT lanes of a group of their sums[r], r < BS; SPLIT is 1 or 2. Lane
 * `member` gets those of its BS/LANES rows, from row member·BS/LANES on, as the first of `sums`.
 * For all lanes of the warp; the group begins at lane `first`. */
template <int BS, int LANES, int SPLIT>
__device__ __forceinline__ void add_up(double (&sums)[BS], int first, int member) {
  if (SPLIT == 2) {
#pragma unroll
    for (int r = 0; r < BS; r++) sums[r] += __shfl_down_sync(BSI_FULL_WARP, sums[r], LANES);
  }
  if (LANES == 1) return;
  if ((BS & (BS - 1)) == 0) {
    /* Halves: a lane keeps the rows of its half and hands over the others. */
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
    /* To the lane `step` before it, around the group, each lane hands that lane's row. */
    const int from = member + step < BS ? member + step : member + step - BS;
    double handed = 0.0;
#pragma unroll
    for (int r = 0; r < BS; r++)
      if (member == (r + step) % BS) handed = sums[r];
    mine += step == 0 ? handed : __shfl_sync(BSI_FULL_WARP, handed, first + from);
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

/* Columns for a lane: 16 bytes of narrow values where whole columns make them. */
template <typename T, int BS> __host__ __device__ constexpr int columns_of_a_lane() {
  return (BS == 2 || BS == 4) && 2 * BS * sizeof(T) <= 16 ? 2 : 1;
}

/* PLAIN: alpha = 1, beta = 0, no implied diagonal. With one vector a multiprocessor is to have
 * RESIDENT threads. */
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

/* A warp a block row: lane (r, s) sums row r over the columns s, s + split, … of the row's
 * blocks. */
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

template <typename T, int BS, int SPLIT, int UNROLLED, int VECTORS, int RESIDENT = 1024>
bisai_status launch(bisai_context *context, const product &p) {
  constexpr int ROWS = BSI_WARP / (BS / columns_of_a_lane<T, BS>() * SPLIT);
  const int64_t warps = (p.block_rows + ROWS - 1) / ROWS;
  const unsigned grid = bsi_grid(warps * BSI_WARP, THREADS);
  const bool plain = p.alpha == 1.0 && p.beta == 0.0 && !p.unit_diagonal;
  bsi_launch_early(context,
                   plain ? multiply<T, BS, SPLIT, UNROLLED, VECTORS, RESIDENT, true>
                         : multiply<T, BS, SPLIT, UNROLLED, VECTORS, RESIDENT, false>,
                   grid, THREADS, 0, p);
  return bsi_launched(context, "block product");
}

/* Lanes for a block row and columns under way, from measurements: short rows of small blocks need
 * several at once, or two lanes a column where a row is long enough to feed them. A row of a mesh
 * in one go waits three times, not once more for every two blocks, which is worth fewer threads. */
template <typename T, int BS, int VECTORS>
bisai_status enqueue(bisai_context *context, const product &p, double blocks_per_row) {
  constexpr int MOST = BSI_WARP / BS, SPLIT = MOST < 2 ? 1 : 2,
                UNROLLED_SPLIT = VECTORS == 1 && BS <= 2 ? 4 : 2;
  constexpr int UNROLLED = VECTORS != 1 || BS * sizeof(T) >= 64 ? 1 : 2;
  const bool long_rows =
      blocks_per_row >= (BS <= 2 || (BS == 5 && VECTORS == 1) ? 6 : 24) && MOST >= 2;
  if constexpr (VECTORS == 1 && sizeof(T) == 8 && (BS == 3 || BS == 4)) {
    if (!long_rows && blocks_per_row < 4)
      return launch < T, BS, 1, 3, 1, BS == 3 ? 1280 : 1024 > (context, p);
    if (!long_rows && BS == 3) return launch<T, BS, 1, 6, 1, 768>(context, p);
    if (!long_rows && blocks_per_row < 5) return launch<T, BS, 1, 4, 1, 768>(context, p);
    if (!long_rows && blocks_per_row > 9) return launch<T, BS, 1, 6, 1, 640>(context, p);
  }
  if constexpr (VECTORS == 1 && sizeof(T) < 8 && (BS == 5 || BS == 7) && BS * sizeof(T) != 14)
    if (blocks_per_row < 24) return launch<T, BS, 1, 3, 1>(context, p);
  return long_rows ? launch<T, BS, SPLIT, UNROLLED_SPLIT, VECTORS>(context, p)
                   : launch<T, BS, 1, UNROLLED, VECTORS>(context, p);
}

template <typename T>
bisai_status enqueue_type(bisai_context *context, const product &p, int vectors, double length) {
  switch (p.block_size) {
#define CASE(BS)                                                                                   \
  case BS:                                                                                         \
    return vectors == 1 ? enqueue<T, BS, 1>(context, p, length)                                    \
                        : enqueue<T, BS, COLUMNS_AT_ONCE>(context, p, length);
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  }
  const dim3 grid(bsi_grid(static_cast<int64_t>(p.block_rows) * BSI_WARP, THREADS),
                  static_cast<unsigned>(vectors));
  multiply_any<T><<<grid, THREADS, 0, bsi_stream_of(context)>>>(p);
  return bsi_launched(context, "block product");
}

} // namespace

static bisai_status multiply(bisai_context *context, const bisai_bcsr *a, int32_t count,
                             double alpha, const double *x, int64_t ldx, double beta,
                             const double *z, int64_t ldz, double *y, int64_t ldy) {
  if (a->block_rows == 0) return BISAI_OK;
  const double length = static_cast<double>(a->blocks) / a->block_rows;
  const int64_t bytes =
      static_cast<int64_t>(bsi_block_offset(a, a->blocks) * bsi_value_bytes(a->type));
  bisai_status status = BISAI_OK;
  for (int32_t v = 0; v < count && !status;) {
    const int vectors = count - v >= COLUMNS_AT_ONCE ? COLUMNS_AT_ONCE : 1;
    const product p = {a->block_rows,
                       a->block_size,
                       a->row_ptr,
                       a->col_idx,
                       a->values,
                       a->unit_diagonal,
                       bytes + context->kept_bytes > context->limits.cache,
                       alpha,
                       beta,
                       x + v * ldx,
                       z ? z + v * ldz : nullptr,
                       y + v * ldy,
                       ldx,
                       ldz,
                       ldy};
    switch (a->type) {
    case BISAI_FP64: status = enqueue_type<double>(context, p, vectors, length); break;
    case BISAI_FP32: status = enqueue_type<float>(context, p, vectors, length); break;
    case BISAI_FP16: status = enqueue_type<__half>(context, p, vectors, length); break;
    case BISAI_BF16: status = enqueue_type<__nv_bfloat16>(context, p, vectors, length); break;
    default: break; /* matrices have no other */
    }
    v += vectors;
  }
  return status;
}

/* One row of D a thread. */
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
  const dim3 grid(bsi_grid(rows, 256), static_cast<unsigned>(count));
  multiply_diagonal<<<grid, 256, 0, bsi_stream_of(context)>>>(rows, bs, blocks, x, ldx, y, ldy);
  return bsi_launched(context, "product with diagonal blocks");
}

const bsi_product_ops bsi_products_cuda = {.multiply = multiply,
                                           .multiply_diagonal = multiply_diagonal};
