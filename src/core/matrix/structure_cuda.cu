/* SPDX-License-Identifier: BSD-3-Clause */
/* Searches in the structures of matrices, on a device: a thread for each block row or block. */
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "core/matrix/matrix_ops.h"
#include "gpu/for_each.cuh"
#include "gpu/record.cuh"

namespace {

constexpr int THREADS = 256;

/* Writes the positions. *first ← the first row without a block; with `expected`, the first row
 * whose position is another one. */
__global__ void __launch_bounds__(THREADS)
    locate(int32_t n, const int32_t *row_ptr, const int32_t *col_idx, const int32_t *expected,
           int32_t *position, unsigned long long *first) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * THREADS + threadIdx.x);
  bool found = false;
  if (i < n) {
    const int32_t at = bsi_find_diagonal(row_ptr, col_idx, i);
    if (position) position[i] = at;
    found = expected ? at != expected[i] : at < 0;
  }
  const int lane = __ffs(static_cast<int>(__ballot_sync(BSI_FULL_WARP, found))) - 1;
  if (lane == static_cast<int>(threadIdx.x % BSI_WARP))
    atomicMin(first, static_cast<unsigned long long>(i));
}

constexpr char what[] = "diagonal blocks";

bisai_status enqueue(bisai_context *context, const bisai_bcsr *a, const int32_t *expected,
                     int32_t *position, bsi_first_record *record) {
  BSI_TRY(bsi_record_begin(context, what, record));
  if (a->block_rows > 0)
    locate<<<bsi_grid(a->block_rows, THREADS), THREADS, 0, bsi_stream_of(context)>>>(
        a->block_rows, a->row_ptr, a->col_idx, expected, position, &record->index);
  return bsi_launched(context, what);
}

bisai_status locate_all(bisai_context *context, const bisai_bcsr *a, const int32_t *expected,
                        int32_t *position, int32_t *first) {
  bsi_first_record record;
  *first = -1;
  if (a->block_rows == 0) return BISAI_OK;
  BSI_TRY(enqueue(context, a, expected, position, bsi_record_of<bsi_first_record>(context)));
  BSI_TRY(bsi_record_fetch(context, what, &record));
  *first = static_cast<int32_t>(bsi_index_of(record.index));
  return BISAI_OK;
}

} // namespace

static bisai_status find_diagonals(bisai_context *context, const bisai_bcsr *matrix,
                                   int32_t *position, void *record, int32_t *missing) {
  if (record)
    return enqueue(context, matrix, nullptr, position, static_cast<bsi_first_record *>(record));
  return locate_all(context, matrix, nullptr, position, missing);
}

static int32_t read_missing(const void *record) {
  return static_cast<int32_t>(bsi_index_of(static_cast<const bsi_first_record *>(record)->index));
}

static bisai_status compare_diagonals(bisai_context *context, const bisai_bcsr *matrix,
                                      const int32_t *position, int32_t *moved) {
  return locate_all(context, matrix, position, nullptr, moved);
}

/* The mark of an empty row or column is NaN. All writers of a column's mark write the same. */
static bisai_status find_empty(bisai_context *context, const bisai_bcsr *matrix, bool columns,
                               double *marks, int64_t *index) {
  const int32_t n = columns ? matrix->block_cols : matrix->block_rows;
  const int32_t *row_ptr = matrix->row_ptr, *col_idx = matrix->col_idx;
  *index = -1;
  if (matrix->unit_diagonal || n == 0) return BISAI_OK;
  if (!columns) {
    BSI_TRY(bsi_for_each(context, "rows", n, [=] __device__(int64_t i) {
      marks[i] = row_ptr[i + 1] > row_ptr[i] ? 0.0 : NAN;
    }));
  } else {
    BSI_TRY(context->backend->vectors->set(context, n, NAN, marks));
    BSI_TRY(bsi_for_each(context, "columns", matrix->blocks,
                         [=] __device__(int64_t p) { marks[col_idx[p]] = 0.0; }));
  }
  return context->backend->matrix->blocks->find_not_finite(context, BISAI_FP64, n, marks, index);
}

static bisai_status compare(bisai_context *context, int32_t rows, int32_t blocks,
                            const bsi_structure *a, const bsi_structure *b, bool *same) {
  constexpr char compared[] = "comparison of structures";
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

const bsi_structure_ops bsi_structures_cuda = {.find_empty = find_empty,
                                               .find_diagonals = find_diagonals,
                                               .record_bytes = sizeof(bsi_first_record),
                                               .read_missing = read_missing,
                                               .compare_diagonals = compare_diagonals,
                                               .compare = compare};
