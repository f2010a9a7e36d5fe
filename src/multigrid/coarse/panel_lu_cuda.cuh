/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels that eliminate a panel of a dense matrix. For multigrid/coarse/dense_cuda.cu only,
 * which describes them. */
#ifndef BSI_PANEL_LU_CUDA_CUH
#define BSI_PANEL_LU_CUDA_CUH

#include "gpu/launch.cuh"
#include "gpu/ptx.cuh"
#include "multigrid/coarse/pivots_cuda.cuh"

namespace {

enum { MOST_COLUMNS = 32, MOST_ROWS = 2048 };

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

/* The rows of a panel in the registers of a thread: rows first + threadIdx.x + THREADS·i. Columns
 * are rotated: the column of the next pivot is always the first one, and an eliminated column
 * becomes the last one.
 *   ROWS, COLUMNS: the rows of a thread, and the columns of a panel, which are even */
template <int ROWS, int COLUMNS> struct panel {
  double a[ROWS][COLUMNS];
  int place[ROWS];
};

/* What warps pass to each other in a step: the row of the largest magnitude in each warp, and its
 * reciprocal. Successive steps use two of these in turn, so that one barrier for each step is
 * enough. */
template <int COLUMNS, int WARPS> struct alignas(16) passed {
  double row[WARPS][COLUMNS], inverse[WARPS];
  candidate best[WARPS];
};

/* The best candidate of a thread among the rows from place k on, and its reciprocal. */
struct proposal {
  candidate best;
  double inverse;
};

template <int ROWS, int COLUMNS>
__device__ __forceinline__ proposal propose(const panel<ROWS, COLUMNS> &p, int k) {
  candidate mine = {0, INT32_MAX};
  double value = 1.0;
#pragma unroll
  for (int i = 0; i < ROWS; i++) {
    const unsigned long long magnitude = magnitude_of(p.a[i][0]);
    const bool open = p.place[i] >= k && p.place[i] < INT32_MAX;
    if (open && comes_before({magnitude, p.place[i]}, mine)) {
      mine = {magnitude, p.place[i]};
      value = p.a[i][0];
    }
  }
  double inverse = 1.0 / value;
  /* The compiler would move the division to where the other warps wait for it. */
  bsi_forget(inverse);
  return {mine, inverse};
}

/* Returns true in the lane that has the best candidate of the warp. The upper halves of magnitudes
 * decide nearly always. */
__device__ __forceinline__ bool is_first_of_warp(candidate mine) {
  const unsigned high = static_cast<unsigned>(mine.magnitude >> 32);
  unsigned best = __ballot_sync(BSI_FULL_WARP, high == bsi_warp_max(high));
  if (__popc(best) > 1) best = __ballot_sync(BSI_FULL_WARP, mine.row == first_of_warp(mine).row);
  return threadIdx.x % BSI_WARP == static_cast<unsigned>(__ffs(static_cast<int>(best)) - 1);
}

/* Passes on the candidate of the lane and its row. */
template <int ROWS, int COLUMNS, int WARPS>
__device__ __forceinline__ void pass_on(const panel<ROWS, COLUMNS> &p, const proposal &mine,
                                        passed<COLUMNS, WARPS> &shared) {
  const int warp = threadIdx.x / BSI_WARP;
  shared.best[warp] = mine.best;
  shared.inverse[warp] = mine.inverse;
#pragma unroll
  for (int i = 0; i < ROWS; i++)
    if (p.place[i] == mine.best.row && mine.best.row < INT32_MAX) {
      double2 *row = reinterpret_cast<double2 *>(shared.row[warp]);
#pragma unroll
      for (int c = 0; c < COLUMNS; c += 2) row[c / 2] = make_double2(p.a[i][c], p.a[i][c + 1]);
    }
}

/* Returns the pivot among the candidates of all warps, and its warp in *from. */
template <int COLUMNS, int WARPS>
__device__ __forceinline__ candidate find_pivot(const passed<COLUMNS, WARPS> &shared, int *from) {
  candidate best[WARPS];
  int warp[WARPS];
#pragma unroll
  for (int w = 0; w < WARPS; w++) {
    best[w] = shared.best[w];
    warp[w] = w;
  }
#pragma unroll
  for (int half = WARPS / 2; half > 0; half /= 2)
#pragma unroll
    for (int w = 0; w < half; w++)
      if (comes_before(best[w + half], best[w])) {
        best[w] = best[w + half];
        warp[w] = warp[w + half];
      }
  *from = warp[0];
  return best[0];
}

/* Eliminates the first column with the pivot row `row`, whose place is `pivot`, and rotates. The
 * pivot row goes to place k. The first of the other columns has the next pivot: the candidates of
 * the warps are found while the columns behind it are updated. */
template <int ROWS, int COLUMNS, int WARPS>
__device__ __forceinline__ void eliminate_column(panel<ROWS, COLUMNS> &p, int k, int pivot,
                                                 const double (&row)[COLUMNS], double inverse,
                                                 passed<COLUMNS, WARPS> &next) {
  double factor[ROWS];
  bool is_pivot[ROWS];
  const double2 *pairs = reinterpret_cast<const double2 *>(row);
#pragma unroll
  for (int i = 0; i < ROWS; i++) {
    factor[i] = p.a[i][0] * inverse;
    is_pivot[i] = p.place[i] == pivot;
    p.place[i] = is_pivot[i] ? k : p.place[i] == k ? pivot : p.place[i];
  }
  double2 pair = pairs[0];
#pragma unroll
  for (int i = 0; i < ROWS; i++)
    p.a[i][0] = is_pivot[i] ? inverse * pair.y : p.a[i][1] - factor[i] * pair.y;
  const proposal mine = propose(p, k + 1);
  const bool first = is_first_of_warp(mine.best);
#pragma unroll
  for (int c = 2; c < COLUMNS; c += 2) {
    pair = pairs[c / 2];
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
      p.a[i][c - 1] = p.a[i][c] - factor[i] * pair.x;
      p.a[i][c] = p.a[i][c + 1] - factor[i] * pair.y;
    }
  }
#pragma unroll
  for (int i = 0; i < ROWS; i++) {
    p.a[i][COLUMNS - 1] = -factor[i];
    if (!is_pivot[i]) continue;
      /* its place in the pivot row has 1/pivot instead */
#pragma unroll
    for (int c = 2; c < COLUMNS; c++) p.a[i][c - 1] = inverse * row[c];
    p.a[i][COLUMNS - 1] = inverse;
  }
  if (first) pass_on(p, mine, next);
}

/* Step 1 for the columns first … first + count − 1, by one thread block. count ≤ COLUMNS, and at
 * most ROWS·THREADS rows are left. */
template <int ROWS, int COLUMNS, int THREADS>
__global__ void __launch_bounds__(THREADS)
    eliminate(int n, int first, int count, double *a, scratch s, pivot_record *record) {
  __shared__ passed<COLUMNS, THREADS / BSI_WARP> shared[2];
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
  const proposal mine = propose(p, first);
  if (is_first_of_warp(mine.best)) pass_on(p, mine, shared[0]);
  for (int j = 0; j < count; j++) {
    int from;
    __syncthreads();
    const passed<COLUMNS, THREADS / BSI_WARP> &now = shared[j % 2];
    const candidate pivot = find_pivot(now, &from);
    const double magnitude = value_of(pivot.magnitude);
    if (magnitude == 0.0 || !isfinite(magnitude)) {
      if (threadIdx.x == 0) record->smallest = 0.0;
      return;
    }
    smallest = fmin(smallest, magnitude);
    largest = fmax(largest, magnitude);
    eliminate_column(p, first + j, pivot.row, now.row[from], now.inverse[from],
                     shared[(j + 1) % 2]);
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

/* A row above becomes −(its values in the columns K)·P⁻¹. A thread block has a row in each lane,
 * and each of its warps takes a part of the columns. */
template <int COLUMNS>
__device__ __forceinline__ void multiply_rows_above(int n, int first, int count, double *a) {
  constexpr int PART = COLUMNS / EXCHANGE_WARPS;
  __shared__ double inverse[COLUMNS][COLUMNS];
  const int row = static_cast<int>(blockIdx.x) * BSI_WARP + threadIdx.x % BSI_WARP,
            begin = threadIdx.x / BSI_WARP * PART;
  double *panel = a + static_cast<int64_t>(first) * n;
  double values[COLUMNS];
#pragma unroll
  for (int c = 0; c < COLUMNS; c++)
    values[c] = row < first && c < count ? panel[static_cast<int64_t>(c) * n + row] : 0.0;
  for (int v = threadIdx.x; v < COLUMNS * COLUMNS; v += EXCHANGE_THREADS) {
    const int r = v % COLUMNS, c = v / COLUMNS;
    inverse[c][r] = r < count && c < count ? panel[static_cast<int64_t>(c) * n + first + r] : 0.0;
  }
  __syncthreads(); /* all have read the row */
  if (row >= first) return;
#pragma unroll
  for (int c = 0; c < PART; c++) {
    double sum = 0.0;
#pragma unroll
    for (int k = 0; k < COLUMNS; k++) sum += values[k] * inverse[begin + c][k];
    if (begin + c < count) panel[static_cast<int64_t>(begin + c) * n + row] = -sum;
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
    multiply_rows_above<COLUMNS>(n, first, count, a);
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

enum { SIDE = 16 };

/* Step 3. A thread block of SIDE² threads takes a tile of (EACH·SIDE)² values.
 *   EACH: a thread takes EACH² values */
template <int COLUMNS, int EACH>
__global__ void __launch_bounds__(SIDE *SIDE)
    update(int n, int first, int count, double *a, const double *rows, const pivot_record *record) {
  constexpr int TILE = EACH * SIDE;
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
  for (int v = threadIdx.x; v < COLUMNS * TILE; v += SIDE * SIDE) {
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

} // namespace

#endif
