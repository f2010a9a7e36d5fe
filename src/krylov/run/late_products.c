/* SPDX-License-Identifier: BSD-3-Clause */
#include "krylov/run/late_products.h"

#include <math.h>

#include "apply/apply_ops.h"
#include "core/context/context_impl.h"
#include "krylov/run/operations.h"
#include "precond/application.h"

/* Products are measured once the estimate is at most that many times the target. */
static const double MEASURED = 0x1p20;
/* The errors of the products that are left may change the residual by that share of the target. */
static const double SHARE = 0.2;

void bsi_late_products_begin(bsi_solver_run *run) {
  const bisai_solver *s = run->solver;
  run->late = (bsi_late_products){NULL, NAN, false};
  if (!run->system.matrix || !run->system.precond || s->options.reduce ||
      s->options.gmres.fp64_basis || bsi_preconditioned_left(run))
    return;
  run->late.rounded = bsi_precond_rounded(s->context, run->system.precond, run->system.matrix);
}

static bisai_status multiply_rounded(bsi_solver_run *run, const double *x, double *y) {
  const bisai_solver *s = run->solver;
  const bisai_status status = bsi_backend_of(run)->apply->products->multiply(
      s->context, run->late.rounded,
      &(bsi_product){.count = 1, .alpha = 1, .x = x, .y = y, .cached_bytes = s->cached_bytes});
  if (status) run->reason = BISAI_REASON_PRECOND_FAILED;
  return status;
}

/* y ← A x, late.error ← the error of the rounded product over its norm. Waits twice. */
static bisai_status measure(bsi_solver_run *run, const double *x, double *y, double *spare) {
  const bisai_solver *s = run->solver;
  double norm = NAN, error = NAN;
  BSI_TRY(bsi_multiply(run, x, y));
  BSI_TRY(multiply_rounded(run, x, spare));
  BSI_TRY(bsi_backend_of(run)->vectors->combine(s->context, s->n, -1, y, 1, spare));
  BSI_TRY(bsi_norm(run, y, &norm));
  BSI_TRY(bsi_norm(run, spare, &error));
  run->late.error = norm > 0 && isfinite(error) ? error / norm : INFINITY;
  return BISAI_OK;
}

bisai_status bsi_multiply_in_step(bsi_solver_run *run, const double *x, double *y, double *spare) {
  const bsi_forecast *f = &run->forecast;
  const double target = run->norms.target, estimate = bsi_forecast_before(f, run->cycle.steps.sent);
  if (!run->late.rounded || run->counts.cycles != 1 || run->scaling.products != 1 ||
      !(estimate <= MEASURED * target) || !bsi_forecast_ends(f, target, run->cycle.steps.limit))
    return bsi_multiply(run, x, y);
  if (isnan(run->late.error)) return spare ? measure(run, x, y, spare) : bsi_multiply(run, x, y);
  if (run->late.error * estimate * bsi_forecast_left(f, target) > SHARE * target)
    return bsi_multiply(run, x, y);
  run->late.used = true;
  return multiply_rounded(run, x, y);
}
