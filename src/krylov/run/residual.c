/* SPDX-License-Identifier: BSD-3-Clause */
/* The true residual of x. x is also checked for NaN and infinity, which a residual does not show if
 * A has empty columns.
 *
 *   residual = scale·(b − A x) = scale·b − (scale/part)·A (part·x)
 *
 * `scale` is 1 unless squares of b leave the range of a double. `part` is the largest share of
 * `scale` that does not make x overflow, so that products do not lose digits as denormal numbers.
 * All are powers of two. */
#include <math.h>

#include "apply/apply_ops.h"
#include "core/context/context_impl.h"
#include "core/matrix/matrix_ops.h"
#include "krylov/run/operations.h"
#include "krylov/run/residual.h"

/* *bad ← true if x has NaN or infinity on any process. All processes get the same answer. A norm of
 * x that is not finite does not suffice, because squares of large values are infinite too. */
static bisai_status find_bad_entry(bsi_solver_run *run, bool *bad) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  int64_t index = -1;
  BSI_TRY(backend->matrix->blocks->find_not_finite(s->context, BISAI_FP64, s->n, run->x, &index));
  double processes = index >= 0;
  BSI_TRY(backend->memory->upload(s->context, s->x_norm2, &processes, sizeof processes));
  BSI_TRY(bsi_sum_processes(run, s->x_norm2, 1));
  BSI_TRY(backend->memory->fetch(s->context, &processes, s->x_norm2, sizeof processes));
  *bad = processes != 0;
  if (*bad) run->bad_entry = index;
  return BISAI_OK;
}

bisai_status bsi_multiple(bsi_solver_run *run, double factor, const double *x, double *y) {
  const bisai_solver *s = run->solver;
  BSI_TRY(bsi_backend_of(run)->vectors->set(s->context, s->n, 0, y));
  return bsi_add(run, 1, x, s->one, factor, y);
}

/* residual ← scale·(b − A x); overwrites `spare`. */
static bisai_status scaled_residual(bsi_solver_run *run, double x_norm) {
  enum { LARGEST = 900 }; /* exponent of part·x */
  bisai_solver *s = run->solver;
  int exponent = ilogb(run->scale);
  if (exponent > 0 && isinf(x_norm)) exponent = 0;
  if (exponent > 0 && x_norm > 0 && exponent > LARGEST - ilogb(x_norm))
    exponent = LARGEST - ilogb(x_norm);
  const double part = ldexp(1, exponent);
  BSI_TRY(bsi_multiple(run, part, run->x, s->spare));
  BSI_TRY(bsi_multiply_given(run, s->spare, s->residual));
  BSI_TRY(bsi_multiple(run, run->scale, run->b, s->spare));
  BSI_TRY(bsi_add(run, 1, s->residual, s->one, -run->scale / part, s->spare));
  return bsi_backend_of(run)->vectors->copy(s->context, s->n, s->spare, s->residual);
}

static bisai_status unscaled_residual(bsi_solver_run *run) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  if (run->op.matrix) {
    const bisai_status status =
        backend->apply->products->multiply(s->context, run->op.matrix,
                                           &(bsi_product){.count = 1,
                                                          .alpha = -1,
                                                          .beta = 1,
                                                          .x = run->x,
                                                          .z = run->b,
                                                          .y = s->residual,
                                                          .cached_bytes = s->cached_bytes});
    if (status) run->reason = BISAI_REASON_PRECOND_FAILED;
    return status;
  }
  BSI_TRY(bsi_multiply_given(run, run->x, s->residual));
  return backend->vectors->subtract_from(s->context, s->n, run->b, s->residual);
}

/* *norm ← ‖residual‖. The method's `prepare` is enqueued before the host knows the norm. `is_rhs`:
 * the residual is b, and bsi_measure_rhs() has left ‖b‖² in norm2. */
static bisai_status measure_residual(bsi_solver_run *run, bool is_rhs, double *norm) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  double *seen = s->status + 2 * s->slots, norm2 = NAN;
  if (is_rhs) {
    *norm = run->b_norm;
    return run->prepared ? s->method->prepare(run, seen) : BISAI_OK;
  }
  if (!run->prepared) return bsi_norm(run, s->residual, norm);
  backend->memory->clear_shared(s->context, 1, seen);
  BSI_TRY(bsi_dot(run, 1, s->residual, s->residual, s->norm2));
  BSI_TRY(s->method->prepare(run, seen));
  BSI_TRY(backend->memory->await_shared(s->context, 1, seen, &norm2));
  *norm = sqrt(norm2);
  return BISAI_OK;
}

bisai_status bsi_compute_residual(bsi_solver_run *run) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  const bool zero = run->end == BSI_CYCLE_NONE && !s->options.use_initial_guess,
             scaled = run->scale != 1;
  double x_norm = 0;
  bool bad = false;
  run->true_norm = NAN;
  run->prepared = s->method->prepare && !scaled && !bsi_preconditioned_left(run);
  if (!zero) BSI_TRY(bsi_dot(run, 1, run->x, run->x, s->x_norm2));
  if (!zero && scaled) BSI_TRY(bsi_fetch_norm(run, s->x_norm2, &x_norm));
  BSI_TRY(!zero    ? (scaled ? scaled_residual(run, x_norm) : unscaled_residual(run))
          : scaled ? bsi_multiple(run, run->scale, run->b, s->residual)
                   : backend->vectors->copy(s->context, s->n, run->b, s->residual));
  BSI_TRY(measure_residual(run, zero && !scaled, &run->true_norm));
  if (!zero && !scaled)
    BSI_TRY(bsi_fetch_norm(run, s->x_norm2, &x_norm)); /* the device has it by now */
  if (!isfinite(x_norm)) BSI_TRY(find_bad_entry(run, &bad));
  run->bad_x = run->bad_x || bad;
  if (bad) run->true_norm = INFINITY;
  return bsi_read_clock(run);
}

bisai_status bsi_measure_rhs(bsi_solver_run *run) {
  enum { FAR = 600, SPARE = 400 }; /* 2^(FAR + SPARE) bounds the scale and its inverse */
  bisai_solver *s = run->solver;
  run->scale = 1;
  BSI_TRY(bsi_norm(run, run->b, &run->b_norm));
  if (isnan(run->b_norm) || (run->b_norm >= 1e-100 && run->b_norm <= 1e100)) return BISAI_OK;
  run->scale = ldexp(1, run->b_norm < 1 ? FAR : -FAR);
  BSI_TRY(bsi_multiple(run, run->scale, run->b, s->residual));
  BSI_TRY(bsi_norm(run, s->residual, &run->b_norm));
  /* No b has a norm above 1e100 and this one: the first sum was wrong. */
  if (run->scale < 1 && run->b_norm == 0) run->b_norm = INFINITY;
  if (!isfinite(run->b_norm) || run->b_norm == 0) return BISAI_OK;
  const int size = ilogb(run->b_norm), rest = size > SPARE ? SPARE : size < -SPARE ? -SPARE : size;
  run->scale = ldexp(run->scale, -rest);
  run->b_norm = ldexp(run->b_norm, -rest);
  return BISAI_OK;
}
