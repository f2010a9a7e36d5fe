/* SPDX-License-Identifier: BSD-3-Clause */
/* IDR(s) with biorthogonalisation, preconditioned from the right, without smoothing. P has s
 * orthonormal columns, G and U begin as zero, M as the identity, ω as 1. From r = b − A x, s + 1
 * iterations are
 *
 *   f = Pᵀr
 *   k = 0 … s−1:  M γ = f (lower right part),  v = r − Σ_{i≥k} γ_i g_i,
 *                 u_k ← ω M⁻¹v + Σ_{i≥k} γ_i u_i,  g_k = A u_k,
 *                 g_k and u_k made biorthogonal: p_i·g_k = 0 for i < k,  M_ik = p_i·g_k for i ≥ k,
 *                 β = f_k/M_kk,  r ← r − β g_k,  x ← x + β u_k,  f_i ← f_i − β M_ik
 *   t = A M⁻¹r,  ω = t·r/t·t,  r ← r − ω t,  x ← x + ω M⁻¹r
 *
 * The paper writes M for the small matrix and M⁻¹ for the preconditioner; the two are unrelated. ω
 * is divided by |t·r|/(0.7 ‖t‖‖r‖) if that is below 1. Source: van Gijzen and Sonneveld, Algorithm
 * 913, ACM Trans. Math. Softw. 38 (2011) 5, Figure 2; ω: Sleijpen and van der Vorst, Numer.
 * Algorithms 10 (1995). */
#include <math.h>

#include "core/context/context_impl.h"
#include "krylov/methods/short_recurrence.h"
#include "krylov/passes/krylov_ops.h"
#include "krylov/run/operations.h"

typedef struct idr_state {
  bsi_recurrence parts;
  /* P has been made; it does not change afterwards */
  bool shadow_ready;
} idr_state;

static idr_state *idr_of(const bisai_solver *solver) { return (idr_state *)solver->state; }

static const bisai_option option_table[] = {
    {BSI_SOLVER_OPTION(idr.shadow_dimension), .name = "shadow_dimension", .key = "s",
     .placeholder = "S", .help = "s of IDR(s)", .type = BISAI_OPTION_INTEGER,
     .use = BISAI_OPTION_SHOWN, .initial = 4, .minimum = 1, .maximum = BISAI_MAX_SHADOW_DIMENSION,
     .advised = BISAI_MAX_SHADOW_DIMENSION}};

/* No more than n shadow vectors are independent. With a reduction hook n is only a part of the
 * unknowns. */
static int useful_shadow(const bisai_solver *solver) {
  const int s = solver->options.idr.shadow_dimension;
  return solver->options.reduce || solver->n >= s ? s : solver->n > 0 ? (int)solver->n : 1;
}

static bool reserve(bisai_solver *solver) {
  const int s = solver->options.idr.shadow_dimension = useful_shadow(solver);
  if (!bsi_recurrence_reserve(solver, 3 * (size_t)s + 5, s > 2 ? s : 2)) return false;
  bsi_recurrence *r = bsi_recurrence_of(solver);
  r->idr.s = s;
  r->p = r->r + r->ld;
  r->z = r->p + r->ld;
  r->shadow = r->z + r->ld;
  r->idr.g = r->shadow + s * r->ld;
  r->idr.u = r->idr.g + s * r->ld;
  r->t = r->p; /* v is no longer needed when t is computed */
  solver->vectors.spare = r->p;
  return true;
}

/* Makes P by two passes of Gram–Schmidt. It serves all solves, unless a sum over processes was not
 * finite. */
static bisai_status make_shadow(bsi_solver_run *run) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  const bsi_recurrence *r = bsi_recurrence_of(s);
  bool finite = true;
  for (int c = 0; c < r->idr.s; c++) {
    double *column = r->shadow + c * r->ld, norm = NAN;
    BSI_TRY(backend->krylov->recurrence->shadow_vector(s->context, r->n, c, column));
    for (int pass = 0; pass < 2; pass++) {
      if (c > 0) BSI_TRY(bsi_dot(run, c, r->shadow, column, r->results.sums));
      BSI_TRY(bsi_subtract(run, c, r->shadow, r->results.sums, column, true));
      BSI_TRY(bsi_fetch_norm(run, s->scalars.norm2, &norm));
      BSI_TRY(backend->krylov->basis->scale_by_norm(s->context, r->n, s->scalars.norm2, column,
                                                    column));
      finite = finite && isfinite(norm);
    }
  }
  idr_of(s)->shadow_ready = finite;
  return BISAI_OK;
}

static bisai_status start(bsi_solver_run *run, double norm) {
  bisai_solver *s = run->solver;
  bsi_recurrence *r = bsi_recurrence_of(s);
  bsi_scalars scalars = {.omega = 1};
  for (int i = 0; i < r->idr.s; i++) scalars.idr.m[i + i * r->idr.s] = 1;
  /* After a breakdown r may come from just before the last of the s + 1 steps, and is orthogonal to
   * P then. Since f = 0, the cycle has to begin with that last step. */
  r->idr.k = run->cycle.end == BSI_CYCLE_BREAKDOWN || run->cycle.end == BSI_CYCLE_NOT_FINITE
                 ? r->idr.s
                 : 0;
  if (!idr_of(s)->shadow_ready) BSI_TRY(make_shadow(run));
  /* G and U */
  BSI_TRY(bsi_backend_of(run)->vectors->set(s->context, 2 * r->idr.s * r->ld, 0, r->idr.g));
  return bsi_recurrence_start(run, norm, &scalars);
}

/* Enqueues the last of the s + 1 steps. */
static bisai_status reduce_residual(bsi_solver_run *run, bsi_recurrence *r) {
  if (run->system.precond)
    BSI_TRY(bsi_precondition(run, r->r, r->z));
  else
    r->z = r->r;
  BSI_TRY(bsi_multiply(run, r->z, r->t));
  BSI_TRY(bsi_recurrence_pass(run, r, BSI_IDR_OMEGA));
  return bsi_recurrence_pass(run, r, BSI_IDR_LAST);
}

static bisai_status step(bsi_solver_run *run, int j, double *words) {
  bsi_recurrence r = bsi_recurrence_at(run, words);
  r.idr.k = (r.idr.k + j) % (r.idr.s + 1);
  if (r.idr.k == r.idr.s) return reduce_residual(run, &r);
  if (r.idr.k == 0) BSI_TRY(bsi_recurrence_pass(run, &r, BSI_IDR_SHADOW));
  if (r.idr.k == 0) BSI_TRY(bsi_recurrence_pass(run, &r, BSI_IDR_DIRECTION));
  if (run->system.precond)
    BSI_TRY(bsi_precondition(run, r.p, r.z));
  else
    r.z = r.p;
  BSI_TRY(bsi_recurrence_pass(run, &r, BSI_IDR_EXTEND));
  BSI_TRY(bsi_multiply(run, r.idr.u + r.idr.k * r.ld, r.idr.g + r.idr.k * r.ld));
  BSI_TRY(bsi_recurrence_pass(run, &r, BSI_IDR_COLUMN));
  return bsi_recurrence_pass(run, &r, BSI_IDR_UPDATE);
}

static void report(const bisai_solver *solver, bisai_solver_report *r) {
  r->idr.shadow_dimension = solver->options.idr.shadow_dimension;
}

const bsi_method bsi_method_idr = {.options = BSI_OPTION_LIST(option_table),
                                   .state_size = sizeof(idr_state),
                                   .report = report,
                                   .applications = 1,
                                   .restartable = true,
                                   .reserve = reserve,
                                   .cycle.start = start,
                                   .cycle.step = step,
                                   BSI_SHORT_RECURRENCE};
