/* SPDX-License-Identifier: BSD-3-Clause */
/* BiCGSTAB, preconditioned from the right. From r = r̂ = b − A x, ρ = r̂·r, an iteration is
 *
 *   p ← r + β (p − ω q),  q = A M⁻¹p,  α = ρ/(r̂·q),  r ← r − α q,  t = A M⁻¹r,  ω = t·r/t·t,
 *   x ← x + α M⁻¹p + ω M⁻¹r,  r ← r − ω t,  ρ' = r̂·r,  β = (ρ'/ρ)(α/ω)
 *
 * with β = 0 in the first. Source: van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992) 631–644.
 *
 * If b is zero except in rows of the identity (boundary values), the first step makes r zero in
 * these rows, and every later r is orthogonal to r̂ = b. After such a breakdown the solve begins
 * once more, with a fixed r̂ that has no zeros. */
#include "core/context/context_impl.h"
#include "krylov/methods/short_recurrence.h"
#include "krylov/passes/krylov_ops.h"
#include "krylov/run/operations.h"

static bool reserve(bisai_solver *solver) {
  if (!bsi_recurrence_reserve(solver, 9, 3)) return false;
  bsi_recurrence *r = bsi_recurrence_of(solver);
  r->p = r->r + r->ld;
  r->q = r->p + r->ld;
  r->t = r->q + r->ld;
  r->z = r->t + r->ld;
  r->z2 = r->z + r->ld;
  r->shadow = r->z2 + r->ld;
  solver->vectors.spare = r->t;
  return true;
}

/* r̂ ← the first shadow vector of IDR(s) */
static bisai_status take_other_shadow(bsi_solver_run *run, bsi_scalars *scalars) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  const bsi_recurrence *r = bsi_recurrence_of(s);
  BSI_TRY(backend->krylov->recurrence->shadow_vector(s->context, s->n, 0, r->shadow));
  BSI_TRY(bsi_norm(run, r->shadow, &scalars->shadow_norm));
  BSI_TRY(bsi_dot(run, 1, r->shadow, r->r, r->results.sums));
  return backend->memory->fetch(s->context, &scalars->rho, r->results.sums, sizeof scalars->rho);
}

static bisai_status start(bsi_solver_run *run, double norm) {
  const bisai_solver *s = run->solver;
  const bsi_recurrence *r = bsi_recurrence_of(s);
  bsi_scalars scalars = {.rho = norm * norm, .shadow_norm = norm};
  BSI_TRY(run->cycle.other_shadow
              ? take_other_shadow(run, &scalars)
              : bsi_backend_of(run)->vectors->copy(s->context, s->n, r->r, r->shadow));
  return bsi_recurrence_start(run, norm, &scalars);
}

static bool change_start(bsi_solver_run *run) {
  const bool orthogonal =
      run->cycle.breakdown == BISAI_BREAKDOWN_RHO || run->cycle.breakdown == BISAI_BREAKDOWN_ALPHA;
  if (!orthogonal || run->cycle.other_shadow) return false;
  run->cycle.other_shadow = true;
  return true;
}

static bisai_status step(bsi_solver_run *run, int j, double *words) {
  (void)j;
  bsi_recurrence r = bsi_recurrence_at(run, words);
  if (!run->system.precond) {
    r.z = r.p;
    r.z2 = r.r;
  }
  BSI_TRY(bsi_recurrence_pass(run, &r, BSI_BICGSTAB_DIRECTION));
  if (run->system.precond) BSI_TRY(bsi_precondition(run, r.p, r.z));
  BSI_TRY(bsi_multiply(run, r.z, r.q));
  BSI_TRY(bsi_recurrence_pass(run, &r, BSI_BICGSTAB_ALPHA));
  BSI_TRY(bsi_recurrence_pass(run, &r, BSI_BICGSTAB_HALF));
  if (run->system.precond) BSI_TRY(bsi_precondition(run, r.r, r.z2));
  BSI_TRY(bsi_multiply(run, r.z2, r.t));
  BSI_TRY(bsi_recurrence_pass(run, &r, BSI_BICGSTAB_OMEGA));
  return bsi_recurrence_pass(run, &r, BSI_BICGSTAB_UPDATE);
}

const bsi_method bsi_method_bicgstab = {.state_size = sizeof(bsi_recurrence),
                                        .applications = 2,
                                        .restartable = true,
                                        .reserve = reserve,
                                        .cycle.start = start,
                                        .cycle.change_start = change_start,
                                        .cycle.step = step,
                                        BSI_SHORT_RECURRENCE};
