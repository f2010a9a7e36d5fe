#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"

static char *copy_text(const char *text) {
  size_t length = strlen(text);
  char *copy = malloc(length + 1);
  return copy ? memcpy(copy, text, length + 1) : NULL;
}

static const char *setup_reason(bisai_status status) {
  switch (status) {
  case BISAI_SINGULAR_BLOCK: return "singular_block";
  case BISAI_MISSING_DIAGONAL: return "missing_diagonal";
  case BISAI_OVERFLOW: return "overflow";
  case BISAI_NOT_FINITE: return "not_finite";
  case BISAI_UNAVAILABLE:
  case BISAI_UNSUPPORTED: return "unavailable";
  default: return "failed";
  }
}

static const char *solve_reason(bisai_reason reason) {
  switch (reason) {
  case BISAI_REASON_CONVERGED: return "converged";
  case BISAI_REASON_MAX_ITERATIONS: return "max_iterations";
  case BISAI_REASON_STAGNATED: return "stagnated";
  case BISAI_REASON_NOT_FINITE: return "not_finite";
  default: return "failed";
  }
}

static void fail(bisai_context *context, bisai_status status, const char *reason, run_result *r) {
  const char *message = bisai_context_error(context);
  r->reason = reason;
  free(r->message);
  r->message = copy_text(*message ? message : bisai_status_string(status));
}

/* ‖b − A x‖/‖b‖ over the original rows, from a product of its own; 0/0 = 0. NaN where there is no memory for it. */
static double relative_residual(const problem *p, const double *x) {
  double *y = malloc((size_t)p->unknowns * sizeof *y), sum = NAN;
  if (y && bisai_bcsr_multiply(p->matrix, x, y) == BISAI_OK) {
    sum = 0;
    for (int64_t i = 0; i < p->rows; ++i) {
      double r = p->rhs[i] - y[i];
      sum += r * r;
    }
  }
  free(y);
  if (sum == 0) return 0;
  return sqrt(sum) / p->rhs_norm;
}

static void keep_history(run_result *r) {
  size_t bytes = (size_t)r->solve.history_length * sizeof *r->history;
  if (r->solve.history && bytes) {
    r->history = malloc(bytes);
    if (r->history) memcpy(r->history, r->solve.history, bytes);
  }
  r->solve.history = NULL;
}

static void solve(bisai_context *context, const problem *p, bisai_solver *solver, bisai_precond *precond, double *x,
                  run_result *r) {
  r->solve.struct_size = sizeof r->solve;
  bisai_status status = bisai_solver_solve(solver, p->matrix, precond, p->rhs, x, &r->solve);
  r->solved = true;
  keep_history(r);
  r->residual = relative_residual(p, x);
  r->reason = solve_reason(r->solve.reason);
  r->converged = r->solve.reason == BISAI_REASON_CONVERGED && r->residual <= 2 * p->tolerance;
  if (r->solve.reason == BISAI_REASON_CONVERGED && !r->converged) {
    r->reason = "failed";
    free(r->message);
    r->message = copy_text("the recomputed residual exceeds twice the tolerance");
  } else if (!r->converged) {
    fail(context, status, r->reason, r);
  }
}

void run_method(bisai_context *context, const problem *p, const options *o, const method *m, double *x, run_result *r) {
  *r = (run_result){.m = *m, .reason = "failed", .message = copy_text(""), .residual = NAN};
  method_label(m, r->label);
  progress shown = progress_start(r->label);
  bisai_precond *precond = NULL;
  bisai_solver *solver = NULL;
  memset(x, 0, (size_t)p->unknowns * sizeof *x);

  bisai_precond_options setup = bisai_precond_options_default();
  setup.kind = m->kind;
  setup.power = m->power;
  setup.relax = m->relax;
  setup.sweeps = m->sweeps;
  setup.storage = m->storage;
  progress_show(&shown, "set-up");
  bisai_status status = bisai_precond_create(context, p->matrix, &setup, &precond);
  if (status != BISAI_OK) {
    fail(context, status, setup_reason(status), r);
    goto done;
  }
  r->setup.struct_size = sizeof r->setup;
  bisai_precond_get_report(precond, &r->setup);
  r->description = copy_text(bisai_precond_describe(precond));

  bisai_solver_options how = bisai_solver_options_default();
  how.restart = o->restart;
  how.tolerance = p->tolerance;
  how.max_iterations = o->max_iterations;
  if (shown.live) {
    how.monitor = progress_residual;
    how.monitor_user = &shown;
  }
  status = bisai_solver_create(context, p->unknowns, &how, &solver);
  if (status != BISAI_OK) {
    fail(context, status, "failed", r);
    goto done;
  }
  r->set_up = true;
  solve(context, p, solver, precond, x, r);
done:
  progress_end(&shown);
  bisai_solver_destroy(&solver);
  bisai_precond_destroy(&precond);
}

void run_result_free(run_result *r) {
  free(r->message);
  free(r->description);
  free(r->history);
  *r = (run_result){0};
}

bool run_has_factor(const run_result *r) {
  return r->set_up && r->m.kind != BISAI_PRECOND_NONE && r->m.kind != BISAI_PRECOND_BJACOBI;
}

bool run_has_pattern(const run_result *r) { return r->set_up && r->m.kind == BISAI_PRECOND_ISAI; }

bool run_has_values(const run_result *r) {
  return r->set_up && r->m.kind != BISAI_PRECOND_NONE && r->m.kind != BISAI_PRECOND_ILU;
}

bool run_has_apply(const run_result *r) {
  return r->solved && r->m.kind != BISAI_PRECOND_NONE && r->solve.applications > 0;
}
