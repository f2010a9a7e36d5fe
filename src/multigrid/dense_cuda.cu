/* SPDX-License-Identifier: BSD-3-Clause */
/* The inverse of a small matrix on the device, by blocked Gauss–Jordan elimination in place with
 * row pivoting: the equations of multigrid/dense_host.c. n is the number of rows, and columns are n
 * values apart.
 *
 * A panel of columns K takes three launches:
 *
 *   1. eliminate: one thread block has the rows from K on in registers, and eliminates the columns
 *      K there. This leaves W in these rows. The largest pivots decide where rows go.
 *   2. exchange: the rows above become W too. In the other columns the rows that are displaced move
 *      to their new places, and the rows K go to a copy.
 *   3. update: the other columns a become W a_K + (a without its rows K).
 *
 * A step of `eliminate` waits once for all warps. Each warp passes on the row of its largest
 * magnitude, so that the row of the pivot is there when the pivot is known.
 *
 * Small matrices are inverted in shared memory by one thread block. */
#include "core/bcsr_impl.h"
#include "gpu/for_each.cuh"
#include "gpu/record.cuh"
#include "multigrid/multigrid_ops.h"

namespace {

/* Messages of failures begin with it. */
constexpr char what[] = "dense inverse";

/* Reported to the host. `smallest` becomes 0 at a failure, and all later work ends then. */
struct pivot_record {
  double smallest, largest;
};

enum {
  /* the most rows of a matrix in shared memory; larger ones have n² values for `scratch` */
  SMALL = 72,
  SMALL_THREADS = 512,
  /* threads of a panel */
  THREADS = 512,
  WARPS = THREADS / BSI_WARP,
  MOST_COLUMNS = 32,
  MOST_ROWS = 4 * THREADS
};

/* The scratch memory of an elimination, in `work`. */
struct scratch {
  /* the rows K of the other columns, MOST_COLUMNS values for each column of A */
  double *rows;
  /* the row of A that is in each place */
  int32_t *order;
  /* Panel: the place from which row k of K came; the place to which row k of K went, −1 if it is a
   * pivot */
  int32_t *source, *destination;
};

scratch scratch_of(double *work, int n) {
  int32_t *order = reinterpret_cast<int32_t *>(work + static_cast<int64_t>(MOST_COLUMNS) * n);
  return {work, order, order + n, order + n + MOST_COLUMNS};
}

/* A candidate for a pivot: the bits of its magnitude, and its row. Larger magnitudes come first,
 * NaN before all, and then smaller rows. */
struct candidate {
  unsigned long long magnitude;
  int row;
};

/* Returns the first candidate of a warp. */
__device__ __forceinline__ candidate first_of_warp(candidate mine) {
  const unsigned long long magnitude = bsi_warp_max(mine.magnitude);
  const int row = bsi_warp_min(mine.magnitude == magnitude ? mine.row : INT32_MAX);
  return {magnitude, row};
}

__device__ __forceinline__ unsigned long long magnitude_of(double value) {
  return static_cast<unsigned long long>(__double_as_longlong(fabs(value)));
}

__device__ __forceinline__ double value_of(unsigned long long magnitude) {
  return __longlong_as_double(static_cast<long long>(magnitude));
}

/* --- panels --- */

/* The rows of a panel in the registers of a thread: rows first + threadIdx.x + THREADS·i. Columns
 * are rotated: the column of the next pivot is always the first one, and an eliminated column
 * becomes the last one.
 *   ROWS, COLUMNS: the rows of a thread, and the columns of a panel */
template <int ROWS, int COLUMNS> struct panel {
  double a[ROWS][COLUMNS];
  int place[ROWS];
};

/* What warps pass to each other in a step. Successive steps use two of these in turn, so that one
 * barrier for each step is enough. */
template <int COLUMNS> struct passed {
  candidate best[WARPS];
  double row[WARPS][COLUMNS];
};

/* Finds the pivot among the rows from place k on. Returns it, and its warp in *from. */
template <int ROWS, int COLUMNS>
__device__ __forceinline__ candidate find_pivot(const panel<ROWS, COLUMNS> &p, int k,
                                                passed<COLUMNS> &shared, int *from) {
  const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP;
  candidate mine = {0, INT32_MAX};
#pragma unroll
  for (int i = 0; i < ROWS; i++) {
    const unsigned long long magnitude = magnitude_of(p.a[i][0]);
    const bool open = p.place[i] >= k && p.place[i] < INT32_MAX;
    if (open &&
        (magnitude > mine.magnitude || (magnitude == mine.magnitude && p.place[i] < mine.row)))
      mine = {magnitude, p.place[i]};
  }
  const candidate best = first_of_warp(mine);
  if (lane == 0) shared.best[warp] = best;
#pragma unroll
  for (int i = 0; i < ROWS; i++)
    if (p.place[i] == best.row && best.row < INT32_MAX)
#pragma unroll
      for (int c = 0; c < COLUMNS; c++) shared.row[warp][c] = p.a[i][c];
  __syncthreads();
  const candidate other = lane < WARPS ? shared.best[lane] : candidate{0, INT32_MAX},
                  pivot = first_of_warp(other);
  *from = __ffs(static_cast<int>(__ballot_sync(BSI_FULL_WARP, other.row == pivot.row))) - 1;
  return pivot;
}

/* Eliminates the first column with the pivot row `row`, whose place is `pivot`, and rotates. The
 * pivot row goes to place k. */
template <int ROWS, int COLUMNS>
__device__ __forceinline__ void eliminate_column(panel<ROWS, COLUMNS> &p, int k, int pivot,
                                                 const double (&row)[COLUMNS]) {
  const double inverse = 1.0 / row[0];
  double factor[ROWS];
#pragma unroll
  for (int i = 0; i < ROWS; i++) {
    factor[i] = p.a[i][0] * inverse;
    if (p.place[i] == pivot) {
      /* 0 − (−1/pivot)·row */
      factor[i] = -inverse;
#pragma unroll
      for (int c = 0; c < COLUMNS; c++) p.a[i][c] = 0.0;
    }
  }
#pragma unroll
  for (int c = 1; c < COLUMNS; c++) {
    const double value = row[c];
#pragma unroll
    for (int i = 0; i < ROWS; i++) p.a[i][c - 1] = p.a[i][c] - factor[i] * value;
  }
#pragma unroll
  for (int i = 0; i < ROWS; i++) {
    p.a[i][COLUMNS - 1] = -factor[i];
    if (p.place[i] == pivot)
      p.place[i] = k;
    else if (p.place[i] == k)
      p.place[i] = pivot;
  }
}

/* Step 1 for the columns first … first + count − 1, by one thread block. count ≤ COLUMNS, and at
 * most ROWS·THREADS rows are left. */
template <int ROWS, int COLUMNS>
__global__ void __launch_bounds__(THREADS)
    eliminate(int n, int first, int count, double *a, scratch s, pivot_record *record) {
  __shared__ passed<COLUMNS> shared[2];
  bsi_wait_for_predecessor();
  double smallest = record->smallest, largest = record->largest;
  if (smallest == 0.0) return;
  panel<ROWS, COLUMNS> p;
  int32_t order[ROWS];
#pragma unroll
  for (int i = 0; i < ROWS; i++) {
    const int row = first + static_cast<int>(threadIdx.x) + THREADS * i;
    p.place[i] = row < n ? row : INT32_MAX;
    order[i] = row < n ? s.order[row] : 0;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++)
      p.a[i][c] = row < n && c < count ? a[static_cast<int64_t>(first + c) * n + row] : 0.0;
  }
  for (int j = 0; j < count; j++) {
    int from;
    passed<COLUMNS> &now = shared[j % 2];
    const candidate pivot = find_pivot(p, first + j, now, &from);
    const double magnitude = value_of(pivot.magnitude);
    if (magnitude == 0.0 || !isfinite(magnitude)) {
      if (threadIdx.x == 0) record->smallest = 0.0;
      return;
    }
    smallest = fmin(smallest, magnitude);
    largest = fmax(largest, magnitude);
    eliminate_column(p, first + j, pivot.row, now.row[from]);
  }
#pragma unroll
  for (int i = 0; i < ROWS; i++) {
    const int row = first + static_cast<int>(threadIdx.x) + THREADS * i, place = p.place[i];
    if (row >= n) continue;
    s.order[place] = order[i];
    if (place < first + count) s.source[place - first] = row;
    if (row < first + count) s.destination[row - first] = place < first + count ? -1 : place;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
      const int column = c - (COLUMNS - count);
      if (column >= 0) a[static_cast<int64_t>(first + column) * n + place] = p.a[i][c];
    }
  }
  if (threadIdx.x == 0) {
    record->smallest = smallest;
    record->largest = largest;
  }
}

enum { EXCHANGE_THREADS = 128, EXCHANGE_WARPS = EXCHANGE_THREADS / BSI_WARP };

/* A row above becomes −(its values in the columns K)·P⁻¹. */
template <int COLUMNS>
__device__ __forceinline__ void multiply_row_above(int n, int first, int count, double *a) {
  __shared__ double inverse[COLUMNS][COLUMNS];
  const int row = static_cast<int>(blockIdx.x * EXCHANGE_THREADS + threadIdx.x);
  double *panel = a + static_cast<int64_t>(first) * n;
  for (int v = threadIdx.x; v < COLUMNS * COLUMNS; v += EXCHANGE_THREADS) {
    const int r = v % COLUMNS, c = v / COLUMNS;
    inverse[c][r] = r < count && c < count ? panel[static_cast<int64_t>(c) * n + first + r] : 0.0;
  }
  __syncthreads();
  if (row >= first) return;
  double values[COLUMNS];
#pragma unroll
  for (int c = 0; c < COLUMNS; c++)
    values[c] = c < count ? panel[static_cast<int64_t>(c) * n + row] : 0.0;
  for (int c = 0; c < count; c++) {
    double sum = 0.0;
#pragma unroll
    for (int k = 0; k < COLUMNS; k++) sum += values[k] * inverse[c][k];
    panel[static_cast<int64_t>(c) * n + row] = -sum;
  }
}

/* Step 2. The first `blocks_above` thread blocks take the rows above, a warp of the others takes a
 * column. */
template <int COLUMNS>
__global__ void __launch_bounds__(EXCHANGE_THREADS)
    exchange(int n, int first, int count, unsigned blocks_above, double *a, scratch s,
             const pivot_record *record) {
  bsi_wait_for_predecessor();
  if (record->smallest == 0.0) return;
  if (blockIdx.x < blocks_above) {
    multiply_row_above<COLUMNS>(n, first, count, a);
    return;
  }
  const int lane = threadIdx.x % BSI_WARP,
            other = static_cast<int>((blockIdx.x - blocks_above) * EXCHANGE_WARPS +
                                     threadIdx.x / BSI_WARP);
  if (other >= n - count) return;
  double *column = a + static_cast<int64_t>(other < first ? other : other + count) * n;
  double pivot = 0.0, displaced = 0.0;
  int destination = -1;
  if (lane < count) {
    destination = s.destination[lane];
    pivot = column[s.source[lane]];
    displaced = column[first + lane];
  }
  __syncwarp();
  if (lane < COLUMNS) s.rows[static_cast<int64_t>(other) * MOST_COLUMNS + lane] = pivot;
  if (destination >= 0) column[destination] = displaced;
}

/* A thread block takes TILE × TILE values, and a thread 4 × 4 of them. */
enum { TILE = 64, SIDE = 16, UPDATE_THREADS = SIDE * SIDE, EACH = TILE / SIDE };

/* Step 3. */
template <int COLUMNS>
__global__ void __launch_bounds__(UPDATE_THREADS)
    update(int n, int first, int count, double *a, const double *rows, const pivot_record *record) {
  __shared__ double w[COLUMNS][TILE], right[COLUMNS][TILE + 1];
  const int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE,
            row0 = static_cast<int>(blockIdx.x) * TILE,
            other0 = static_cast<int>(blockIdx.y) * TILE;
  bsi_wait_for_predecessor();
  if (record->smallest == 0.0) return;
  double sum[EACH][EACH];
#pragma unroll
  for (int c = 0; c < EACH; c++) {
    const int other = other0 + ty + SIDE * c, column = other < first ? other : other + count;
#pragma unroll
    for (int r = 0; r < EACH; r++) {
      const int row = row0 + tx + SIDE * r;
      const bool read = row < n && other < n - count && (row < first || row >= first + count);
      sum[c][r] = read ? a[static_cast<int64_t>(column) * n + row] : 0.0;
    }
  }
  for (int v = threadIdx.x; v < COLUMNS * TILE; v += UPDATE_THREADS) {
    const int r = v % TILE, k = v / TILE;
    w[k][r] = k < count && row0 + r < n ? a[static_cast<int64_t>(first + k) * n + row0 + r] : 0.0;
    const int at = v % COLUMNS, c = v / COLUMNS;
    right[at][c] =
        other0 + c < n - count ? rows[static_cast<int64_t>(other0 + c) * MOST_COLUMNS + at] : 0.0;
  }
  __syncthreads();
#pragma unroll 4
  for (int k = 0; k < COLUMNS; k++) {
    double left[EACH], factor[EACH];
#pragma unroll
    for (int r = 0; r < EACH; r++) left[r] = w[k][tx + SIDE * r];
#pragma unroll
    for (int c = 0; c < EACH; c++) factor[c] = right[k][ty + SIDE * c];
#pragma unroll
    for (int c = 0; c < EACH; c++)
#pragma unroll
      for (int r = 0; r < EACH; r++) sum[c][r] += left[r] * factor[c];
  }
#pragma unroll
  for (int c = 0; c < EACH; c++) {
    const int other = other0 + ty + SIDE * c, column = other < first ? other : other + count;
#pragma unroll
    for (int r = 0; r < EACH; r++) {
      const int row = row0 + tx + SIDE * r;
      if (row < n && other < n - count) a[static_cast<int64_t>(column) * n + row] = sum[c][r];
    }
  }
}

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
         const double *values, double *dense) {
  const int64_t i = (blockIdx.x * static_cast<int64_t>(BSI_FOR_EACH_THREADS) + threadIdx.x) /
                    BSI_WARP,
                n = static_cast<int64_t>(block_rows) * bs;
  if (i >= block_rows) return;
  for (int32_t q = row_ptr[i]; q < row_ptr[i + 1]; q++)
    for (int v = threadIdx.x % BSI_WARP; v < bs * bs; v += BSI_WARP)
      dense[(static_cast<int64_t>(col_idx[q]) * bs + v / bs) * n + i * bs + v % bs] =
          values[static_cast<int64_t>(q) * (bs * bs) + v];
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

/* The template parameters are those of eliminate(). */
template <int ROWS, int COLUMNS>
int eliminate_panel(bisai_context *context, int n, int first, double *a, const scratch &s,
                    pivot_record *record) {
  const int count = n - first < COLUMNS ? n - first : COLUMNS, others = n - count;
  bsi_launch_early(context, eliminate<ROWS, COLUMNS>, 1, THREADS, 0, n, first, count, a, s, record);
  if (others == 0) return count;
  const unsigned above = first == 0 ? 0 : bsi_grid(first, EXCHANGE_THREADS);
  bsi_launch_early(context, exchange<COLUMNS>, above + bsi_grid(others, EXCHANGE_WARPS),
                   EXCHANGE_THREADS, 0, n, first, count, above, a, s, record);
  bsi_launch_early(context, update<COLUMNS>, dim3(bsi_grid(n, TILE), bsi_grid(others, TILE)),
                   UPDATE_THREADS, 0, n, first, count, a, s.rows, record);
  return count;
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
  for (int first = 0; first < n;) {
    /* Few rows leave registers for more columns. */
    const int rows = n - first;
    first += rows > 2 * THREADS ? eliminate_panel<4, 12>(context, n, first, a, s, record)
             : rows > THREADS   ? eliminate_panel<2, 24>(context, n, first, a, s, record)
                                : eliminate_panel<1, 32>(context, n, first, a, s, record);
  }
  bsi_launch_early(context, restore, bsi_grid(n, RESTORE_ROWS), RESTORE_THREADS, shared, n, a,
                   s.order, record);
  return BISAI_OK;
}

/* --- products --- */

/* The rows of a thread block, and the columns of a thread that are under way together. The threads
 * of a row share out its columns. */
enum { PRODUCT_ROWS = 16, PRODUCT_THREADS = 1024, PRODUCT_COLUMNS = 8 };

__global__ void __launch_bounds__(PRODUCT_THREADS)
    multiply_dense(int n, const double *__restrict__ inverse, const double *__restrict__ x,
                   double *y) {
  __shared__ double sums[PRODUCT_THREADS / BSI_WARP][PRODUCT_ROWS];
  const int r = threadIdx.x % PRODUCT_ROWS, step = static_cast<int>(blockDim.x) / PRODUCT_ROWS,
            row = static_cast<int>(blockIdx.x) * PRODUCT_ROWS + r;
  bsi_wait_for_predecessor();
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
  if (threadIdx.x >= PRODUCT_ROWS || row >= n) return;
  double total = 0.0;
  for (int w = 0; w < static_cast<int>(blockDim.x) / BSI_WARP; w++) total += sums[w][r];
  y[row] = total;
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
  BSI_TRY(bsi_gpu_fill(context, what, inverse, 0, static_cast<size_t>(n * n) * sizeof *inverse));
  fill<<<bsi_grid(a->block_rows * static_cast<int64_t>(BSI_WARP), BSI_FOR_EACH_THREADS),
         BSI_FOR_EACH_THREADS, 0, bsi_stream_of(context)>>>(
      a->block_rows, a->block_size, a->row_ptr, a->col_idx, static_cast<const double *>(a->values),
      inverse);
  if (rows <= SMALL)
    invert_small<<<1, SMALL_THREADS, 0, bsi_stream_of(context)>>>(rows, inverse, record);
  else
    BSI_TRY(invert_large(context, rows, work, inverse, record));
  BSI_TRY(bsi_launched(context, what));
  BSI_TRY(bsi_record_fetch(context, what, &found));
  *smallest = found.smallest;
  *largest = found.largest;
  return BISAI_OK;
}

static bisai_status multiply(bisai_context *context, int32_t n, const double *inverse,
                             const double *x, double *y) {
  if (n == 0) return BISAI_OK;
  const int threads = n > 128 ? PRODUCT_THREADS : 256;
  bsi_launch_early(context, multiply_dense, bsi_grid(n, PRODUCT_ROWS), threads, 0, n, inverse, x,
                   y);
  return bsi_launched(context, "product with a dense inverse");
}

const bsi_dense_ops bsi_dense_cuda = {.invert = invert, .multiply = multiply};
