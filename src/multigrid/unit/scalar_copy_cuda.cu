/* SPDX-License-Identifier: BSD-3-Clause */
/* The comparison with a matrix of single values on a GPU: one thread for each scalar row. */
#include "core/matrix/bcsr_impl.h"
#include "gpu/for_each.cuh"
#include "gpu/record.cuh"
#include "multigrid/multigrid_ops.h"
#include "multigrid/unit/scalar_copy.h"

static bisai_status equal(bisai_context *context, const bisai_bcsr *a, const bisai_bcsr *s,
                          bool *equal) {
  constexpr char what[] = "comparison with single values";
  const int bs = a->block_size;
  const int64_t rows = static_cast<int64_t>(a->block_rows) * bs;
  const int32_t *row_ptr = a->row_ptr, *col_idx = a->col_idx, *s_ptr = s->row_ptr,
                *s_col = s->col_idx;
  const void *values = a->values, *s_values = s->values;
  bsi_first_record *record = bsi_record_of<bsi_first_record>(context), first;
  BSI_TRY(bsi_record_begin<bsi_first_record>(context, what));
  BSI_TRY(bsi_for_each(context, what, rows, [=] __device__(int64_t k) {
    if (!bsi_split_row_is_equal(bs, row_ptr, col_idx, values, s_ptr, s_col, s_values,
                                static_cast<int32_t>(k / bs), static_cast<int>(k % bs)))
      atomicMin(&record->index, static_cast<unsigned long long>(k));
  }));
  BSI_TRY(bsi_record_fetch(context, what, &first));
  *equal = first.index == BSI_NONE;
  return BISAI_OK;
}

const bsi_split_ops bsi_split_cuda = {.equal = equal};
