/* SPDX-License-Identifier: BSD-3-Clause */
#include "method.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bisai/precond.h>

#include "grammar.h"
#include "message.h"

enum { LIST_TEXT = 256, MOST_KEYS = 32 };

static const char *const programs[] = {[METHOD_PETSC] = "petsc",
                                       [METHOD_PETSC_ILU] = "petsc-ilu",
                                       [METHOD_CUSPARSE_ILU] = "cusparse-ilu"};
/* as enum method_factors */
static const char *const factors[] = {"bisai", "petsc", "cusparse", NULL};
/* as enum method_maker */
static const char *const makers[] = {"bisai", "cusparse", NULL};

static bool of_library(const method *m, const char *field) {
  return m->program == METHOD_OF_LIBRARY && bisai_precond_kind_takes(m->options.kind, field);
}

static bool takes_factors(const method *m) { return of_library(m, "factor.factors"); }
static bool takes_pattern(const method *m) { return of_library(m, "isai.lower_pattern"); }
static bool takes_apply(const method *m) {
  return method_is(m, BISAI_PRECOND_ILU) || method_is(m, BISAI_PRECOND_ISAI) ||
         m->program == METHOD_CUSPARSE_ILU;
}

#define PROGRAM_KEY(member, list)                                                                  \
  {                                                                                                \
    .field = #member, .name = #member, .key = #member, .type = BISAI_OPTION_WORD,                  \
    .offset = offsetof(method, member), .advised = (int)(sizeof list / sizeof *list) - 2,          \
    .words = list                                                                                  \
  }

/* The keys that the library does not have. They follow those of the library. */
static const struct {
  bool (*taken)(const method *m);
  bisai_option option;
} program_keys[] = {{takes_factors, PROGRAM_KEY(factors, factors)},
                    {takes_pattern, PROGRAM_KEY(pattern, makers)},
                    {takes_apply, PROGRAM_KEY(apply, makers)}};
enum { PROGRAM_KEYS = sizeof program_keys / sizeof *program_keys };

/* A key, and the struct to which its offset refers. */
typedef struct key {
  const bisai_option *option;
  void *place;
} key;

/* Lists the keys of a method in the order of labels and messages. */
static int keys_of(method *m, key keys[MOST_KEYS]) {
  /* The ILU of PETSc has a level, as that of bisai. */
  const bool level = m->program == METHOD_PETSC || m->program == METHOD_PETSC_ILU;
  const bisai_precond_kind kind = level ? BISAI_PRECOND_ILU : m->options.kind;
  const bisai_option *option;
  int count = 0;
  for (int i = 0; (option = bisai_precond_kind_option(kind, i)) && count < MOST_KEYS; ++i) {
    if (option->key && (!level || strcmp(option->key, "level") == 0))
      keys[count++] = (key){option, &m->options};
  }
  for (int i = 0; i < PROGRAM_KEYS && count < MOST_KEYS; ++i) {
    if (program_keys[i].taken(m)) keys[count++] = (key){&program_keys[i].option, m};
  }
  return count;
}

const char *method_kind(const method *m) {
  return m->program == METHOD_OF_LIBRARY ? bisai_precond_kind_string(m->options.kind)
                                         : programs[m->program];
}
bool method_is(const method *m, bisai_precond_kind kind) {
  return m->program == METHOD_OF_LIBRARY && m->options.kind == kind;
}
bool method_is_exact(const method *m) {
  return m->program != METHOD_OF_LIBRARY || m->options.kind == BISAI_PRECOND_ILU;
}

static int find_key(int count, const key *keys, const char *name) {
  for (int i = 0; i < count; ++i) {
    if (strcmp(keys[i].option->key, name) == 0) return i;
  }
  return -1;
}

bool method_takes(const method *m, const char *name) {
  method copy = *m;
  key keys[MOST_KEYS];
  return find_key(keys_of(&copy, keys), keys, name) >= 0;
}

const char *method_option_name(const method *m, int index) {
  method copy = *m;
  key keys[MOST_KEYS];
  return index < keys_of(&copy, keys) ? keys[index].option->name : NULL;
}

const bisai_option *method_option(const method *m, const char *name, double *value) {
  method copy = *m;
  key keys[MOST_KEYS];
  const int count = keys_of(&copy, keys);
  for (int i = 0; i < count; ++i) {
    if (strcmp(keys[i].option->name, name) != 0) continue;
    *value = bisai_option_get(keys[i].option, keys[i].place);
    return keys[i].option;
  }
  return NULL;
}

/* Appends "a, b, c"; `last` stands before the last word. */
static void join(int count, const char *const *words, const char *last, char text[LIST_TEXT]) {
  for (int i = 0; i < count; ++i) {
    append(text, LIST_TEXT, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : last, words[i]);
  }
}

static void join_keys(int count, const key *keys, char text[LIST_TEXT]) {
  const char *taken[MOST_KEYS];
  for (int i = 0; i < count; ++i) {
    taken[i] = keys[i].option->key;
  }
  *text = '\0';
  join(count, taken, ", ", text);
}

static void say_range(const char *flag, const char *text, const bisai_option *option) {
  char words[LIST_TEXT] = "";
  if (option->type == BISAI_OPTION_VECTORS) {
    say("%s: %s: %s must be %s or a file", flag, text, option->key, option->words[0]);
  } else if (option->type == BISAI_OPTION_WORD) {
    join((int)option->advised + 1, option->words, " or ", words);
    say("%s: %s: %s must be %s", flag, text, option->key, words);
  } else {
    say("%s: %s: %s must be %s from %.10g to %.10g", flag, text, option->key,
        option->type == BISAI_OPTION_INTEGER ? "an integer" : "a number", option->minimum,
        option->advised);
  }
}

/* Sets an option to the value of a text. The text of VECTORS may name a file. */
static bool set_value(const key *k, const char *text, method *m) {
  double value = 0;
  const bool parsed = bisai_option_parse(k->option, text, &value);
  if (parsed) bisai_option_set(k->option, value, k->place);
  if (parsed || k->option->type != BISAI_OPTION_VECTORS || !*text) return parsed;
  snprintf(m->null_file, sizeof m->null_file, "%s", text);
  return true;
}

/* Applies one "key=value" and adds the key to `seen`. */
static bool set_key(const char *flag, const char *text, char *item, unsigned *seen, method *m) {
  key keys[MOST_KEYS];
  const int count = keys_of(m, keys);
  char *equals = strchr(item, '='), taken[LIST_TEXT];
  if (equals) *equals = '\0';
  join_keys(count, keys, taken);
  const int which = find_key(count, keys, item);
  const bisai_option *option = which < 0 ? NULL : keys[which].option;
  if (count == 0) {
    say("%s: %s: %s takes no keys", flag, text, method_kind(m));
  } else if (!option) {
    say("%s: %s: '%s' is not a key of %s (%s)", flag, text, item, method_kind(m), taken);
  } else if (option->type == BISAI_OPTION_FLAG && equals) {
    say("%s: %s: '%s' takes no value", flag, text, item);
  } else if (option->type != BISAI_OPTION_FLAG && !equals) {
    say("%s: %s: '%s' needs a value", flag, text, item);
  } else if (*seen >> which & 1) {
    say("%s: %s: '%s' is given twice", flag, text, item);
  } else if (!set_value(&keys[which], equals ? equals + 1 : "", m)) {
    say_range(flag, text, option);
  } else {
    *seen |= 1U << which;
    return true;
  }
  return false;
}

static bool has_what_it_needs(const char *flag, method *m, unsigned seen) {
  key keys[MOST_KEYS];
  const int count = keys_of(m, keys);
  for (int i = 0; i < count; ++i) {
    if (keys[i].option->use == BISAI_OPTION_NEEDED && !(seen >> i & 1)) {
      say("%s: %s needs its number, as in %s:%s=3", flag, method_kind(m), method_kind(m),
          keys[i].option->key);
      return false;
    }
  }
  return true;
}

/* Finds a kind of the library or a method of the program by its name. */
static bool find_method(const char *name, method *m) {
  *m = (method){.program = METHOD_OF_LIBRARY, .options = bisai_precond_options_default()};
  if (bisai_precond_kind_parse(name, &m->options.kind))
    return !bisai_precond_kind_needs_code(m->options.kind);
  m->options.kind = BISAI_PRECOND_CALLBACK;
  for (int i = METHOD_PETSC; i <= METHOD_CUSPARSE_ILU; ++i) {
    m->program = (method_program)i;
    if (strcmp(programs[i], name) == 0) return true;
  }
  return false;
}

static void join_methods(char text[LIST_TEXT]) {
  const char *names[BISAI_PRECOND_KINDS + METHOD_CUSPARSE_ILU];
  int count = 0;
  for (int kind = 0; kind < BISAI_PRECOND_KINDS; ++kind) {
    if (!bisai_precond_kind_needs_code((bisai_precond_kind)kind))
      names[count++] = bisai_precond_kind_string((bisai_precond_kind)kind);
  }
  for (int i = METHOD_PETSC; i <= METHOD_CUSPARSE_ILU; ++i) {
    names[count++] = programs[i];
  }
  *text = '\0';
  join(count, names, ", ", text);
}

bool method_parse(const char *flag, const char *text, method *result) {
  char copy[METHOD_TEXT];
  size_t length = strlen(text);
  if (length == 0 || length >= sizeof copy) {
    say(length ? "%s: method of more than 511 characters" : "%s: a method is empty", flag);
    return false;
  }
  memcpy(copy, text, length + 1);
  char *colon = strchr(copy, ':');
  if (colon) *colon = '\0';
  method m;
  if (!find_method(copy, &m)) {
    char all[LIST_TEXT];
    join_methods(all);
    say("%s: '%s' is not a method (%s)", flag, copy, all);
    return false;
  }
  unsigned seen = 0;
  while (colon) {
    char *item = colon + 1;
    colon = strchr(item, ':');
    if (colon) *colon = '\0';
    if (!set_key(flag, text, item, &seen, &m)) return false;
  }
  if (!has_what_it_needs(flag, &m, seen)) return false;
  *result = m;
  return true;
}

bool method_list_parse(const char *flag, const char *text, method_list *list) {
  size_t length = strlen(text);
  char *copy = malloc(length + 1);
  /* a text of n characters has at most n + 1 methods */
  method *items = malloc((length + 1) * sizeof *items);
  int count = 0;
  bool ok = copy && items;
  if (!ok) say("%s: out of memory", flag);
  if (ok) memcpy(copy, text, length + 1);
  for (char *item = copy; ok && item;) {
    char *comma = strchr(item, ',');
    if (comma) *comma = '\0';
    ok = method_parse(flag, item, &items[count++]);
    item = comma ? comma + 1 : NULL;
  }
  free(copy);
  if (!ok) {
    free(items);
    return false;
  }
  method_list_free(list);
  *list = (method_list){count, items};
  return true;
}

void method_list_free(method_list *list) {
  for (int i = 0; i < list->count; ++i) {
    free(list->items[i].null_vectors);
  }
  free(list->items);
  *list = (method_list){0};
}

void method_label(const method *m, char label[METHOD_LABEL]) {
  method copy = *m;
  key keys[MOST_KEYS];
  const int count = keys_of(&copy, keys);
  *label = '\0';
  append(label, METHOD_LABEL, "%s", method_kind(m));
  for (int i = 0; i < count; ++i) {
    const bisai_option *option = keys[i].option;
    const double value = bisai_option_get(option, keys[i].place);
    const bool initial =
        option->type == BISAI_OPTION_VECTORS ? !*m->null_file : value == option->initial;
    const bool flag = option->type == BISAI_OPTION_FLAG;
    if (initial && (flag || option->use == BISAI_OPTION_OPTIONAL)) continue;
    append(label, METHOD_LABEL, ":%s", option->key);
    if (option->type == BISAI_OPTION_WORD) {
      append(label, METHOD_LABEL, "=%s", option->words[(int)value]);
    } else if (option->type == BISAI_OPTION_VECTORS) {
      append(label, METHOD_LABEL, "=%s", m->null_file);
    } else if (option->type != BISAI_OPTION_FLAG) {
      append(label, METHOD_LABEL, "=%.10g", value);
    }
  }
}

void method_grammar(char grammar[METHOD_GRAMMAR]) {
  *grammar = '\0';
  for (int k = 0; k < BISAI_PRECOND_KINDS; ++k) {
    const bisai_precond_kind kind = (bisai_precond_kind)k;
    const bisai_option *option;
    if (bisai_precond_kind_needs_code(kind)) continue;
    append(grammar, METHOD_GRAMMAR, "%s%s", *grammar ? " | " : "", bisai_precond_kind_string(kind));
    for (int i = 0; (option = bisai_precond_kind_option(kind, i)); ++i) {
      if (option->key && option->placeholder) append_key(grammar, METHOD_GRAMMAR, option);
    }
  }
  for (int i = METHOD_PETSC; i <= METHOD_CUSPARSE_ILU; ++i) {
    append(grammar, METHOD_GRAMMAR, " | %s", programs[i]);
  }
}
