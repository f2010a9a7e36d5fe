/* SPDX-License-Identifier: BSD-3-Clause */
/* Inverses of the diagonal blocks of a level on the host. */
#include "factor/factor_ops.h"
#include "multigrid/multigrid_ops.h"

static bisai_status invert(bisai_context *context, const bisai_bcsr *matrix,
                           const int32_t *position, double shift_amount, double *inverses,
                           struct bsi_invert_stats *stats) {
  return bsi_inversion_host.invert(context, matrix, position, shift_amount, inverses, stats);
}

const bsi_inversion_ops bsi_level_inversion_host = {.invert = invert};
