/* SPDX-License-Identifier: BSD-3-Clause */
/* The small dense systems on the device, as dense_host.c has them. A group of lanes solves for one
 * block column of N: a warp if systems are small, a thread block if they are not.
 *
 * A(J, J) and the column are in shared memory, or in global memory of the group's own if the
 * largest system is too large for that. Their columns have an odd number of values, so that lanes
 * that read a row of them read different banks. */
#include <algorithm>

#include "core/block/values.h"
#include "core/matrix/bcsr_impl.h"
#include "solve/columns_cuda.cuh"
#include "solve/solve_ops.h"

namespace {

/* rows up to which a warp solves a system */
enum { WARP_ROWS = 36 };

struct job {
  bool definite;
  double sign;
  int32_t block_rows;
  int block_size;
  struct {
    const int32_t *row_ptr, *col_idx;
    const double *values;
  } a;
  struct {
    const int32_t *col_ptr, *row_idx, *position;
  } pattern;
  bisai_value_type type;
  void *values;
  /* the values of the largest system and its column */
  int64_t room;
  /* in global memory; NULL: in shared memory */
  double *systems;
  bsi_columns_report *found;
};

/* The leading dimension of a system of m rows. */
__device__ int leading(int m) { return m | 1; }

/* The values of a system of m rows and of its column. */
int64_t room_of(int64_t m, int block_size) { return (m | 1) * (m + block_size); }

/* The lanes that solve a system: LANES of them, and this is number `lane`.
 *   LANES: a warp or the thread block */
template <int LANES> struct group {
  int lane;
  __device__ void wait() const {
    if (LANES == BSI_WARP)
      __syncwarp();
    else
      __syncthreads();
  }
};

/* A system of m rows with `count` right-hand sides x. */
struct dense_system {
  int m, ld, count;
  double *s, *x;
};

/* s ← sign·A(J, J), x ← I(J, j) */
template <int LANES>
__device__ void gather(const job &p, const group<LANES> &g, const int32_t *rows, int32_t length,
                       int32_t j, const dense_system &d) {
  const int bs = p.block_size;
  for (int v = g.lane; v < d.ld * (d.m + d.count); v += LANES) d.s[v] = 0.0;
  g.wait();
  for (int32_t row = 0; row < length; row++) {
    const int32_t i = __ldg(rows + row), end = __ldg(p.a.row_ptr + i + 1);
    for (int32_t q = __ldg(p.a.row_ptr + i) + g.lane; q < end; q += LANES) {
      const int32_t slot = bsi_find_column(rows, 0, length, __ldg(p.a.col_idx + q));
      if (slot < 0) continue;
      const double *block = p.a.values + static_cast<int64_t>(q) * bs * bs;
      double *place = d.s + slot * bs * d.ld + row * bs;
      for (int c = 0; c < bs; c++)
        for (int r = 0; r < bs; r++) place[c * d.ld + r] = p.sign * __ldg(block + c * bs + r);
    }
  }
  const int32_t own = bsi_find_column(rows, 0, length, j);
  for (int c = g.lane; c < bs; c += LANES) d.x[c * d.ld + own * bs + c] = 1.0;
  g.wait();
}

/* into(r, c) ← into(r, c) − column(r)·factor(c) for the rows and columns from `begin` on; with
 * `lower` for r ≥ c only. */
template <int LANES>
__device__ void subtract(const group<LANES> &g, const dense_system &d, const double *column,
                         const double *factor, int stride, int begin, bool lower) {
  constexpr int ACROSS = LANES / BSI_WARP;
  for (int c = begin + g.lane / BSI_WARP; c < d.m; c += ACROSS) {
    const double f = factor[c * stride];
    for (int r = (lower ? c : begin) + g.lane % BSI_WARP; r < d.m; r += BSI_WARP)
      d.s[c * d.ld + r] -= column[r] * f;
  }
}

/* s ← C in its lower triangle, x ← C⁻ᵀ x. Returns false if a pivot is not positive. */
template <int LANES> __device__ bool solve_definite(const group<LANES> &g, const dense_system &d) {
  for (int k = 0; k < d.m; k++) {
    double *column = d.s + k * d.ld;
    const double pivot = column[k];
    if (!(pivot > 0.0)) return false;
    const double root = sqrt(pivot);
    g.wait();
    for (int r = k + g.lane; r < d.m; r += LANES) column[r] /= root;
    g.wait();
    subtract(g, d, column, column, 1, k + 1, true);
    g.wait();
  }
  for (int k = d.m - 1; k >= 0; k--) {
    const double pivot = d.s[k * d.ld + k];
    for (int v = g.lane; v < (k + 1) * d.count; v += LANES) {
      const int r = v % (k + 1), c = v / (k + 1);
      const double known = d.x[c * d.ld + k] / pivot;
      if (r < k) d.x[c * d.ld + r] -= d.s[r * d.ld + k] * known;
    }
    g.wait();
    for (int c = g.lane; c < d.count; c += LANES) d.x[c * d.ld + k] /= pivot;
    g.wait();
  }
  return true;
}

/* Returns the first of the rows from k on with the largest magnitude in a column. Each warp finds
 * it for itself. */
__device__ int find_pivot(const double *column, int k, int m) {
  const int lane = threadIdx.x % BSI_WARP;
  double largest = -1.0;
  int at = k;
  for (int r = k + lane; r < m; r += BSI_WARP)
    if (fabs(column[r]) > largest) {
      largest = fabs(column[r]);
      at = r;
    }
  for (int step = BSI_WARP / 2; step > 0; step /= 2) {
    const double other = __shfl_xor_sync(BSI_FULL_WARP, largest, step);
    const int there = __shfl_xor_sync(BSI_FULL_WARP, at, step);
    if (other > largest || (other == largest && there < at)) {
      largest = other;
      at = there;
    }
  }
  return at;
}

/* x ← s⁻¹ x by elimination with row pivoting. Returns false if a pivot is zero or NaN. */
template <int LANES> __device__ bool eliminate(const group<LANES> &g, const dense_system &d) {
  for (int k = 0; k < d.m; k++) {
    double *column = d.s + k * d.ld;
    const int at = find_pivot(column, k, d.m);
    const double pivot = column[at];
    if (!(fabs(pivot) > 0.0)) return false;
    g.wait();
    /* the right-hand sides follow the columns of s */
    for (int c = k + g.lane; at != k && c < d.m + d.count; c += LANES) {
      double *one = d.s + c * d.ld + k, *other = d.s + c * d.ld + at;
      const double value = *one;
      *one = *other;
      *other = value;
    }
    g.wait();
    for (int r = k + 1 + g.lane; r < d.m; r += LANES) column[r] /= pivot;
    g.wait();
    subtract(g, d, column, d.s + k, d.ld, k + 1, false);
    for (int v = g.lane; v < (d.m - k - 1) * d.count; v += LANES) {
      const int r = k + 1 + v % (d.m - k - 1), c = v / (d.m - k - 1);
      d.x[c * d.ld + r] -= column[r] * d.x[c * d.ld + k];
    }
    g.wait();
  }
  for (int k = d.m - 1; k >= 0; k--) {
    const double *column = d.s + k * d.ld;
    for (int c = g.lane; c < d.count; c += LANES) d.x[c * d.ld + k] /= column[k];
    g.wait();
    for (int v = g.lane; v < k * d.count; v += LANES)
      d.x[v / k * d.ld + v % k] -= column[v % k] * d.x[v / k * d.ld + k];
    g.wait();
  }
  return true;
}

/* Stores x into column j, whose blocks begin at `begin`. A lane takes a block. */
template <int LANES>
__device__ void store(const job &p, const group<LANES> &g, int32_t begin, int32_t length, int32_t j,
                      const dense_system &d) {
  const int bs = p.block_size;
  for (int32_t s = g.lane; s < length; s += LANES) {
    const int64_t place = static_cast<int64_t>(__ldg(p.pattern.position + begin + s)) * bs * bs;
    bool finite = true, fits = true, zero = true;
    for (int c = 0; c < bs; c++)
      for (int r = 0; r < bs; r++) {
        const double value = d.x[c * d.ld + s * bs + r];
        const size_t at = static_cast<size_t>(place + c * bs + r);
        const bool good = isfinite(value);
        finite &= good;
        fits &= bsi_value_store(p.type, good ? value : 0.0, p.values, at);
        zero &= bsi_value_load(p.type, p.values, at) == 0.0;
      }
    const bool vital = p.definite && __ldg(p.pattern.row_idx + begin + s) == j;
    if (!finite || !fits || (zero && vital))
      bsi_report_fault(p.found, j, s,
                       !finite ? BSI_FAULT_NOT_FINITE
                       : !fits ? BSI_FAULT_OVERFLOW
                               : BSI_FAULT_UNDERFLOW);
  }
}

/* LANES: those of a group, a warp or the thread block */
template <int LANES>
__global__ void __launch_bounds__(BSI_COLUMNS_THREADS) solve_systems(const job p) {
  constexpr int GROUPS = BSI_COLUMNS_THREADS / LANES;
  extern __shared__ double shared[];
  const group<LANES> g = {static_cast<int>(threadIdx.x) % LANES};
  const int in_block = threadIdx.x / LANES;
  const int64_t first = blockIdx.x * static_cast<int64_t>(GROUPS) + in_block;
  double *own = p.systems ? p.systems + first * p.room : shared + in_block * p.room;
  for (int64_t j = first; j < p.block_rows; j += static_cast<int64_t>(gridDim.x) * GROUPS) {
    const int32_t begin = __ldg(p.pattern.col_ptr + j),
                  length = __ldg(p.pattern.col_ptr + j + 1) - begin;
    const int m = length * p.block_size, ld = leading(m);
    const dense_system d = {m, ld, p.block_size, own, own + static_cast<int64_t>(ld) * m};
    gather(p, g, p.pattern.row_idx + begin, length, static_cast<int32_t>(j), d);
    const bool regular = p.definite ? solve_definite(g, d) : eliminate(g, d);
    if (regular)
      store(p, g, begin, length, static_cast<int32_t>(j), d);
    else if (g.lane == 0)
      bsi_report_fault(p.found, static_cast<int32_t>(j), length - 1, BSI_FAULT_SINGULAR);
    g.wait();
  }
}

/* The lanes of the groups, the values of the largest system, and whether these are in shared
 * memory. */
struct shape {
  bool warps, shared;
  int64_t room;
};

shape shape_of(int32_t longest_column, int block_size) {
  const int64_t m = static_cast<int64_t>(longest_column) * block_size;
  const int64_t room = room_of(m, block_size), bytes = room * static_cast<int64_t>(sizeof(double));
  const bool warps = m <= WARP_ROWS && BSI_COLUMNS_WARPS * bytes <= BSI_COLUMNS_SHARED;
  return {warps, warps || bytes <= BSI_COLUMNS_SHARED, room};
}

} // namespace

bisai_status bsi_isai_reserve_dense(bisai_context *context, const bsi_triangular *t,
                                    bsi_isai *isai) {
  const shape s = shape_of(isai->pattern->longest_column, t->matrix->block_size);
  if (s.shared) return BISAI_OK;
  if (s.room > INT32_MAX)
    return bsi_fail(context, BISAI_INDEX_OVERFLOW,
                    "the system of a column of %d blocks has more than %d values",
                    isai->pattern->longest_column, INT32_MAX);
  const size_t bytes = static_cast<size_t>(s.room) * sizeof(double);
  isai->threads = std::min(bsi_columns_blocks(context, bytes), t->matrix->block_rows);
  isai->room = static_cast<size_t>(s.room);
  isai->columns = static_cast<double *>(context->backend->memory->allocate(
      context, static_cast<size_t>(isai->threads) * isai->room, sizeof(double)));
  return isai->columns ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

bisai_status bsi_isai_dense_values(bisai_context *context, const bsi_triangular *t, bsi_isai *isai,
                                   bsi_isai_fault *fault) {
  const bisai_bcsr *a = t->matrix, *n = isai->inverse;
  const bisai_pattern *pattern = isai->pattern;
  if (a->block_rows == 0) return BISAI_OK;
  const shape s = shape_of(pattern->longest_column, a->block_size);
  const job p = {.definite = isai->systems == BSI_SYSTEMS_DEFINITE,
                 .sign = isai->sign,
                 .block_rows = a->block_rows,
                 .block_size = a->block_size,
                 .a = {.row_ptr = a->row_ptr,
                       .col_idx = a->col_idx,
                       .values = static_cast<const double *>(a->values)},
                 .pattern = {.col_ptr = pattern->col_ptr,
                             .row_idx = pattern->row_idx,
                             .position = pattern->position},
                 .type = n->type,
                 .values = n->values,
                 .room = s.room,
                 .systems = isai->columns,
                 .found = bsi_record_of<bsi_columns_report>(context)};
  const int groups = s.warps ? BSI_COLUMNS_WARPS : 1;
  const size_t bytes = s.shared ? static_cast<size_t>(groups * s.room) * sizeof(double) : 0;
  unsigned blocks = bsi_grid(a->block_rows, groups);
  if (!s.shared && blocks > static_cast<unsigned>(isai->threads)) blocks = isai->threads;
  BSI_TRY(bsi_record_begin<bsi_columns_report>(context, BSI_COLUMNS));
  if (s.warps)
    solve_systems<BSI_WARP><<<blocks, BSI_COLUMNS_THREADS, bytes, bsi_stream_of(context)>>>(p);
  else
    solve_systems<BSI_COLUMNS_THREADS>
        <<<blocks, BSI_COLUMNS_THREADS, bytes, bsi_stream_of(context)>>>(p);
  BSI_TRY(bsi_launched(context, BSI_COLUMNS));
  return bsi_fetch_fault(context, pattern->col_ptr, pattern->row_idx, false, fault);
}
