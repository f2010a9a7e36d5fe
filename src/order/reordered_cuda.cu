/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of B = P Q Dr A Dc Pᵀ, the factors Dr and Dc, and vectors into the order of B and back, on
 * the device. The rounds of equilibration are those of reordered_host.c. After a round that changes
 * nothing all others change nothing, so that the host need not wait for any. */
#include <algorithm>
#include <climits>
#include <cmath>

#include "core/block/block_math.h"
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "gpu/launch.cuh"
#include "gpu/record.cuh"
#include "order/order_ops.h"
#include "order/reordered.h"

namespace {

enum {
  ROUNDS = 10,
  LARGEST_EXPONENT = BSI_LARGEST_EXPONENT,
  THREADS = 256,
  WARPS = THREADS / BSI_WARP
};

/* --- vectors --- */

/* A thread takes one of the `length` = n·bs values of a vector. */
template <bool SCATTER>
__global__ void __launch_bounds__(THREADS) move_values(int64_t length, const bsi_move m) {
  const int64_t v = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (v >= length) return;
  int64_t old = v;
  if (m.permutation) {
    const int64_t i = v / m.bs;
    old = static_cast<int64_t>(__ldg(m.permutation + i)) * m.bs + (v - i * m.bs);
  }
  const double value = m.x[blockIdx.y * m.ldx + (SCATTER ? v : old)];
  m.y[blockIdx.y * m.ldy + (SCATTER ? old : v)] = m.scale ? __ldg(m.scale + old) * value : value;
}

/* --- equilibration --- */

struct report {
  static constexpr int firsts = 4;
  /* the first block row and block column of zeros */
  unsigned long long zero_row, zero_col;
  /* LARGEST_EXPONENT plus the smallest exponent of a factor, and minus the largest */
  unsigned long long smallest, minus_largest;
};

__device__ bool is_of_zero(int32_t scaled_exponent) {
  return scaled_exponent < BSI_EXPONENT_OF_ZERO / 2;
}

__global__ void __launch_bounds__(THREADS)
    find_exponents(int64_t count, const double *values, int16_t *exponents) {
  const int64_t v = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (v >= count) return;
  const double value = values[v];
  const long long bits = __double_as_longlong(value);
  exponents[v] = value == 0.0 ? BSI_EXPONENT_OF_ZERO
                              : static_cast<int16_t>(static_cast<int>(bits >> 52 & 0x7ff) - 1022);
}

struct balance {
  int32_t block_rows;
  int bs;
  const int32_t *row_ptr, *col_idx;
  const int16_t *exponents;
  int32_t *row_exponent, *col_exponent, *row_max, *col_max;
  report *found;
};

/* Finds the largest scaled exponents. A warp takes a block row, a lane a column of a block. They
 * are integers, so that the order of atomics does not matter. */
__global__ void __launch_bounds__(THREADS) find_most(const balance p) {
  __shared__ int32_t all[WARPS][BISAI_MAX_BLOCK_SIZE];
  const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP, bs = p.bs;
  const int64_t i = static_cast<int64_t>(blockIdx.x) * WARPS + warp;
  if (i >= p.block_rows) return;
  int32_t *most = all[warp];
  most[lane] = BSI_EXPONENT_OF_ZERO;
  __syncwarp();
  const int64_t begin = static_cast<int64_t>(p.row_ptr[i]) * bs,
                end = static_cast<int64_t>(p.row_ptr[i + 1]) * bs;
  for (int64_t f = begin + lane; f < end; f += BSI_WARP) {
    const int64_t q = f / bs, column = static_cast<int64_t>(p.col_idx[q]) * bs + (f - q * bs);
    const int32_t col = p.col_exponent[column];
    int32_t most_of_col = BSI_EXPONENT_OF_ZERO;
    for (int r = 0; r < bs; r++) {
      const int32_t scaled = p.exponents[f * bs + r] + p.row_exponent[i * bs + r] + col;
      atomicMax(&most[r], scaled);
      most_of_col = max(most_of_col, scaled);
    }
    atomicMax(p.col_max + column, most_of_col);
  }
  __syncwarp();
  if (lane < bs) p.row_max[i * bs + lane] = most[lane];
}

/* Finds the first block row and block column that have zeros alone. */
__global__ void __launch_bounds__(THREADS) find_zeros(const balance p) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (i >= p.block_rows) return;
  bool zero_row = true, zero_col = true;
  for (int r = 0; r < p.bs; r++) {
    zero_row &= is_of_zero(p.row_max[i * p.bs + r]);
    zero_col &= is_of_zero(p.col_max[i * p.bs + r]);
  }
  if (zero_row) atomicMin(&p.found->zero_row, static_cast<unsigned long long>(i));
  if (zero_col) atomicMin(&p.found->zero_col, static_cast<unsigned long long>(i));
}

__device__ void take_half(int32_t most, int32_t *exponent) {
  if (!is_of_zero(most))
    *exponent = max(-LARGEST_EXPONENT, min(LARGEST_EXPONENT, *exponent - most / 2));
}

/* Subtracts half of each largest exponent, and clears those of columns for find_most(). */
__global__ void __launch_bounds__(THREADS) take_halves(const balance p, int64_t n) {
  const int64_t k = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (k >= n) return;
  take_half(p.row_max[k], p.row_exponent + k);
  take_half(p.col_max[k], p.col_exponent + k);
  p.col_max[k] = BSI_EXPONENT_OF_ZERO;
}

__global__ void __launch_bounds__(THREADS) clear(const balance p, int64_t n) {
  const int64_t k = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (k >= n) return;
  p.row_exponent[k] = p.col_exponent[k] = 0;
  p.col_max[k] = BSI_EXPONENT_OF_ZERO;
}

__global__ void __launch_bounds__(THREADS)
    set_scales(const balance p, int64_t n, double *row_scale, double *col_scale) {
  const int64_t k = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  int32_t smallest = INT_MAX, largest = INT_MIN;
  if (k < n) {
    const int32_t r = p.row_exponent[k], c = p.col_exponent[k];
    row_scale[k] = ldexp(1.0, r);
    col_scale[k] = ldexp(1.0, c);
    smallest = min(r, c);
    largest = max(r, c);
  }
  smallest = bsi_warp_min(smallest);
  largest = bsi_warp_max(largest);
  if (threadIdx.x % BSI_WARP != 0 || smallest > largest) return;
  atomicMin(&p.found->smallest, static_cast<unsigned long long>(LARGEST_EXPONENT + smallest));
  atomicMin(&p.found->minus_largest, static_cast<unsigned long long>(LARGEST_EXPONENT - largest));
}

/* --- values --- */

struct reorder {
  int32_t block_rows;
  int bs;
  const int32_t *row_ptr, *col_idx, *rows, *columns, *source;
  const double *row_scale, *col_scale, *from;
  double *to;
};

/* A warp takes a block row of B. */
__global__ void __launch_bounds__(THREADS) reorder_rows(const reorder p) {
  const int lane = threadIdx.x % BSI_WARP, bs = p.bs, values = bs * bs;
  const int64_t i = static_cast<int64_t>(blockIdx.x) * WARPS + threadIdx.x / BSI_WARP;
  if (i >= p.block_rows) return;
  const int64_t row = p.rows ? __ldg(p.rows + i) : i;
  const int64_t begin = __ldg(p.row_ptr + i), length = (__ldg(p.row_ptr + i + 1) - begin) * values;
  for (int64_t v = lane; v < length; v += BSI_WARP) {
    const int64_t block = v / values, q = begin + block,
                  source = p.source ? __ldg(p.source + q) : q;
    const int w = static_cast<int>(v - block * values);
    double value = p.from[source * values + w];
    if (p.row_scale) {
      const int32_t to = __ldg(p.col_idx + q);
      const int64_t column = p.columns ? __ldg(p.columns + to) : to;
      value = __ldg(p.row_scale + row * bs + w % bs) * __ldg(p.col_scale + column * bs + w / bs) *
              value;
    }
    p.to[begin * values + v] = value;
  }
}

/* Finds the first position in `zeros` of a value that is not zero. */
__global__ void __launch_bounds__(THREADS)
    find_not_zero(int32_t count, const int32_t *zeros, const double *values,
                  bsi_first_record *found) {
  const int64_t k = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (k < count && values[zeros[k]] != 0.0)
    atomicMin(&found->index, static_cast<unsigned long long>(k));
}

} // namespace

static bisai_status move_vectors(bisai_context *context, const bsi_move *vectors) {
  constexpr int32_t most = 65535; /* the largest second dimension of a grid */
  const int64_t length = static_cast<int64_t>(vectors->n) * vectors->bs;
  for (int32_t c = 0; c < vectors->count && length > 0; c += most) {
    bsi_move m = *vectors;
    m.x += c * m.ldx;
    m.y += c * m.ldy;
    const dim3 grid(bsi_grid(length, THREADS), static_cast<unsigned>(std::min(m.count - c, most)));
    if (m.scatter)
      move_values<true><<<grid, THREADS, 0, bsi_stream_of(context)>>>(length, m);
    else
      move_values<false><<<grid, THREADS, 0, bsi_stream_of(context)>>>(length, m);
  }
  return bsi_launched(context, "reordering of vectors");
}

static void enqueue_rounds(bisai_context *context, const bisai_bcsr *a, const bsi_equilibration *q,
                           const balance &p) {
  const int64_t n = static_cast<int64_t>(a->block_rows) * a->block_size,
                count = static_cast<int64_t>(bsi_block_offset(a, a->blocks));
  const bsi_gpu_stream stream = bsi_stream_of(context);
  const unsigned flat = bsi_grid(n, THREADS), by_rows = bsi_grid(a->block_rows, WARPS);
  if (count > 0)
    find_exponents<<<bsi_grid(count, THREADS), THREADS, 0, stream>>>(
        count, static_cast<const double *>(a->values), q->exponents);
  clear<<<flat, THREADS, 0, stream>>>(p, n);
  for (int round = 0; round < ROUNDS; round++) {
    find_most<<<by_rows, THREADS, 0, stream>>>(p);
    if (round == 0) find_zeros<<<bsi_grid(a->block_rows, THREADS), THREADS, 0, stream>>>(p);
    take_halves<<<flat, THREADS, 0, stream>>>(p, n);
  }
  set_scales<<<flat, THREADS, 0, stream>>>(p, n, q->row_scale, q->col_scale);
}

static bisai_status equilibrate(bisai_context *context, const bisai_bcsr *a, bsi_equilibration *q) {
  static const char what[] = "equilibration";
  q->zero_row = q->zero_col = -1;
  q->smallest = q->largest = 1.0;
  if (a->block_rows == 0) return BISAI_OK;
  BSI_TRY(bsi_record_begin<report>(context, what));
  enqueue_rounds(context, a, q,
                 {.block_rows = a->block_rows,
                  .bs = a->block_size,
                  .row_ptr = a->row_ptr,
                  .col_idx = a->col_idx,
                  .exponents = q->exponents,
                  .row_exponent = q->row_exponent,
                  .col_exponent = q->col_exponent,
                  .row_max = q->row_max,
                  .col_max = q->col_max,
                  .found = bsi_record_of<report>(context)});
  BSI_TRY(bsi_launched(context, what));
  report found;
  BSI_TRY(bsi_record_fetch(context, what, &found));
  q->zero_row = static_cast<int32_t>(bsi_index_of(found.zero_row));
  q->zero_col = static_cast<int32_t>(bsi_index_of(found.zero_col));
  q->smallest = ldexp(1.0, static_cast<int>(found.smallest) - LARGEST_EXPONENT);
  q->largest = ldexp(1.0, LARGEST_EXPONENT - static_cast<int>(found.minus_largest));
  return BISAI_OK;
}

static bisai_status reorder_values(bisai_context *context, const bisai_bcsr *a, bsi_reordered *r) {
  const bisai_bcsr *b = r->matrix;
  if (b->block_rows == 0) return BISAI_OK;
  reorder_rows<<<bsi_grid(b->block_rows, WARPS), THREADS, 0, bsi_stream_of(context)>>>(
      {.block_rows = b->block_rows,
       .bs = b->block_size,
       .row_ptr = b->row_ptr,
       .col_idx = b->col_idx,
       .rows = r->maps.rows,
       .columns = r->maps.columns,
       .source = r->maps.source,
       .row_scale = r->equilibration.row_scale,
       .col_scale = r->equilibration.col_scale,
       .from = static_cast<const double *>(a->values),
       .to = static_cast<double *>(b->values)});
  return bsi_launched(context, "values of the reordered matrix");
}

static bisai_status find_nonzero(bisai_context *context, const bisai_bcsr *a,
                                 const bsi_reordered *r, int32_t *first) {
  static const char what[] = "search for nonzeros";
  BSI_TRY(bsi_record_begin<bsi_first_record>(context, what));
  find_not_zero<<<bsi_grid(r->zero_count, THREADS), THREADS, 0, bsi_stream_of(context)>>>(
      r->zero_count, r->zeros, static_cast<const double *>(a->values),
      bsi_record_of<bsi_first_record>(context));
  BSI_TRY(bsi_launched(context, what));
  bsi_first_record found;
  BSI_TRY(bsi_record_fetch(context, what, &found));
  *first = static_cast<int32_t>(bsi_index_of(found.index));
  return BISAI_OK;
}

const bsi_reordered_ops bsi_reordered_cuda = {.move = move_vectors,
                                              .equilibrate = equilibrate,
                                              .find_nonzero = find_nonzero,
                                              .values = reorder_values};
