/* SPDX-License-Identifier: BSD-3-Clause */
/* The true residual of x, and whether x is finite at all, which a residual does not say where A has
 * empty columns.
 *
 *   residual = scale·(b − A x) = scale·b − (scale/part)·A (part·x)
 *
 * where `scale` is 1 unless squares of b leave the range of a double; `part` is as much of it as x
 * can take, so that products of denormal numbers, which lose digits, do not come about. All are
 * powers of two. */
#include <math.h>

#include "apply/apply_ops.h"
#include "core/backend.h"
#include "core/matrix_ops.h"
#include "krylov/operations.h"
#include "krylov/residual.h"

/* *bad ← whether x has NaN or infinity on any process. All processes get the same answer. Called
 * where ‖x‖ is not finite, as squares of large values are infinite too. */
static bisai_status find_bad_entry(bsi_run *run, bool *bad) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  int64_t index = -1;
  bisai_status status =
      backend->matrix->find_not_finite(s->context, BISAI_FP64, s->n, run->x, &index);
  double processes = index >= 0;
  if (!status)
    status = backend->memory->upload(s->context, s->x_norm2, &processes, sizeof processes);
  if (!status) status = bsi_sum_processes(run, s->x_norm2, 1);
  if (!status)
    status = backend->memory->fetch(s->context, &processes, s->x_norm2, sizeof processes);
  *bad = !status && processes != 0;
  if (*bad) run->bad_entry = index;
  return status;
}

bisai_status bsi_multiple(bsi_run *run, double factor, const double *x, double *y) {
  const bisai_solver *s = run->solver;
  const bisai_status status = bsi_backend_of(run)->vectors->set(s->context, s->n, 0, y);
  return status ? status : bsi_add(run, 1, x, s->one, factor, y);
}

/* residual ← scale·(b − A x) by way of `spare`. */
static bisai_status scaled_residual(bsi_run *run, double x_norm) {
  enum { LARGEST = 900 }; /* exponent of part·x */
  bisai_solver *s = run->solver;
  int exponent = ilogb(run->scale);
  if (exponent > 0 && isinf(x_norm)) exponent = 0;
  if (exponent > 0 && x_norm > 0 && exponent > LARGEST - ilogb(x_norm))
    exponent = LARGEST - ilogb(x_norm);
  const double part = ldexp(1, exponent);
  bisai_status status = bsi_multiple(run, part, run->x, s->spare);
  if (!status) status = bsi_multiply_given(run, s->spare, s->residual);
  if (!status) status = bsi_multiple(run, run->scale, run->b, s->spare);
  if (!status) status = bsi_add(run, 1, s->residual, s->one, -run->scale / part, s->spare);
  return status ? status
                : bsi_backend_of(run)->vectors->copy(s->context, s->n, s->spare, s->residual);
}

static bisai_status unscaled_residual(bsi_run *run) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  if (run->op.matrix) {
    const bisai_status status = backend->apply->products->multiply(
        s->context, run->op.matrix, 1, -1, run->x, 0, 1, run->b, 0, s->residual, 0);
    if (status) run->reason = BISAI_REASON_PRECOND_FAILED;
    return status;
  }
  const bisai_status status = bsi_multiply_given(run, run->x, s->residual);
  return status ? status : backend->vectors->subtract_from(s->context, s->n, run->b, s->residual);
}

/* *norm ← ‖residual‖; with the method's `prepare` enqueued before the host knows it. */
static bisai_status measure_residual(bsi_run *run, double *norm) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  double *seen = s->status + 2 * s->slots, norm2 = NAN;
  if (!run->prepared) return bsi_norm(run, s->residual, norm);
  backend->memory->clear_shared(s->context, 1, seen);
  bisai_status status = bsi_dot(run, 1, s->residual, s->residual, s->norm2);
  if (!status) status = s->method->prepare(run, seen);
  if (!status) status = backend->memory->await_shared(s->context, 1, seen, &norm2);
  *norm = sqrt(norm2);
  return status;
}

bisai_status bsi_compute_residual(bsi_run *run) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  const bool zero = run->end == BSI_CYCLE_NONE && !s->options.use_initial_guess,
             scaled = run->scale != 1;
  double x_norm = 0, norm = NAN;
  bool bad = false;
  run->true_norm = NAN;
  run->prepared = s->method->prepare && !scaled && !bsi_preconditioned_left(run);
  bisai_status status = zero ? BISAI_OK : bsi_dot(run, 1, run->x, run->x, s->x_norm2);
  if (!status && !zero && scaled) status = bsi_fetch_norm(run, s->x_norm2, &x_norm);
  if (!status)
    status = !zero    ? (scaled ? scaled_residual(run, x_norm) : unscaled_residual(run))
             : scaled ? bsi_multiple(run, run->scale, run->b, s->residual)
                      : backend->vectors->copy(s->context, s->n, run->b, s->residual);
  if (!status) status = measure_residual(run, &norm);
  if (!status && !zero && !scaled)
    status = bsi_fetch_norm(run, s->x_norm2, &x_norm); /* by now there is no wait for it */
  if (!status && !isfinite(x_norm)) status = find_bad_entry(run, &bad);
  run->bad_x = run->bad_x || bad;
  run->true_norm = bad ? INFINITY : norm;
  return status ? status : bsi_read_clock(run);
}

bisai_status bsi_measure_rhs(bsi_run *run) {
  enum { FAR = 600, SPARE = 400 }; /* the scale and its inverse are at most 2^(FAR + SPARE) */
  bisai_solver *s = run->solver;
  run->scale = 1;
  bisai_status status = bsi_norm(run, run->b, &run->b_norm);
  if (status || isnan(run->b_norm) || (run->b_norm >= 1e-100 && run->b_norm <= 1e100))
    return status;
  run->scale = ldexp(1, run->b_norm < 1 ? FAR : -FAR);
  status = bsi_multiple(run, run->scale, run->b, s->residual);
  if (!status) status = bsi_norm(run, s->residual, &run->b_norm);
  /* no b has both norms: the first sum was wrong */
  if (run->scale < 1 && run->b_norm == 0) run->b_norm = INFINITY;
  if (status || !isfinite(run->b_norm) || run->b_norm == 0) return status;
  const int size = ilogb(run->b_norm), rest = size > SPARE ? SPARE : size < -SPARE ? -SPARE : size;
  run->scale = ldexp(run->scale, -rest);
  run->b_norm = ldexp(run->b_norm, -rest);
  return BISAI_OK;
}
