/* SPDX-License-Identifier: BSD-3-Clause */
/* The inverse of a small matrix on the device, by blocked Gauss–Jordan elimination in place. n is
 * the number of rows, and columns are n values apart.
 *
 * The first try takes tiles of 32 × 32 values and looks for pivots inside the tiles of the diagonal
 * only. Step k replaces the matrix X by Y, where Q is the inverse of tile X_kk:
 *
 *   Y_kk = Q,   Y_kj = Q X_kj,   Y_ik = −X_ik Q,   Y_ij = X_ij − X_ik (Q X_kj)
 *
 * One launch does all steps. A thread block of its own computes and inverts the next tile of the
 * diagonal, while the others do the step. Nothing says beforehand that these pivots are large
 * enough: the inverse counts if it maps A x to x, for a fixed x, up to RETRY_ERROR. Otherwise a
 * second elimination searches whole columns for pivots, with the equations of
 * multigrid/coarse/dense_host.c, one panel of columns K after the other, in three launches each:
 *
 *   1. eliminate: one thread block has the rows from K on in registers, and eliminates the columns
 *      K there. This leaves W in these rows. The largest pivots decide where rows go.
 *   2. exchange: the rows above become W too. In the other columns the rows that are displaced move
 *      to their new places, and the rows K go to a copy.
 *   3. update: the other columns a become W a_K + (a without its rows K).
 *
 * A step of `eliminate` waits once for all warps. Each warp passes on the row of its largest
 * magnitude, so that the row of the pivot is there when the pivot is known. Small matrices are
 * eliminated in shared memory by one thread block. */
#include <algorithm>
#include <cstring>

#include "core/matrix/bcsr_impl.h"
#include "core/vector/start_value.h"
#include "gpu/for_each.cuh"
#include "gpu/record.cuh"
#include "multigrid/coarse/panel_lu_cuda.cuh"
#include "multigrid/coarse/pivots_cuda.cuh"
#include "multigrid/coarse/tiled_inverse_cuda.cuh"
#include "multigrid/level/dense_ops.h"

namespace {

/* Messages of failures begin with it. */
constexpr char what[] = "dense inverse";

/* The largest error of an inverse that is taken without a search of whole columns for pivots. The
 * entries of x are in [−1, 1). */
#define RETRY_ERROR 1e-10

enum {
  /* the most rows of a matrix in shared memory; larger ones have n² values for `scratch` */
  SMALL = 72,
  SMALL_THREADS = 512
};

/* --- the first and the last step --- */

enum { RESTORE_ROWS = 4, RESTORE_THREADS = 256 };

/* Column k goes to the place of the row that the pivot of column k came from. A thread block has
 * RESTORE_ROWS rows. */
__global__ void __launch_bounds__(RESTORE_THREADS)
    restore(int n, double *a, const int32_t *order, pivot_record *record) {
  extern __shared__ double rows[];
  const int row0 = static_cast<int>(blockIdx.x) * RESTORE_ROWS, r = threadIdx.x % RESTORE_ROWS,
            step = RESTORE_THREADS / RESTORE_ROWS;
  bsi_wait_for_predecessor();
  bool finite = true;
  if (row0 + r < n)
    for (int c = threadIdx.x / RESTORE_ROWS; c < n; c += step) {
      const double value = a[static_cast<int64_t>(c) * n + row0 + r];
      finite &= static_cast<bool>(isfinite(value));
      rows[order[c] * RESTORE_ROWS + r] = value;
    }
  __syncthreads();
  if (row0 + r < n)
    for (int c = threadIdx.x / RESTORE_ROWS; c < n; c += step)
      a[static_cast<int64_t>(c) * n + row0 + r] = rows[c * RESTORE_ROWS + r];
  if (!finite) record->smallest = 0.0;
}

/* A warp writes the blocks of a block row into the dense matrix, whose other values are zeros. */
__global__ void __launch_bounds__(BSI_FOR_EACH_THREADS)
    fill(int32_t block_rows, int bs, const int32_t *row_ptr, const int32_t *col_idx,
         const double *values, double *dense, pivot_record *record) {
  const int64_t i = (blockIdx.x * static_cast<int64_t>(BSI_FOR_EACH_THREADS) + threadIdx.x) /
                    BSI_WARP,
                n = static_cast<int64_t>(block_rows) * bs;
  if (i == 0 && threadIdx.x == 0) record->inverted = record->updated = 0;
  if (i >= block_rows) return;
  const int64_t size = bs * bs, end = row_ptr[i + 1] * size;
  for (int64_t v = row_ptr[i] * size + threadIdx.x % BSI_WARP; v < end; v += BSI_WARP) {
    const int64_t column = static_cast<int64_t>(col_idx[v / size]) * bs + v % size / bs;
    dense[column * n + i * bs + v % bs] = values[v];
  }
}

/* --- small matrices --- */

/* One thread block, without panels. */
__global__ void __launch_bounds__(SMALL_THREADS)
    invert_small(int n, double *a, pivot_record *record) {
  __shared__ double m[SMALL * SMALL], row[SMALL], column[SMALL];
  __shared__ int order[SMALL];
  __shared__ candidate shared;
  const int thread = threadIdx.x;
  double smallest = INFINITY, largest = 0.0;
  bool finite = true;
  for (int v = thread; v < n * n; v += SMALL_THREADS) m[v] = a[v];
  if (thread < n) order[thread] = thread;
  __syncthreads();
  for (int k = 0; k < n; k++) {
    if (thread < BSI_WARP) {
      candidate mine = {0, INT32_MAX};
      for (int r = k + thread; r < n; r += BSI_WARP) {
        const unsigned long long magnitude = magnitude_of(m[k * n + r]);
        if (mine.row == INT32_MAX || magnitude > mine.magnitude) mine = {magnitude, r};
      }
      mine = first_of_warp(mine);
      if (thread == 0) shared = mine;
    }
    __syncthreads();
    const int pivot = shared.row;
    const double magnitude = value_of(shared.magnitude);
    if (magnitude == 0.0 || !isfinite(magnitude)) {
      finite = false;
      break;
    }
    smallest = fmin(smallest, magnitude);
    largest = fmax(largest, magnitude);
    if (thread < n) {
      row[thread] = m[thread * n + pivot];
      m[thread * n + pivot] = m[thread * n + k];
    }
    if (thread == 0) {
      const int moved = order[pivot];
      order[pivot] = order[k];
      order[k] = moved;
    }
    __syncthreads();
    if (thread < n) column[thread] = m[k * n + thread];
    __syncthreads();
    const double inverse = 1.0 / row[k];
    for (int v = thread; v < n * n; v += SMALL_THREADS) {
      const int r = v % n, c = v / n;
      const double factor = c == k ? inverse : row[c] * inverse;
      m[v] = r == k ? factor : (c == k ? 0.0 : m[v]) - column[r] * factor;
    }
    __syncthreads();
  }
  for (int v = thread; v < n * n && finite; v += SMALL_THREADS) {
    finite = isfinite(m[v]);
    a[order[v / n] * n + v % n] = m[v];
  }
  finite = __syncthreads_and(finite);
  if (thread == 0) {
    record->smallest = finite ? smallest : 0.0;
    record->largest = largest;
  }
}

/* --- launches --- */

/* The template parameters are those of eliminate() and of update(). */
template <int ROWS, int COLUMNS, int THREADS, int EACH>
int eliminate_panel(bisai_context *context, int n, int first, double *a, const scratch &s,
                    pivot_record *record) {
  const int count = n - first < COLUMNS ? n - first : COLUMNS, others = n - count;
  bsi_launch_early(context, eliminate<ROWS, COLUMNS, THREADS>, 1, THREADS, 0, n, first, count, a, s,
                   record);
  if (others == 0) return count;
  const unsigned above = first == 0 ? 0 : bsi_grid(first, BSI_WARP);
  bsi_launch_early(context, exchange<COLUMNS>, above + bsi_grid(others, EXCHANGE_WARPS),
                   EXCHANGE_THREADS, 0, n, first, count, above, a, s, record);
  bsi_launch_early(context, update<COLUMNS, EACH>,
                   dim3(bsi_grid(n, EACH * SIDE), bsi_grid(others, EACH * SIDE)), SIDE * SIDE, 0, n,
                   first, count, a, s.rows, record);
  return count;
}

/* Few rows leave registers for more columns, and fewer warps pass rows on in less time. Small tiles
 * occupy all multiprocessors if the matrix is small. */
int eliminate_next(bisai_context *context, int n, int first, double *a, const scratch &s,
                   pivot_record *record) {
  const int rows = n - first;
  if (n > 1024) {
    if (rows > 1024) return eliminate_panel<8, 12, 256, 4>(context, n, first, a, s, record);
    return eliminate_panel<4, 20, 256, 4>(context, n, first, a, s, record);
  }
  if (rows > 768) return eliminate_panel<4, 20, 256, 2>(context, n, first, a, s, record);
  if (rows > 512) return eliminate_panel<3, 28, 256, 2>(context, n, first, a, s, record);
  if (rows > 384) return eliminate_panel<2, 32, 256, 2>(context, n, first, a, s, record);
  if (rows > 256) return eliminate_panel<3, 24, 128, 2>(context, n, first, a, s, record);
  if (rows > 128) return eliminate_panel<2, 32, 128, 2>(context, n, first, a, s, record);
  return eliminate_panel<1, 32, 128, 2>(context, n, first, a, s, record);
}

bisai_status invert_large(bisai_context *context, int n, double *work, double *a,
                          pivot_record *record) {
  const scratch s = scratch_of(work, n);
  const size_t shared = static_cast<size_t>(n) * RESTORE_ROWS * sizeof(double);
  BSI_TRY(bsi_gpu_allow_shared(context, what, restore, shared));
  BSI_TRY(bsi_for_each(context, what, n, [=] __device__(int64_t i) {
    s.order[i] = static_cast<int32_t>(i);
    if (i > 0) return;
    record->smallest = INFINITY;
    record->largest = 0.0;
  }));
  for (int first = 0; first < n;) first += eliminate_next(context, n, first, a, s, record);
  bsi_launch_early(context, restore, bsi_grid(n, RESTORE_ROWS), RESTORE_THREADS, shared, n, a,
                   s.order, record);
  return bsi_launched(context, what);
}

/* --- products --- */

/* The rows of a thread block, and the columns of a thread that are under way together. The threads
 * of a row share out its columns. */
enum { PRODUCT_ROWS = 16, PRODUCT_THREADS = 1024, PRODUCT_COLUMNS = 8 };

/* Returns true in the threads that have *total ← a row of inverse·x. */
__device__ __forceinline__ bool multiply_row(int n, const double *__restrict__ inverse,
                                             const double *__restrict__ x, int *to, double *total) {
  __shared__ double sums[PRODUCT_THREADS / BSI_WARP][PRODUCT_ROWS];
  const int r = threadIdx.x % PRODUCT_ROWS, step = static_cast<int>(blockDim.x) / PRODUCT_ROWS,
            row = static_cast<int>(blockIdx.x) * PRODUCT_ROWS + r;
  double sum = 0.0;
  if (row < n) {
    const double *values = inverse + row;
    for (int c = threadIdx.x / PRODUCT_ROWS; c < n; c += PRODUCT_COLUMNS * step) {
      double a[PRODUCT_COLUMNS] = {}, factor[PRODUCT_COLUMNS] = {};
#pragma unroll
      for (int u = 0; u < PRODUCT_COLUMNS; u++)
        if (c + u * step < n) {
          a[u] = __ldg(values + static_cast<int64_t>(c + u * step) * n);
          factor[u] = __ldg(x + c + u * step);
        }
#pragma unroll
      for (int u = 0; u < PRODUCT_COLUMNS; u++) sum += a[u] * factor[u];
    }
  }
  sum += __shfl_down_sync(BSI_FULL_WARP, sum, PRODUCT_ROWS);
  if (threadIdx.x % BSI_WARP < PRODUCT_ROWS) sums[threadIdx.x / BSI_WARP][r] = sum;
  __syncthreads();
  if (threadIdx.x >= PRODUCT_ROWS || row >= n) return false;
  *to = row;
  *total = 0.0;
  for (int w = 0; w < static_cast<int>(blockDim.x) / BSI_WARP; w++) *total += sums[w][r];
  return true;
}

__global__ void __launch_bounds__(PRODUCT_THREADS)
    multiply_dense(int n, const double *inverse, const double *x, double *y) {
  int row;
  double total;
  bsi_wait_for_predecessor();
  if (multiply_row(n, inverse, x, &row, &total)) y[row] = total;
}

unsigned product_threads(int n) { return n > 128 ? PRODUCT_THREADS : 256; }

/* --- the test of an inverse --- */

/* y ← A x for the start vector x. A warp takes a scalar row. */
__global__ void __launch_bounds__(BSI_FOR_EACH_THREADS)
    multiply_start(int n, int bs, const int32_t *row_ptr, const int32_t *col_idx,
                   const double *values, double *y) {
  const int row = static_cast<int>(blockIdx.x * BSI_FOR_EACH_THREADS + threadIdx.x) / BSI_WARP;
  bsi_wait_for_predecessor();
  if (row >= n) return;
  const int64_t begin = static_cast<int64_t>(row_ptr[row / bs]) * bs,
                end = static_cast<int64_t>(row_ptr[row / bs + 1]) * bs;
  double sum = 0.0;
  for (int64_t v = begin + threadIdx.x % BSI_WARP; v < end; v += BSI_WARP)
    sum += values[v * bs + row % bs] *
           bsi_start_value(static_cast<int64_t>(col_idx[v / bs]) * bs + v % bs);
  sum = bsi_warp_sum(sum);
  if (threadIdx.x % BSI_WARP == 0) y[row] = sum;
}

/* record->error ← the largest magnitude of inverse·y − x for the start vector x. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    compare_start(int n, const double *inverse, const double *y, pivot_record *record) {
  int row;
  double total;
  bsi_wait_for_predecessor();
  if (multiply_row(n, inverse, y, &row, &total))
    atomicMax(&record->error, magnitude_of(total - bsi_start_value(row)));
}

/* --- inverses --- */

/* dense ← A */
bisai_status fill_dense(bisai_context *context, const bisai_bcsr *a, int n, double *dense,
                        pivot_record *record) {
  BSI_TRY(bsi_gpu_fill(context, what, dense, 0, sizeof *dense * n * n));
  fill<<<bsi_grid(a->block_rows * static_cast<int64_t>(BSI_WARP), BSI_FOR_EACH_THREADS),
         BSI_FOR_EACH_THREADS, 0, bsi_stream_of(context)>>>(
      a->block_rows, a->block_size, a->row_ptr, a->col_idx, static_cast<const double *>(a->values),
      dense, record);
  return bsi_launched(context, what);
}

/* The last step of the elimination writes `inverse`. */
bisai_status invert_tiles(bisai_context *context, const bisai_bcsr *a, int n, double *work,
                          double *inverse, pivot_record *record) {
  int resident = 0;
  BSI_TRY(bsi_resident_blocks(context, what, eliminate_tiles, TILE_THREADS, &resident));
  const int tiles = static_cast<int>(bsi_grid(n, TILE)), most = std::max(1, resident - 1),
            enough = static_cast<int>(bsi_grid(bsi_grid(n, SLICE), SLICES_AT_ONCE));
  elimination e = {n, tiles, inverse, work, std::clamp(most / tiles, 1, enough), record};
  if (tiles % 2) std::swap(e.even, e.odd);
  BSI_TRY(fill_dense(context, a, n, e.even, record));
  BSI_TRY(bsi_launch_together(context, what, eliminate_tiles, 1 + std::min(most, tiles * e.parts),
                              TILE_THREADS, 0, e));
  bsi_launch_early(context, multiply_start, bsi_grid(n, BSI_FOR_EACH_THREADS / BSI_WARP),
                   BSI_FOR_EACH_THREADS, 0, n, a->block_size, a->row_ptr, a->col_idx,
                   static_cast<const double *>(a->values), work);
  bsi_launch_early(context, compare_start, bsi_grid(n, PRODUCT_ROWS), product_threads(n), 0, n,
                   inverse, work, record);
  return bsi_launched(context, what);
}

bisai_status invert_columns(bisai_context *context, const bisai_bcsr *a, int n, double *work,
                            double *inverse, pivot_record *record) {
  BSI_TRY(fill_dense(context, a, n, inverse, record));
  if (n > SMALL) return invert_large(context, n, work, inverse, record);
  invert_small<<<1, SMALL_THREADS, 0, bsi_stream_of(context)>>>(n, inverse, record);
  return bsi_launched(context, what);
}

} // namespace

static bisai_status invert(bisai_context *context, const bisai_bcsr *a, double *work,
                           double *inverse, double *smallest, double *largest) {
  const int64_t n = static_cast<int64_t>(a->block_rows) * a->block_size;
  *smallest = *largest = 0.0;
  if (n == 0) return BISAI_OK;
  if (n > MOST_ROWS)
    return bsi_fail(context, BISAI_UNSUPPORTED, "%s: %lld rows, at most %d on a device", what,
                    static_cast<long long>(n), static_cast<int>(MOST_ROWS));
  const int rows = static_cast<int>(n);
  pivot_record *record = bsi_record_of<pivot_record>(context), found;
  double error = 0.0;
  BSI_TRY(invert_tiles(context, a, rows, work, inverse, record));
  BSI_TRY(bsi_record_fetch(context, what, &found));
  memcpy(&error, &found.error, sizeof error);
  if (!(error <= RETRY_ERROR)) {
    BSI_TRY(invert_columns(context, a, rows, work, inverse, record));
    BSI_TRY(bsi_record_fetch(context, what, &found));
  }
  *smallest = found.smallest;
  *largest = found.largest;
  return BISAI_OK;
}

static bisai_status multiply(bisai_context *context, int32_t n, const double *inverse,
                             const double *x, double *y) {
  if (n == 0) return BISAI_OK;
  bsi_launch_early(context, multiply_dense, bsi_grid(n, PRODUCT_ROWS), product_threads(n), 0, n,
                   inverse, x, y);
  return bsi_launched(context, "product with a dense inverse");
}

const bsi_dense_ops bsi_dense_cuda = {.cheap = true, .invert = invert, .multiply = multiply};
