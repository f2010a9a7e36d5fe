/* SPDX-License-Identifier: BSD-3-Clause */
/* The description of scalar CSR arrays by the caller, and its check. */
#include "core/csr/csr_desc.h"
#include "core/csr/node_map.h"

#include "core/matrix/bcsr_impl.h"

bisai_csr_desc bisai_csr_desc_default(void) {
  return (bisai_csr_desc){.struct_size = sizeof(bisai_csr_desc)};
}

bisai_status bsi_csr_from_zero(bisai_context *context, const bisai_csr_desc *desc,
                               bisai_csr_desc *zero, bsi_index_copies *copies) {
  *copies = (bsi_index_copies){0};
  BSI_TRY(bsi_check_struct(context, "bisai_csr_desc", desc->struct_size, sizeof *desc));
  *zero = *desc;
  zero->index_base = 0;
  return bsi_index_copies_make(context, desc->index_base, "row", desc->rows, &zero->row_ptr,
                               &zero->col_idx, copies);
}

bisai_status bsi_csr_check(bisai_context *context, const bisai_csr_desc *d) {
  BSI_TRY(bsi_check_struct(context, "bisai_csr_desc", d->struct_size, sizeof *d));
  if (d->rows < 0 || d->cols < 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "negative size: %d rows, %d columns", d->rows,
                    d->cols);
  const int32_t *row_ptr = d->row_ptr;
  if (!row_ptr) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "row_ptr is NULL");
  BSI_TRY(bsi_check_row_ptr(context, "row", d->rows, row_ptr));
  if (row_ptr[d->rows] > 0 && !d->col_idx)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "col_idx is NULL");
  for (int32_t i = 0; i < d->rows; i++)
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++)
      if (d->col_idx[p] < 0 || d->col_idx[p] >= d->cols)
        return bsi_fail(context, BISAI_INVALID_STRUCTURE, "row %d: column %d is outside 0 … %d", i,
                        d->col_idx[p], d->cols - 1);
  return BISAI_OK;
}

static bisai_status check_find_nodes(bisai_context *context, const bisai_csr_desc *d) {
  if (!d->find_nodes) return BISAI_OK;
  if (d->rows != d->cols)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "find_nodes: only square matrices have nodes, this one is %d × %d", d->rows,
                    d->cols);
  if (d->block_size == 0 && !bsi_has_nodes(d)) return BISAI_OK;
  return bsi_fail(context, BISAI_INVALID_ARGUMENT, "find_nodes: %s given",
                  d->block_size ? "the block size is" : "the nodes are");
}

bisai_status bsi_csr_check_choices(bisai_context *context, const bisai_csr_desc *d) {
  if (d->block_size < 0 || d->block_size > BISAI_MAX_BLOCK_SIZE)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "block size %d is outside 1 … %d",
                    d->block_size, BISAI_MAX_BLOCK_SIZE);
  if (d->pad && d->rows != d->cols)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "only square matrices can be padded, this one is %d × %d", d->rows, d->cols);
  return check_find_nodes(context, d);
}
