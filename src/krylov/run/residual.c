/* SPDX-License-Identifier: BSD-3-Clause */
/* The true residual of x. x is also checked for NaN and infinity, which a residual does not show if
 * A has empty columns.
 *
 *   residual = scale·(b − A x) = scale·b − (scale/part)·A (part·x)
 *
 * `scale`, scaling.vectors, is 1 unless squares of b leave the range of a double. `part` is the
 * largest share of `scale` that does not make x overflow, so that products do not lose digits as
 * denormal numbers. All are powers of two. */
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
  BSI_TRY(backend->matrix->blocks->find_not_finite(s->context, BISAI_FP64, s->n, run->system.x,
                                                   &index));
  double processes = index >= 0;
  BSI_TRY(backend->memory->upload(s->context, s->scalars.x_norm2, &processes, sizeof processes));
  BSI_TRY(bsi_sum_processes(run, s->scalars.x_norm2, 1));
  BSI_TRY(backend->memory->fetch(s->context, &processes, s->scalars.x_norm2, sizeof processes));
  *bad = processes != 0;
  if (*bad) run->bad_entry.index = index;
  return BISAI_OK;
}

bisai_status bsi_multiple(bsi_solver_run *run, double factor, const double *x, double *y) {
  const bisai_solver *s = run->solver;
  BSI_TRY(bsi_backend_of(run)->vectors->set(s->context, s->n, 0, y));
  return bsi_add(run, 1, x, s->scalars.one, factor, y);
}

/* residual ← scale·(b − A x); overwrites `spare`. */
static bisai_status scaled_residual(bsi_solver_run *run, double x_norm) {
  enum { LARGEST = 900 }; /* exponent of part·x */
  bisai_solver *s = run->solver;
  int exponent = ilogb(run->scaling.vectors);
  if (exponent > 0 && isinf(x_norm)) exponent = 0;
  if (exponent > 0 && x_norm > 0 && exponent > LARGEST - ilogb(x_norm))
    exponent = LARGEST - ilogb(x_norm);
  const double part = ldexp(1, exponent);
  BSI_TRY(bsi_multiple(run, part, run->system.x, s->vectors.spare));
  BSI_TRY(bsi_multiply_given(run, s->vectors.spare, s->vectors.residual));
  BSI_TRY(bsi_multiple(run, run->scaling.vectors, run->system.b, s->vectors.spare));
  BSI_TRY(bsi_add(run, 1, s->vectors.residual, s->scalars.one, -run->scaling.vectors / part,
                  s->vectors.spare));
  return bsi_backend_of(run)->vectors->copy(s->context, s->n, s->vectors.spare,
                                            s->vectors.residual);
}

static bisai_status unscaled_residual(bsi_solver_run *run) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  if (run->system.op.matrix) {
    const bisai_status status =
        backend->apply->products->multiply(s->context, run->system.op.matrix,
                                           &(bsi_product){.count = 1,
                                                          .alpha = -1,
                                                          .beta = 1,
                                                          .x = run->system.x,
                                                          .z = run->system.b,
                                                          .y = s->vectors.residual,
                                                          .cached_bytes = s->cached_bytes});
    if (status) run->reason = BISAI_REASON_PRECOND_FAILED;
    return status;
  }
  BSI_TRY(bsi_multiply_given(run, run->system.x, s->vectors.residual));
  return backend->vectors->subtract_from(s->context, s->n, run->system.b, s->vectors.residual);
}

/* *norm ← ‖residual‖. The method's `prepare` is enqueued before the host knows the norm. `is_rhs`:
 * the residual is b, and bsi_measure_rhs() has left ‖b‖² in norm2. */
static bisai_status measure_residual(bsi_solver_run *run, bool is_rhs, double *norm) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  double *seen = s->status.words + 2 * s->status.slots, norm2 = NAN;
  if (is_rhs) {
    *norm = run->norms.b;
    return run->cycle.prepared ? s->method->cycle.prepare(run, seen) : BISAI_OK;
  }
  if (!run->cycle.prepared) return bsi_norm(run, s->vectors.residual, norm);
  backend->memory->clear_shared(s->context, 1, seen);
  BSI_TRY(bsi_dot(run, 1, s->vectors.residual, s->vectors.residual, s->scalars.norm2));
  BSI_TRY(s->method->cycle.prepare(run, seen));
  BSI_TRY(backend->memory->await_shared(s->context, 1, seen, &norm2));
  *norm = sqrt(norm2);
  return BISAI_OK;
}

bisai_status bsi_compute_residual(bsi_solver_run *run) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  const bool zero = run->cycle.end == BSI_CYCLE_NONE && !s->options.use_initial_guess,
             scaled = run->scaling.vectors != 1;
  double x_norm = 0;
  bool bad = false;
  run->norms.residual = NAN;
  run->cycle.prepared = s->method->cycle.prepare && !scaled && !bsi_preconditioned_left(run);
  if (!zero) BSI_TRY(bsi_dot(run, 1, run->system.x, run->system.x, s->scalars.x_norm2));
  if (!zero && scaled) BSI_TRY(bsi_fetch_norm(run, s->scalars.x_norm2, &x_norm));
  BSI_TRY(!zero    ? (scaled ? scaled_residual(run, x_norm) : unscaled_residual(run))
          : scaled ? bsi_multiple(run, run->scaling.vectors, run->system.b, s->vectors.residual)
                   : backend->vectors->copy(s->context, s->n, run->system.b, s->vectors.residual));
  BSI_TRY(measure_residual(run, zero && !scaled, &run->norms.residual));
  if (!zero && !scaled)
    BSI_TRY(bsi_fetch_norm(run, s->scalars.x_norm2, &x_norm)); /* the device has it by now */
  if (!isfinite(x_norm)) BSI_TRY(find_bad_entry(run, &bad));
  run->bad_entry.found = run->bad_entry.found || bad;
  if (bad) run->norms.residual = INFINITY;
  return bsi_read_clock(run);
}

bisai_status bsi_measure_rhs(bsi_solver_run *run) {
  enum { FAR = 600, SPARE = 400 }; /* 2^(FAR + SPARE) bounds the scale and its inverse */
  bisai_solver *s = run->solver;
  run->scaling.vectors = 1;
  BSI_TRY(bsi_norm(run, run->system.b, &run->norms.b));
  if (isnan(run->norms.b) || (run->norms.b >= 1e-100 && run->norms.b <= 1e100)) return BISAI_OK;
  run->scaling.vectors = ldexp(1, run->norms.b < 1 ? FAR : -FAR);
  BSI_TRY(bsi_multiple(run, run->scaling.vectors, run->system.b, s->vectors.residual));
  BSI_TRY(bsi_norm(run, s->vectors.residual, &run->norms.b));
  /* No b has a norm above 1e100 and this one: the first sum was wrong. */
  if (run->scaling.vectors < 1 && run->norms.b == 0) run->norms.b = INFINITY;
  if (!isfinite(run->norms.b) || run->norms.b == 0) return BISAI_OK;
  const int size = ilogb(run->norms.b), rest = size > SPARE ? SPARE : size < -SPARE ? -SPARE : size;
  run->scaling.vectors = ldexp(run->scaling.vectors, -rest);
  run->norms.b = ldexp(run->norms.b, -rest);
  return BISAI_OK;
}
