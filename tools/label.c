/* SPDX-License-Identifier: BSD-3-Clause */
#include "label.h"

#include <stdio.h>

#include <bisai/stages.h>

#include "grammar.h"
#include "keys.h"

void method_label(const method *m, char label[METHOD_LABEL]) {
  method copy = *m;
  const bisai_text_keys keys = keys_of_program(&copy);
  bisai_precond_options_text(&copy.options, &keys, METHOD_LABEL, label);
  if (m->by_cg) append(label, METHOD_LABEL, " (cg)");
}

/* Appends "[:first=mg[:KEY]...][:second=auto|isai[:KEY]...]". */
static void append_stages(const method *m, char grammar[METHOD_GRAMMAR]) {
  for (int s = SECTION_FIRST; s < METHOD_SECTIONS; s++) {
    const bisai_option *stage = bisai_precond_stage_option(m->options.kind, s - (int)SECTION_FIRST);
    append(grammar, METHOD_GRAMMAR, "[:%s=", keys_head(m, (method_section)s));
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
