/* SPDX-License-Identifier: BSD-3-Clause */
/* Conjugate gradients for symmetric definite A and M. From r = b − A x, an iteration is
 *
 *   z = M⁻¹r,  ρ' = z·r,  β = ρ'/ρ,  p ← z + β p,  α = ρ'/(p·A p),  x ← x + α p,  r ← r − α A p
 *
 * with β = 0 in the first. Source: Saad, Iterative Methods for Sparse Linear Systems, Algorithm
 * 9.1. Flexible CG takes β = z·(r − r_old)/ρ instead, so that p is conjugate to the last direction
 * even if M changes. Source: Notay, SIAM J. Sci. Comput. 22 (2000) 1444–1460. */
#include "krylov/methods/short_recurrence.h"
#include "krylov/run/late_products.h"
#include "krylov/run/operations.h"
#include "krylov/run/symmetry.h"

static const bisai_option option_table[] = {
    {BSI_SOLVER_OPTION(cg.assume_symmetric), .name = "assume_symmetric", .key = "force",
     .help =
         "take a matrix and a preconditioner that are not symmetric, which cg refuses otherwise",
     .type = BISAI_OPTION_FLAG},
    {BSI_SOLVER_OPTION(cg.flexible), .name = "flexible", .key = "flexible",
     .help = "the preconditioner may differ from one application to the next",
     .type = BISAI_OPTION_FLAG, .use = BISAI_OPTION_SHOWN}};

static bisai_status check_options(bisai_context *context, const bisai_solver_options *o) {
  if (o->method == BISAI_CG || !o->cg.flexible) return BISAI_OK;
  return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s: cg.flexible is an option of cg",
                  bisai_method_string(o->method));
}

static bool takes_nonlinear(const bisai_solver_options *o) { return o->cg.flexible; }

static bool reserve(bisai_solver *solver) {
  if (!bsi_recurrence_reserve(solver, 6, solver->options.cg.flexible ? 2 : 1)) return false;
  bsi_recurrence *r = bsi_recurrence_of(solver);
  r->p = r->r + r->ld;
  r->q = r->p + r->ld;
  r->z = r->q + r->ld;
  solver->vectors.spare = r->q;
  return true;
}

static bisai_status start(bsi_solver_run *run, double norm) {
  return bsi_recurrence_start(run, norm,
                              &(bsi_scalars){.rho = run->system.precond ? 0 : norm * norm});
}

static bisai_status step(bsi_solver_run *run, int j, double *words) {
  (void)j;
  bsi_recurrence r = bsi_recurrence_at(run, words);
  if (run->system.precond) {
    BSI_TRY(bsi_precondition(run, r.r, r.z));
    BSI_TRY(bsi_recurrence_pass(
        run, &r, run->solver->options.cg.flexible ? BSI_CG_FLEXIBLE_RHO : BSI_CG_RHO));
  } else {
    r.z = r.r;
  }
  BSI_TRY(bsi_recurrence_pass(run, &r, BSI_CG_DIRECTION));
  BSI_TRY(bsi_multiply_in_step(run, r.p, r.q, r.z));
  BSI_TRY(bsi_recurrence_pass(run, &r, BSI_CG_CURVATURE));
  return bsi_recurrence_pass(run, &r, BSI_CG_UPDATE);
}

const bsi_method bsi_method_cg = {.options = BSI_OPTION_LIST(option_table),
                                  .state_size = sizeof(bsi_recurrence),
                                  .check.options = check_options,
                                  .check.system = bsi_check_symmetry,
                                  .check.takes_nonlinear = takes_nonlinear,
                                  .applications = 1,
                                  .reserve = reserve,
                                  .cycle.start = start,
                                  .cycle.step = step,
                                  BSI_SHORT_RECURRENCE};
