/* SPDX-License-Identifier: BSD-3-Clause */
/* Richardson's iteration, preconditioned from the right. From r = b − A x, an iteration is
 *
 *   z = M⁻¹r,  t = A z,  x ← x + ω z,  r ← r − ω t
 *
 * with a fixed ω, or with ω = t·r/t·t, which minimises the residual of the iteration. Source: Saad,
 * Iterative Methods for Sparse Linear Systems, 4.2 and 5.3.2. */
#include "krylov/methods/short_recurrence.h"
#include "krylov/run/operations.h"

static const bisai_option option_table[] = {
    {BSI_SOLVER_OPTION(richardson.omega), .name = "omega", .key = "omega", .placeholder = "W",
     .help = "the step; 0: the step of the smallest residual", .type = BISAI_OPTION_NUMBER,
     .use = BISAI_OPTION_SHOWN, .maximum = 2, .advised = 2}};

static bool reserve(bisai_solver *solver) {
  if (!bsi_recurrence_reserve(solver, 5, 3)) return false;
  bsi_recurrence *r = bsi_recurrence_of(solver);
  r->t = r->r + r->ld;
  r->z = r->z2 = r->t + r->ld;
  solver->vectors.spare = r->t;
  return true;
}

static bisai_status start(bsi_solver_run *run, double norm) {
  return bsi_recurrence_start(
      run, norm,
      &(bsi_scalars){.rho = norm * norm, .omega = run->solver->options.richardson.omega});
}

static bisai_status step(bsi_solver_run *run, int j, double *words) {
  (void)j;
  bsi_recurrence r = bsi_recurrence_at(run, words);
  if (!run->system.precond) r.z = r.z2 = r.r;
  if (run->system.precond) BSI_TRY(bsi_precondition(run, r.r, r.z));
  BSI_TRY(bsi_multiply(run, r.z, r.t));
  if (run->solver->options.richardson.omega > 0) return bsi_recurrence_pass(run, &r, BSI_IDR_LAST);
  BSI_TRY(bsi_recurrence_pass(run, &r, BSI_BICGSTAB_OMEGA));
  return bsi_recurrence_pass(run, &r, BSI_BICGSTAB_UPDATE);
}

const bsi_method bsi_method_richardson = {.options = BSI_OPTION_LIST(option_table),
                                          .state_size = sizeof(bsi_recurrence),
                                          .applications = 1,
                                          .restartable = true,
                                          .reserve = reserve,
                                          .cycle.start = start,
                                          .cycle.step = step,
                                          BSI_SHORT_RECURRENCE};
