/* SPDX-License-Identifier: BSD-3-Clause */
/* Options as the C statements that set them. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bisai/solve.h>

/* A text that is cut at its end, and its length without the cut. */
typedef struct writer {
  size_t size, length;
  char *text;
} writer;

static void add(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(writer *w, const char *format, ...) {
  const bool full = w->length >= w->size;
  va_list arguments;
  va_start(arguments, format);
  const int more = vsnprintf(full ? NULL : w->text + w->length, full ? 0 : w->size - w->length,
                             format, arguments);
  va_end(arguments);
  if (more > 0) w->length += (size_t)more;
}

/* The fewest digits that give the value. C has a point, whatever the locale has. */
static void add_number(writer *w, const char *field, double value) {
  char digits[40];
  int precision = 1;
  if (isinf(value)) {
    add(w, "%s = %sINFINITY;\n", field, value < 0 ? "-" : "");
    return;
  }
  do snprintf(digits, sizeof digits, "%.*g", precision, value);
  while (strtod(digits, NULL) != value && precision++ < 17);
  const size_t whole = strspn(digits, "+-0123456789e");
  const size_t point = strcspn(digits + whole, "0123456789");
  const bool cut = point > 0 && digits[whole + point] != '\0';
  add(w, "%s = %.*s%s%s;\n", field, (int)whole, digits, cut ? "." : "",
      digits + whole + (cut ? point : 0));
}

/* The name of an enumerator follows the words: see bisai_option::words. */
static const char *enumerator(const bisai_option *option, int value) {
  int count = 0;
  while (option->words[count]) count++;
  return value >= 0 && value < count ? option->words[count + 1 + value] : NULL;
}

/* Adds "variable.field = value;" unless the option has its default. */
static void add_option(writer *w, const char *variable, const bisai_option *option,
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
      add(w, "%s = %s;\n", field, name);
    else
      add(w, "%s = %d;\n", field, (int)value);
    break;
  case BISAI_OPTION_FLAG: add(w, "%s = %s;\n", field, value != 0.0 ? "true" : "false"); break;
  case BISAI_OPTION_AMOUNT: /* of the only one */
    add(w, "%s = BISAI_SHIFT_IN_BLOCKS;\n", field);
    snprintf(field, sizeof field, "%s.%s_amount", variable, option->field);
    add_number(w, field, value);
    break;
  case BISAI_OPTION_POINTER:
  case BISAI_OPTION_VECTORS: add(w, "%s = %s;\n", field, option->name); break;
  case BISAI_OPTION_INTEGER: add(w, "%s = %d;\n", field, (int)value); break;
  case BISAI_OPTION_NUMBER: add_number(w, field, value); break;
  }
}

static void add_precond(writer *w, const bisai_precond_options *p) {
#define NAME(enumerator, word, name) #enumerator,
  static const char *const kinds[] = {BISAI_PRECOND_KIND_LIST(NAME)};
#undef NAME
  const bisai_option *option;
  add(w, "bisai_precond_options p = bisai_precond_options_default();\n");
  add(w, "p.kind = %s;\n", kinds[p->kind]);
  for (int i = 0; (option = bisai_precond_kind_option(p->kind, i)); i++)
    add_option(w, "p", option, p);
  if (p->factor.permutation) add(w, "p.factor.permutation = permutation;\n");
  if (p->callback.user) add(w, "p.callback.user = user;\n");
}

static void add_solver(writer *w, const bisai_solver_options *s) {
#define NAME(enumerator, word, name, title) #enumerator,
  static const char *const methods[] = {BISAI_METHOD_LIST(NAME)};
#undef NAME
  const bisai_solver_options initial = bisai_solver_options_default();
  const bisai_option *option;
  add(w, "bisai_solver_options s = bisai_solver_options_default();\n");
  add(w, "s.method = %s;\n", methods[s->method]);
  if (s->tolerance != initial.tolerance) add_number(w, "s.tolerance", s->tolerance);
  if (s->max_iterations != initial.max_iterations)
    add(w, "s.max_iterations = %d;\n", s->max_iterations);
  if (s->stagnation_cycles != initial.stagnation_cycles)
    add(w, "s.stagnation_cycles = %d;\n", s->stagnation_cycles);
  if (s->use_initial_guess) add(w, "s.use_initial_guess = true;\n");
  for (int i = 0; (option = bisai_method_option(s->method, i)); i++) add_option(w, "s", option, s);
}

size_t bisai_options_text(const bisai_precond_options *precond, const bisai_solver_options *solver,
                          size_t size, char *text) {
  writer w = {.size = text ? size : 0, .text = text};
  if (w.size > 0) *text = '\0';
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
