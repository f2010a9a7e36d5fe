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

static bool of_library(const method *m, const char *field) {
  return m->program == METHOD_OF_LIBRARY && !method_has_stages(m) &&
         bisai_precond_kind_takes(m->options.kind, field);
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

/* Returns true if an option is a kind's own, and not one that it shares with others. The own ones
 * come first, and have the name of the kind before the point. */
static bool is_own(bisai_precond_kind kind, const bisai_option *option) {
  const bisai_option *first = bisai_precond_kind_option(kind, 0);
  const size_t length = strcspn(first->field, ".") + 1;
  return strncmp(option->field, first->field, length) == 0;
}

static bool chooses_stage(const method *m, const bisai_option *option) {
  return option == keys_stage(m, SECTION_FIRST) || option == keys_stage(m, SECTION_SECOND);
}

/* Returns the kind whose options a section has. */
static bisai_precond_kind kind_of(const method *m, method_section section) {
  bisai_precond_kind kind = BISAI_PRECOND_NONE; /* auto has no keys */
  if (m->program == METHOD_PETSC || m->program == METHOD_PETSC_ILU) return BISAI_PRECOND_ILU;
  if (section == SECTION_OWN) return m->options.kind;
  const bisai_option *stage = keys_stage(m, section);
  if (!stage)
    bisai_precond_stage(&m->options, (int32_t)section - (int32_t)SECTION_FIRST, &kind);
  else if (bisai_option_get(stage, &m->options) != stage->initial)
    bisai_precond_kind_parse(keys_stage_word(m, section), &kind);
  return kind;
}

/* Returns true if a section has an option of its kind. A kind with stages lists their options too.
 * A first stage that cannot be chosen takes what is its own alone. What the first stage takes is
 * not asked for again. */
static bool has(const method *m, method_section section, const bisai_option *option) {
  if (!option->key) return false;
  /* The ILU of PETSc has a level, as that of bisai. */
  if (m->program == METHOD_PETSC || m->program == METHOD_PETSC_ILU)
    return strcmp(option->key, "level") == 0;
  if (!method_has_stages(m)) return true;
  const bisai_precond_kind first = kind_of(m, SECTION_FIRST);
  const bool chosen = keys_stage(m, SECTION_FIRST) != NULL;
  switch (section) {
  case SECTION_OWN: return is_own(m->options.kind, option) && !chooses_stage(m, option);
  case SECTION_FIRST: return chosen || is_own(first, option);
  default: return !chosen || !bisai_precond_kind_takes(first, option->field);
  }
}

int keys_of(method *m, method_section section, key keys[MOST_KEYS]) {
  const bisai_option *option;
  int count = 0;
  if (section != SECTION_OWN && !method_has_stages(m)) return 0;
  const bisai_precond_kind kind = kind_of(m, section);
  for (int i = 0; (option = bisai_precond_kind_option(kind, i)) && count < MOST_KEYS; i++)
    if (has(m, section, option)) keys[count++] = (key){option, &m->options};
  for (int i = 0; i < PROGRAM_KEYS && count < MOST_KEYS; i++) {
    if (section == SECTION_OWN && program_keys[i].taken(m))
      keys[count++] = (key){&program_keys[i].option, m};
  }
  return count;
}

int keys_find(int count, const key *keys, const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(keys[i].option->key, name) == 0) return i;
  return -1;
}

const char *keys_head(method_section section) {
  return section == SECTION_FIRST ? "first" : "second";
}

const bisai_option *keys_stage(const method *m, method_section section) {
  if (section == SECTION_OWN || !method_has_stages(m)) return NULL;
  return bisai_precond_stage_option(m->options.kind, (int32_t)section - (int32_t)SECTION_FIRST);
}

const char *keys_stage_word(const method *m, method_section section) {
  const bisai_option *stage = keys_stage(m, section);
  return stage ? stage->words[(int)bisai_option_get(stage, &m->options)]
               : bisai_precond_kind_string(kind_of(m, section));
}

void keys_title(const method *m, method_section section, char title[KEYS_TITLE]) {
  if (section == SECTION_OWN)
    snprintf(title, KEYS_TITLE, "%s", method_kind(m));
  else
    snprintf(title, KEYS_TITLE, "%s=%s", keys_head(section), keys_stage_word(m, section));
}

bool keys_take(const method *m, const char *name) {
  method copy = *m;
  key keys[MOST_KEYS];
  return keys_find(keys_of(&copy, SECTION_OWN, keys), keys, name) >= 0;
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
