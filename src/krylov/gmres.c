/* Restarted GMRES for A x = b, b and x of n values. From r = b − A x, β = ‖r‖, V_0 = r/β, a cycle of m steps builds
 *
 *   right     A M⁻¹ V_m = V_{m+1} H       x ← x + M⁻¹ V_m y
 *   flexible  A Z_m = V_{m+1} H           x ← x + Z_m y,      z_j = M_j⁻¹ v_j
 *   left      M⁻¹ A V_m = V_{m+1} H       x ← x + V_m y,      r and β of M⁻¹(b − A x)
 *
 * with orthonormal V (n × (m+1)), Hessenberg H ((m+1) × m) and y = argmin ‖β e₁ − H y‖ by Givens rotations, whose last right-hand
 * side entry is the residual estimate. Source: Saad, Iterative Methods for Sparse Linear Systems, 6.5.3, 9.3.1, 9.3.2, 9.4.1.
 *
 * Vectors and scalars stay in the backend's memory; of a step the host sees two numbers, on a GPU some steps later. */
#include <math.h>

#include "krylov/krylov.h"

/* Less than this share of the residual gained is nothing: by cycles together (stagnation), by a cycle that ended in breakdown. */
static const double least_reduction = 1e-6;

/* A residual below this share of b that cannot be reduced any more has met rounding errors, not a singular matrix. */
static const double rounding_level = 1e-12;

static const bsi_backend *backend_of(const bsi_run *run) { return run->solver->context->backend; }

static double *basis_vector(const bisai_solver *solver, int j) { return solver->basis + (int64_t)j * solver->ld; }

static bool preconditioned_left(const bsi_run *run) { return run->precond && run->solver->options.side == BISAI_LEFT; }

static bool flexible(const bsi_run *run) { return run->precond && run->solver->options.flexible; }

/* --- what is called outside --- */

static bisai_status multiply(bsi_run *run, const double *x, double *y) {
  const bsi_operator *op = &run->op;
  bisai_context *context = run->solver->context;
  bisai_status status;
  if (op->matrix) {
    status = bisai_bcsr_multiply(op->matrix, x, y);
  } else {
    const bisai_status returned = op->multiply(op->user, run->solver->n, x, y);
    status = returned ? bsi_fail(context, BISAI_CALLBACK_FAILED,
                                 "iteration %d: the operator's callback returned status %d (%s)", run->enqueued,
                                 (int)returned, bisai_status_string(returned))
                      : BISAI_OK;
  }
  if (status) run->reason = BISAI_REASON_PRECOND_FAILED;
  return status;
}

/* Takes note of what the clock has measured. */
static bisai_status read_clock(bsi_run *run) {
  const bisai_solver *s = run->solver;
  double seconds = 0;
  if (!run->timing) return BISAI_OK;
  const bisai_status status = backend_of(run)->clock_read(s->context, &s->clock, &seconds);
  run->apply_seconds += seconds;
  run->timed++;
  run->timing = false;
  return status;
}

/* z ← M⁻¹v. Where reading the clock would mean waiting, it measures no more before it is read at the end of a cycle. */
static bisai_status precondition(bsi_run *run, const double *v, double *z) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = backend_of(run);
  const bool measured = !run->timing;
  bisai_status status = measured ? backend->clock_start(s->context, &s->clock) : BISAI_OK;
  if (!status) status = bisai_precond_apply(run->precond, v, z);
  if (measured) {
    const bisai_status stopped = backend->clock_stop(s->context, &s->clock);
    run->timing = true;
    if (!status) status = stopped;
    if (backend->lookahead == 0) read_clock(run);
  }
  run->applications++;
  if (status) run->reason = BISAI_REASON_PRECOND_FAILED;
  return status;
}

static bisai_status sum_processes(bsi_run *run, double *values, int count) {
  const bisai_solver_options *options = &run->solver->options;
  if (!options->reduce) return BISAI_OK;
  const bisai_status returned = options->reduce(options->reduce_user, values, count);
  if (returned == BISAI_OK) return BISAI_OK;
  run->reason = BISAI_REASON_PRECOND_FAILED;
  return bsi_fail(run->solver->context, BISAI_CALLBACK_FAILED,
                  "iteration %d: the reduction hook returned status %d (%s)", run->enqueued, (int)returned,
                  bisai_status_string(returned));
}

/* --- products over all processes --- */

/* out[c] ← basis_c · w */
static bisai_status dot(bsi_run *run, int count, const double *basis, const double *w, double *out) {
  bisai_solver *s = run->solver;
  bisai_status status = backend_of(run)->dot_many(s->context, s->n, count, basis, s->ld, w, s->work, out);
  if (!status) status = sum_processes(run, out, count);
  return status;
}

/* w ← w − Σ coefficients[c]·basis_c; with `norm`, the solver's norm2 ← w·w */
static bisai_status subtract(bsi_run *run, int count, const double *basis, const double *coefficients, double *w,
                             bool norm) {
  bisai_solver *s = run->solver;
  bisai_status status = backend_of(run)->axpy_many(s->context, s->n, count, basis, s->ld, coefficients, -1, w, s->work,
                                                   norm ? s->norm2 : NULL);
  if (!status && norm) status = sum_processes(run, s->norm2, 1);
  return status;
}

/* x ← x + factor·Σ coefficients[c]·basis_c */
static bisai_status add(bsi_run *run, int count, const double *basis, const double *coefficients, double factor,
                        double *x) {
  bisai_solver *s = run->solver;
  return backend_of(run)->axpy_many(s->context, s->n, count, basis, s->ld, coefficients, factor, x, s->work, NULL);
}

/* norm2 and *value ← ‖x‖² and ‖x‖ */
static bisai_status norm(bsi_run *run, const double *x, double *value) {
  bisai_solver *s = run->solver;
  double norm2 = 0;
  bisai_status status = dot(run, 1, x, x, s->norm2);
  if (!status) status = backend_of(run)->fetch(s->context, &norm2, s->norm2, sizeof norm2);
  *value = sqrt(norm2);
  return status;
}

/* x ← scale·x, by way of `spare`; norm2 and *value of the result */
static bisai_status scaled_norm(bsi_run *run, double *x, double *value) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = backend_of(run);
  if (run->scale == 1) return norm(run, x, value);
  bisai_status status = backend->vector_set(s->context, s->n, 0, s->spare);
  if (!status) status = add(run, 1, x, s->one, run->scale, s->spare);
  if (!status) status = backend->vector_copy(s->context, s->n, s->spare, x);
  if (!status) status = norm(run, x, value);
  return status;
}

/* --- a cycle --- */

static void record(bsi_run *run, double relative) {
  const bisai_solver_options *options = &run->solver->options;
  run->estimate = relative;
  if (run->iterations < BSI_HISTORY_MOST) run->solver->history[run->iterations] = relative;
  if (options->monitor && options->monitor(options->monitor_user, run->iterations, relative) != 0) run->stop = true;
}

/* V_0 ← scale·(b − A x); without a product where x is still zero */
static bisai_status compute_residual(bsi_run *run) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = backend_of(run);
  bisai_status status;
  if (run->end == BSI_CYCLE_NONE && !s->options.use_initial_guess) {
    status = backend->vector_copy(s->context, s->n, run->b, s->basis);
  } else {
    status = multiply(run, run->x, s->basis);
    if (!status) status = backend->vector_subtract_from(s->context, s->n, run->b, s->basis);
  }
  double value = NAN;
  if (!status) status = scaled_norm(run, s->basis, &value);
  run->true_norm = value;
  return status;
}

/* On the left: V_0 ← M⁻¹ V_0 and its norm; at the first start also ‖M⁻¹b‖, which is the same norm if x = 0. */
static bisai_status precondition_residual(bsi_run *run, double *beta) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = backend_of(run);
  bisai_status status = BISAI_OK;
  if (run->end == BSI_CYCLE_NONE && s->options.use_initial_guess) {
    double *copy = basis_vector(s, 1);
    status = backend->vector_copy(s->context, s->n, run->b, copy);
    if (!status) status = scaled_norm(run, copy, beta);
    if (!status) status = precondition(run, copy, s->spare);
    if (!status) status = norm(run, s->spare, &run->reference);
  }
  if (!status) status = precondition(run, s->basis, s->spare);
  if (!status) status = backend->vector_copy(s->context, s->n, s->spare, s->basis);
  if (!status) status = norm(run, s->basis, beta);
  if (!status && run->end == BSI_CYCLE_NONE && !s->options.use_initial_guess) run->reference = *beta;
  return status;
}

/* V_0 ← V_0/β, g ← β e₁ */
static bisai_status start_cycle(bsi_run *run) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = backend_of(run);
  const bool first = run->end == BSI_CYCLE_NONE;
  double beta = run->true_norm;
  bisai_status status = preconditioned_left(run) ? precondition_residual(run, &beta) : BISAI_OK;
  if (!status) status = backend->scale_by_norm(s->context, s->n, s->norm2, s->basis, s->basis);
  if (!status) status = backend->upload(s->context, s->rhs, &beta, sizeof beta);
  if (status) return status;
  run->end = BSI_CYCLE_FULL;
  if (!isfinite(beta) || !isfinite(run->reference))
    run->end = BSI_CYCLE_NOT_FINITE;
  else if (beta == 0 || run->reference == 0)
    run->end = BSI_CYCLE_BREAKDOWN;
  if (first) {
    run->target = s->options.tolerance * run->reference;
    record(run, run->end == BSI_CYCLE_FULL ? beta / run->reference : run->true_norm / run->b_norm);
  }
  return BISAI_OK;
}

/* w ← A M⁻¹ v_j or M⁻¹ A v_j */
static bisai_status expand(bsi_run *run, int j, double *w) {
  bisai_solver *s = run->solver;
  const double *v = basis_vector(s, j);
  if (!run->precond) return multiply(run, v, w);
  if (s->options.side == BISAI_LEFT) {
    const bisai_status status = multiply(run, v, s->spare);
    return status ? status : precondition(run, s->spare, w);
  }
  double *z = s->options.flexible ? s->search + (int64_t)j * s->ld : s->spare;
  const bisai_status status = precondition(run, v, z);
  return status ? status : multiply(run, z, w);
}

/* products (+ products2 where *refined) ← V_{j+1}ᵀw, w ← w − V_{j+1}(V_{j+1}ᵀw), norm2 ← w·w */
static bisai_status orthogonalize(bsi_run *run, int j, double *w, bool *refined) {
  bisai_solver *s = run->solver;
  const double *basis = s->basis;
  bisai_status status = BISAI_OK;
  *refined = false;
  if (s->options.orthogonalization == BISAI_MODIFIED) {
    for (int i = 0; i <= j && !status; i++) {
      status = dot(run, 1, basis_vector(s, i), w, s->products + i);
      if (!status) status = subtract(run, 1, basis_vector(s, i), s->products + i, w, i == j);
    }
    return status;
  }
  const bool always = s->options.orthogonalization == BISAI_CLASSICAL_REFINED;
  bool again = always;
  status = dot(run, j + 1, basis, w, s->products);
  if (!status) status = subtract(run, j + 1, basis, s->products, w, !always);
  if (!status && s->options.orthogonalization == BISAI_CLASSICAL_SELECTIVE)
    status = backend_of(run)->gmres_cancelled(s->context, j + 1, s->products, s->norm2, &again);
  if (!status && again) status = dot(run, j + 1, basis, w, s->products2);
  if (!status && again) status = subtract(run, j + 1, basis, s->products2, w, true);
  *refined = again;
  return status;
}

/* What the backend does at once; sums over processes come between, and modified Gram–Schmidt has no such form. */
static bool fused(const bsi_run *run, int j) {
  const bisai_solver_options *options = &run->solver->options;
  return j < backend_of(run)->fused_columns && !options->reduce && options->orthogonalization != BISAI_MODIFIED;
}

static bisai_status fused_step(bsi_run *run, int j) {
  const bisai_solver *s = run->solver;
  const bisai_orthogonalization kind = s->options.orthogonalization;
  const bsi_cycle cycle = {.n = s->n,
                           .ld = s->ld,
                           .m = s->options.restart,
                           .basis = s->basis,
                           .hessenberg = s->hessenberg,
                           .cosines = s->cosines,
                           .sines = s->sines,
                           .rhs = s->rhs,
                           .status = s->status,
                           .work = s->work};
  return backend_of(run)->gmres_step(s->context, &cycle, j,
                                     kind == BISAI_CLASSICAL           ? BSI_PASSES_ONE
                                     : kind == BISAI_CLASSICAL_REFINED ? BSI_PASSES_TWO
                                                                       : BSI_PASSES_SELECTIVE);
}

/* Enqueues column j of H and v_{j+1}. Its status will be the estimate and h_{j+1,j}, or 0 where the Krylov space is exhausted. */
static bisai_status step(bsi_run *run, int j) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = backend_of(run);
  double *w = basis_vector(s, j + 1);
  bool refined = false;
  bisai_status status = expand(run, j, w);
  if (!status && fused(run, j)) return fused_step(run, j);
  if (!status) status = orthogonalize(run, j, w, &refined);
  if (!status)
    status = backend->gmres_rotate(s->context, s->options.restart, j, s->products, refined ? s->products2 : NULL,
                                   s->norm2, s->hessenberg, s->cosines, s->sines, s->rhs, s->status + 2 * j);
  if (!status) status = backend->scale_by_norm(s->context, s->n, s->norm2, w, w);
  return status;
}

/* Waits for step j and takes note of what it brought; *columns are good. */
static bisai_status look_at(bsi_run *run, int j, int *columns) {
  bisai_solver *s = run->solver;
  double fetched[2] = {NAN, NAN};
  const bisai_status status = backend_of(run)->collect(s->context, 2, s->status + 2 * j, fetched);
  if (status) return status;
  if (!isfinite(fetched[0]) || !isfinite(fetched[1])) {
    run->end = BSI_CYCLE_NOT_FINITE;
    return BISAI_OK;
  }
  *columns = j + 1;
  run->iterations++;
  record(run, fetched[0] / run->reference);
  if (fetched[0] <= run->target)
    run->end = BSI_CYCLE_TARGET;
  else if (fetched[1] == 0)
    run->end = BSI_CYCLE_BREAKDOWN;
  return BISAI_OK;
}

/* Steps until something ends the cycle. Steps are enqueued `lookahead` ahead of what is known; those beyond the end leave alone what
 * the columns before them gave, and count for nothing, not even when they fail. */
static bisai_status run_cycle(bsi_run *run, int *columns) {
  const bsi_backend *backend = backend_of(run);
  const bisai_solver_options *options = &run->solver->options;
  const int left = options->max_iterations - run->iterations;
  const int limit = options->restart < left ? options->restart : left;
  const int applications = run->applications;
  int sent = 0, seen = 0;
  bisai_status status = BISAI_OK;
  backend->expect(run->solver->context, 2 * limit, run->solver->status);
  while (seen < limit && run->end == BSI_CYCLE_FULL && !run->stop) {
    while (!status && sent < limit && sent <= seen + backend->lookahead) {
      status = step(run, sent);
      if (status) break;
      sent++;
      run->enqueued++;
    }
    if (seen == sent) return status;
    const bisai_status looked = look_at(run, seen++, columns);
    if (looked) return looked;
  }
  run->reason = BISAI_REASON_NONE;
  run->enqueued = run->iterations;
  run->applications = applications + (run->precond ? seen : 0);
  return read_clock(run);
}

/* x ← x + the cycle's correction; the present x is kept if it is the best so far. */
static bisai_status correct(bsi_run *run, int columns) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = backend_of(run);
  run->start_norm = run->true_norm;
  if (columns == 0) return BISAI_OK;
  bisai_status status = BISAI_OK;
  if (run->true_norm < run->best_norm) {
    status = backend->vector_copy(s->context, s->n, run->x, s->best);
    if (!status) run->best_norm = run->true_norm;
  }
  if (!status)
    status =
        backend->gmres_coefficients(s->context, s->options.restart, columns, s->hessenberg, s->rhs, s->coefficients);
  const double *directions = flexible(run) ? s->search : s->basis;
  const double *coefficients = s->coefficients;
  if (run->precond && !flexible(run) && !preconditioned_left(run)) {
    double *sum = basis_vector(s, columns);
    if (!status) status = backend->vector_set(s->context, s->n, 0, sum);
    if (!status) status = add(run, columns, s->basis, s->coefficients, 1, sum);
    if (!status) status = precondition(run, sum, s->spare);
    directions = s->spare;
    coefficients = s->one;
    columns = 1;
  }
  if (status) return status;
  run->true_norm = NAN;
  return add(run, columns, directions, coefficients, 1 / run->scale, run->x);
}

/* --- decisions --- */

static bool stagnated(bsi_run *run) {
  const int cycles = run->solver->options.stagnation_cycles;
  if (run->true_norm <= (1 - least_reduction) * run->anchor) {
    run->anchor = run->true_norm;
    run->stalled = 0;
    return false;
  }
  run->stalled++;
  return cycles > 0 && run->stalled >= cycles;
}

/* Whether and why to end, from the true residual of the present x and from how the last cycle ended. */
static bisai_reason judge(bsi_run *run) {
  const bisai_solver_options *options = &run->solver->options;
  const double goal = options->tolerance * run->b_norm;
  const bool believed = run->end == BSI_CYCLE_TARGET || run->end == BSI_CYCLE_BREAKDOWN;
  if (run->true_norm <= (believed ? 2 * goal : goal)) return BISAI_REASON_CONVERGED;
  if (!isfinite(run->true_norm) || run->end == BSI_CYCLE_NOT_FINITE) return BISAI_REASON_NOT_FINITE;
  if (run->stop) return BISAI_REASON_STOPPED;
  if (run->end == BSI_CYCLE_BREAKDOWN && run->true_norm > (1 - least_reduction) * run->start_norm)
    return run->true_norm > rounding_level * run->b_norm ? BISAI_REASON_BREAKDOWN : BISAI_REASON_STAGNATED;
  if (run->iterations >= options->max_iterations) return BISAI_REASON_MAX_ITERATIONS;
  if (run->end == BSI_CYCLE_NONE) {
    run->anchor = run->true_norm;
    return BISAI_REASON_NONE;
  }
  if (stagnated(run)) return BISAI_REASON_STAGNATED;
  /* The preconditioned residual was small enough, the true one was not: aim lower in proportion. */
  if (run->end == BSI_CYCLE_TARGET && preconditioned_left(run)) run->target *= goal / run->true_norm;
  return BISAI_REASON_NONE;
}

/* ‖b‖, and the scale at which neither its square nor that of residuals far below it leaves the range of a double. */
static bisai_status measure_rhs(bsi_run *run) {
  bisai_solver *s = run->solver;
  run->scale = 1;
  bisai_status status = norm(run, run->b, &run->b_norm);
  if (status || isnan(run->b_norm) || (run->b_norm >= 1e-100 && run->b_norm <= 1e150)) return status;
  run->scale = run->b_norm < 1 ? 0x1p600 : 0x1p-600;
  status = backend_of(run)->vector_copy(s->context, s->n, run->b, s->basis);
  if (!status) status = scaled_norm(run, s->basis, &run->b_norm);
  return status;
}

/* Everything before the first cycle; a run that ends here has its reason set. */
static bisai_status begin(bsi_run *run) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = backend_of(run);
  const double one = 1;
  bisai_status status = BISAI_OK;
  if (!s->options.use_initial_guess) status = backend->vector_set(s->context, s->n, 0, run->x);
  if (!status) status = backend->upload(s->context, s->one, &one, sizeof one);
  if (!status) status = measure_rhs(run);
  if (status) return status;
  run->reference = run->b_norm;
  run->best_norm = INFINITY;
  if (run->b_norm == 0) {
    status = backend->vector_set(s->context, s->n, 0, run->x);
    run->true_norm = 0;
    run->b_norm = run->reference = 1;
    run->reason = BISAI_REASON_CONVERGED;
  } else if (!isfinite(run->b_norm)) {
    run->reason = BISAI_REASON_NOT_FINITE;
  } else {
    status = compute_residual(run);
    if (!status) run->reason = judge(run);
  }
  if (!status && run->reason && run->reason != BISAI_REASON_NOT_FINITE) record(run, run->true_norm / run->b_norm);
  return status;
}

/* Puts the best known iterate into x where the present one is worse or of unknown quality. */
static void restore_best(bsi_run *run) {
  bisai_solver *s = run->solver;
  if (run->true_norm <= run->best_norm || isinf(run->best_norm)) return;
  if (backend_of(run)->vector_copy(s->context, s->n, s->best, run->x) == BISAI_OK) run->true_norm = run->best_norm;
}

bisai_status bsi_gmres(bsi_run *run) {
  bisai_status status = begin(run);
  while (!status && run->reason == BISAI_REASON_NONE) {
    int columns = 0;
    status = start_cycle(run);
    if (!status) status = run_cycle(run, &columns);
    if (!status) status = correct(run, columns);
    if (!status) status = compute_residual(run);
    if (!status) run->reason = judge(run);
  }
  restore_best(run);
  if (!status) status = read_clock(run);
  return status;
}
