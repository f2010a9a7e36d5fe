/* SPDX-License-Identifier: BSD-3-Clause */
#include "cpr/ellipticity.h"

#include "core/context/context_impl.h"
#include "cpr/cpr_ops.h"

/* sums[0] and sums[1] ← the sums of couplings and of reaches of the unknown. */
static bisai_status measure(bisai_context *context, const bsi_weighing *weighing, double *weights,
                            bisai_bcsr *matrix, int64_t *sums) {
  const bsi_cpr_ops *ops = context->backend->cpr;
  BSI_TRY(ops->weigh(context, weighing, weights, NULL));
  BSI_TRY(ops->reduce(context, weighing->a, weights, weighing->pressure, matrix->values, NULL));
  BSI_TRY(ops->couple(context, matrix, weighing->diagonal, sums));
  return ops->reach(context, weighing->a, weighing->diagonal, weighing->pressure, sums + 1);
}

bisai_status bsi_ellipticity_measure(bisai_context *context, const bsi_weighing *weighing,
                                     double *weights, bisai_bcsr *matrix, double *ellipticity) {
  const bsi_memory_ops *memory = context->backend->memory;
  const int32_t bs = weighing->a->block_size;
  const double rows = BSI_ELLIPTICITY_ONE * weighing->a->block_rows, equations = rows * bs;
  bsi_weighing trial = *weighing;
  int64_t here[2 * BISAI_MAX_BLOCK_SIZE] = {0};
  int64_t *sums = memory->allocate(context, 2 * (size_t)bs, sizeof *sums);
  bisai_status status = sums ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  for (trial.pressure = 0; trial.pressure < bs && !status; trial.pressure++)
    status = measure(context, &trial, weights, matrix, sums + 2 * (int64_t)trial.pressure);
  if (!status) status = memory->fetch(context, here, sums, 2 * (size_t)bs * sizeof *sums);
  memory->release(context, sums);
  for (int p = 0; p < bs; p++)
    ellipticity[p] = weighing->a->block_rows == 0 ? 0.0
                                                  : ((double)here[2 * (ptrdiff_t)p] / rows) *
                                                        ((double)here[2 * p + 1] / equations);
  return status;
}
