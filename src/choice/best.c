/* SPDX-License-Identifier: BSD-3-Clause */
#include "choice/best.h"

#include <math.h>

#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "krylov/run/rounding.h"

static bisai_status norm_of(bisai_context *context, int64_t n, const double *x, double *norm) {
  return context->backend->vectors->norms(context, 1, n, &x, norm);
}

static bisai_status prepare(bisai_context *context, int64_t n, const double *b, bsi_best *best) {
  if (!best->work)
    best->work = context->backend->memory->allocate(context, 2 * (size_t)n, sizeof *best->work);
  if (!best->work) return BISAI_OUT_OF_MEMORY;
  return best->norm > 0 ? BISAI_OK : norm_of(context, n, b, &best->norm);
}

/* *residual ← ‖b − A x‖/‖b‖ */
static bisai_status measure(bisai_context *context, int64_t n, const double *b, bsi_trial *trial,
                            const bsi_best *best, double *residual) {
  double *y = best->work;
  BSI_TRY(bsi_solve_multiply(&trial->open, trial->open.run.system.x, y));
  BSI_TRY(context->backend->vectors->subtract_from(context, n, b, y));
  BSI_TRY(norm_of(context, n, y, residual));
  *residual /= best->norm;
  return BISAI_OK;
}

/* *promises ← a trial that begins from x may reach the tolerance. */
static bisai_status judge(const bsi_task *task, int64_t n, bsi_trial *trial, const bsi_best *best,
                          bool *promises) {
  double *lost = best->work, *image = best->work + n, size = NAN;
  BSI_TRY(bsi_lost_digits(task->context, n, trial->open.run.system.x, lost, image));
  BSI_TRY(bsi_solve_multiply(&trial->open, lost, image));
  BSI_TRY(norm_of(task->context, n, image, &size));
  *promises = BSI_ROUNDING * size < task->solver.tolerance * best->norm;
  return BISAI_OK;
}

/* An estimated residual may be finite while x is not, and small while the true one is not. */
bisai_status bsi_best_keep(const bsi_task *task, const double *b, int which, bsi_trial *trial,
                           bsi_best *best) {
  bisai_context *context = task->context;
  const int64_t n = (int64_t)task->matrix->block_rows * task->matrix->block_size;
  double residual, largest = NAN;
  bool estimated = false, promises = false;
  const double *x = bsi_trial_x(trial, &residual, &estimated);
  if (!x || !(residual < best->relative_residual)) return BISAI_OK;
  BSI_TRY(context->backend->vectors->largest(context, n, x, &largest));
  if (!isfinite(largest)) return BISAI_OK;
  if (trial->state != BSI_TRIAL_SOLVED) BSI_TRY(prepare(context, n, b, best));
  if (estimated) BSI_TRY(measure(context, n, b, trial, best, &residual));
  if (!(residual < best->relative_residual)) return BISAI_OK;
  if (trial->state != BSI_TRIAL_SOLVED && trial->result.status != BISAI_STAGNATED && residual < 1)
    BSI_TRY(judge(task, n, trial, best, &promises));
  best->relative_residual = residual;
  best->candidate = which;
  best->goes_on = promises;
  return context->backend->vectors->copy(context, n, x, best->x);
}

void bsi_best_release(bisai_context *context, bsi_best *best) {
  context->backend->memory->release(context, best->work);
  best->work = NULL;
}
