/* SPDX-License-Identifier: BSD-3-Clause */
/* Inverses of the diagonal blocks of a level on the host. */
#include "core/matrix/bcsr_impl.h"
#include "factor/factor_ops.h"
#include "multigrid/cycle/cycle_ops.h"
#include "multigrid/diagonal/diagonal_ops.h"

static bisai_status invert(bisai_context *context, const bisai_bcsr *matrix,
                           const int32_t *position, double shift_amount, double *inverses,
                           void *record, bsi_inversion_findings *found) {
  (void)record;
  const int64_t values = (int64_t)bsi_block_offset(matrix, matrix->block_rows);
  BSI_TRY(
      bsi_inversion_host.invert(context, matrix, position, shift_amount, inverses, found->stats));
  if (!found->largest) return BISAI_OK;
  return bsi_vectors_host.largest(context, values, inverses, found->largest);
}

const bsi_level_inversion_ops bsi_level_inversion_host = {.invert = invert};
