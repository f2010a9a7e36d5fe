/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of products of sparse matrices on a device, and matrices of single values.
 *
 * Block (i, j) of C = A B is the sum of A_ik B_kj over the blocks of row i of A, in their order. A
 * lane takes a column of it, and `width` lanes take the block. Each of them searches for column j
 * in another row k of B, and passes on where the block is. Nothing is written but the results, so
 * that an update needs no memory and the bits repeat. */
#include "core/block_sizes.h"
#include "multigrid/rows_cuda.cuh"

namespace {

/* Messages of failures begin with it. */
constexpr char what[] = "product of sparse matrices";

struct product {
  int32_t rows, blocks;
  int height, inner, width;
  const int32_t *a_ptr, *a_col, *b_ptr, *b_col, *c_ptr, *c_col;
  /* NULL: identity blocks */
  const double *a, *b;
  double *c;
};

/* Returns the position of column j in the row of B that block p of A multiplies, or -1. */
__device__ __forceinline__ int32_t find_factor(const product &s, int32_t p, int32_t j) {
  const int32_t k = __ldg(s.a_col + p);
  return bsi_find_column(bsi_read_only<int32_t>{s.b_col}, __ldg(s.b_ptr + k),
                         __ldg(s.b_ptr + k + 1), j);
}

/* sum ← sum + A_p times a column of B_q.
 *   H, M: the height and the width of the blocks of A
 *   A, B: the blocks have values; otherwise they are identities */
template <int H, int M, bool A, bool B>
__device__ __forceinline__ void add_product(const product &s, int32_t p, int32_t q, int column,
                                            double (&sum)[H]) {
  if constexpr (A && B) {
    const double *left = s.a + static_cast<int64_t>(p) * (H * M);
    double right[M];
    load_cached<M>(s.b + (static_cast<int64_t>(q) * s.width + column) * M, right);
#pragma unroll
    for (int k = 0; k < M; k++) {
      double a[H];
      load_cached<H>(left + k * H, a);
#pragma unroll
      for (int r = 0; r < H; r++) sum[r] += a[r] * right[k];
    }
  } else {
    double values[H];
    load_cached<H>(A ? s.a + (static_cast<int64_t>(p) * M + column) * H
                     : s.b + (static_cast<int64_t>(q) * s.width + column) * H,
                   values);
#pragma unroll
    for (int r = 0; r < H; r++) sum[r] += values[r];
  }
}

/* Template parameters: those of add_product(). */
template <int H, int M, bool A, bool B>
__global__ void __launch_bounds__(BLOCK_THREADS) multiply(const product s) {
  bsi_wait_for_predecessor();
  const int width = s.width;
  const lanes_of_blocks l = block_of_lane(s.rows, s.c_ptr, s.blocks, width);
  if (l.position < 0) return;
  const int32_t j = __ldg(s.c_col + l.position), begin = __ldg(s.a_ptr + l.row),
                length = l.working ? __ldg(s.a_ptr + l.row + 1) - begin : 0;
  const unsigned lanes = BSI_FULL_WARP >> (BSI_WARP - width);
  double sum[H] = {};
  for (int32_t done = 0; __any_sync(BSI_FULL_WARP, done < length); done += width) {
    const int32_t at = done + l.member < length ? find_factor(s, begin + done + l.member, j) : -1;
    unsigned found = __ballot_sync(BSI_FULL_WARP, at >= 0) >> l.first & lanes;
    while (__any_sync(BSI_FULL_WARP, found != 0)) {
      const int next = found != 0 ? __ffs(static_cast<int>(found)) - 1 : 0;
      const int32_t q = __shfl_sync(BSI_FULL_WARP, at, l.first + next);
      if (found != 0) add_product<H, M, A, B>(s, begin + done + next, q, l.member, sum);
      found &= found - 1;
    }
  }
  if (!l.working) return;
  double *to = s.c + (static_cast<int64_t>(l.position) * width + l.member) * H;
#pragma unroll
  for (int r = 0; r < H; r++) to[r] = sum[r];
}

/* Value (r, c) of A_p B_q. */
__device__ __forceinline__ double value_of_product(const product &s, int32_t p, int32_t q, int r,
                                                   int c) {
  const double *a = s.a + static_cast<int64_t>(p) * s.height * s.inner + r,
               *b = s.b + (static_cast<int64_t>(q) * s.width + c) * s.inner;
  if (!s.a && !s.b) return r == c ? 1.0 : 0.0;
  if (!s.a) return b[r];
  if (!s.b) return a[c * s.height];
  double value = 0.0;
  for (int k = 0; k < s.inner; k++) value += a[k * s.height] * b[k];
  return value;
}

/* Blocks of any size. A warp takes a block, and 32 of its values at a time. */
__global__ void __launch_bounds__(BLOCK_THREADS) multiply_any(const product s) {
  bsi_wait_for_predecessor();
  const lanes_of_blocks l = block_of_lane(s.rows, s.c_ptr, s.blocks, BSI_WARP);
  if (l.position < 0) return;
  const int32_t j = __ldg(s.c_col + l.position), begin = __ldg(s.a_ptr + l.row),
                length = __ldg(s.a_ptr + l.row + 1) - begin;
  const int values = s.height * s.width;
  for (int start = 0; start < values; start += BSI_WARP) {
    const int v = start + l.member, r = v % s.height, c = v / s.height;
    double sum = 0.0;
    for (int32_t done = 0; done < length; done += BSI_WARP) {
      const int32_t at = done + l.member < length ? find_factor(s, begin + done + l.member, j) : -1;
      for (unsigned found = __ballot_sync(BSI_FULL_WARP, at >= 0); found != 0; found &= found - 1) {
        const int next = __ffs(static_cast<int>(found)) - 1;
        const int32_t q = __shfl_sync(BSI_FULL_WARP, at, next);
        if (v < values) sum += value_of_product(s, begin + done + next, q, r, c);
      }
    }
    if (v < values) s.c[static_cast<int64_t>(l.position) * values + v] = sum;
  }
}

using kernel = void (*)(product);

/* Returns the kernel for blocks of A of SIZE × SIZE. */
template <int SIZE> kernel square(bool a, bool b) {
  if (a && b) return multiply<SIZE, SIZE, true, true>;
  if (a) return multiply<SIZE, SIZE, true, false>;
  return b ? multiply<SIZE, SIZE, false, true> : multiply_any;
}

/* Restrictions by rigid-body modes in two and three dimensions have other shapes too. */
kernel kernel_for(const product &s) {
  if (s.b && s.height == 6 && s.inner == 3) return multiply<6, 3, true, true>;
  if (s.b && s.height == 3 && s.inner == 2) return multiply<3, 2, true, true>;
  if (s.height != s.inner) return multiply_any;
  switch (s.height) {
#define SQUARE(size)                                                                               \
  case size: return square<size>(s.a, s.b);
    BSI_BLOCK_SIZES(SQUARE)
  default: return multiply_any;
  }
}

} // namespace

static bisai_status multiply_values(bisai_context *context, const bsi_sparse *a,
                                    const bsi_sparse *b, bsi_sparse *c) {
  if (c->blocks == 0) return BISAI_OK;
  const product s = {c->rows,    c->blocks,  c->height,  a->width,   c->width,
                     a->row_ptr, a->col_idx, b->row_ptr, b->col_idx, c->row_ptr,
                     c->col_idx, a->values,  b->values,  c->values};
  const kernel multiply_blocks = kernel_for(s);
  bsi_launch_early(context, multiply_blocks,
                   grid_of_blocks(s.blocks, multiply_blocks == multiply_any ? BSI_WARP : s.width),
                   BLOCK_THREADS, 0, s);
  return bsi_launched(context, what);
}

/* --- matrices of single values --- */

namespace {

constexpr char what_of_split[] = "matrix of single values";

struct split_matrix {
  int bs;
  const int32_t *row_ptr, *col_idx;
  const double *values;
};

/* Calls f(column, value) for each value of a scalar row. */
template <typename F>
__device__ __forceinline__ void for_each_value(const split_matrix &a, int64_t row, F f) {
  const int32_t i = static_cast<int32_t>(row / a.bs), end = __ldg(a.row_ptr + i + 1);
  const int r = static_cast<int>(row % a.bs);
  for (int32_t p = __ldg(a.row_ptr + i); p < end; p++) {
    const double *value = a.values + static_cast<int64_t>(p) * a.bs * a.bs + r;
    const int32_t column = __ldg(a.col_idx + p) * a.bs;
    for (int k = 0; k < a.bs; k++) f(column + k, __ldg(value + k * a.bs));
  }
}

split_matrix split_matrix_of(const bisai_bcsr *a) {
  return {a->block_size, a->row_ptr, a->col_idx, static_cast<const double *>(a->values)};
}

} // namespace

static bisai_status split_structure(bisai_context *context, const bisai_bcsr *matrix,
                                    bsi_sparse *c) {
  const int64_t rows = static_cast<int64_t>(matrix->block_rows) * matrix->block_size;
  const split_matrix a = split_matrix_of(matrix);
  bsi_structure_report report;
  bsi_lengths lengths;
  bsi_temporary memory(context);
  if (rows > INT32_MAX)
    return bsi_fail(context, BISAI_INDEX_OVERFLOW, "%lld scalar rows: at most %d are possible",
                    static_cast<long long>(rows), INT32_MAX);
  c->rows = c->cols = static_cast<int32_t>(rows);
  c->height = c->width = 1;
  c->row_ptr = bsi_reserve_indices(context, static_cast<size_t>(rows) + 1);
  if (!c->row_ptr) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(bsi_lengths_reserve(&memory, c->rows, &lengths));
  BSI_TRY(bsi_record_begin<bsi_structure_report>(context, what_of_split));
  int64_t *of_rows = lengths.of_rows;
  BSI_TRY(bsi_for_each(context, what_of_split, rows, [=] __device__(int64_t row) {
    int64_t count = 0;
    for_each_value(a, row,
                   [&](int32_t column, double value) { count += value != 0.0 || column == row; });
    of_rows[row] = count;
  }));
  BSI_TRY(bsi_lengths_add(context, &lengths, c->row_ptr));
  BSI_TRY(bsi_lengths_fetch(context, "a matrix of single values", &report));
  c->blocks = static_cast<int32_t>(report.total);
  c->col_idx = bsi_reserve_indices(context, static_cast<size_t>(c->blocks));
  if (!c->col_idx) return BISAI_OUT_OF_MEMORY;
  const int32_t *row_ptr = c->row_ptr;
  int32_t *col_idx = c->col_idx;
  return bsi_for_each(context, what_of_split, rows, [=] __device__(int64_t row) {
    int32_t at = row_ptr[row];
    for_each_value(a, row, [&](int32_t column, double value) {
      if (value != 0.0 || column == row) col_idx[at++] = column;
    });
  });
}

static bisai_status split_values(bisai_context *context, const bisai_bcsr *matrix, bsi_sparse *c,
                                 int32_t *lost) {
  const split_matrix a = split_matrix_of(matrix);
  const int32_t *row_ptr = c->row_ptr, *col_idx = c->col_idx;
  double *values = c->values;
  bsi_first_record *record = bsi_record_of<bsi_first_record>(context), first;
  BSI_TRY(bsi_record_begin<bsi_first_record>(context, what_of_split));
  BSI_TRY(bsi_for_each(context, what_of_split, c->rows, [=] __device__(int64_t row) {
    int32_t at = row_ptr[row];
    const int32_t end = row_ptr[row + 1];
    bool complete = true;
    for_each_value(a, row, [&](int32_t column, double value) {
      if (at < end && col_idx[at] == column)
        values[at++] = value;
      else
        complete = complete && value == 0.0;
    });
    if (!complete) atomicMin(&record->index, static_cast<unsigned long long>(row));
  }));
  BSI_TRY(bsi_record_fetch(context, what_of_split, &first));
  *lost = static_cast<int32_t>(bsi_index_of(first.index));
  return BISAI_OK;
}

/* --- structures --- */

static bisai_status same_structure(bisai_context *context, const bsi_sparse *a, const bsi_sparse *b,
                                   bool *same) {
  constexpr char compared[] = "comparison of structures";
  *same = a->rows == b->rows && a->cols == b->cols && a->blocks == b->blocks;
  if (!*same) return BISAI_OK;
  const int32_t rows = a->rows, blocks = a->blocks;
  const int32_t *a_ptr = a->row_ptr, *b_ptr = b->row_ptr, *a_col = a->col_idx, *b_col = b->col_idx;
  bsi_first_record *record = bsi_record_of<bsi_first_record>(context), first;
  BSI_TRY(bsi_record_begin<bsi_first_record>(context, compared));
  const int64_t most = rows + 1ll > blocks ? rows + 1ll : blocks;
  BSI_TRY(bsi_for_each(context, compared, most, [=] __device__(int64_t k) {
    if ((k <= rows && a_ptr[k] != b_ptr[k]) || (k < blocks && a_col[k] != b_col[k]))
      atomicMin(&record->index, static_cast<unsigned long long>(k));
  }));
  BSI_TRY(bsi_record_fetch(context, compared, &first));
  *same = first.index == BSI_NONE;
  return BISAI_OK;
}

const bsi_sparse_ops bsi_sparse_cuda = {.multiply_structure = bsi_multiply_structure,
                                        .multiply_values = multiply_values,
                                        .split_structure = split_structure,
                                        .split_values = split_values,
                                        .same_structure = same_structure};
