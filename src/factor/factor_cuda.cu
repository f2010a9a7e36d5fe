/* SPDX-License-Identifier: BSD-3-Clause */
/* Block ILU on the device, in one launch: a warp a block row, rows in the order of L's levels; each
 * waits for the inverses and the rows of U that it needs (gpu/await.cuh). Thread blocks draw
 * their rows in order from a ticket, so that what a waiting warp waits for is always running or
 * done.
 *
 * A row is computed in shared memory. Which blocks of which row of U meet which of its own is
 * listed before the first wait, as structure alone says it. Where rows are too long for shared
 * memory they are computed where they are stored, and a row of U then is complete when its inverse
 * is there. */
#include "core/block_sizes.h"
#include "core/context_impl.h"
#include "core/invert_cuda.cuh"
#include "factor/factor_impl.h"
#include "factor/factor_ops.h"
#include "gpu/await.cuh"

namespace {

enum { MATCHES = 128, ITEMS = BSI_WARP, MOST_WARPS = 4, EVERY_DEVICE = 48 * 1024 };

struct job {
  int32_t block_rows, block_size, longest, levels;
  const int32_t *order, *a_row_ptr, *l_row_ptr, *l_col_idx, *u_row_ptr, *u_col_idx;
  const uint8_t *l_fill, *u_fill;
  const double *a;
  double *l, *u, *inverse;
  double amount;
  unsigned *ticket;
  unsigned long long *words;
};

/* Block q of U times a block of L that stands at p in its row is subtracted from block t of that
 * row. */
struct plan {
  int32_t q[MATCHES], t[MATCHES];
  /* ~p where an item goes on with the p of the one before */
  int32_t p[ITEMS];
  int32_t end[ITEMS];
};

/* The row at hand: L's blocks, then U's. */
template <int BS, bool SHARED> struct row {
  int bs, values;
  int32_t i, l_begin, l_length, u_begin, length;
  /* SHARED */
  double *blocks;
  /* SHARED */
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
  /* Where column j stands behind p, or -1. */
  __device__ __forceinline__ int32_t find(int32_t p, int32_t j) const {
    int32_t low = p + 1, high = length;
    while (low < high) {
      const int32_t middle = (low + high) / 2;
      if (col(middle) < j)
        low = middle + 1;
      else
        high = middle;
    }
    return low < length && col(low) == j ? low : -1;
  }
};

__device__ __forceinline__ bool is_fill(const uint8_t *fill, int32_t p) {
  return fill && (__ldg(fill + p / 8) >> p % 8 & 1) != 0;
}

/* The matrix's blocks, and zeros where it has none. */
template <int BS, bool SHARED> __device__ void load_row(const job &p, const row<BS, SHARED> &w) {
  const int lane = threadIdx.x % BSI_WARP, values = w.values;
  int32_t next = __ldg(p.a_row_ptr + w.i);
  for (int32_t base = 0; base < w.length; base += BSI_WARP) {
    const int32_t t = base + lane, chunk = min(w.length - base, static_cast<int32_t>(BSI_WARP));
    bool stored = t < w.length;
    if (stored) {
      stored = t < w.l_length ? !is_fill(p.l_fill, w.l_begin + t)
                              : !is_fill(p.u_fill, w.u_begin + t - w.l_length);
      if (SHARED)
        w.column[t] = t < w.l_length ? __ldg(p.l_col_idx + w.l_begin + t)
                                     : __ldg(p.u_col_idx + w.u_begin + t - w.l_length);
    }
    const unsigned all = __ballot_sync(BSI_FULL_WARP, stored);
    const int32_t source = stored ? next + __popc(all & ((1u << lane) - 1u)) : -1;
    next += __popc(all);
    for (int32_t v = lane; v - lane < chunk * values; v += BSI_WARP) {
      const int32_t b = v / values;
      const int32_t from = __shfl_sync(BSI_FULL_WARP, source, b % BSI_WARP);
      if (b < chunk)
        w.block(base + b)[v - b * values] =
            from < 0 ? 0.0 : __ldg(p.a + static_cast<int64_t>(from) * values + (v - b * values));
    }
  }
  __syncwarp();
}

/* Lists what is to be done from block *next of L on, *skip blocks of its row of U being done, as
 * far as there is room; how many items. */
template <int BS, bool SHARED>
__device__ int make_plan(const job &p, const row<BS, SHARED> &w, int32_t *next, int32_t *skip,
                         plan *list) {
  const int lane = threadIdx.x % BSI_WARP;
  const int32_t first = *next;
  int32_t begin = 0, end = 0;
  if (first + lane < w.l_length) {
    const int32_t k = w.col(first + lane);
    begin = __ldg(p.u_row_ptr + k) + 1;
    end = __ldg(p.u_row_ptr + k + 1);
  }
  int items = 0;
  int32_t count = 0;
  while (*next < w.l_length && items < ITEMS && count + BSI_WARP <= MATCHES) {
    const int32_t q_begin = __shfl_sync(BSI_FULL_WARP, begin, *next - first) + *skip,
                  q_end = __shfl_sync(BSI_FULL_WARP, end, *next - first), q = q_begin + lane;
    const int32_t t = q < q_end ? w.find(*next, __ldg(p.u_col_idx + q)) : -1;
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

/* L_ip ← A_ip U_pp⁻¹, by way of `scaled`, where it stays. */
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

/* Values begin … begin + PASSES·32 of the products of an item's matches, the first of which is
 * `match`; what they need of U is waited for together, and with it the inverse where the block of L
 * is still to be scaled. */
template <int BS, bool SHARED, int PASSES>
__device__ __forceinline__ void do_values(const job &p, const row<BS, SHARED> &w, const plan *list,
                                          int32_t match, int32_t total, int32_t begin, bool first,
                                          const double *inverse, double *own, double *pivot,
                                          double *scaled) {
  constexpr int values = BS * BS, EACH = (values + BSI_WARP - 1) / BSI_WARP;
  const int lane = threadIdx.x % BSI_WARP;
  double own_inverse[EACH], column[PASSES][BS];
  const double *from[PASSES];
#pragma unroll
  for (int e = 0; e < PASSES; e++) {
    const int32_t v = begin + lane + e * BSI_WARP;
    from[e] = v < total ? p.u + static_cast<int64_t>(list->q[match + v / values]) * values +
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
          own_inverse[e] = bsi_peek(inverse + lane + e * BSI_WARP);
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
      if (lane + e * BSI_WARP < values) pivot[lane + e * BSI_WARP] = own_inverse[e];
    if (!SHARED) __threadfence();
    scale_block(BS, pivot, own, scaled);
  }
#pragma unroll
  for (int e = 0; e < PASSES; e++) {
    if (!from[e]) continue;
    if (!SHARED) /* complete, as the inverse is there */
#pragma unroll
      for (int k = 0; k < BS; k++) column[e][k] = bsi_peek(from[e] + k);
    const int32_t v = begin + lane + e * BSI_WARP;
    double *to = w.block(list->t[match + v / values]) + v % values, sum = *to;
#pragma unroll
    for (int k = 0; k < BS; k++) sum -= scaled[k * BS + v % BS] * column[e][k];
    *to = sum;
  }
}

/* One item: its block of L is scaled where the item is the first of its p, then come the products
 * of its matches. */
template <int BS, bool SHARED>
__device__ __forceinline__ void do_item(const job &p, const row<BS, SHARED> &w, const plan *list,
                                        int item, double *pivot, double *scaled) {
  const int lane = threadIdx.x % BSI_WARP, bs = w.bs, values = w.values;
  const bool first = list->p[item] >= 0;
  const int32_t at = first ? list->p[item] : ~list->p[item],
                match = item > 0 ? list->end[item - 1] : 0,
                total = (list->end[item] - match) * values;
  const double *inverse = p.inverse + static_cast<int64_t>(w.col(at)) * values;
  double *own = w.block(at);
  if constexpr (BS > 0) {
    constexpr int PASSES = BS <= 5 ? 4 : 2;
    if (total <= BSI_WARP)
      do_values<BS, SHARED, 1>(p, w, list, match, total, 0, first, inverse, own, pivot, scaled);
    else
      for (int32_t v = 0; v < total; v += PASSES * BSI_WARP)
        do_values<BS, SHARED, PASSES>(p, w, list, match, total, v, first && v == 0, inverse, own,
                                      pivot, scaled);
  } else {
    if (first) {
      for (int e = lane; e < values; e += BSI_WARP) pivot[e] = bsi_await(inverse + e);
      if (!SHARED) __threadfence();
      scale_block(bs, pivot, own, scaled);
    }
    for (int32_t v = lane; v < total; v += BSI_WARP) {
      const int32_t m = match + v / values, r = v % bs, c = v % values / bs;
      const double *from = p.u + static_cast<int64_t>(list->q[m]) * values + c * bs;
      double *to = w.block(list->t[m]) + c * bs + r, sum = *to;
      for (int k = 0; k < bs; k++)
        sum -= scaled[k * bs + r] * (SHARED ? bsi_await(from + k) : bsi_peek(from + k));
      *to = sum;
    }
  }
  __syncwarp();
}

/* Hands the row over, its inverse last, and says what was met. */
template <int BS, bool SHARED>
__device__ __forceinline__ void finish_row(const job &p, const row<BS, SHARED> &w, double *diagonal,
                                           double *inverse) {
  const int lane = threadIdx.x % BSI_WARP, values = w.values;
  const int32_t a_begin = __ldg(p.a_row_ptr + w.i), l_values = w.l_length * values,
                all = w.length * values;
  double *u = p.u + static_cast<int64_t>(w.u_begin) * values,
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
  const bsi_block_result result = bsi_warp_invert_shifted<BS>(
      w.bs, diagonal, p.amount, p.a + static_cast<int64_t>(a_begin) * values,
      __ldg(p.a_row_ptr + w.i + 1) - a_begin, inverse, &condition);
  __syncwarp();
  for (int v = lane; v < values; v += BSI_WARP) bsi_hand_over(to + v, inverse[v]);
  for (int v = lane; v < values; v += BSI_WARP) u[v] = diagonal[v];
  bool finite = true;
  if (SHARED) {
    double *l = p.l + static_cast<int64_t>(w.l_begin) * values;
    for (int32_t v = lane; v < l_values; v += BSI_WARP) l[v] = w.blocks[v];
    for (int32_t v = lane; v < all; v += BSI_WARP) finite &= isfinite(w.blocks[v]);
  } else {
    for (int32_t t = 0; t < w.length; t++)
      for (int v = lane; v < values; v += BSI_WARP) finite &= isfinite(w.block(t)[v]);
  }
  if (!finite) atomicMin(p.words + BSI_MET_INFINITE_ROW, static_cast<unsigned long long>(w.i));
  if (lane == 0 && result != BSI_BLOCK_OK) bsi_met(p.words, result, w.i);
}

__host__ __device__ constexpr size_t warp_bytes(bool shared, int32_t longest, int values) {
  const size_t blocks = static_cast<size_t>(shared ? longest : 1) + 2;
  const size_t bytes =
      blocks * values * sizeof(double) + sizeof(plan) + (shared ? longest : 0) * sizeof(int32_t);
  return (bytes + 7) / 8 * 8;
}

/* BS = 0: the block size at run time. */
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
  w.l_begin = __ldg(p.l_row_ptr + w.i);
  w.l_length = __ldg(p.l_row_ptr + w.i + 1) - w.l_begin;
  w.u_begin = __ldg(p.u_row_ptr + w.i);
  w.length = w.l_length + __ldg(p.u_row_ptr + w.i + 1) - w.u_begin;
  w.l = p.l;
  w.u = p.u;
  w.l_col_idx = p.l_col_idx;
  w.u_col_idx = p.u_col_idx;
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

/* Conditions of the diagonal blocks: the largest, then the first row that has it. */
template <bool FIND_ROW> __global__ void __launch_bounds__(128) find_condition(const job p) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * 128 + threadIdx.x;
  const int values = p.block_size * p.block_size;
  double condition = 0.0;
  if (i < p.block_rows)
    condition =
        bsi_block_norm1(p.block_size, p.u + static_cast<int64_t>(__ldg(p.u_row_ptr + i)) * values) *
        bsi_block_norm1(p.block_size, p.inverse + i * values);
  if (FIND_ROW) {
    bsi_met_condition_row(p.words, condition, i);
  } else {
    for (int step = BSI_WARP / 2; step > 0; step /= 2) /* NaN gives way */
      condition = fmax(condition, __shfl_xor_sync(BSI_FULL_WARP, condition, step));
    if (threadIdx.x % BSI_WARP == 0) bsi_met_condition(p.words, condition);
  }
}

template <int BS, bool SHARED> cudaError_t enqueue(const bisai_context *context, const job &p) {
  const size_t needed = warp_bytes(SHARED, p.longest, p.block_size * p.block_size);
  int warps = MOST_WARPS;
  while (warps > 1 && warps * needed > EVERY_DEVICE) warps /= 2;
  /* Long rows have more to do before their turn comes. */
  const size_t bytes = bsi_bytes_to_thin_out(context, p.block_rows, p.levels,
                                             p.longest > 9 ? 32 : 8, warps, warps * needed);
  if (bytes > EVERY_DEVICE) {
    const cudaError_t error =
        cudaFuncSetAttribute(factor_rows<BS, SHARED>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(bytes));
    if (error != cudaSuccess) return error;
  }
  factor_rows<BS, SHARED>
      <<<bsi_grid(p.block_rows, warps), warps * BSI_WARP, bytes, bsi_stream_of(context)>>>(p);
  return cudaGetLastError();
}

template <bool SHARED> cudaError_t enqueue_size(const bisai_context *context, const job &p) {
  switch (p.block_size) {
#define CASE(BS)                                                                                   \
  case BS: return enqueue<BS, SHARED>(context, p);
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  }
  return enqueue<0, SHARED>(context, p);
}

/* Whether the longest row fits the shared memory that a thread block of this device can have. */
bool fits(const bisai_context *context, const job &p) {
  return warp_bytes(true, p.longest, p.block_size * p.block_size) + 16 <=
         static_cast<size_t>(context->limits.block_shared);
}

} // namespace

static bisai_status factor_ilu(bisai_context *context, const bisai_bcsr *matrix, bisai_factors *f,
                               bsi_invert_stats *stats) {
  const bisai_bcsr *l = f->lower, *u = f->upper;
  const job p = {matrix->block_rows,
                 matrix->block_size,
                 f->longest_row,
                 f->lower_levels.count,
                 f->lower_levels.rows,
                 matrix->row_ptr,
                 l->row_ptr,
                 l->col_idx,
                 u->row_ptr,
                 u->col_idx,
                 f->lower_fill,
                 f->upper_fill,
                 static_cast<const double *>(matrix->values),
                 static_cast<double *>(l->values),
                 static_cast<double *>(u->values),
                 f->upper_inverse,
                 f->shift_amount,
                 context->tickets,
                 context->first_fault};
  if (p.block_rows == 0) return BISAI_OK;
  const cudaStream_t stream = bsi_stream_of(context);
  const bool shared = fits(context, p);
  cudaError_t error = bsi_met_nothing(context);
  if (error == cudaSuccess && shared)
    error = cudaMemsetAsync(p.u, 0xff, bsi_block_offset(u, u->blocks) * sizeof(double), stream);
  if (error == cudaSuccess)
    error = cudaMemsetAsync(p.inverse, 0xff, bsi_block_offset(u, p.block_rows) * sizeof(double),
                            stream);
  if (error == cudaSuccess)
    error = shared ? enqueue_size<true>(context, p) : enqueue_size<false>(context, p);
  if (error == cudaSuccess)
    error = cudaMemsetAsync(context->tickets, 0, sizeof *context->tickets, stream);
  if (error != cudaSuccess)
    return bsi_fail(context, BISAI_DEVICE_ERROR, "block ILU: %s", cudaGetErrorString(error));
  find_condition<false><<<bsi_grid(p.block_rows, 128), 128, 0, stream>>>(p);
  find_condition<true><<<bsi_grid(p.block_rows, 128), 128, 0, stream>>>(p);
  const bisai_status status = bsi_launched(context, "block ILU");
  return status ? status : bsi_met_fetch(context, "block ILU", stats);
}

const bsi_ilu_ops bsi_ilu_cuda = {.factorise = factor_ilu};
