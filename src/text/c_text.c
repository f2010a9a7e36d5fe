/* SPDX-License-Identifier: BSD-3-Clause */
/* Options as the C statements that set them. */
#include <bisai/text.h>

#include <math.h>
#include <stdio.h>

#include "text/writer.h"

/* The fewest digits that give the value. */
static void add_number(bsi_writer *w, const char *field, double value) {
  char digits[BSI_NUMBER_TEXT];
  if (isinf(value))
    bsi_write(w, "%s = %sINFINITY;\n", field, value < 0 ? "-" : "");
  else
    bsi_write(w, "%s = %s;\n", field, bsi_number(value, 1, digits));
}

/* The name of an enumerator follows the words: see bisai_option::words. */
static const char *enumerator(const bisai_option *option, int value) {
  int count = 0;
  while (option->words[count]) count++;
  return value >= 0 && value < count ? option->words[count + 1 + value] : NULL;
}

/* Adds "variable.field = value;" unless the option has its default. */
static void add_option(bsi_writer *w, const char *variable, const bisai_option *option,
                       const void *options) {
  const double value = bisai_option_get(option, options);
  const char *name;
  char field[80];
  if (value == option->initial) return;
  snprintf(field, sizeof field, "%s.%s", variable, option->field);
  switch (option->type) {
  case BISAI_OPTION_WORD:
    name = enumerator(option, (int)value);
    if (name)
      bsi_write(w, "%s = %s;\n", field, name);
    else
      bsi_write(w, "%s = %d;\n", field, (int)value);
    break;
  case BISAI_OPTION_FLAG: bsi_write(w, "%s = %s;\n", field, value != 0.0 ? "true" : "false"); break;
  case BISAI_OPTION_AMOUNT: /* of the only one */
    bsi_write(w, "%s = BISAI_SHIFT_IN_BLOCKS;\n", field);
    snprintf(field, sizeof field, "%s.%s_amount", variable, option->field);
    add_number(w, field, value);
    break;
  case BISAI_OPTION_POINTER:
  case BISAI_OPTION_VECTORS: bsi_write(w, "%s = %s;\n", field, option->name); break;
  case BISAI_OPTION_INTEGER: bsi_write(w, "%s = %d;\n", field, (int)value); break;
  case BISAI_OPTION_NUMBER: add_number(w, field, value); break;
  }
}

static void add_precond(bsi_writer *w, const bisai_precond_options *p) {
#define NAME(enumerator, word, name) #enumerator,
  static const char *const kinds[] = {BISAI_PRECOND_KIND_LIST(NAME)};
#undef NAME
  const bisai_option *option;
  bsi_write(w, "bisai_precond_options p = bisai_precond_options_default();\n");
  bsi_write(w, "p.kind = %s;\n", kinds[p->kind]);
  for (int i = 0; (option = bisai_precond_kind_option(p->kind, i)); i++)
    add_option(w, "p", option, p);
  if (p->factor.permutation) bsi_write(w, "p.factor.permutation = permutation;\n");
  if (p->callback.user) bsi_write(w, "p.callback.user = user;\n");
}

static void add_solver(bsi_writer *w, const bisai_solver_options *s) {
#define NAME(enumerator, word, name, title) #enumerator,
  static const char *const methods[] = {BISAI_METHOD_LIST(NAME)};
#undef NAME
  const bisai_solver_options initial = bisai_solver_options_default();
  const bisai_option *option;
  bsi_write(w, "bisai_solver_options s = bisai_solver_options_default();\n");
  bsi_write(w, "s.method = %s;\n", methods[s->method]);
  if (s->tolerance != initial.tolerance) add_number(w, "s.tolerance", s->tolerance);
  if (s->max_iterations != initial.max_iterations)
    bsi_write(w, "s.max_iterations = %d;\n", s->max_iterations);
  if (s->stagnation_cycles != initial.stagnation_cycles)
    bsi_write(w, "s.stagnation_cycles = %d;\n", s->stagnation_cycles);
  if (s->use_initial_guess) bsi_write(w, "s.use_initial_guess = true;\n");
  for (int i = 0; (option = bisai_method_option(s->method, i)); i++) add_option(w, "s", option, s);
}

size_t bisai_options_text(const bisai_precond_options *precond, const bisai_solver_options *solver,
                          size_t size, char *text) {
  bsi_writer w = bsi_writer_begin(size, text);
  if (precond && (precond->struct_size != sizeof *precond || (int)precond->kind < 0 ||
                  (int)precond->kind >= BISAI_PRECOND_KINDS))
    return 0;
  if (solver && (solver->struct_size != sizeof *solver || (int)solver->method < 0 ||
                 (int)solver->method >= BISAI_METHODS))
    return 0;
  if (precond) add_precond(&w, precond);
  if (solver) add_solver(&w, solver);
  return w.length;
}
