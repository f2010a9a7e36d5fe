/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies in blocks of one value on a GPU: one thread for each scalar row. */
#include "core/block/block_sizes.h"
#include "core/matrix/bcsr_impl.h"
#include "gpu/for_each.cuh"
#include "gpu/record.cuh"
#include "multigrid/spgemm/rows_cuda.cuh"
#include "multigrid/unit/scalar_copy.h"

namespace {

constexpr char what[] = "matrix of single values";

/* A, and the scalar matrix c. */
struct scalar_copy {
  int32_t rows;
  int bs;
  const int32_t *a_ptr, *a_col;
  const double *a;
  /* COUNT: the lengths of the rows of c */
  int64_t *lengths;
  const int32_t *c_ptr;
  int32_t *c_col;
  double *c;
  /* REFILL: the first row with a value that has no place */
  bsi_first_record *record;
};

/* COUNT: the lengths of rows. FILL: columns and values. REFILL: values alone, of columns that are
 * there. */
enum copy_step { COUNT, FILL, REFILL };

/* FILL: the entries of the rows of a thread block on their way to c. They are collected in shared
 * memory, so that requests write whole lines, unless they are too many. */
enum { COLLECTED = 3072 };

struct collection {
  int32_t begin, count;
  int32_t *columns;
  double *values;
  __device__ __forceinline__ bool holds() const { return count <= COLLECTED; }
};

/* Writes an entry. */
template <copy_step STEP>
__device__ __forceinline__ void put(const scalar_copy &s, const collection &to, int32_t at,
                                    int32_t column, double value) {
  if (STEP == FILL) *(to.holds() ? to.columns + (at - to.begin) : s.c_col + at) = column;
  if (STEP == FILL) *(to.holds() ? to.values + (at - to.begin) : s.c + at) = value;
  if (STEP == REFILL) s.c[at] = value;
}

/* Does the diagonal entry of a scalar row whose diagonal block A does not store. Returns the place
 * behind it. */
template <copy_step STEP>
__device__ __forceinline__ int32_t place_zero(const scalar_copy &s, const collection &to,
                                              int32_t row, int32_t at, int32_t last) {
  if (STEP == REFILL && (at == last || s.c_col[at] != row)) return at;
  put<STEP>(s, to, at, row, 0.0);
  return at + 1;
}

/* A thread takes a scalar row, and loads the part of a block in it at once.
 *   BS: the block size; 0: any */
template <int BS, copy_step STEP>
__device__ __forceinline__ void copy_row(const scalar_copy &s, const collection &to, int32_t row) {
  constexpr int LOADED = BS > 0 ? BS : 1;
  const int bs = BS > 0 ? BS : s.bs;
  const int32_t i = row / bs, end = __ldg(s.a_ptr + i + 1);
  const int32_t last = STEP == COUNT ? 0 : __ldg(s.c_ptr + row + 1);
  int32_t at = STEP == COUNT ? 0 : __ldg(s.c_ptr + row);
  bool complete = true, diagonal = false;
#pragma unroll 2
  for (int32_t p = __ldg(s.a_ptr + i); p < end; p++) {
    const double *from = s.a + static_cast<int64_t>(p) * bs * bs + row % bs;
    const int32_t j = __ldg(s.a_col + p), first = j * bs;
    if (!diagonal && j > i) at = place_zero<STEP>(s, to, row, at, last);
    diagonal = diagonal || j >= i;
    for (int k = 0; k < bs; k += LOADED) {
      double value[LOADED];
#pragma unroll
      for (int l = 0; l < LOADED; l++) value[l] = __ldg(from + (k + l) * bs);
#pragma unroll
      for (int l = 0; l < LOADED; l++) {
        const int32_t column = first + k + l;
        const bool there =
            STEP == REFILL ? at < last && s.c_col[at] == column : value[l] != 0.0 || column == row;
        if (there) put<STEP>(s, to, at, column, value[l]);
        complete = complete && (there || value[l] == 0.0);
        at += there;
      }
    }
  }
  if (!diagonal) at = place_zero<STEP>(s, to, row, at, last);
  if (STEP == COUNT) s.lengths[row] = at;
  if (STEP == REFILL && !complete)
    atomicMin(&s.record->index, static_cast<unsigned long long>(row));
}

/* Template parameters: those of copy_row(). */
template <int BS, copy_step STEP>
__global__ void __launch_bounds__(BSI_FOR_EACH_THREADS) copy_matrix(const scalar_copy s) {
  __shared__ int32_t columns[STEP == FILL ? COLLECTED : 1];
  __shared__ double values[STEP == FILL ? COLLECTED : 1];
  const int64_t first = blockIdx.x * static_cast<int64_t>(BSI_FOR_EACH_THREADS),
                row = first + threadIdx.x;
  bsi_wait_for_predecessor();
  collection to = {0, 0, columns, values};
  if (STEP == FILL) {
    to.begin = __ldg(s.c_ptr + first);
    to.count =
        __ldg(s.c_ptr + min(first + BSI_FOR_EACH_THREADS, static_cast<int64_t>(s.rows))) - to.begin;
  }
  if (row < s.rows) copy_row<BS, STEP>(s, to, static_cast<int32_t>(row));
  if (STEP != FILL || !to.holds()) return;
  __syncthreads();
  for (int32_t k = static_cast<int32_t>(threadIdx.x); k < to.count; k += BSI_FOR_EACH_THREADS) {
    s.c_col[to.begin + k] = columns[k];
    s.c[to.begin + k] = values[k];
  }
}

template <copy_step STEP> bisai_status copy(bisai_context *context, const scalar_copy &s) {
  if (s.rows == 0) return BISAI_OK;
#define ENTRY(BS) , copy_matrix<BS, STEP>
  static void (*const kernels[])(scalar_copy) = {copy_matrix<0, STEP> BSI_BLOCK_SIZES(ENTRY)};
#undef ENTRY
  bsi_launch_early(context, kernels[s.bs <= BSI_SPECIAL_SIZES ? s.bs : 0],
                   bsi_grid(s.rows, BSI_FOR_EACH_THREADS), BSI_FOR_EACH_THREADS, 0, s);
  return bsi_launched(context, what);
}

scalar_copy scalar_copy_of(const bisai_bcsr *a, const bsi_block_matrix *c) {
  return {.rows = c->rows,
          .bs = a->block_size,
          .a_ptr = a->row_ptr,
          .a_col = a->col_idx,
          .a = static_cast<const double *>(a->values),
          .c_ptr = c->row_ptr,
          .c_col = c->col_idx,
          .c = c->values};
}

} // namespace

static bisai_status copy_rows(bisai_context *context, const bisai_bcsr *matrix,
                              bsi_block_matrix *c) {
  const int64_t rows = static_cast<int64_t>(matrix->block_rows) * matrix->block_size;
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
  BSI_TRY(bsi_record_begin<bsi_structure_report>(context, what));
  scalar_copy s = scalar_copy_of(matrix, c);
  s.lengths = lengths.of_rows;
  BSI_TRY(copy<COUNT>(context, s));
  BSI_TRY(bsi_lengths_add(context, &lengths, c->row_ptr));
  BSI_TRY(bsi_lengths_fetch(context, "a matrix of single values", INT64_MAX, &report));
  c->blocks = static_cast<int32_t>(report.total);
  c->col_idx = bsi_reserve_indices(context, static_cast<size_t>(c->blocks));
  return c->col_idx ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

static bisai_status copy_fill(bisai_context *context, const bisai_bcsr *matrix,
                              bsi_block_matrix *c) {
  return copy<FILL>(context, scalar_copy_of(matrix, c));
}

static bisai_status copy_values(bisai_context *context, const bisai_bcsr *matrix,
                                bsi_block_matrix *c, int32_t *lost) {
  scalar_copy s = scalar_copy_of(matrix, c);
  bsi_first_record first;
  s.record = bsi_record_of<bsi_first_record>(context);
  BSI_TRY(bsi_record_begin<bsi_first_record>(context, what));
  BSI_TRY(copy<REFILL>(context, s));
  BSI_TRY(bsi_record_fetch(context, what, &first));
  *lost = static_cast<int32_t>(bsi_index_of(first.index));
  return BISAI_OK;
}

static bisai_status equal(bisai_context *context, const bisai_bcsr *a, const bisai_bcsr *s,
                          bool *equal) {
  constexpr char compared[] = "comparison with single values";
  const bsi_scalar_pair pair = bsi_scalar_pair_of(a, s);
  const int64_t rows = static_cast<int64_t>(a->block_rows) * pair.bs;
  bsi_first_record *record = bsi_record_of<bsi_first_record>(context), first;
  BSI_TRY(bsi_record_begin<bsi_first_record>(context, compared));
  BSI_TRY(bsi_for_each(context, compared, rows, [=] __device__(int64_t k) {
    if (!bsi_scalar_row_is_equal(&pair, static_cast<int32_t>(k / pair.bs),
                                 static_cast<int>(k % pair.bs)))
      atomicMin(&record->index, static_cast<unsigned long long>(k));
  }));
  BSI_TRY(bsi_record_fetch(context, compared, &first));
  *equal = first.index == BSI_NONE;
  return BISAI_OK;
}

const bsi_scalar_copy_ops bsi_scalar_copy_cuda = {
    .rows = copy_rows, .fill = copy_fill, .values = copy_values, .equal = equal};
