/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <bisai/stages.h>

/* as enum method_factors */
static const char *const factors[] = {"bisai", "petsc", "cusparse", NULL};
/* as enum method_maker */
static const char *const makers[] = {"bisai", "cusparse", NULL};

static bool of_library(const method *m, const bisai_precond_options *o, const char *field) {
  bisai_precond_kind kind;
  return m->program == METHOD_OF_LIBRARY && !bisai_precond_stage(o, 0, &kind) &&
         bisai_precond_kind_takes(o->kind, field);
}

static bool takes_level(const method *m, const bisai_precond_options *o) {
  (void)o;
  return m->program == METHOD_PETSC || m->program == METHOD_PETSC_ILU;
}
static bool takes_factors(const method *m, const bisai_precond_options *o) {
  return of_library(m, o, "factor.factors");
}
static bool takes_pattern(const method *m, const bisai_precond_options *o) {
  return of_library(m, o, "isai.lower_pattern");
}
static bool takes_apply(const method *m, const bisai_precond_options *o) {
  return m->program == METHOD_CUSPARSE_ILU ||
         (m->program == METHOD_OF_LIBRARY &&
          (o->kind == BISAI_PRECOND_ILU || o->kind == BISAI_PRECOND_ISAI));
}

#define PROGRAM_KEY(member, list)                                                                  \
  {                                                                                                \
    .field = #member, .name = #member, .key = #member, .type = BISAI_OPTION_WORD,                  \
    .offset = offsetof(method, member), .advised = (int)(sizeof list / sizeof *list) - 2,          \
    .words = list                                                                                  \
  }

/* The keys that the library does not have. They follow those of the library. The ILU of PETSc has a
 * level, as that of bisai. */
static const struct {
  bool (*taken)(const method *m, const bisai_precond_options *o);
  bisai_option option;
} program_keys[] = {{takes_level,
                     {.field = "level",
                      .name = "level",
                      .key = "level",
                      .type = BISAI_OPTION_INTEGER,
                      .offset = offsetof(method, level),
                      .advised = INT32_MAX}},
                    {takes_factors, PROGRAM_KEY(factors, factors)},
                    {takes_pattern, PROGRAM_KEY(pattern, makers)},
                    {takes_apply, PROGRAM_KEY(apply, makers)}};
enum { PROGRAM_KEYS = sizeof program_keys / sizeof *program_keys };

/* The functions below are members of bisai_text_keys. */

static const bisai_option *program_option(void *user, const bisai_precond_options *options,
                                          int index) {
  for (int i = 0; i < PROGRAM_KEYS; i++)
    if (program_keys[i].taken(user, options) && index-- == 0) return &program_keys[i].option;
  return NULL;
}

static bool take_file(void *user, const bisai_option *option, const char *name) {
  method *m = user;
  int i = 0;
  while (i < METHOD_FILES - 1 && m->files[i].option) i++;
  m->files[i].option = option;
  snprintf(m->files[i].path, sizeof m->files[i].path, "%s", name);
  return true;
}

static const char *name_file(void *user, const bisai_option *option) {
  return method_path(user, option);
}

static void note(void *user, const bisai_option *option) {
  method *m = user;
  m->ordering_given |= strcmp(option->field, "factor.ordering") == 0;
  m->matching_given |= strcmp(option->field, "factor.matching") == 0;
}

bisai_text_keys keys_of_program(method *m) {
  return (bisai_text_keys){
      .struct_size = sizeof(bisai_text_keys),
      .word = m->program == METHOD_OF_LIBRARY ? NULL : method_program_string(m->program),
      .option = program_option,
      .read = take_file,
      .name = name_file,
      .given = note,
      .user = m,
      .shown = true};
}

int keys_of(method *m, method_section section, key keys[MOST_KEYS]) {
  const bisai_option *option;
  int count = 0;
  for (int i = 0; count < MOST_KEYS; i++) {
    if (!(option = bisai_precond_text_option(&m->options, (int)section, i))) break;
    keys[count++] = (key){option, &m->options};
  }
  for (int i = 0; section == SECTION_OWN && count < MOST_KEYS; i++) {
    if (!(option = program_option(m, &m->options, i))) break;
    keys[count++] = (key){option, m};
  }
  return count;
}

const char *keys_head(const method *m, method_section section) {
  const char *head = NULL, *word;
  bisai_precond_text_section(&m->options, (int)section, &head, &word);
  return head;
}

const char *keys_stage_word(const method *m, method_section section) {
  const char *head, *word = NULL;
  bisai_precond_text_section(&m->options, (int)section, &head, &word);
  return word;
}

bool keys_take(const method *m, const char *name) {
  method copy = *m;
  key keys[MOST_KEYS];
  const int count = keys_of(&copy, SECTION_OWN, keys);
  for (int i = 0; i < count; i++)
    if (strcmp(keys[i].option->key, name) == 0) return true;
  return false;
}

const char *keys_name(const method *m, method_section section, int index) {
  method copy = *m;
  key keys[MOST_KEYS];
  return index < keys_of(&copy, section, keys) ? keys[index].option->name : NULL;
}

const bisai_option *keys_option(const method *m, method_section section, const char *name,
                                double *value) {
  method copy = *m;
  key keys[MOST_KEYS];
  const int count = keys_of(&copy, section, keys);
  for (int i = 0; i < count; i++) {
    if (strcmp(keys[i].option->name, name) != 0) continue;
    *value = bisai_option_get(keys[i].option, keys[i].place);
    return keys[i].option;
  }
  return NULL;
}
