/* SPDX-License-Identifier: BSD-3-Clause */
#include "choice.h"

#include <string.h>

#include <bisai/text.h>

#include "label.h"

/* More than the statements of any choice: a dozen lines. */
enum { C_TEXT = 4096 };

/* Prints "in C" before the first line, and as many blanks before the others. */
static void print_c(FILE *out, const run_result *r) {
  char lines[C_TEXT];
  bisai_options_text(&r->choice.precond, &r->choice.solver, sizeof lines, lines);
  for (const char *line = lines; *line != '\0';) {
    const int length = (int)strcspn(line, "\n");
    fprintf(out, "%-8s %.*s\n", line == lines ? "in C" : "", length, line);
    line += length + (line[length] != '\0');
  }
}

/* Returns the file of the near-null-space vectors that the choice took, or NULL. */
static const char *null_file(const run_result *r) {
  if (!r->choice.precond.multigrid.null_vectors) return NULL;
  for (int i = 0; i < METHOD_FILES; i++)
    if (r->m.files[i].option && strcmp(r->m.files[i].option->field, "multigrid.null_vectors") == 0)
      return r->m.files[i].path;
  return NULL;
}

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
  const char *null = null_file(r);
  fprintf(out, "again    --preconditioner %s%s%s --solver %s\n", t->method, null ? ":null=" : "",
          null ? null : "", t->solver);
  print_c(out, r);
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
  char lines[C_TEXT];
  const bool any = r->choice.chosen >= 0;
  bisai_options_text(&r->choice.precond, &r->choice.solver, sizeof lines, lines);
  return OBJECT({"trials", trials}, {"chosen", integer(any, r->choice.chosen)},
                {"study_s", number(true, r->choice.study)},
                {"lost_s", number(true, r->choice.lost)}, {"c", text(any, lines)});
}

#endif
