/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves whose method the library chooses: the same for any number of threads, and what is said of
 * x is true. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"

/* The statuses that the numbers of a system may cause. */
static bool may_end(bisai_status status) {
  return !status || status == BISAI_STAGNATED || status == BISAI_MAX_ITERATIONS ||
         status == BISAI_STOPPED || status == BISAI_NOT_FINITE;
}

static void expect_true(const fuzz_system *s, const bisai_solve_options *o, bisai_status status,
                        const double *b, const double *x) {
  bool finite = true;
  for (int32_t i = 0; i < s->rows; i++) finite &= isfinite(x[i]) != 0;
  fuzz_property(status == BISAI_NOT_FINITE || finite, "a chosen solve leaves x finite (status %d)",
                (int)status);
  if (status || !finite) return;
  const fuzz_residual r = fuzz_residual_of(s, x, b);
  /* a residual that confirms an estimate may be twice the tolerance, at most halfway to 1. Both
   * residuals have rounding errors: its own, and that of the solver's product */
  const double tolerance = o->solver.tolerance;
  const long double limit =
      (long double)fmin(2 * tolerance, (1 + tolerance) / 2) * r.rhs + 2 * r.error;
  fuzz_property(r.norm <= limit * (1 + 1e-6L),
                "a chosen solve that succeeds has a residual within its tolerance (%Lg of %Lg)",
                r.norm, r.rhs);
}

void fuzz_choice_properties(fuzz_choices *choices, const fuzz_system *s, bisai_bcsr *const first[2],
                            fuzz_world worlds[2]) {
  static const double tolerances[] = {1e-8, 1e-3, 1e-12};
  bisai_solve_options o = bisai_solve_options_default();
  o.solver.tolerance = tolerances[fuzz_pick(choices, 3)];
  o.solver.max_iterations = fuzz_between(choices, 1, 200);
  o.precond.automatic.incomplete = fuzz_rarely(choices, 3);
  o.solver_given = fuzz_rarely(choices, 4);
  const uint64_t seed = fuzz_seed(choices);
  fuzz_scene(SCENE_PRECOND, "chosen: tolerance %g, %d iterations, incomplete %d, solver given %d",
             o.solver.tolerance, o.solver.max_iterations, (int)o.precond.automatic.incomplete,
             (int)o.solver_given);
  double *b = fuzz_vector(s->rows), *x[2];
  for (int32_t i = 0; i < s->rows; i++) b[i] = fuzz_noise(seed, i, 6);
  bisai_status status[2];
  bisai_solve_report reports[2] = {{.struct_size = sizeof *reports},
                                   {.struct_size = sizeof *reports}};
  for (int w = 0; w < 2; w++) {
    x[w] = fuzz_vector(s->rows);
    memset(x[w], 0, (size_t)s->rows * sizeof **x);
    const long long live = atomic_load(&worlds[w].live);
    status[w] = bisai_solve(worlds[w].context, first[w], b, x[w], &o, &reports[w]);
    fuzz_property(atomic_load(&worlds[w].live) == live, "a chosen solve leaves no memory");
    fuzz_property(may_end(status[w]), "a chosen solve ends as the header says (status %d: %s)",
                  (int)status[w], bisai_context_error(worlds[w].context));
  }
  fuzz_property(status[0] == status[1] && strcmp(reports[0].reason, reports[1].reason) == 0,
                "a choice ends alike for any number of threads (status %d: %s; %d: %s)",
                (int)status[0], reports[0].reason, (int)status[1], reports[1].reason);
  fuzz_property(fuzz_same(s->rows, x[0], x[1]),
                "a chosen solve has the same bits for any number of threads");
  expect_true(s, &o, status[0], b, x[0]);
  for (int w = 0; w < 2; w++) free(x[w]);
  free(b);
}
