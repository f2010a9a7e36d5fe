/* SPDX-License-Identifier: BSD-3-Clause */
#include "method_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grammar.h"
#include "keys.h"
#include "message.h"

enum { LIST_TEXT = 256 };

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
  char word[METHOD_TEXT], all[LIST_TEXT];
  method m = {.options = bisai_precond_options_default()};
  bisai_text_fault fault;
  if (strlen(text) >= METHOD_TEXT) {
    say("%s: method of more than %d characters", flag, METHOD_TEXT - 1);
    return false;
  }
  snprintf(word, sizeof word, "%.*s", (int)strcspn(text, ":"), text);
  if (*text && !find_method(word, &m)) {
    join_methods(all);
    say("%s: '%s' is not a method (%s)", flag, word, all);
    return false;
  }
  const bisai_text_keys keys = keys_of_program(&m);
  if (bisai_precond_options_parse(text, &m.options, &keys, &fault)) {
    if (*text)
      say("%s: %s: %s", flag, text, fault.message);
    else
      say("%s: %s", flag, fault.message);
    return false;
  }
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
