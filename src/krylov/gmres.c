/* SPDX-License-Identifier: BSD-3-Clause */
/* Restarted GMRES for A x = b, b and x of n values. From r = b − A x, β = ‖r‖, V_0 = r/β, a cycle
 * of m steps builds
 *
 *   right     A M⁻¹ V_m = V_{m+1} H       x ← x + M⁻¹ V_m y
 *   flexible  A Z_m = V_{m+1} H           x ← x + Z_m y,      z_j = M_j⁻¹ v_j
 *   left      M⁻¹ A V_m = V_{m+1} H       x ← x + V_m y,      r and β of M⁻¹(b − A x)
 *
 * with orthonormal V (n × (m+1)), Hessenberg H ((m+1) × m) and y = argmin ‖β e₁ − H y‖ by Givens
 * rotations, whose last right-hand side entry is the residual estimate. Source: Saad, Iterative
 * Methods for Sparse Linear Systems, 6.5.3, 9.3.1, 9.3.2, 9.4.1. */
#include <math.h>

#include "core/backend.h"
#include "krylov/krylov_ops.h"
#include "krylov/memory.h"
#include "krylov/operations.h"
#include "krylov/residual.h"

static double *basis_vector(const bisai_solver *solver, int j) {
  return solver->basis + (int64_t)j * solver->ld;
}

static bool flexible(const bsi_run *run) { return run->precond && run->solver->options.flexible; }

/* On the left: V_0 ← M⁻¹ V_0 and its norm; at the first start also ‖M⁻¹b‖, which is the same norm
 * if x = 0. */
static bisai_status measure(bsi_run *run, double *beta) {
  bisai_solver *s = run->solver;
  if (!bsi_preconditioned_left(run)) return BISAI_OK;
  const bsi_backend *backend = bsi_backend_of(run);
  bisai_status status = BISAI_OK;
  if (run->end == BSI_CYCLE_NONE && s->options.use_initial_guess) {
    double *scaled = basis_vector(s, 1);
    status = bsi_multiple(run, run->scale, run->b, scaled);
    if (!status) status = bsi_precondition(run, scaled, s->spare);
    if (!status) status = bsi_norm(run, s->spare, &run->reference);
  }
  if (!status) status = bsi_precondition(run, s->basis, s->spare);
  if (!status) status = backend->vectors->copy(s->context, s->n, s->spare, s->basis);
  if (!status) status = bsi_norm(run, s->basis, beta);
  if (!status && run->end == BSI_CYCLE_NONE && !s->options.use_initial_guess)
    run->reference = *beta;
  return status;
}

/* V_0 ← V_0/β, g ← β e₁ */
static bisai_status prepare(bsi_run *run, double *seen) {
  const bisai_solver *s = run->solver;
  return bsi_backend_of(run)->krylov->basis->start(s->context, s->n, s->norm2, s->basis, s->rhs,
                                                   seen);
}

static bisai_status start(bsi_run *run, double beta) {
  (void)beta;
  return run->prepared ? BISAI_OK : prepare(run, run->solver->status + 2 * run->solver->slots);
}

/* w ← A M⁻¹ v_j or M⁻¹ A v_j */
static bisai_status expand(bsi_run *run, int j, double *w) {
  bisai_solver *s = run->solver;
  const double *v = basis_vector(s, j);
  if (!run->precond) return bsi_multiply(run, v, w);
  if (s->options.side == BISAI_LEFT) {
    const bisai_status status = bsi_multiply(run, v, s->spare);
    return status ? status : bsi_precondition(run, s->spare, w);
  }
  double *z = s->options.flexible ? s->search + (int64_t)j * s->ld : s->spare;
  const bisai_status status = bsi_precondition(run, v, z);
  return status ? status : bsi_multiply(run, z, w);
}

/* products (+ products2 where *refined) ← V_{j+1}ᵀw, w ← w − V_{j+1}(V_{j+1}ᵀw), norm2 ← w·w */
static bisai_status orthogonalize(bsi_run *run, int j, double *w, bool *refined) {
  bisai_solver *s = run->solver;
  const double *basis = s->basis;
  bisai_status status = BISAI_OK;
  *refined = false;
  if (s->options.orthogonalization == BISAI_MODIFIED) {
    for (int i = 0; i <= j && !status; i++) {
      status = bsi_dot(run, 1, basis_vector(s, i), w, s->products + i);
      if (!status) status = bsi_subtract(run, 1, basis_vector(s, i), s->products + i, w, i == j);
    }
    return status;
  }
  const bool always = s->options.orthogonalization == BISAI_CLASSICAL_REFINED;
  bool again = always;
  status = bsi_dot(run, j + 1, basis, w, s->products);
  if (!status) status = bsi_subtract(run, j + 1, basis, s->products, w, !always);
  if (!status && s->options.orthogonalization == BISAI_CLASSICAL_SELECTIVE)
    status = bsi_backend_of(run)->krylov->gmres->cancelled(s->context, j + 1, s->products, s->norm2,
                                                           &again);
  if (!status && again) status = bsi_dot(run, j + 1, basis, w, s->products2);
  if (!status && again) status = bsi_subtract(run, j + 1, basis, s->products2, w, true);
  *refined = again;
  return status;
}

/* What the backend does at once; sums over processes come between, and modified Gram–Schmidt has no
 * such form. */
static bool fused(const bsi_run *run, int j) {
  const bisai_solver_options *options = &run->solver->options;
  return j < bsi_backend_of(run)->krylov->gmres->fused_columns && !options->reduce &&
         options->orthogonalization != BISAI_MODIFIED;
}

static bisai_status fused_step(bsi_run *run, int j, double *words) {
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
                           .status = words - 2 * (int64_t)j,
                           .work = s->work};
  return bsi_backend_of(run)->krylov->gmres->step(s->context, &cycle, j,
                                                  kind == BISAI_CLASSICAL ? BSI_PASSES_ONE
                                                  : kind == BISAI_CLASSICAL_REFINED
                                                      ? BSI_PASSES_TWO
                                                      : BSI_PASSES_SELECTIVE);
}

/* Enqueues column j of H and v_{j+1}. Its status will be the estimate and h_{j+1,j}, or 0 where the
 * Krylov space is exhausted. */
static bisai_status step(bsi_run *run, int j, double *words) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  double *w = basis_vector(s, j + 1);
  bool refined = false;
  bisai_status status = expand(run, j, w);
  if (!status && fused(run, j)) return fused_step(run, j, words);
  if (!status) status = orthogonalize(run, j, w, &refined);
  if (!status)
    status = backend->krylov->gmres->rotate(s->context, s->options.restart, j, s->products,
                                            refined ? s->products2 : NULL, s->norm2, s->hessenberg,
                                            s->cosines, s->sines, s->rhs, words);
  if (!status) status = backend->krylov->basis->scale_by_norm(s->context, s->n, s->norm2, w, w);
  return status;
}

static void judge(bsi_run *run, const double *words) {
  if (words[0] <= run->target) {
    run->end = BSI_CYCLE_TARGET;
  } else if (words[1] == 0) {
    run->end = BSI_CYCLE_BREAKDOWN;
    run->breakdown = BISAI_BREAKDOWN_SPACE;
  }
}

/* x ← x + the cycle's correction */
static bisai_status correct(bsi_run *run, int columns) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  bisai_status status = backend->krylov->gmres->coefficients(
      s->context, s->options.restart, columns, s->hessenberg, s->rhs, s->coefficients);
  const double *directions = flexible(run) ? s->search : s->basis;
  const double *coefficients = s->coefficients;
  if (run->precond && !flexible(run) && !bsi_preconditioned_left(run)) {
    double *sum = basis_vector(s, columns);
    if (!status) status = backend->vectors->set(s->context, s->n, 0, sum);
    if (!status) status = bsi_add(run, columns, s->basis, s->coefficients, 1, sum);
    if (!status) status = bsi_precondition(run, sum, s->spare);
    directions = s->spare;
    coefficients = s->one;
    columns = 1;
  }
  return status ? status
                : bsi_add(run, columns, directions, coefficients, run->factor / run->scale, run->x);
}

static int longest_cycle(const bisai_solver *solver) { return solver->options.restart; }

static bool reserve(bisai_solver *solver) {
  const size_t m = (size_t)solver->options.restart;
  solver->vectors = bsi_reserve_vectors(solver, m + 3);
  if (!solver->vectors) return false;
  solver->basis = solver->residual = solver->vectors;
  solver->spare = solver->basis + (int64_t)(m + 1) * solver->ld;
  solver->best = solver->spare + solver->ld;
  if (solver->options.flexible && !(solver->search = bsi_reserve_vectors(solver, m))) return false;

  double *next = bsi_reserve(solver, (m + 1) * (m + 6) + 4, sizeof(double));
  if (!next) return false;
  solver->scalars = next;
  solver->hessenberg = next;
  solver->cosines = (next += (m + 1) * m);
  solver->sines = (next += m + 1);
  solver->rhs = (next += m + 1);
  solver->products = (next += m + 1);
  solver->products2 = (next += m + 1);
  solver->coefficients = (next += m + 1);
  solver->norm2 = (next += m + 1);
  solver->one = next + 1;
  solver->shrink = next + 2;
  solver->x_norm2 = next + 3;
  solver->slots = solver->options.restart;
  solver->work = bsi_reserve(solver, m + 1, BSI_CHUNKS * sizeof(double));
  return solver->work != NULL;
}

const bsi_method bsi_gmres = {.name = BISAI_GMRES,
                              .applications = 1,
                              .curable = true,
                              .reserve = reserve,
                              .longest_cycle = longest_cycle,
                              .measure = measure,
                              .prepare = prepare,
                              .start = start,
                              .step = step,
                              .judge = judge,
                              .correct = correct};
