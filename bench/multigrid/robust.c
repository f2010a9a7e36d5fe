/* SPDX-License-Identifier: BSD-3-Clause */
#include "robust.h"

#include "common/memory.h"

static const bench_change changes[] = {{CHANGE_NONE, "as it is", 0},
                                       {CHANGE_PERMUTE, "block rows permuted, 1", 1},
                                       {CHANGE_PERMUTE, "block rows permuted, 2", 2},
                                       {CHANGE_PERMUTE, "block rows permuted, 3", 3},
                                       {CHANGE_SCALE, "A and b times 1e100", 100},
                                       {CHANGE_SCALE, "A and b times 1e-100", -100},
                                       {CHANGE_SCALE_ROWS, "block rows times 10 or 1/10, 1", 1},
                                       {CHANGE_SCALE_ROWS, "block rows times 10 or 1/10, 2", 2},
                                       {CHANGE_SCALE_ROWS, "block rows times 10 or 1/10, 3", 3}};
enum { CHANGES = sizeof changes / sizeof *changes };

/* Sets up and solves once. A method that is refused has the reason `none`. */
static bisai_solver_report solve_once(bisai_context *context, const bench_system *s,
                                      const bench_method *m) {
  bisai_solver_report report = {.struct_size = sizeof report};
  bisai_precond *precond = NULL;
  bisai_solver *solver;
  double *b = vector_create(context, s->n, s->rhs), *x = vector_create(context, s->n, NULL);
  need(context, bisai_solver_create(context, (int64_t)s->n, &m->solver, &solver), "solver");
  bisai_status status = bisai_precond_create(context, s->matrix, &m->options, &precond);
  if (!status) status = bisai_solver_solve(solver, s->matrix, precond, b, x, &report);
  if (report.reason == BISAI_REASON_NONE)
    printf("    %s: %s\n", bisai_status_string(status), bisai_context_error(context));
  bisai_precond_destroy(&precond);
  bisai_solver_destroy(&solver);
  vector_destroy(context, b);
  vector_destroy(context, x);
  return report;
}

static void measure_change(multigrid_bench *b, const bench_system *system, const char *text,
                           const bench_change *change) {
  bench_system changed;
  system_change(b->context, system, change, &changed);
  const bench_method m = method_of(text, &changed);
  const bisai_solver_report report = solve_once(b->context, &changed, &m);
  printf("    %-32s %5d iterations, %s, residual %.1e\n", change->name, report.iterations,
         bisai_reason_string(report.reason), report.relative_residual);
  FILE *json = record_begin(b, "robust", system, &m);
  if (json)
    fprintf(json,
            ", \"change\": \"%s\", \"reason\": \"%s\", \"iterations\": %d, "
            "\"relative_residual\": %.4g}",
            change->name, bisai_reason_string(report.reason), report.iterations,
            report.relative_residual);
  bench_json_complete(&b->json);
  system_destroy(&changed);
  fflush(stdout);
}

void measure_robust(multigrid_bench *b, const bench_system *system, const char *method) {
  printf("  %s on changed systems\n", method);
  for (int i = 0; i < CHANGES; i++)
    if (changes[i].kind != CHANGE_SCALE_ROWS || !system->symmetric)
      measure_change(b, system, method, &changes[i]);
}
