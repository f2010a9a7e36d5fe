/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves: what is reported is true, x is finite and no worse than at the start, and nothing but the
 * input decides the bits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"

/* What is done to a solve from outside, once. */
typedef enum trouble {
  TROUBLE_NONE,
  /* the reduction hook returns NaN and says nothing */
  TROUBLE_SUM_NAN,
  /* or fails */
  TROUBLE_SUM_FAILS,
  /* the operator returns NaN and says nothing */
  TROUBLE_PRODUCT_NAN,
  /* or fails */
  TROUBLE_PRODUCT_FAILS,
  /* the monitor stops */
  TROUBLE_STOP,
  /* the caller's preconditioner fails */
  TROUBLE_PRECOND_FAILS,
  TROUBLES
} trouble;

typedef struct problem {
  const fuzz_system *system;
  bisai_solver_options options;
  bool by_operator;
  trouble trouble;
  /* the call that it happens in, from 1 on */
  int trouble_at;
  /* x0: what x holds before the solve, the initial guess or NaN */
  double *b, *x0;
  fuzz_precond *choice;
} problem;

/* The caller's functions; `countdown` is set before a solve that is to be disturbed. */
typedef struct hooks {
  trouble trouble;
  int countdown;
  const bisai_bcsr *matrix;
} hooks;

typedef struct result {
  bisai_status status;
  bisai_solver_report report;
  double *x, *history;
} result;

static bool strikes(hooks *h, trouble a, trouble b) {
  return (h->trouble == a || h->trouble == b) && h->countdown > 0 && --h->countdown == 0;
}

static bisai_status add_up(void *user, double *values, int count) {
  hooks *h = user;
  if (!strikes(h, TROUBLE_SUM_NAN, TROUBLE_SUM_FAILS)) return BISAI_OK;
  if (h->trouble == TROUBLE_SUM_FAILS) return BISAI_EXTERNAL_ERROR;
  for (int i = 0; i < count; i++) values[i] = NAN;
  return BISAI_OK;
}

static bisai_status product(void *user, int64_t n, const double *x, double *y) {
  hooks *h = user;
  const bisai_status status = bisai_bcsr_multiply(h->matrix, x, y);
  if (!strikes(h, TROUBLE_PRODUCT_NAN, TROUBLE_PRODUCT_FAILS)) return status;
  if (n > 0) y[n / 2] = NAN;
  return h->trouble == TROUBLE_PRODUCT_FAILS ? BISAI_EXTERNAL_ERROR : status;
}

static int watch(void *user, int iteration, double residual) {
  (void)iteration;
  (void)residual;
  return strikes(user, TROUBLE_STOP, TROUBLE_STOP);
}

/* --- problems --- */

static void choose_rhs(fuzz_choices *choices, const fuzz_system *s, double *b) {
  static const double scales[] = {1,     1,      1.7e308, 1e300, 1e-300,
                                  1e307, 5e-324, 1e-310,  1e150, 1e-160};
  const int what = fuzz_pick(choices, 6);
  const double scale = scales[fuzz_pick(choices, 10)];
  const uint64_t seed = fuzz_seed(choices);
  for (int32_t i = 0; i < s->rows; i++) {
    const double x = fuzz_noise(seed, i, 3);
    b[i] = what == 1   ? 1
           : what == 2 ? (i == (int32_t)(seed % (uint64_t)s->rows))
           : what == 3 ? ldexp(x, (int)(60 * x))
           : what == 4 ? 0
                       : x;
    b[i] *= scale == 5e-324 ? 0x1p-1070 : scale;
  }
  if (what == 5 && s->rows > 0 && fuzz_rarely(choices, 2))
    b[seed % (uint64_t)s->rows] = fuzz_not_finite(choices);
}

static void choose_start(fuzz_choices *choices, const fuzz_system *s, problem *p) {
  const int what = fuzz_pick(choices, 16) % 11;
  const uint64_t seed = fuzz_seed(choices);
  p->options.use_initial_guess = what > 6;
  for (int32_t i = 0; i < s->rows; i++) {
    const double x = fuzz_noise(seed, i, 4);
    p->x0[i] = what <= 6 ? NAN : what == 7 ? x : what == 8 ? 0 : what == 9 ? 1e300 * x : x;
  }
  if (what == 10 && s->rows > 0) p->x0[seed % (uint64_t)s->rows] = fuzz_not_finite(choices);
}

static problem choose(fuzz_choices *choices, const fuzz_system *s, fuzz_precond *choice) {
  problem p = {.system = s, .options = fuzz_solver_options(choices, s), .choice = choice};
  p.b = fuzz_vector(s->rows);
  p.x0 = fuzz_vector(s->rows);
  choose_rhs(choices, s, p.b);
  choose_start(choices, s, &p);
  p.trouble = (trouble)fuzz_pick(choices, TROUBLES);
  if (fuzz_rarely(choices, 2) ||
      (p.trouble == TROUBLE_PRECOND_FAILS && !(choice && choice->diagonal)))
    p.trouble = TROUBLE_NONE;
  p.trouble_at = fuzz_between(choices, 1, 40);
  p.by_operator = p.trouble == TROUBLE_PRODUCT_NAN || p.trouble == TROUBLE_PRODUCT_FAILS ||
                  fuzz_rarely(choices, 8);
  if (p.trouble == TROUBLE_SUM_NAN || p.trouble == TROUBLE_SUM_FAILS) p.options.reduce = add_up;
  if (p.trouble == TROUBLE_STOP) p.options.monitor = watch;
  const bisai_solver_options *o = &p.options;
  fuzz_scene(SCENE_SOLVE,
             "solver: %s, restart %d, tolerance %g, at most %d, side %d, flexible %d, "
             "orthogonalization %d, stagnation "
             "%d, s %d, "
             "guess %d, %s, trouble %d in call %d, b[0] = %g, x0[0] = %g",
             bisai_method_string(o->method), o->gmres.restart, o->tolerance, o->max_iterations,
             (int)o->gmres.side, (int)(o->gmres.flexible || o->cg.flexible),
             (int)o->gmres.orthogonalization, o->stagnation_cycles, o->idr.shadow_dimension,
             (int)o->use_initial_guess, p.by_operator ? "operator" : "matrix", (int)p.trouble,
             p.trouble_at, s->rows > 0 ? p.b[0] : 0, s->rows > 0 ? p.x0[0] : 0);
  return p;
}

/* --- one solve --- */

static bisai_solver *make_solver(const problem *p, hooks *h, fuzz_world *world) {
  bisai_solver_options options = p->options;
  options.reduce_user = options.monitor_user = h;
  bisai_solver *solver = NULL;
  const bisai_status status =
      bisai_solver_create(world->context, p->system->rows, &options, &solver);
  fuzz_property(!status && solver, "a solver can be made (status %d: %s)", (int)status,
                bisai_context_error(world->context));
  return solver;
}

static result solve(const problem *p, hooks *h, bisai_solver *solver, bisai_precond *precond,
                    fuzz_world *world, bool disturbed) {
  const int64_t n = p->system->rows;
  result r = {.report = {.struct_size = sizeof r.report}, .x = fuzz_vector(n)};
  memcpy(r.x, p->x0, (size_t)n * sizeof *r.x);
  h->trouble = p->trouble;
  h->countdown = disturbed ? p->trouble_at : 0;
  if (p->choice)
    p->choice->fails_in = disturbed && p->trouble == TROUBLE_PRECOND_FAILS ? p->trouble_at : 0;
  const long long calls = atomic_load(&world->calls);
  r.status = p->by_operator
                 ? bisai_solver_solve_operator(solver, product, h, precond, p->b, r.x, &r.report)
                 : bisai_solver_solve(solver, h->matrix, precond, p->b, r.x, &r.report);
  if (p->choice) p->choice->fails_in = 0;
  fuzz_property(atomic_load(&world->calls) == calls, "a solve allocates nothing");
  fuzz_counts.solves[r.status <= BISAI_NOT_LINEAR ? r.status : BISAI_EXTERNAL_ERROR]++;
  const int length = r.report.history_length;
  r.history = fuzz_vector(length > 0 ? length : 0);
  if (length > 0 && fuzz_property(r.report.history, "a history that has a length is there"))
    memcpy(r.history, r.report.history, (size_t)length * sizeof *r.history);
  return r;
}

static void free_result(result *r) {
  free(r->x);
  free(r->history);
}

static bool same_bits(double a, double b) { return fuzz_same(1, &a, &b); }

static void expect_same_solve(const problem *p, const result *a, const result *b,
                              const char *what) {
  fuzz_property(a->status == b->status && a->report.iterations == b->report.iterations,
                "%s: a solve ends alike (status %d after %d iterations, %d after %d)", what,
                (int)a->status, a->report.iterations, (int)b->status, b->report.iterations);
  fuzz_property(fuzz_same(p->system->rows, a->x, b->x), "%s: x has the same bits", what);
  fuzz_property(same_bits(a->report.relative_residual, b->report.relative_residual) &&
                    same_bits(a->report.estimated_residual, b->report.estimated_residual) &&
                    a->report.restarts == b->report.restarts &&
                    a->report.breakdown == b->report.breakdown &&
                    a->report.applications == b->report.applications,
                "%s: the report says the same (residual %g, %g; estimate %g, %g)", what,
                a->report.relative_residual, b->report.relative_residual,
                a->report.estimated_residual, b->report.estimated_residual);
  fuzz_property(a->report.history_length == b->report.history_length &&
                    fuzz_same(a->report.history_length, a->history, b->history),
                "%s: the history has the same bits", what);
}

/* --- what one solve promises --- */

/* The matrix's own statuses of an end, each with its reason. */
static bisai_reason reason_of(bisai_status status) {
  switch (status) {
  case BISAI_OK: return BISAI_REASON_CONVERGED;
  case BISAI_MAX_ITERATIONS: return BISAI_REASON_MAX_ITERATIONS;
  case BISAI_STAGNATED: return BISAI_REASON_STAGNATED;
  case BISAI_BREAKDOWN: return BISAI_REASON_BREAKDOWN;
  case BISAI_NOT_FINITE: return BISAI_REASON_NOT_FINITE;
  case BISAI_STOPPED: return BISAI_REASON_STOPPED;
  case BISAI_CALLBACK_FAILED: return BISAI_REASON_PRECOND_FAILED;
  default: return BISAI_REASON_NONE;
  }
}

static void expect_report(const problem *p, const result *r, bool disturbed) {
  const bisai_solver_report *report = &r->report;
  fuzz_property(r->status != BISAI_STOPPED || (disturbed && p->trouble == TROUBLE_STOP),
                "a solve stops only if it is told to");
  fuzz_property(r->status != BISAI_CALLBACK_FAILED || disturbed,
                "a callback's failure is told only if one failed");
  if (!fuzz_property(reason_of(r->status) != BISAI_REASON_NONE,
                     "a solve with valid arguments ends by its numbers (status %d)",
                     (int)r->status))
    return;
  fuzz_property(report->reason == reason_of(r->status),
                "the reason is that of the status (status %d, reason %d)", (int)r->status,
                (int)report->reason);
  fuzz_property(report->iterations <= p->options.max_iterations,
                "no more iterations than allowed (%d)", report->iterations);
  fuzz_property(r->status || fuzz_finite(report->history_length, r->history),
                "the history of a solve that converged is finite");
}

/* (1 + t)/(2t), at most 2: the true residual may be so much larger than the tolerance t of the
 * estimate. */
static double allowance(double tolerance) {
  return tolerance > 0 && (1 + tolerance) / (2 * tolerance) < 2 ? (1 + tolerance) / (2 * tolerance)
                                                                : 2;
}

/* The true residual against what is reported and promised; `trusted`: no hook was lied to. */
static void expect_residual(const problem *p, const result *r, bool trusted) {
  const fuzz_system *s = p->system;
  const fuzz_residual end = fuzz_residual_of(s, r->x, p->b);
  const double *x0 = p->options.use_initial_guess ? p->x0 : NULL;
  const fuzz_residual start = fuzz_residual_of(s, x0, p->b);
  const double reported = r->report.relative_residual;
  const long double b = end.rhs, error = end.error + 1e-11L * end.norm + 1e-150L * b;
  if (b == 0) {
    fuzz_property(!trusted || (!r->status && end.norm == 0 && reported == 0),
                  "b = 0 gives x = 0 (status %d)", (int)r->status);
    return;
  }
  if (!r->status) {
    const long double goal =
        (long double)p->options.tolerance * allowance(p->options.tolerance) * b;
    fuzz_property(
        end.norm <= goal * (1 + 1e-11L) + error,
        "converged: the true residual is within the tolerance (it is %Lg of b, reported as %g)",
        end.norm / b, reported);
    fuzz_property(end.norm < start.norm + error ||
                      end.norm <= (long double)p->options.tolerance * b * (1 + 1e-11L),
                  "converged: the true residual is below that of the start (%Lg, at the start %Lg)",
                  end.norm / b, start.norm / b);
  }
  if (!trusted) return;
  const bool named = r->status != BISAI_NOT_FINITE && r->status != BISAI_CALLBACK_FAILED;
  fuzz_property(isfinite(reported) || !named,
                "the residual that is reported is a number (status %d, reported %g)",
                (int)r->status, reported);
  if (isfinite(reported))
    fuzz_property(
        fabsl(reported * b - end.norm) <= error,
        "the residual that is reported is the true one (status %d, reported %g, true %Lg)",
        (int)r->status, reported, end.norm / b);
  fuzz_property(!(end.norm > start.norm * (1 + 1e-11L) + error + start.error),
                "x is no worse than at the start (status %d, residual %Lg, at the start %Lg)",
                (int)r->status, end.norm / b, start.norm / b);
}

/* Two levels make a K-cycle a V-cycle, and the report says what the hierarchy is. It also says
 * whether schur uses the stage with this cycle. */
static bool is_nonlinear(const bisai_precond *precond, const bisai_precond_options *o) {
  bisai_precond_report report = {.struct_size = sizeof report};
  if (o->kind == BISAI_PRECOND_SCHUR && !bisai_precond_get_report(precond, &report))
    return report.nonlinear && o->multigrid.cycle == BISAI_CYCLE_K;
  return o->multigrid.cycle == BISAI_CYCLE_K || o->callback.nonlinear;
}

/* What a method cannot work with is refused before anything is done, by the check that can be asked
 * for alone too. */
static bool expect_refusal(const problem *p, const result *r, const bisai_solver *solver,
                           const bisai_bcsr *matrix, const bisai_precond *precond) {
  const bool flexible = p->options.gmres.flexible || p->options.cg.flexible,
             nonlinear = precond && is_nonlinear(precond, &p->choice->options) && !flexible,
             refuses = !nonlinear &&
                       fuzz_symmetry_refuses(p->system, &p->options, !p->by_operator, precond);
  const bisai_status expected = nonlinear ? BISAI_NOT_LINEAR : BISAI_NOT_SYMMETRIC;
  const bisai_status status =
      bisai_solver_check(solver, p->by_operator ? NULL : matrix, precond, NULL);
  const bool refused = r->status == BISAI_NOT_LINEAR || r->status == BISAI_NOT_SYMMETRIC;
  fuzz_property(
      nonlinear || refuses ? status == expected && r->status == expected : !status && !refused,
      "what is not linear or not symmetric is refused where the method needs it, and only there "
      "(status %d, checked %d)",
      (int)r->status, (int)status);
  if (refused)
    fuzz_property(fuzz_same(p->system->rows, r->x, p->x0),
                  "a solve that is refused leaves x alone");
  return refused;
}

static void expect_solve(const problem *p, const result *r, bool disturbed) {
  const int64_t n = p->system->rows;
  const bool rhs = fuzz_finite(n, p->b),
             start = !p->options.use_initial_guess || fuzz_finite(n, p->x0);
  const bool finite = fuzz_finite(n, r->x);
  expect_report(p, r, disturbed);
  fuzz_property(finite || (!start && r->status),
                "x is finite however a solve ends (status %d, reported residual %g)",
                (int)r->status, r->report.relative_residual);
  fuzz_property(rhs || r->status == BISAI_NOT_FINITE || disturbed,
                "a right-hand side with NaN or infinity is told of (status %d)", (int)r->status);
  fuzz_property(start || r->status || fuzz_residual_of(p->system, r->x, p->b).rhs == 0,
                "a start with NaN or infinity does not converge");
  const bool lied =
      disturbed && (p->trouble == TROUBLE_SUM_NAN || p->trouble == TROUBLE_PRODUCT_NAN ||
                    p->trouble == TROUBLE_SUM_FAILS || p->trouble == TROUBLE_PRODUCT_FAILS ||
                    p->trouble == TROUBLE_PRECOND_FAILS);
  if (rhs && finite && start) expect_residual(p, r, !lied);
}

/* GMRES without restarts solves a diagonally dominant system, whose preconditioners here are as
 * harmless, in as many steps as there are rows; so do conjugate gradients where it is symmetric, by
 * rounding and condition somewhat later. */
static void expect_solved(const problem *p, const result *r) {
  const fuzz_system *s = p->system;
  const bisai_solver_options *o = &p->options;
  const bisai_precond_options *m = p->choice ? &p->choice->options : NULL;
  const bool harmless = !m || m->kind == BISAI_PRECOND_NONE ||
                        (m->kind == BISAI_PRECOND_BJACOBI && m->bjacobi.storage == BISAI_FP64) ||
                        m->kind == BISAI_PRECOND_ILU;
  const bool start = !o->use_initial_guess;
  double size = 0;
  for (int32_t i = 0; i < s->rows; i++)
    size = fmax(size, isnan(p->b[i]) ? INFINITY : fabs(p->b[i]));
  const bool gmres =
      o->method == BISAI_GMRES && o->gmres.restart >= s->rows && o->max_iterations >= s->rows;
  const bool cg = o->method == BISAI_CG && o->max_iterations >= 100 &&
                  fuzz_symmetry_of(s, FUZZ_FIRST).asymmetry == 0 &&
                  fuzz_symmetry_of(s, FUZZ_FIRST).mirrored;
  if (!s->dominant[FUZZ_FIRST] || s->large || !(gmres || cg) || o->tolerance < 1e-10 || !harmless ||
      !start || size > 1e290 || size < 1e-290)
    return;
  fuzz_property(r->status == BISAI_OK,
                "a dominant system is solved (status %d after %d iterations, residual %g)",
                (int)r->status, r->report.iterations, r->report.relative_residual);
}

void fuzz_solve_properties(fuzz_choices *choices, const fuzz_system *s, bisai_bcsr *const matrix[2],
                           fuzz_precond *choice, bisai_precond *const precond[2],
                           fuzz_world worlds[2]) {
  problem p = choose(choices, s, choice);
  hooks h[3] = {{.matrix = matrix[0]}, {.matrix = matrix[1]}, {.matrix = matrix[0]}};
  bisai_solver *solvers[3] = {make_solver(&p, &h[0], &worlds[0]),
                              make_solver(&p, &h[1], &worlds[1]),
                              make_solver(&p, &h[2], &worlds[0])};
  if (solvers[0] && solvers[1] && solvers[2]) {
    result alone = solve(&p, &h[0], solvers[0], precond[0], &worlds[0], false);
    const bool refused = expect_refusal(&p, &alone, solvers[0], matrix[0], precond[0]);
    if (!refused) expect_solve(&p, &alone, false);
    if (!refused) expect_solved(&p, &alone);
    result beside = solve(&p, &h[1], solvers[1], precond[1], &worlds[1], false);
    expect_same_solve(&p, &alone, &beside, "another number of threads");
    result troubled = solve(&p, &h[2], solvers[2], precond[0], &worlds[0], true);
    if (!refused) expect_solve(&p, &troubled, p.trouble != TROUBLE_NONE);
    result again = solve(&p, &h[2], solvers[2], precond[0], &worlds[0], false);
    expect_same_solve(&p, &alone, &again, "a solver's second solve");
    free_result(&alone);
    free_result(&beside);
    free_result(&troubled);
    free_result(&again);
  }
  for (int k = 0; k < 3; k++) bisai_solver_destroy(&solvers[k]);
  free(p.b);
  free(p.x0);
}
