/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of CG, BiCGSTAB and IDR(s). They are short recurrences: each step updates x and
 * r, and the scalars stay in the backend's memory (krylov/passes/recurrence_state.h). */
#include "krylov/methods/short_recurrence.h"
#include "core/context/context_impl.h"
#include "krylov/passes/krylov_ops.h"
#include "krylov/passes/recurrence_scalars.h"
#include "krylov/run/memory.h"
#include "krylov/run/operations.h"

/* The most steps that are enqueued at the same time; larger than every backend's `lookahead`. */
enum { SLOTS = 16 };

bool bsi_recurrence_reserve(bisai_solver *solver, size_t count, int sums) {
  bsi_recurrence *parts = bsi_recurrence_of(solver);
  solver->vectors.memory = bsi_reserve_vectors(solver, count);
  if (!solver->vectors.memory) return false;
  double *r = solver->vectors.memory;
  solver->vectors.residual = r;
  solver->vectors.best = r + (int64_t)(count - 1) * solver->ld;
  solver->vectors.scratch = solver->vectors.best - solver->ld;
  *parts = (bsi_recurrence){.n = solver->n,
                            .ld = solver->ld,
                            .r = r,
                            .kept = solver->vectors.scratch,
                            .p = r,
                            .q = r,
                            .t = r,
                            .z = r,
                            .z2 = r,
                            .shadow = r,
                            .idr = {.g = r, .u = r}};
  const size_t doubles = sizeof(bsi_scalars) / sizeof(double);
  solver->scalars.memory = bsi_reserve(solver, doubles + BSI_MAX_SUMS + 4, sizeof(double));
  if (!solver->scalars.memory) return false;
  parts->scalars = (bsi_scalars *)(void *)solver->scalars.memory;
  parts->results.sums = solver->scalars.memory + doubles;
  solver->scalars.norm2 = parts->results.sums + BSI_MAX_SUMS;
  solver->scalars.one = solver->scalars.norm2 + 1;
  solver->scalars.shrink = solver->scalars.one + 1;
  solver->scalars.x_norm2 = solver->scalars.shrink + 1;
  solver->status.slots = SLOTS;
  solver->work = parts->results.work =
      bsi_reserve(solver, (size_t)sums, BSI_CHUNKS * sizeof(double));
  return solver->work != NULL;
}

bisai_status bsi_recurrence_start(bsi_solver_run *run, double norm, bsi_scalars *scalars) {
  bisai_solver *s = run->solver;
  scalars->target = run->norms.target;
  scalars->to_x = run->scaling.products / run->scaling.vectors;
  scalars->norm2 = norm * norm;
  scalars->saved.norm = norm;
  scalars->saved.steps = BSI_KEEP_EVERY;
  return bsi_backend_of(run)->memory->upload(s->context, bsi_recurrence_of(s)->scalars, scalars,
                                             sizeof *scalars);
}

bsi_recurrence bsi_recurrence_at(const bsi_solver_run *run, double *status) {
  bsi_recurrence r = *bsi_recurrence_of(run->solver);
  r.x = run->system.x;
  r.preconditioned = run->system.precond != NULL;
  r.results.status = status;
  return r;
}

bisai_status bsi_recurrence_pass(bsi_solver_run *run, const bsi_recurrence *r, bsi_pass pass) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  const int sums = bsi_sums_of(pass, r->idr.s);
  const bool alone = !s->options.reduce || sums == 0;
  BSI_TRY(backend->krylov->recurrence->pass(s->context, r, pass, alone));
  if (alone) return BISAI_OK;
  BSI_TRY(bsi_sum_processes(run, r->results.sums, sums));
  return backend->krylov->recurrence->scalars(s->context, r, pass);
}

int bsi_recurrence_longest_cycle(const bisai_solver *solver) {
  return solver->options.max_iterations;
}

void bsi_recurrence_judge(bsi_solver_run *run, const double *status) {
  if (status[1] == BSI_STEP_TARGET) {
    run->cycle.end = BSI_CYCLE_TARGET;
  } else if (status[1] != BSI_STEP_GOOD) {
    run->cycle.end = BSI_CYCLE_BREAKDOWN;
    run->cycle.breakdown = (bisai_breakdown)status[1];
  }
}

bisai_status bsi_recurrence_best_of_cycle(bsi_solver_run *run, const double **x, double *norm) {
  const bsi_recurrence *parts = bsi_recurrence_of(run->solver);
  *x = parts->kept;
  return bsi_backend_of(run)->memory->fetch(run->solver->context, norm, &parts->scalars->saved.norm,
                                            sizeof *norm);
}
