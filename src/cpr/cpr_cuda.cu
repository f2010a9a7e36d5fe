/* SPDX-License-Identifier: BSD-3-Clause */
/* Weights, the pressure matrix, and the steps between vectors and pressures on a device.
 *
 * A thread has the weights of a row of small blocks, and a warp those of larger ones. Lanes of a
 * warp share a row of the pressure matrix, an entry each. A step of an application waits for
 * memory alone: its lanes read consecutive values and have several of them under way. */
#include "core/block/block_sizes.h"
#include "core/block/invert_cuda.cuh"
#include "cpr/cpr_ops.h"
#include "cpr/ellipticity.h"
#include "cpr/weights.h"
#include "gpu/for_each.cuh"
#include "gpu/lanes.cuh"
#include "gpu/record.cuh"

namespace {

enum { THREADS = 128 };

__device__ __forceinline__ int64_t thread_of_grid() {
  return blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x;
}

/* --- weights --- */

/* Blocks of more rows do not fit the registers of a thread. */
constexpr int LARGEST = 6;

struct rules_record {
  static constexpr int firsts = 2;
  unsigned long long singular_row, excluded_row;
  unsigned long long singular, reversed, excluded;
};

struct weigh_job {
  /* `a` is not for the device */
  bsi_weighing weighing;
  int32_t rows;
  int bs;
  const double *values;
  double *weights;
  rules_record *record;
};

/* Counts the lanes whose row took a rule, and records the first of these rows. All lanes of the
 * warp call, and their rows ascend. */
__device__ __forceinline__ void count_rule(bool taken, int64_t row, unsigned long long *count,
                                           unsigned long long *first) {
  const unsigned lanes = __ballot_sync(BSI_FULL_WARP, taken);
  if (static_cast<int>(threadIdx.x % BSI_WARP) != __ffs(static_cast<int>(lanes)) - 1) return;
  atomicAdd(count, static_cast<unsigned long long>(__popc(lanes)));
  if (first) atomicMin(first, static_cast<unsigned long long>(row));
}

__device__ __forceinline__ void count_rules(rules_record *record, int rules, int64_t row) {
  count_rule(rules & BSI_WEIGHTS_SINGULAR, row, &record->singular, &record->singular_row);
  count_rule(rules & BSI_WEIGHTS_REVERSED, row, &record->reversed, nullptr);
  count_rule(rules & BSI_WEIGHTS_EXCLUDED, row, &record->excluded, &record->excluded_row);
}

/* A thread weighs a row.
 *   BS: the block size */
template <int BS> __global__ void __launch_bounds__(THREADS) weigh_rows(const weigh_job p) {
  const int64_t i = thread_of_grid();
  int rules = 0;
  if (i < p.rows) {
    double inverse[BS * BS], w[BS];
    rules = bsi_weigh_row(BS, &p.weighing, p.values, static_cast<int32_t>(i), inverse, w);
#pragma unroll
    for (int k = 0; k < BS; k++) p.weights[i * BS + k] = w[k];
  }
  count_rules(p.record, rules, i);
}

/* Shared memory of weigh_large_rows(): a block, its inverse and the weights. */
size_t bytes_to_weigh(int bs) { return (2 * static_cast<size_t>(bs) * bs + bs) * sizeof(double); }

/* As bsi_weigh_row(), for any block size. A warp, which is a thread block, weighs a row. */
__global__ void __launch_bounds__(BSI_WARP) weigh_large_rows(const weigh_job p) {
  extern __shared__ double shared[];
  const bsi_weighing &g = p.weighing;
  const int bs = p.bs, size = bs * bs, lane = threadIdx.x;
  const int64_t i = blockIdx.x;
  const double *diagonal = p.values + static_cast<int64_t>(g.diagonal[i]) * size;
  double *block = shared, *inverse = block + size, *w = inverse + size;
  bool solved = true;
  int rules = 0;
  if (g.given) {
    if (lane < bs) w[lane] = g.given[i * bs + lane];
  } else {
    const double *from = g.storage ? g.storage + i * size : diagonal;
    double condition;
    for (int v = lane; v < size; v += BSI_WARP) block[v] = from[v];
    __syncwarp();
    solved = bsi_warp_invert<0>(bs, block, inverse, &condition) != BSI_BLOCK_SINGULAR;
    if (solved && lane < bs)
      w[lane] = inverse[g.storage ? g.pressure * bs + lane : lane * bs + g.pressure];
  }
  __syncwarp();
  if (lane == 0) rules = bsi_weights_finish(bs, &g, solved, diagonal + g.pressure * bs, w);
  __syncwarp();
  if (lane < bs) p.weights[i * bs + lane] = w[lane];
  count_rules(p.record, rules, i);
}

template <int BS> void enqueue_rows(const bisai_context *context, const weigh_job &p) {
  weigh_rows<BS><<<bsi_grid(p.rows, THREADS), THREADS, 0, bsi_stream_of(context)>>>(p);
}

void enqueue_weighing(const bisai_context *context, const weigh_job &p) {
  if (p.bs > LARGEST) {
    weigh_large_rows<<<static_cast<unsigned>(p.rows), BSI_WARP, bytes_to_weigh(p.bs),
                       bsi_stream_of(context)>>>(p);
    return;
  }
  switch (p.bs) {
#define CASE(BS)                                                                                   \
  case BS:                                                                                         \
    if constexpr (BS <= LARGEST) enqueue_rows<BS>(context, p);                                     \
    break;
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  }
}

bisai_status fetch_stats(bisai_context *context, const char *what, bsi_weight_stats *stats) {
  rules_record record;
  BSI_TRY(bsi_record_fetch(context, what, &record));
  stats->singular = static_cast<int64_t>(record.singular);
  stats->reversed = static_cast<int64_t>(record.reversed);
  stats->excluded = static_cast<int64_t>(record.excluded);
  stats->first_singular = static_cast<int32_t>(bsi_index_of(record.singular_row));
  stats->first_excluded = static_cast<int32_t>(bsi_index_of(record.excluded_row));
  return BISAI_OK;
}

/* --- the pressure matrix --- */

/* Column 0 of the block at position q has bs values from source + q·distance on. */
struct reduce_job {
  sharing s;
  int bs;
  const int32_t *row_ptr, *col_idx;
  const double *weights, *source;
  int64_t distance;
  double *values;
};

/* A lane makes an entry.
 *   BS: the block size; 0: any */
template <int BS> __global__ void __launch_bounds__(THREADS) reduce_rows(const reduce_job p) {
  const int bs = BS > 0 ? BS : p.bs;
  bsi_wait_for_predecessor();
  const part_of_row part = part_of(p.s, p.row_ptr, thread_of_grid() / p.s.lanes);
  const double *w = p.weights + static_cast<int64_t>(part.row) * bs;
  bool excluded = true;
  if (part.inside)
    for (int k = 0; k < bs; k++) excluded = excluded && __ldg(w + k) == 0.0;
  for (int64_t q = part.begin; q < part.end; q += p.s.lanes) {
    const double *column = p.source + q * p.distance;
    double value = excluded && __ldg(p.col_idx + q) == part.row ? 1.0 : 0.0;
    for (int k = 0; k < bs && !excluded; k++) value += __ldg(w + k) * __ldg(column + k);
    p.values[q] = value;
  }
}

bisai_status make_values(bisai_context *context, const bisai_bcsr *a, const double *weights,
                         const double *source, int64_t distance, double *values) {
  const int64_t rows = a->block_rows;
  const int lanes = lanes_for(mean_length(rows, a->blocks), 1);
  const reduce_job p = {.s = {a->block_rows, lanes},
                        .bs = a->block_size,
                        .row_ptr = a->row_ptr,
                        .col_idx = a->col_idx,
                        .weights = weights,
                        .source = source,
                        .distance = distance,
                        .values = values};
  const unsigned grid = bsi_grid(rows * lanes, THREADS);
  switch (p.bs) {
#define CASE(BS)                                                                                   \
  case BS: bsi_launch_early(context, reduce_rows<BS>, grid, THREADS, 0, p); break;
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  default: bsi_launch_early(context, reduce_rows<0>, grid, THREADS, 0, p);
  }
  return bsi_launched(context, "pressure matrix");
}

/* columns ← column `pressure` of each block */
bisai_status copy_columns(bisai_context *context, const bisai_bcsr *a, int32_t pressure,
                          double *columns) {
  const int bs = a->block_size;
  const double *source = static_cast<const double *>(a->values) + pressure * bs;
  return bsi_for_each(context, "columns of the pressure", static_cast<int64_t>(a->blocks) * bs,
                      [=] __device__(int64_t k) {
                        const int64_t q = k / bs;
                        columns[k] = __ldg(source + q * bs * bs + (k - q * bs));
                      });
}

/* *sum ← itself + the terms of all threads, which call. */
__device__ __forceinline__ void add_terms(int64_t term, unsigned long long *sum) {
  const unsigned long long all = bsi_warp_sum(static_cast<unsigned long long>(term));
  if (threadIdx.x % BSI_WARP == 0 && all > 0) atomicAdd(sum, all);
}

/* A thread has a row. */
__global__ void __launch_bounds__(THREADS)
    couple_rows(int32_t rows, const int32_t *row_ptr, const int32_t *col_idx, const double *values,
                const int32_t *diagonal, unsigned long long *sum) {
  const int64_t i = thread_of_grid();
  bsi_wait_for_predecessor();
  add_terms(i < rows
                ? bsi_coupling_of_row(row_ptr, col_idx, values, diagonal, static_cast<int32_t>(i))
                : 0,
            sum);
}

/* A thread has an equation. */
__global__ void __launch_bounds__(THREADS)
    reach_rows(int64_t rows, int bs, const int32_t *row_ptr, const double *values,
               const int32_t *diagonal, int32_t pressure, unsigned long long *sum) {
  const int64_t row = thread_of_grid(), i = row / bs;
  bsi_wait_for_predecessor();
  add_terms(row < rows
                ? bsi_reach_of_equation(bs, row_ptr, values, diagonal, pressure,
                                        static_cast<int32_t>(i), static_cast<int>(row - i * bs))
                : 0,
            sum);
}

/* --- vectors --- */

/* Entries of a lane that are under way together. */
enum { UNROLLED = 4 };

/* Threads that a multiprocessor is to hold. Left to itself, the compiler makes room for more of
 * them, and a thread has too few registers to load all its entries before it uses the first. */
enum { RESIDENT = 1024 };

/* A few lanes, a power of two, share a scalar row. */
struct subtract_job {
  /* scalar rows */
  int64_t rows;
  sharing s;
  int bs;
  const int32_t *row_ptr, *col_idx;
  const double *columns, *z, *v;
  double *r;
};

/* BS: the block size; 0: any */
template <int BS>
__global__ void __launch_bounds__(THREADS, RESIDENT / THREADS) subtract_rows(const subtract_job p) {
  const int bs = BS > 0 ? BS : p.bs;
  const int64_t row = thread_of_grid() >> __popc(p.s.lanes - 1);
  const bool inside = row < p.rows, first = inside && p.s.member() == 0;
  double sum = 0.0, before = 0.0;
  bsi_wait_for_predecessor();
  if (inside) {
    const int64_t i = row / bs, end = __ldg(p.row_ptr + i + 1);
    const double *column = p.columns + (row - i * bs);
    if (first) before = __ldg(p.v + row);
    for (int64_t q = __ldg(p.row_ptr + i) + p.s.member(); q < end; q += UNROLLED * p.s.lanes) {
      int32_t j[UNROLLED];
      double c[UNROLLED] = {}, z[UNROLLED] = {};
#pragma unroll
      for (int u = 0; u < UNROLLED; u++)
        if (q + u * p.s.lanes < end) j[u] = __ldg(p.col_idx + q + u * p.s.lanes);
#pragma unroll
      for (int u = 0; u < UNROLLED; u++)
        if (q + u * p.s.lanes < end) c[u] = __ldg(column + (q + u * p.s.lanes) * bs);
#pragma unroll
      for (int u = 0; u < UNROLLED; u++)
        if (q + u * p.s.lanes < end) z[u] = __ldg(p.z + j[u]);
#pragma unroll
      for (int u = 0; u < UNROLLED; u++)
        if (q + u * p.s.lanes < end) sum += c[u] * z[u];
    }
  }
  sum = sum_of_lanes(p.s, sum);
  if (first) p.r[row] = before - sum;
}

/* BS: the block size; 0: any */
template <int BS> struct gather_row {
  int bs;
  const double *weights, *v;
  double *r;
  __device__ __forceinline__ void operator()(int64_t i) const {
    const int size = BS > 0 ? BS : bs;
    double sum = 0.0;
#pragma unroll
    for (int k = 0; k < size; k++) sum += __ldg(weights + i * size + k) * __ldg(v + i * size + k);
    r[i] = sum;
  }
};

} // namespace

static bisai_status weigh(bisai_context *context, const bsi_weighing *weighing, double *weights,
                          bsi_weight_stats *stats) {
  constexpr char what[] = "weights of the pressure";
  const bisai_bcsr *a = weighing->a;
  const weigh_job p = {.weighing = *weighing,
                       .rows = a->block_rows,
                       .bs = a->block_size,
                       .values = static_cast<const double *>(a->values),
                       .weights = weights,
                       .record = bsi_record_of<rules_record>(context)};
  BSI_TRY(bsi_record_begin<rules_record>(context, what));
  if (p.rows > 0) enqueue_weighing(context, p);
  BSI_TRY(bsi_launched(context, what));
  return stats ? fetch_stats(context, what, stats) : BISAI_OK;
}

static bisai_status reduce(bisai_context *context, const bisai_bcsr *a, const double *weights,
                           int32_t pressure, double *values, double *columns) {
  const int bs = a->block_size;
  if (a->block_rows == 0) return BISAI_OK;
  if (columns) BSI_TRY(copy_columns(context, a, pressure, columns));
  if (!values) return BISAI_OK;
  return columns
             ? make_values(context, a, weights, columns, bs, values)
             : make_values(context, a, weights,
                           static_cast<const double *>(a->values) + pressure * bs, bs * bs, values);
}

static bisai_status couple(bisai_context *context, const bisai_bcsr *p, const int32_t *diagonal,
                           int64_t *sum) {
  constexpr char what[] = "couplings of the pressure matrix";
  BSI_TRY(bsi_gpu_fill(context, what, sum, 0, sizeof *sum));
  if (p->block_rows == 0) return BISAI_OK;
  bsi_launch_early(context, couple_rows, bsi_grid(p->block_rows, THREADS), THREADS, 0,
                   p->block_rows, p->row_ptr, p->col_idx, static_cast<const double *>(p->values),
                   diagonal, reinterpret_cast<unsigned long long *>(sum));
  return bsi_launched(context, what);
}

static bisai_status reach(bisai_context *context, const bisai_bcsr *a, const int32_t *diagonal,
                          int32_t pressure, int64_t *sum) {
  constexpr char what[] = "reach of the pressure";
  const int64_t rows = static_cast<int64_t>(a->block_rows) * a->block_size;
  BSI_TRY(bsi_gpu_fill(context, what, sum, 0, sizeof *sum));
  if (rows == 0) return BISAI_OK;
  bsi_launch_early(context, reach_rows, bsi_grid(rows, THREADS), THREADS, 0, rows, a->block_size,
                   a->row_ptr, static_cast<const double *>(a->values), diagonal, pressure,
                   reinterpret_cast<unsigned long long *>(sum));
  return bsi_launched(context, what);
}

static bisai_status gather(bisai_context *context, int32_t n, int bs, const double *weights,
                           const double *v, double *r) {
  constexpr char what[] = "right-hand side of the pressure";
  switch (bs) {
#define CASE(BS)                                                                                   \
  case BS: return bsi_for_each(context, what, n, gather_row<BS>{bs, weights, v, r});
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  }
  return bsi_for_each(context, what, n, gather_row<0>{bs, weights, v, r});
}

static bisai_status subtract(bisai_context *context, const bisai_bcsr *p, int bs,
                             const double *columns, const double *z, const double *v, double *r) {
  if (p->block_rows == 0) return BISAI_OK;
  const int64_t rows = static_cast<int64_t>(p->block_rows) * bs;
  const int lanes = lanes_for(mean_length(p->block_rows, p->blocks), UNROLLED);
  const subtract_job job = {.rows = rows,
                            .s = {p->block_rows, lanes},
                            .bs = bs,
                            .row_ptr = p->row_ptr,
                            .col_idx = p->col_idx,
                            .columns = columns,
                            .z = z,
                            .v = v,
                            .r = r};
  const unsigned grid = bsi_grid(rows * lanes, THREADS);
  switch (bs) {
#define CASE(BS)                                                                                   \
  case BS: bsi_launch_early(context, subtract_rows<BS>, grid, THREADS, 0, job); break;
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  default: bsi_launch_early(context, subtract_rows<0>, grid, THREADS, 0, job);
  }
  return bsi_launched(context, "residual of the pressure");
}

static bisai_status add(bisai_context *context, int32_t n, int bs, int32_t pressure,
                        const double *z, double *x) {
  return bsi_for_each(context, "correction of the pressure", n,
                      [=] __device__(int64_t i) { x[i * bs + pressure] += __ldg(z + i); });
}

const bsi_cpr_ops bsi_cpr_cuda = {.weigh = weigh,
                                  .reduce = reduce,
                                  .couple = couple,
                                  .reach = reach,
                                  .gather = gather,
                                  .subtract = subtract,
                                  .add = add,
                                  .scales = &bsi_scales_cuda};
