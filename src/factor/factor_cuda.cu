/* SPDX-License-Identifier: BSD-3-Clause */
/* Block ILU on the device, in one launch. A warp takes a block row, and rows go in the order of L's
 * levels. A row waits for the inverses and for the rows of U that it needs (gpu/await.cuh). Thread
 * blocks draw their rows in order from a ticket, so that what a waiting warp waits for is always
 * running or done.
 *
 * A row is computed in shared memory. Before its first wait the warp lists which blocks of which
 * row of U meet which blocks of its own, because that depends on the structure alone. Rows that are
 * too long for shared memory are computed in place. A row of U is then complete when its inverse is
 * present. */
#include "core/block/block_sizes.h"
#include "core/block/invert_cuda.cuh"
#include "core/context/context_impl.h"
#include "factor/factor_impl.h"
#include "factor/factor_ops.h"
#include "factor/inversion_record_cuda.cuh"
#include "gpu/await.cuh"

namespace {

/* The room for a plan, and the warps of a thread block. */
enum { MATCHES = 128, ITEMS = BSI_WARP, MOST_WARPS = 4 };

/* Bytes of shared memory that a thread block has on every device without asking. */
constexpr size_t EVERY_DEVICE = 48 * 1024;

/* Levels whose rows are under way together. A long row has more to do before its turn comes
 * (docs/tuning.md, "Exact triangular solves" and "Block ILU"). */
constexpr struct {
  int32_t row_at_most;
  int levels;
} LEVELS_AHEAD[] = {{9, 8}, {INT32_MAX, 32}};

int levels_ahead(int32_t longest_row) {
  return longest_row <= LEVELS_AHEAD[0].row_at_most ? LEVELS_AHEAD[0].levels
                                                    : LEVELS_AHEAD[1].levels;
}

/* Values of a lane that are waited for together, by block size: more of them spill registers. */
template <int BS> constexpr int PASSES = BS <= 5 ? 4 : 2;

/* Messages of failures begin with it. */
constexpr char what[] = "block ILU";

/* L or U. */
struct factor {
  const int32_t *row_ptr, *col_idx;
  /* bisai_factors */
  const uint8_t *fill;
  double *values;
};

/* What rows meet: the values of U and the inverses of its diagonal blocks. In a sweep they are
 * those of the sweep before, so that no row waits. */
struct met {
  const double *upper, *inverse;
};

struct job {
  int32_t block_rows, block_size, longest, levels;
  const int32_t *order;
  struct {
    const int32_t *row_ptr;
    const double *values;
  } a;
  factor l, u;
  met rows;
  double *inverse;
  bsi_repair repair;
  unsigned *ticket;
  bsi_inversion_record *record;
};

/* The products that a row needs. A match subtracts block q of U times a block of L from block t of
 * the row. The matches of an item share the block of L, which stands at p in the row. */
struct plan {
  int32_t q[MATCHES], t[MATCHES];
  /* ~p if the item continues the one before it */
  int32_t p[ITEMS];
  /* the end of the item's matches */
  int32_t end[ITEMS];
};

/* The row of a warp: the blocks of L, then those of U.
 *   BS: the block size, or 0 if it is known at run time only
 *   SHARED: the row is in shared memory */
template <int BS, bool SHARED> struct row {
  int bs, values;
  int32_t i, l_begin, l_length, u_begin, length;
  /* SHARED: the blocks and their columns */
  double *blocks;
  int32_t *column;
  double *l, *u;
  const int32_t *l_col_idx, *u_col_idx;
  __device__ __forceinline__ double *block(int32_t t) const {
    if (SHARED) return blocks + t * values;
    return t < l_length ? l + static_cast<int64_t>(l_begin + t) * values
                        : u + static_cast<int64_t>(u_begin + t - l_length) * values;
  }
  __device__ __forceinline__ int32_t col(int32_t t) const {
    if (SHARED) return column[t];
    return t < l_length ? __ldg(l_col_idx + l_begin + t)
                        : __ldg(u_col_idx + u_begin + t - l_length);
  }
  __device__ __forceinline__ int32_t operator[](int32_t t) const { return col(t); }
  /* Returns where column j stands behind p, or -1. */
  __device__ __forceinline__ int32_t find(int32_t p, int32_t j) const {
    return bsi_find_column(*this, p + 1, length, j);
  }
};

__device__ __forceinline__ bool is_fill(const uint8_t *fill, int32_t p) {
  return fill && (__ldg(fill + p / 8) >> p % 8 & 1) != 0;
}

/* Loads the blocks of the matrix, and zeros where it has none. */
template <int BS, bool SHARED> __device__ void load_row(const job &p, const row<BS, SHARED> &w) {
  const int lane = threadIdx.x % BSI_WARP, values = w.values;
  int32_t next = __ldg(p.a.row_ptr + w.i);
  for (int32_t base = 0; base < w.length; base += BSI_WARP) {
    const int32_t t = base + lane, chunk = min(w.length - base, static_cast<int32_t>(BSI_WARP));
    bool stored = t < w.length;
    if (stored) {
      stored = t < w.l_length ? !is_fill(p.l.fill, w.l_begin + t)
                              : !is_fill(p.u.fill, w.u_begin + t - w.l_length);
      if (SHARED)
        w.column[t] = t < w.l_length ? __ldg(p.l.col_idx + w.l_begin + t)
                                     : __ldg(p.u.col_idx + w.u_begin + t - w.l_length);
    }
    const unsigned all = __ballot_sync(BSI_FULL_WARP, stored);
    const int32_t source = stored ? next + __popc(all & ((1u << lane) - 1u)) : -1;
    next += __popc(all);
    for (int32_t v = lane; v - lane < chunk * values; v += BSI_WARP) {
      const int32_t b = v / values;
      const int32_t from = __shfl_sync(BSI_FULL_WARP, source, b % BSI_WARP);
      if (b < chunk)
        w.block(base + b)[v - b * values] =
            from < 0 ? 0.0
                     : __ldg(p.a.values + static_cast<int64_t>(from) * values + (v - b * values));
    }
  }
  __syncwarp();
}

/* Lists the products from block *next of L on, as far as there is room. *skip blocks of its row of
 * U are done already. Returns the number of items. */
template <int BS, bool SHARED>
__device__ int make_plan(const job &p, const row<BS, SHARED> &w, int32_t *next, int32_t *skip,
                         plan *list) {
  const int lane = threadIdx.x % BSI_WARP;
  const int32_t first = *next;
  int32_t begin = 0, end = 0;
  if (first + lane < w.l_length) {
    const int32_t k = w.col(first + lane);
    begin = __ldg(p.u.row_ptr + k) + 1;
    end = __ldg(p.u.row_ptr + k + 1);
  }
  int items = 0;
  int32_t count = 0;
  while (*next < w.l_length && items < ITEMS && count + BSI_WARP <= MATCHES) {
    const int32_t q_begin = __shfl_sync(BSI_FULL_WARP, begin, *next - first) + *skip,
                  q_end = __shfl_sync(BSI_FULL_WARP, end, *next - first), q = q_begin + lane;
    const int32_t t = q < q_end ? w.find(*next, __ldg(p.u.col_idx + q)) : -1;
    const unsigned hits = __ballot_sync(BSI_FULL_WARP, t >= 0);
    if (t >= 0) {
      const int32_t at = count + __popc(hits & ((1u << lane) - 1u));
      list->q[at] = q;
      list->t[at] = t;
    }
    count += __popc(hits);
    if (lane == 0) {
      list->p[items] = *skip == 0 ? *next : ~*next;
      list->end[items] = count;
    }
    items++;
    if (q_begin + BSI_WARP < q_end) {
      *skip += BSI_WARP;
    } else {
      ++*next;
      *skip = 0;
    }
  }
  __syncwarp();
  return items;
}

/* L_ip ← A_ip U_pp⁻¹. `scaled` gets a copy. */
static __device__ __forceinline__ void scale_block(int bs, const double *pivot, double *own,
                                                   double *scaled) {
  const int lane = threadIdx.x % BSI_WARP, values = bs * bs;
  __syncwarp();
  for (int e = lane; e < values; e += BSI_WARP) {
    double sum = 0.0;
    for (int k = 0; k < bs; k++) sum += own[k * bs + e % bs] * pivot[e / bs * bs + k];
    scaled[e] = sum;
  }
  __syncwarp();
  for (int e = lane; e < values; e += BSI_WARP) own[e] = scaled[e];
}

/* An item of a plan: its first match, and the values of all its products. */
struct item {
  int32_t match, total;
  /* the inverse in U, the block of L in the row, and room for both */
  const double *inverse;
  double *own, *pivot, *scaled;
};

/* Subtracts values begin … begin + PASSES·32 − 1 of the products of an item. Waits for all that
 * they need of U together, and for the inverse too if the block of L is still to be scaled, which
 * `first` says.
 *   BS: the block size
 *   SHARED: the row is in shared memory
 *   PASSES: values of a lane */
template <int BS, bool SHARED, int PASSES>
__device__ __forceinline__ void do_values(const job &p, const row<BS, SHARED> &w, const plan *list,
                                          const item &it, int32_t begin, bool first) {
  constexpr int values = BS * BS, EACH = (values + BSI_WARP - 1) / BSI_WARP;
  const int lane = threadIdx.x % BSI_WARP;
  double own_inverse[EACH], column[PASSES][BS];
  const double *from[PASSES];
#pragma unroll
  for (int e = 0; e < PASSES; e++) {
    const int32_t v = begin + lane + e * BSI_WARP;
    from[e] = v < it.total
                  ? p.rows.upper + static_cast<int64_t>(list->q[it.match + v / values]) * values +
                        v % values / BS * BS
                  : nullptr;
  }
  bool missing;
  do {
    missing = false;
    if (first)
#pragma unroll
      for (int e = 0; e < EACH; e++)
        if (lane + e * BSI_WARP < values) {
          own_inverse[e] = bsi_peek(it.inverse + lane + e * BSI_WARP);
          missing |= bsi_is_absent(own_inverse[e]);
        }
#pragma unroll
    for (int e = 0; e < PASSES; e++)
      if (SHARED && from[e])
#pragma unroll
        for (int k = 0; k < BS; k++) {
          column[e][k] = bsi_peek(from[e] + k);
          missing |= bsi_is_absent(column[e][k]);
        }
  } while (missing);
  if (first) {
#pragma unroll
    for (int e = 0; e < EACH; e++)
      if (lane + e * BSI_WARP < values) it.pivot[lane + e * BSI_WARP] = own_inverse[e];
    if (!SHARED) __threadfence();
    scale_block(BS, it.pivot, it.own, it.scaled);
  }
#pragma unroll
  for (int e = 0; e < PASSES; e++) {
    if (!from[e]) continue;
    if (!SHARED) /* complete, because the inverse is present */
#pragma unroll
      for (int k = 0; k < BS; k++) column[e][k] = bsi_peek(from[e] + k);
    const int32_t v = begin + lane + e * BSI_WARP;
    double *to = w.block(list->t[it.match + v / values]) + v % values, sum = *to;
#pragma unroll
    for (int k = 0; k < BS; k++) sum -= it.scaled[k * BS + v % BS] * column[e][k];
    *to = sum;
  }
}

/* Does one item: scales its block of L if the item is the first with that block, then subtracts the
 * products. */
template <int BS, bool SHARED>
__device__ __forceinline__ void do_item(const job &p, const row<BS, SHARED> &w, const plan *list,
                                        int number, double *pivot, double *scaled) {
  const int lane = threadIdx.x % BSI_WARP, bs = w.bs, values = w.values;
  const bool first = list->p[number] >= 0;
  const int32_t at = first ? list->p[number] : ~list->p[number],
                match = number > 0 ? list->end[number - 1] : 0;
  const item it = {match,
                   (list->end[number] - match) * values,
                   p.rows.inverse + static_cast<int64_t>(w.col(at)) * values,
                   w.block(at),
                   pivot,
                   scaled};
  if constexpr (BS > 0) {
    constexpr int AT_ONCE = PASSES<BS>;
    if (it.total <= BSI_WARP)
      do_values<BS, SHARED, 1>(p, w, list, it, 0, first);
    else
      for (int32_t v = 0; v < it.total; v += AT_ONCE * BSI_WARP)
        do_values<BS, SHARED, AT_ONCE>(p, w, list, it, v, first && v == 0);
  } else {
    if (first) {
      for (int e = lane; e < values; e += BSI_WARP) pivot[e] = bsi_await(it.inverse + e);
      if (!SHARED) __threadfence();
      scale_block(bs, pivot, it.own, scaled);
    }
    for (int32_t v = lane; v < it.total; v += BSI_WARP) {
      const int32_t m = match + v / values, r = v % bs, c = v % values / bs;
      const double *from = p.rows.upper + static_cast<int64_t>(list->q[m]) * values + c * bs;
      double *to = w.block(list->t[m]) + c * bs + r, sum = *to;
      for (int k = 0; k < bs; k++)
        sum -= scaled[k * bs + r] * (SHARED ? bsi_await(from + k) : bsi_peek(from + k));
      *to = sum;
    }
  }
  __syncwarp();
}

/* Passes the row on, its inverse last, and records the inversion. */
template <int BS, bool SHARED>
__device__ __forceinline__ void finish_row(const job &p, const row<BS, SHARED> &w, double *diagonal,
                                           double *inverse) {
  const int lane = threadIdx.x % BSI_WARP, values = w.values;
  const int32_t a_begin = __ldg(p.a.row_ptr + w.i), l_values = w.l_length * values,
                all = w.length * values;
  double *u = p.u.values + static_cast<int64_t>(w.u_begin) * values,
         *to = p.inverse + static_cast<int64_t>(w.i) * values;
  if (SHARED) {
    for (int32_t v = l_values + values + lane; v < all; v += BSI_WARP)
      bsi_hand_over(u + (v - l_values), w.blocks[v]);
  } else {
    for (int v = lane; v < values; v += BSI_WARP) diagonal[v] = u[v];
    __threadfence();
    __syncwarp();
  }
  double condition;
  const bsi_block_result result = bsi_warp_invert_repaired<BS>(
      w.bs, diagonal, p.repair, p.a.values + static_cast<int64_t>(a_begin) * values,
      __ldg(p.a.row_ptr + w.i + 1) - a_begin, inverse, &condition);
  __syncwarp();
  for (int v = lane; v < values; v += BSI_WARP) bsi_hand_over(to + v, inverse[v]);
  for (int v = lane; v < values; v += BSI_WARP) u[v] = diagonal[v];
  bool finite = true;
  if (SHARED) {
    double *l = p.l.values + static_cast<int64_t>(w.l_begin) * values;
    for (int32_t v = lane; v < l_values; v += BSI_WARP) l[v] = w.blocks[v];
    for (int32_t v = lane; v < all; v += BSI_WARP) finite &= isfinite(w.blocks[v]);
  } else {
    for (int32_t t = 0; t < w.length; t++)
      for (int v = lane; v < values; v += BSI_WARP) finite &= isfinite(w.block(t)[v]);
  }
  if (!finite) atomicMin(&p.record->infinite_row, static_cast<unsigned long long>(w.i));
  if (lane == 0 && result != BSI_BLOCK_OK) bsi_record_inversion(p.record, result, w.i);
}

__host__ __device__ constexpr size_t warp_bytes(bool shared, int32_t longest, int values) {
  const size_t blocks = static_cast<size_t>(shared ? longest : 1) + 2;
  const size_t bytes =
      blocks * values * sizeof(double) + sizeof(plan) + (shared ? longest : 0) * sizeof(int32_t);
  return (bytes + 7) / 8 * 8;
}

/* BS: the block size, or 0 if it is known at run time only
 * SHARED: rows are in shared memory */
template <int BS, bool SHARED> __global__ void factor_rows(const job p) {
  extern __shared__ double shared[];
  __shared__ unsigned drawn;
  const int warp = threadIdx.x / BSI_WARP, warps = blockDim.x / BSI_WARP;
  if (threadIdx.x == 0) drawn = atomicAdd(p.ticket, 1u);
  __syncthreads();
  const int64_t turn = static_cast<int64_t>(drawn) * warps + warp;
  if (turn >= p.block_rows) return;

  row<BS, SHARED> w;
  w.bs = BS > 0 ? BS : p.block_size;
  w.values = w.bs * w.bs;
  w.i = __ldg(p.order + turn);
  w.l_begin = __ldg(p.l.row_ptr + w.i);
  w.l_length = __ldg(p.l.row_ptr + w.i + 1) - w.l_begin;
  w.u_begin = __ldg(p.u.row_ptr + w.i);
  w.length = w.l_length + __ldg(p.u.row_ptr + w.i + 1) - w.u_begin;
  w.l = p.l.values;
  w.u = p.u.values;
  w.l_col_idx = p.l.col_idx;
  w.u_col_idx = p.u.col_idx;
  double *pivot = shared + warp * (warp_bytes(SHARED, p.longest, w.values) / sizeof(double)),
         *scaled = pivot + w.values;
  w.blocks = scaled + w.values;
  plan *list = reinterpret_cast<plan *>(w.blocks + (SHARED ? p.longest : 1) * w.values);
  w.column = reinterpret_cast<int32_t *>(list + 1);

  load_row(p, w);
  for (int32_t next = 0, skip = 0; next < w.l_length;) {
    const int items = make_plan(p, w, &next, &skip, list);
    for (int item = 0; item < items; item++) do_item(p, w, list, item, pivot, scaled);
  }
  finish_row(p, w, SHARED ? w.blocks + w.l_length * w.values : w.blocks, scaled);
}

enum { CONDITION_THREADS = 128 };

/* Finds the largest condition of the diagonal blocks, then the first row that has it.
 *   FIND_ROW: find the row */
template <bool FIND_ROW>
__global__ void __launch_bounds__(CONDITION_THREADS) find_condition(const job p) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * CONDITION_THREADS + threadIdx.x;
  const int values = p.block_size * p.block_size;
  double condition = 0.0;
  if (i < p.block_rows)
    condition =
        bsi_block_norm1(p.block_size,
                        p.u.values + static_cast<int64_t>(__ldg(p.u.row_ptr + i)) * values) *
        bsi_block_norm1(p.block_size, p.inverse + i * values);
  if (FIND_ROW) {
    bsi_record_condition_row(p.record, condition, i);
  } else {
    const double largest = bsi_warp_max_magnitude(isnan(condition) ? 0.0 : condition);
    if (threadIdx.x % BSI_WARP == 0) bsi_record_condition(p.record, largest);
  }
}

/* BS and SHARED: as in factor_rows() */
template <int BS, bool SHARED> bisai_status enqueue(bisai_context *context, const job &p) {
  const size_t needed = warp_bytes(SHARED, p.longest, p.block_size * p.block_size);
  int warps = MOST_WARPS;
  while (warps > 1 && warps * needed > EVERY_DEVICE) warps /= 2;
  const size_t bytes = bsi_bytes_to_thin_out(context, p.block_rows, p.levels,
                                             levels_ahead(p.longest), warps, warps * needed);
  if (bytes > EVERY_DEVICE)
    BSI_TRY(bsi_gpu_allow_shared(context, what, factor_rows<BS, SHARED>, bytes));
  factor_rows<BS, SHARED>
      <<<bsi_grid(p.block_rows, warps), warps * BSI_WARP, bytes, bsi_stream_of(context)>>>(p);
  return bsi_launched(context, what);
}

/* SHARED: as in factor_rows() */
template <bool SHARED> bisai_status enqueue_size(bisai_context *context, const job &p) {
  switch (p.block_size) {
#define CASE(BS)                                                                                   \
  case BS: return enqueue<BS, SHARED>(context, p);
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  }
  return enqueue<0, SHARED>(context, p);
}

/* Returns true if the longest row fits the shared memory that a thread block of this device can
 * have. */
bool fits(const bisai_context *context, const job &p) {
  return warp_bytes(true, p.longest, p.block_size * p.block_size) + 16 <=
         static_cast<size_t>(context->limits.block_shared);
}

factor factor_of(const bisai_bcsr *matrix, const uint8_t *fill) {
  return {.row_ptr = matrix->row_ptr,
          .col_idx = matrix->col_idx,
          .fill = fill,
          .values = static_cast<double *>(matrix->values)};
}

/* Marks the values as absent: of U if its rows are passed on by themselves, and the inverses. */
bisai_status clear(bisai_context *context, const bisai_bcsr *u, bool shared, const job &p) {
  if (shared)
    BSI_TRY(bsi_gpu_fill(context, what, p.u.values, 0xff,
                         bsi_block_offset(u, u->blocks) * sizeof(double)));
  return bsi_gpu_fill(context, what, p.inverse, 0xff,
                      bsi_block_offset(u, p.block_rows) * sizeof(double));
}

} // namespace

/* Factorises, or takes a sweep from what rows are to meet. */
static bisai_status compute(bisai_context *context, const bisai_bcsr *matrix, bisai_factors *f,
                            const met &rows, bool sweep, bsi_invert_stats *stats) {
  const bisai_bcsr *l = f->lower, *u = f->upper;
  const job p = {
      .block_rows = matrix->block_rows,
      .block_size = matrix->block_size,
      .longest = f->ilu.longest_row,
      .levels = sweep ? 1 : f->lower_levels.count,
      .order = f->lower_levels.rows,
      .a = {.row_ptr = matrix->row_ptr, .values = static_cast<const double *>(matrix->values)},
      .l = factor_of(l, f->ilu.lower_fill),
      .u = factor_of(u, f->ilu.upper_fill),
      .rows = rows,
      .inverse = f->upper_inverse,
      .repair = f->repair,
      .ticket = context->tickets,
      .record = bsi_record_of<bsi_inversion_record>(context)};
  if (p.block_rows == 0) return BISAI_OK;
  const bool shared = fits(context, p);
  BSI_TRY(bsi_record_begin<bsi_inversion_record>(context, what));
  if (!sweep) BSI_TRY(clear(context, u, shared, p));
  BSI_TRY(shared ? enqueue_size<true>(context, p) : enqueue_size<false>(context, p));
  BSI_TRY(bsi_gpu_fill(context, what, context->tickets, 0, sizeof *context->tickets));
  const unsigned blocks = bsi_grid(p.block_rows, CONDITION_THREADS);
  const bsi_gpu_stream stream = bsi_stream_of(context);
  find_condition<false><<<blocks, CONDITION_THREADS, 0, stream>>>(p);
  find_condition<true><<<blocks, CONDITION_THREADS, 0, stream>>>(p);
  BSI_TRY(bsi_launched(context, what));
  return bsi_inversion_record_fetch(context, what, stats);
}

static bisai_status factor_ilu(bisai_context *context, const bisai_bcsr *matrix, bisai_factors *f,
                               bsi_invert_stats *stats) {
  const met own = {static_cast<const double *>(f->upper->values), f->upper_inverse};
  return compute(context, matrix, f, own, false, stats);
}

static bisai_status sweep_ilu(bisai_context *context, const bisai_bcsr *matrix, bisai_factors *f,
                              bsi_invert_stats *stats) {
  return compute(context, matrix, f, {f->sweep.upper, f->sweep.inverse}, true, stats);
}

const bsi_ilu_ops bsi_ilu_cuda = {.factorise = factor_ilu, .sweep = sweep_ilu};
