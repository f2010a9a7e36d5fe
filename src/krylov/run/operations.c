/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations that solvers are made of: products with A, timed applications of M⁻¹, and sums
 * over all processes. */
#include <math.h>

#include "apply/apply_ops.h"
#include "core/context/context_impl.h"
#include "krylov/passes/krylov_ops.h"
#include "krylov/run/operations.h"
#include "precond/application.h"

const bsi_backend *bsi_backend_of(const bsi_solver_run *run) {
  return run->solver->context->backend;
}

/* Records that a callback failed in this iteration. `before` is as in bsi_fail_callback(). */
static bisai_status refuse_result(const bsi_solver_run *run, const char *callback,
                                  bisai_status returned, unsigned before) {
  bisai_context *context = run->solver->context;
  return bsi_fail_at(context, bsi_fail_callback(context, callback, returned, before),
                     "iteration %d", run->counts.enqueued);
}

bisai_status bsi_multiply_given(bsi_solver_run *run, const double *x, double *y) {
  const bsi_operator *op = &run->system.op;
  bisai_context *context = run->solver->context;
  bisai_status status;
  if (run->system.matrix) {
    /* The context is the solver's. Several threads may share the matrix, each with its own
     * context. */
    status = context->backend->apply->products->multiply(
        context, run->system.matrix,
        &(bsi_product){
            .count = 1, .alpha = 1, .x = x, .y = y, .cached_bytes = run->solver->cached_bytes});
  } else {
    const unsigned before = context->failures;
    status = op->multiply(op->user, run->solver->n, x, y);
    if (status) status = refuse_result(run, "the operator's callback", status, before);
  }
  if (status) run->reason = BISAI_REASON_PRECOND_FAILED;
  return status;
}

/* `shrink` is 1/scaling.products. y is divided twice by its root, because one division by `shrink`
 * could leave the range of a double. */
bisai_status bsi_multiply(bsi_solver_run *run, const double *x, double *y) {
  const bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  BSI_TRY(bsi_multiply_given(run, x, y));
  if (run->scaling.products == 1) return BISAI_OK;
  BSI_TRY(backend->krylov->basis->scale_by_norm(s->context, s->n, s->scalars.shrink, y, y));
  return backend->krylov->basis->scale_by_norm(s->context, s->n, s->scalars.shrink, y, y);
}

bisai_status bsi_read_clock(bsi_solver_run *run) {
  const bisai_solver *s = run->solver;
  double seconds = 0;
  if (!run->timing.pending) return BISAI_OK;
  const bisai_status status = bsi_backend_of(run)->clock->read(s->context, &s->clock, &seconds);
  /* The first application may have waited for its kernels to be loaded. It is ignored if only some
   * applications are timed. */
  const bool cold =
      run->timing.count == 1 && !run->timing.warm && bsi_backend_of(run)->krylov->lookahead > 0;
  run->timing.seconds = cold ? seconds : run->timing.seconds + seconds;
  run->timing.count += cold ? 0 : 1;
  run->timing.warm = run->timing.warm || cold;
  run->timing.pending = false;
  return status;
}

/* If reading the clock means waiting, the next application is timed only after the clock has been
 * read: after the timed step or at the end of the cycle. */
bisai_status bsi_precondition(bsi_solver_run *run, const double *v, double *z) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  const bool measured = !run->timing.pending;
  bisai_status status = measured ? backend->clock->start(s->context, &s->clock) : BISAI_OK;
  if (!status)
    status =
        bsi_precond_apply(run->system.precond, v, z, s->cached_bytes, s->options.gmres.flexible);
  if (measured) {
    const bisai_status stopped = backend->clock->stop(s->context, &s->clock);
    run->timing.pending = true;
    if (!status) status = stopped;
    if (backend->krylov->lookahead == 0) bsi_read_clock(run);
  }
  run->counts.applications++;
  if (status) run->reason = BISAI_REASON_PRECOND_FAILED;
  return status;
}

bisai_status bsi_sum_processes(bsi_solver_run *run, double *values, int count) {
  const bisai_solver_options *options = &run->solver->options;
  if (!options->reduce) return BISAI_OK;
  const unsigned before = run->solver->context->failures;
  const bisai_status returned = options->reduce(options->reduce_user, values, count);
  if (returned == BISAI_OK) return BISAI_OK;
  run->reason = BISAI_REASON_PRECOND_FAILED;
  return refuse_result(run, "the reduction hook", returned, before);
}

/* `count` vectors of the solver's length and distance. */
static bsi_basis vectors_at(const bisai_solver *s, int count, const double *vectors) {
  return (bsi_basis){s->n, count, vectors, s->ld, 0};
}

bisai_status bsi_dot_basis(bsi_solver_run *run, bsi_basis basis, const double *w, double *out) {
  bisai_solver *s = run->solver;
  BSI_TRY(bsi_backend_of(run)->krylov->basis->dot_many(s->context, basis, w, s->work, out));
  return bsi_sum_processes(run, out, basis.count);
}

bisai_status bsi_dot(bsi_solver_run *run, int count, const double *basis, const double *w,
                     double *out) {
  return bsi_dot_basis(run, vectors_at(run->solver, count, basis), w, out);
}

bisai_status bsi_subtract_basis(bsi_solver_run *run, bsi_basis basis, const double *coefficients,
                                double *w, bool norm) {
  bisai_solver *s = run->solver;
  BSI_TRY(bsi_backend_of(run)->krylov->basis->axpy_many(s->context, basis, coefficients, -1, w,
                                                        s->work, norm ? s->scalars.norm2 : NULL));
  return norm ? bsi_sum_processes(run, s->scalars.norm2, 1) : BISAI_OK;
}

bisai_status bsi_subtract(bsi_solver_run *run, int count, const double *basis,
                          const double *coefficients, double *w, bool norm) {
  return bsi_subtract_basis(run, vectors_at(run->solver, count, basis), coefficients, w, norm);
}

bisai_status bsi_add_basis(bsi_solver_run *run, bsi_basis basis, const double *coefficients,
                           double factor, double *x) {
  bisai_solver *s = run->solver;
  return bsi_backend_of(run)->krylov->basis->axpy_many(s->context, basis, coefficients, factor, x,
                                                       s->work, NULL);
}

bisai_status bsi_add(bsi_solver_run *run, int count, const double *basis,
                     const double *coefficients, double factor, double *x) {
  return bsi_add_basis(run, vectors_at(run->solver, count, basis), coefficients, factor, x);
}

bisai_status bsi_fetch_norm(bsi_solver_run *run, const double *norm2, double *norm) {
  double square = NAN;
  const bisai_status status =
      bsi_backend_of(run)->memory->fetch(run->solver->context, &square, norm2, sizeof square);
  *norm = sqrt(square);
  return status;
}

bisai_status bsi_norm(bsi_solver_run *run, const double *x, double *value) {
  BSI_TRY(bsi_dot(run, 1, x, x, run->solver->scalars.norm2));
  return bsi_fetch_norm(run, run->solver->scalars.norm2, value);
}
