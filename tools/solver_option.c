/* SPDX-License-Identifier: BSD-3-Clause */
#include "solver_option.h"

#include <stdio.h>
#include <string.h>

#include "grammar.h"
#include "message.h"

enum { VALUE_TEXT = 64 };

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

/* Appends "idr[:s=S] with S from 1 to 32". */
static void append_solver(char *text, size_t size, bisai_method method) {
  const bisai_option *option;
  append(text, size, "%s", bisai_method_string(method));
  for (int i = 0; (option = bisai_method_option(method, i)); i++)
    if (option->key) append_key(text, size, option);
  const char *before = "with";
  for (int i = 0; (option = bisai_method_option(method, i)); i++) {
    if (!option->key || !option->placeholder) continue;
    append(text, size, " %s %s from %.10g to %.10g", before, option->placeholder, option->minimum,
           option->advised);
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
      append(help, SOLVER_HELP, ". %s: %s", option->key, option->help);
      if (option->placeholder) append(help, SOLVER_HELP, " (default %.10g)", option->initial);
    }
  }
}

/* Applies "key" or "key=value". Returns false unless this is a key of the method that is given for
 * the first time, with a good value. */
static bool set_key(const char *item, size_t length, unsigned *seen, bisai_solver_options *how) {
  char value_text[VALUE_TEXT] = "";
  const char *equals = memchr(item, '=', length);
  const size_t key_length = equals ? (size_t)(equals - item) : length;
  const bisai_option *option;
  double value = 0;
  if (equals)
    snprintf(value_text, sizeof value_text, "%.*s", (int)(length - key_length - 1), equals + 1);
  for (int i = 0; (option = bisai_method_option(how->method, i)); i++) {
    if (!option->key || strlen(option->key) != key_length ||
        strncmp(option->key, item, key_length) != 0)
      continue;
    if (*seen >> i & 1 || (equals != NULL) != (option->type != BISAI_OPTION_FLAG) ||
        !bisai_option_parse(option, value_text, &value))
      return false;
    *seen |= 1U << i;
    bisai_option_set(option, value, how);
    return true;
  }
  return false;
}

static void reset_keys(bisai_solver_options *how) {
  for (int m = 0; m < BISAI_METHODS; m++) {
    const bisai_option *option;
    for (int i = 0; (option = bisai_method_option((bisai_method)m, i)); i++)
      if (option->key) bisai_option_set(option, option->initial, how);
  }
}

static bool parse(const char *text, bisai_solver_options *how) {
  char word[SOLVER_NAME];
  size_t length = strcspn(text, ":");
  unsigned seen = 0;
  if (length >= sizeof word) return false;
  memcpy(word, text, length);
  word[length] = '\0';
  if (!bisai_method_parse(word, &how->method)) return false;
  while (text[length] == ':') {
    text += length + 1;
    length = strcspn(text, ":");
    if (!set_key(text, length, &seen, how)) return false;
  }
  return true;
}

bool solver_parse(const char *flag, const char *text, bisai_solver_options *how) {
  char all[SOLVER_HELP] = "";
  reset_keys(how);
  if (parse(text, how)) return true;
  for (int m = 0; m < BISAI_METHODS; m++) {
    append(all, sizeof all, "%s", m == 0 ? "" : ", ");
    append_solver(all, sizeof all, (bisai_method)m);
  }
  say("%s: '%s' is not a solver (%s)", flag, text, all);
  return false;
}
