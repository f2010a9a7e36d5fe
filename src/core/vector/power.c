/* SPDX-License-Identifier: BSD-3-Clause */
/* Power steps without normalisation in between: nothing grows beyond ρ^steps. The last step leaves
 * both of its vectors, so that the host waits once for their norms. */
#include "core/vector/power.h"

#include <math.h>

#include "core/context/context_impl.h"

bisai_status bsi_power_run(bisai_context *context, int64_t n, int steps, bsi_power_step *step,
                           void *user, double *x, double *y, const double *last[2]) {
  double *now = x, *before = y;
  BSI_TRY(context->backend->vectors->start(context, n, now));
  for (int k = 0; k < steps; k++) {
    BSI_TRY(step(user, now, before));
    double *const next = before;
    before = now;
    now = next;
  }
  last[0] = before;
  last[1] = now;
  return BISAI_OK;
}

bisai_status bsi_power_norms(bisai_context *context, int64_t n, int steps, bsi_power_step *step,
                             void *user, double *x, double *y, double norms[2]) {
  const double *last[2];
  BSI_TRY(bsi_power_run(context, n, steps, step, user, x, y, last));
  return context->backend->vectors->norms(context, 2, n, last, norms);
}

double bsi_power_growth(const double norms[2]) {
  if (!isfinite(norms[0]) || !isfinite(norms[1])) return INFINITY;
  return norms[0] > 0.0 ? norms[1] / norms[0] : 0.0;
}
