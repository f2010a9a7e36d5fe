/* SPDX-License-Identifier: BSD-3-Clause */
#include "choice.h"

#include "label.h"

void choice_print(FILE *out, const run_result *r) {
  if (r->choice.count == 0) return;
  fprintf(out, "trials   %-40s %-16s %9s %9s %6s  %-9s\n", "preconditioner", "solver", "set-up ms",
          "solve ms", "steps", "residual");
  for (int i = 0; i < r->choice.count; i++) {
    const bisai_trial *t = &r->choice.trials[i];
    fprintf(out, "         %-40s %-16s %9.3f %9.3f %6d  %-9.2e %s\n", t->method, t->solver,
            1e3 * t->setup_seconds, 1e3 * t->solve_seconds, t->iterations, t->relative_residual,
            t->why);
  }
  if (r->choice.chosen < 0) return;
  const bisai_trial *t = &r->choice.trials[r->choice.chosen];
  fprintf(out, "again    --preconditioner %s --solver %s\n", t->method, t->solver);
}

#ifdef BISAI_HAVE_JANSSON

#include "json_parts.h"

static json_t *trial_json(const bisai_trial *t) {
  return OBJECT({"method", text(true, t->method)}, {"solver", text(true, t->solver)},
                {"status", text(true, bisai_status_string(t->status))}, {"why", text(true, t->why)},
                {"iterations", integer(true, t->iterations)},
                {"relative_residual", number(true, t->relative_residual)},
                {"setup_s", number(true, t->setup_seconds)},
                {"solve_s", number(true, t->solve_seconds)}, {"work_s", number(true, t->work)});
}

json_t *choice_json(const run_result *r) {
  if (r->choice.count == 0) return json_null();
  json_t *trials = json_array();
  for (int i = 0; i < r->choice.count; i++) {
    if (json_array_append_new(trials, trial_json(&r->choice.trials[i])) == 0) continue;
    json_decref(trials);
    return NULL;
  }
  return OBJECT({"trials", trials}, {"chosen", integer(r->choice.chosen >= 0, r->choice.chosen)});
}

#endif
