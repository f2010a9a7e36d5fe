/* SPDX-License-Identifier: BSD-3-Clause */
/* The tail of a cycle on the host, where a step costs no launch. */
#include "core/context/context_impl.h"
#include "multigrid/cycle/operations.h"
#include "multigrid/multigrid_ops.h"

static bisai_status run(bisai_context *context, int64_t rows, int64_t values, int32_t count,
                        const bsi_step *steps) {
  (void)rows;
  (void)values;
  for (int32_t k = 0; k < count; k++) BSI_TRY(bsi_step_run(context, &steps[k]));
  return BISAI_OK;
}

const bsi_tail_ops bsi_tail_host = {.run = run};
