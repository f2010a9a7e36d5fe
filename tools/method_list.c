/* SPDX-License-Identifier: BSD-3-Clause */
#include "method_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grammar.h"
#include "keys.h"
#include "message.h"

enum { LIST_TEXT = 256 };

/* A METHOD that is being read. */
typedef struct reading {
  const char *flag, *text;
  method m;
  method_section section;
  bool begun[METHOD_SECTIONS];
  /* the last key named a file */
  bool after_file;
  /* the keys of each section, as bits in the order of keys_of() */
  unsigned seen[METHOD_SECTIONS];
} reading;

static void join_keys(const method *m, int count, const key *keys, char text[LIST_TEXT]) {
  const char *taken[MOST_KEYS + 2];
  for (int i = 0; i < count; i++) taken[i] = keys[i].option->key;
  for (int s = SECTION_FIRST; s < METHOD_SECTIONS && method_has_stages(m); s++)
    taken[count++] = keys_head((method_section)s);
  *text = '\0';
  append_list(text, LIST_TEXT, count, taken, ", ");
}

static void say_range(const reading *r, const bisai_option *option) {
  char words[LIST_TEXT] = "";
  if (option->type == BISAI_OPTION_VECTORS) {
    say("%s: %s: %s must be %s or a file", r->flag, r->text, option->key, option->words[0]);
  } else if (option->type == BISAI_OPTION_WORD) {
    append_list(words, LIST_TEXT, (int)option->advised + 1, option->words, " or ");
    say("%s: %s: %s must be %s", r->flag, r->text, option->key, words);
  } else {
    if (option->words) snprintf(words, sizeof words, "%s or ", option->words[0]);
    say("%s: %s: %s must be %s%s %s %.10g %s %.10g", r->flag, r->text, option->key, words,
        option->type == BISAI_OPTION_INTEGER ? "an integer" : "a number",
        option->open ? "between" : "from", option->minimum, option->open ? "and" : "to",
        option->advised);
  }
}

/* Sets an option to the value of a text. The text of VECTORS may name a file. */
static bool set_value(const key *k, const char *text, method *m) {
  double value = 0;
  const bool parsed = bisai_option_parse(k->option, text, &value);
  if (parsed) bisai_option_set(k->option, value, k->place);
  if (parsed || k->option->type != BISAI_OPTION_VECTORS || !*text) return parsed;
  int i = 0;
  while (i < METHOD_FILES - 1 && m->files[i].option) i++;
  m->files[i].option = k->option;
  snprintf(m->files[i].path, sizeof m->files[i].path, "%s", text);
  return true;
}

/* Says that a section does not have a key, and which keys it has. */
static void say_unknown(reading *r, const char *item, int count, const key *keys) {
  char title[KEYS_TITLE], other[KEYS_TITLE], taken[LIST_TEXT], hint[LIST_TEXT] = "";
  keys_title(&r->m, r->section, title);
  join_keys(&r->m, count, keys, taken);
  for (int s = 0; s < METHOD_SECTIONS && !*hint; s++) {
    key all[MOST_KEYS];
    if (keys_find(keys_of(&r->m, (method_section)s, all), all, item) < 0) continue;
    keys_title(&r->m, (method_section)s, other);
    snprintf(hint, sizeof hint,
             s == SECTION_OWN ? "; keys of %s come before first= and second=" : "; it is one of %s",
             other);
  }
  if (!*hint && r->after_file)
    snprintf(hint, sizeof hint, "; the name of a file cannot have a colon");
  if (*taken)
    say("%s: %s: '%s' is not a key of %s (%s)%s", r->flag, r->text, item, title, taken, hint);
  else
    say("%s: %s: %s takes no keys", r->flag, r->text, title);
}

/* Applies "key" or "key=value" to the section. */
static bool set_key(reading *r, const char *item, const char *value) {
  key keys[MOST_KEYS];
  const int count = keys_of(&r->m, r->section, keys);
  const int which = keys_find(count, keys, item);
  const bisai_option *option = which < 0 ? NULL : keys[which].option;
  if (!option) {
    say_unknown(r, item, count, keys);
  } else if (option->type == BISAI_OPTION_FLAG && value) {
    say("%s: %s: '%s' takes no value", r->flag, r->text, item);
  } else if (option->type != BISAI_OPTION_FLAG && !value) {
    say("%s: %s: '%s' needs a value", r->flag, r->text, item);
  } else if (r->seen[r->section] >> which & 1) {
    say("%s: %s: '%s' is given twice", r->flag, r->text, item);
  } else if (!set_value(&keys[which], value ? value : "", &r->m)) {
    say_range(r, option);
  } else {
    r->seen[r->section] |= 1U << which;
    r->m.ordering_given |= strcmp(option->field, "factor.ordering") == 0;
    r->m.matching_given |= strcmp(option->field, "factor.matching") == 0;
    r->after_file = method_path(&r->m, option) != NULL;
    return true;
  }
  return false;
}

/* Begins the section of "first=mg" or "second=KIND". */
static bool begin_section(reading *r, method_section section, const char *value) {
  const char *head = keys_head(section);
  const key stage = {keys_stage(&r->m, section), &r->m.options};
  if (!value) {
    say("%s: %s: '%s' needs a value", r->flag, r->text, head);
  } else if (r->begun[section]) {
    say("%s: %s: '%s' is given twice", r->flag, r->text, head);
  } else if (!stage.option && strcmp(value, keys_stage_word(&r->m, section)) != 0) {
    say("%s: %s: %s must be %s", r->flag, r->text, head, keys_stage_word(&r->m, section));
  } else if (stage.option && !set_value(&stage, value, &r->m)) {
    say_range(r, stage.option);
  } else {
    r->section = section;
    r->begun[section] = true;
    return true;
  }
  return false;
}

/* Reads "key", "key=value", "first=mg" or "second=KIND". */
static bool read_item(reading *r, char *item) {
  char *equals = strchr(item, '=');
  const char *value = equals ? equals + 1 : NULL;
  if (equals) *equals = '\0';
  for (int s = SECTION_FIRST; s < METHOD_SECTIONS && method_has_stages(&r->m); s++) {
    if (strcmp(item, keys_head((method_section)s)) == 0)
      return begin_section(r, (method_section)s, value);
  }
  return set_key(r, item, value);
}

static bool has_what_it_needs(reading *r) {
  for (int s = 0; s < METHOD_SECTIONS; s++) {
    key keys[MOST_KEYS];
    char title[KEYS_TITLE];
    const int count = keys_of(&r->m, (method_section)s, keys);
    for (int i = 0; i < count; i++) {
      if (keys[i].option->use != BISAI_OPTION_NEEDED || r->seen[s] >> i & 1) continue;
      keys_title(&r->m, (method_section)s, title);
      say("%s: %s needs its number, as in %s:%s=3", r->flag, title, title, keys[i].option->key);
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
  for (int i = METHOD_PETSC; i <= METHOD_CUSPARSE_ILU; i++) {
    m->program = (method_program)i;
    if (strcmp(method_program_string((method_program)i), name) == 0) return true;
  }
  return false;
}

static void join_methods(char text[LIST_TEXT]) {
  const char *names[BISAI_PRECOND_KINDS + METHOD_CUSPARSE_ILU];
  int count = 0;
  for (int kind = 0; kind < BISAI_PRECOND_KINDS; kind++) {
    if (!bisai_precond_kind_needs_code((bisai_precond_kind)kind))
      names[count++] = bisai_precond_kind_string((bisai_precond_kind)kind);
  }
  for (int i = METHOD_PETSC; i <= METHOD_CUSPARSE_ILU; i++)
    names[count++] = method_program_string((method_program)i);
  *text = '\0';
  append_list(text, LIST_TEXT, count, names, ", ");
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
  reading r = {.flag = flag, .text = text};
  if (!find_method(copy, &r.m)) {
    char all[LIST_TEXT];
    join_methods(all);
    say("%s: '%s' is not a method (%s)", flag, copy, all);
    return false;
  }
  while (colon) {
    char *item = colon + 1;
    colon = strchr(item, ':');
    if (colon) *colon = '\0';
    if (!read_item(&r, item)) return false;
  }
  if (!has_what_it_needs(&r)) return false;
  *result = r.m;
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

bool method_list_add_by_cg(const char *text, method_list *list) {
  method_list more = {0};
  if (!method_list_parse("--methods", text, &more)) return false;
  const size_t before = (size_t)list->count, added = (size_t)more.count;
  method *all = realloc(list->items, (before + added) * sizeof *all);
  if (all) {
    list->items = all;
    memcpy(all + before, more.items, added * sizeof *all);
    list->count += more.count;
  } else {
    say("--methods: out of memory");
  }
  for (size_t i = 0; all && i < added; i++) all[before + i].by_cg = true;
  free(more.items);
  return all != NULL;
}

void method_list_free(method_list *list) {
  for (int i = 0; i < list->count; i++)
    for (int k = 0; k < METHOD_FILES; k++) free(list->items[i].files[k].values);
  free(list->items);
  *list = (method_list){0};
}
