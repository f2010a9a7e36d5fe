/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "methods.h"

static const bisai_option *option_of(bisai_precond_kind kind, const char *key) {
  const bisai_option *option;
  for (int i = 0; (option = bisai_precond_kind_option(kind, i)); i++)
    if (option->key && strcmp(option->key, key) == 0) break;
  return option;
}

/* Applies KEY, or KEY=VALUE, to the options of *kind. After first=mg and second=KIND that is the
 * kind of the stage. */
static void set_key(const char *text, char *item, bisai_precond_kind *kind,
                    bisai_precond_options *options) {
  const bool first = strcmp(item, "first=mg") == 0;
  char *equals = strchr(item, '=');
  if (equals) *equals = '\0';
  const bool second = strcmp(item, "second") == 0;
  const bisai_option *option = option_of(second ? options->kind : *kind, item);
  double value;
  if (first) {
    *kind = BISAI_PRECOND_MULTIGRID;
    return;
  }
  if (!option || !bisai_option_parse(option, equals ? equals + 1 : "", &value))
    bench_fail("%s: '%s' is not a key of the method, or its value is wrong", text, item);
  bisai_option_set(option, option->type == BISAI_OPTION_FLAG ? 1 : value, options);
  if (second) bisai_precond_kind_parse(equals + 1, kind);
}

static void set_precond(const char *text, char *copy, bisai_precond_options *options) {
  char *rest = NULL, *item = strtok_r(copy, ":", &rest);
  *options = bisai_precond_options_default();
  if (!bisai_precond_kind_parse(item, &options->kind))
    bench_fail("%s: unknown preconditioner", text);
  bisai_precond_kind kind = options->kind;
  while ((item = strtok_r(NULL, ":", &rest))) set_key(text, item, &kind, options);
}

static const struct {
  const char *name;
  bisai_method method;
  bool flexible;
} solvers[] = {
    {"gmres", BISAI_GMRES, false}, {"fgmres", BISAI_GMRES, true},       {"cg", BISAI_CG, false},
    {"fcg", BISAI_CG, true},       {"bicgstab", BISAI_BICGSTAB, false}, {"idr", BISAI_IDR, false}};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

static void set_solver(const char *name, bench_method *m) {
  int i = 0;
  while (i < SOLVERS && strcmp(solvers[i].name, name) != 0) i++;
  if (i == SOLVERS) bench_fail("%s: unknown solver '%s'", m->name, name);
  m->solver_name = solvers[i].name;
  m->solver = bisai_solver_options_default();
  m->solver.method = solvers[i].method;
  m->solver.gmres.flexible = solvers[i].method == BISAI_GMRES && solvers[i].flexible;
  m->solver.cg.flexible = solvers[i].method == BISAI_CG && solvers[i].flexible;
}

bench_method method_of(const char *text, const bench_system *system) {
  bench_method m;
  char copy[METHOD_TEXT];
  if (strlen(text) >= sizeof copy) bench_fail("%s: too long", text);
  strcpy(copy, text);
  char *at = strchr(copy, '@');
  if (at) *at++ = '\0';
  strcpy(m.name, copy);
  set_precond(text, copy, &m.options);
  const bisai_multigrid_options *mg = &m.options.multigrid;
  const bool nonlinear = m.options.kind == BISAI_PRECOND_MULTIGRID && mg->cycle == BISAI_CYCLE_K;
  const char *usual = system->symmetric && nonlinear ? "fcg" : system->solver;
  set_solver(at ? at : usual, &m);
  m.solver.tolerance = system->tolerance;
  if (m.options.kind == BISAI_PRECOND_MULTIGRID) {
    m.options.multigrid.null_vectors = system->null_vectors;
    m.options.multigrid.null_count = system->null_count;
  }
  return m;
}
