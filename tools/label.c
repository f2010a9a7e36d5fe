/* SPDX-License-Identifier: BSD-3-Clause */
#include "label.h"

#include <stdio.h>

#include "grammar.h"
#include "keys.h"

/* Appends the keys of a section that are not the default, or are always shown. */
static void label_keys(const method *m, method_section section, char label[METHOD_LABEL]) {
  method copy = *m;
  key keys[MOST_KEYS];
  const int count = keys_of(&copy, section, keys);
  for (int i = 0; i < count; i++) {
    const bisai_option *option = keys[i].option;
    const double value = bisai_option_get(option, keys[i].place);
    const char *path = method_path(m, option);
    const bool initial =
        option->type == BISAI_OPTION_VECTORS ? path == NULL : value == option->initial;
    const bool flag = option->type == BISAI_OPTION_FLAG;
    if (initial && (flag || option->use == BISAI_OPTION_OPTIONAL)) continue;
    append(label, METHOD_LABEL, ":%s", option->key);
    if (option->type == BISAI_OPTION_WORD)
      append(label, METHOD_LABEL, "=%s", option->words[(int)value]);
    else if (option->type == BISAI_OPTION_VECTORS)
      append(label, METHOD_LABEL, "=%s", path);
    else if (option->type != BISAI_OPTION_FLAG)
      append(label, METHOD_LABEL, "=%.10g", value);
  }
}

void method_label(const method *m, char label[METHOD_LABEL]) {
  snprintf(label, METHOD_LABEL, "%s", method_kind(m));
  label_keys(m, SECTION_OWN, label);
  for (int s = SECTION_FIRST; s < METHOD_SECTIONS && method_has_stages(m); s++) {
    char keys[METHOD_LABEL] = "", title[KEYS_TITLE];
    label_keys(m, (method_section)s, keys);
    keys_title(m, (method_section)s, title);
    const bisai_option *stage = keys_stage(m, (method_section)s);
    const bool chosen = stage && bisai_option_get(stage, &m->options) != stage->initial;
    if (*keys || chosen) append(label, METHOD_LABEL, ":%s%s", title, keys);
  }
  if (m->by_cg) append(label, METHOD_LABEL, " (cg)");
}

/* Appends "[:first=mg[:KEY]...][:second=auto|isai[:KEY]...]". */
static void append_stages(const method *m, char grammar[METHOD_GRAMMAR]) {
  for (int s = SECTION_FIRST; s < METHOD_SECTIONS; s++) {
    const bisai_option *stage = keys_stage(m, (method_section)s);
    append(grammar, METHOD_GRAMMAR, "[:%s=", keys_head((method_section)s));
    if (!stage) append(grammar, METHOD_GRAMMAR, "%s", keys_stage_word(m, (method_section)s));
    for (int i = 0; stage && i <= (int)stage->advised; i++)
      append(grammar, METHOD_GRAMMAR, "%s%s", i == 0 ? "" : "|", stage->words[i]);
    append(grammar, METHOD_GRAMMAR, "[:KEY]...]");
  }
}

void method_grammar(char grammar[METHOD_GRAMMAR]) {
  *grammar = '\0';
  for (int k = 0; k < BISAI_PRECOND_KINDS; k++) {
    method m = {.program = METHOD_OF_LIBRARY, .options = bisai_precond_options_default()};
    key keys[MOST_KEYS];
    m.options.kind = (bisai_precond_kind)k;
    if (bisai_precond_kind_needs_code(m.options.kind)) continue;
    append(grammar, METHOD_GRAMMAR, "%s%s", *grammar ? " | " : "", method_kind(&m));
    const int count = keys_of(&m, SECTION_OWN, keys);
    for (int i = 0; i < count; i++)
      if (keys[i].option->placeholder) append_key(grammar, METHOD_GRAMMAR, keys[i].option);
    if (method_has_stages(&m)) append_stages(&m, grammar);
  }
  for (int i = METHOD_PETSC; i <= METHOD_CUSPARSE_ILU; i++)
    append(grammar, METHOD_GRAMMAR, " | %s", method_program_string((method_program)i));
}

void method_key_help(bisai_precond_kind kind, char help[METHOD_GRAMMAR]) {
  method m = {.program = METHOD_OF_LIBRARY, .options = bisai_precond_options_default()};
  key keys[MOST_KEYS];
  m.options.kind = kind;
  *help = '\0';
  const int count = keys_of(&m, SECTION_OWN, keys);
  for (int i = 0; i < count; i++) {
    append(help, METHOD_GRAMMAR, i == 0 ? "" : "\n");
    append_key_help(help, METHOD_GRAMMAR, keys[i].option);
  }
}
