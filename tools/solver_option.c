/* SPDX-License-Identifier: BSD-3-Clause */
#include "solver_option.h"

#include <stdint.h>
#include <string.h>

#include <bisai/text.h>

#include "grammar.h"
#include "message.h"

static const char *title_of(bisai_method method) {
#define TITLE(enumerator, word, name, title) [enumerator] = title,
  static const char *const titles[] = {BISAI_METHOD_LIST(TITLE)};
#undef TITLE
  return titles[method];
}

const char *solver_name(const bisai_solver_options *how, char name[SOLVER_NAME]) {
  const bisai_option *option;
  *name = '\0';
  for (int i = 0; (option = bisai_method_option(how->method, i)); i++) {
    if (option->use == BISAI_OPTION_SHOWN && option->type == BISAI_OPTION_FLAG &&
        bisai_option_get(option, how) != 0)
      append(name, SOLVER_NAME, "%s ", option->name);
  }
  append(name, SOLVER_NAME, "%s", title_of(how->method));
  for (int i = 0; (option = bisai_method_option(how->method, i)); i++) {
    if (option->use == BISAI_OPTION_SHOWN && option->type != BISAI_OPTION_FLAG)
      append(name, SOLVER_NAME, "(%.10g)", bisai_option_get(option, how));
  }
  return name;
}

/* Appends "idr[:s=S] with S from 1 to 32". Words follow with the meanings of the keys. */
static void append_solver(char *text, size_t size, bisai_method method) {
  const bisai_option *option;
  append(text, size, "%s", bisai_method_string(method));
  for (int i = 0; (option = bisai_method_option(method, i)); i++)
    if (option->key && option->type != BISAI_OPTION_WORD) append_key(text, size, option);
  const char *before = "with";
  for (int i = 0; (option = bisai_method_option(method, i)); i++) {
    if (!option->key || !option->placeholder) continue;
    append(text, size, " %s %s from %.10g", before, option->placeholder, option->minimum);
    if (option->advised < INT32_MAX) append(text, size, " to %.10g", option->advised);
    before = "and";
  }
}

/* Returns true if no method before this one has the key with the same meaning. */
static bool is_new(bisai_method method, const bisai_option *option) {
  for (int m = 0; m < (int)method; m++) {
    const bisai_option *other;
    for (int i = 0; (other = bisai_method_option((bisai_method)m, i)); i++) {
      if (other->key && strcmp(other->key, option->key) == 0 &&
          strcmp(other->help, option->help) == 0)
        return false;
    }
  }
  return true;
}

void solver_help(char help[SOLVER_HELP]) {
  *help = '\0';
  append(help, SOLVER_HELP, "auto (default: chosen with METHOD auto, else gmres), ");
  for (int m = 0; m < BISAI_METHODS; m++) {
    append(help, SOLVER_HELP, "%s", m == 0 ? "" : m + 1 < BISAI_METHODS ? ", " : " or ");
    append_solver(help, SOLVER_HELP, (bisai_method)m);
  }
  for (int m = 0; m < BISAI_METHODS; m++) {
    const bisai_option *option;
    for (int i = 0; (option = bisai_method_option((bisai_method)m, i)); i++) {
      if (!option->key || !is_new((bisai_method)m, option)) continue;
      const bool word = option->type == BISAI_OPTION_WORD;
      append(help, SOLVER_HELP, ". %s", option->key);
      for (int w = 0; word && option->words[w]; w++)
        append(help, SOLVER_HELP, "%s%s", w == 0 ? "=" : "|", option->words[w]);
      append(help, SOLVER_HELP, ": %s", option->help);
      if (word) append(help, SOLVER_HELP, " (default %s)", option->words[(int)option->initial]);
      if (option->placeholder) append(help, SOLVER_HELP, " (default %.10g)", option->initial);
    }
  }
}

bool solver_parse(const char *flag, const char *text, bisai_solver_options *how) {
  bisai_text_fault fault;
  if (!bisai_solver_options_parse(text, how, &fault)) return true;
  if (fault.place > 0)
    say("%s: %s: %s", flag, text, fault.message);
  else
    say("%s: %s", flag, fault.message);
  return false;
}
