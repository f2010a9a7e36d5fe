/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/unit/scalar_copy.h"

#include "core/context/context_impl.h"
#include "multigrid/level/multigrid_ops.h"

static const bsi_scalar_copy_ops *ops_of(const bisai_context *context) {
  return context->backend->multigrid->scalar_copy;
}

/* *copy ← the rows of the copy. */
static bisai_status reserve(bisai_context *context, const bisai_bcsr *a, bisai_bcsr **copy) {
  bsi_block_matrix s = {0};
  const bisai_status status = ops_of(context)->rows(context, a, &s);
  if (!status) return bsi_block_matrix_adopt(context, &s, copy);
  bsi_block_matrix_destroy(context, &s);
  return status;
}

bisai_status bsi_scalar_copy_create(bisai_context *context, const bisai_bcsr *a,
                                    bisai_bcsr **copy) {
  BSI_TRY(reserve(context, a, copy));
  bsi_block_matrix s = bsi_block_matrix_of(*copy);
  return ops_of(context)->fill(context, a, &s);
}

bisai_status bsi_scalar_copy_update(bisai_context *context, const bisai_bcsr *a, bisai_bcsr *copy) {
  bsi_block_matrix s = bsi_block_matrix_of(copy);
  int32_t lost = -1;
  BSI_TRY(ops_of(context)->values(context, a, &s, &lost));
  if (lost < 0) return BISAI_OK;
  return bsi_fail(context, BISAI_INVALID_STRUCTURE,
                  "scalar row %d has a value that is not zero where the matrix of creation had a "
                  "zero: a new preconditioner takes it, and so does nodes=block if all diagonal "
                  "blocks are stored",
                  lost);
}
