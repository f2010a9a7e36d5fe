/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/sections.h"

#include <string.h>

#include <bisai/stages.h>

const char *bsi_section_head(int section) {
  return section == BSI_SECTION_FIRST ? "first" : "second";
}

const bisai_option *bsi_section_choice(const bisai_precond_options *options, int section) {
  return section == BSI_SECTION_OWN
             ? NULL
             : bisai_precond_stage_option(options->kind, section - BSI_SECTION_FIRST);
}

static bool has_stages(const bisai_precond_options *options) {
  bisai_precond_kind kind;
  return bisai_precond_stage(options, 0, &kind);
}

/* Returns true if an option is a kind's own, and not one that it shares with others. The own ones
 * come first, and have the name of the kind before the point. */
static bool is_own(bisai_precond_kind kind, const bisai_option *option) {
  const bisai_option *first = bisai_precond_kind_option(kind, 0);
  const size_t length = strcspn(first->field, ".") + 1;
  return strncmp(option->field, first->field, length) == 0;
}

/* Returns the kind whose options a section has. A stage that is chosen automatically has no keys,
 * as NONE. */
static bisai_precond_kind kind_of(const bisai_precond_options *options, int section) {
  bisai_precond_kind kind = BISAI_PRECOND_NONE;
  if (section == BSI_SECTION_OWN) return options->kind;
  const bisai_option *choice = bsi_section_choice(options, section);
  if (!choice || bisai_option_get(choice, options) != choice->initial)
    bisai_precond_stage(options, section - BSI_SECTION_FIRST, &kind);
  return kind;
}

/* Returns true if a section has an option of its kind. A kind with stages lists their options too.
 * A first stage that cannot be chosen takes what is its own alone. What the first stage takes is
 * not asked for again. */
static bool has(const bisai_precond_options *options, int section, const bisai_option *option) {
  if (!option->key) return false;
  if (!has_stages(options)) return true;
  const bisai_option *first_choice = bsi_section_choice(options, BSI_SECTION_FIRST);
  const bisai_precond_kind first = kind_of(options, BSI_SECTION_FIRST);
  switch (section) {
  case BSI_SECTION_OWN:
    return is_own(options->kind, option) && option != first_choice &&
           option != bsi_section_choice(options, BSI_SECTION_SECOND);
  case BSI_SECTION_FIRST: return first_choice || is_own(first, option);
  default: return !first_choice || !bisai_precond_kind_takes(first, option->field);
  }
}

static bool is_section(const bisai_precond_options *options, int section) {
  return options && (section == BSI_SECTION_OWN ||
                     (section > 0 && section < BISAI_TEXT_SECTIONS && has_stages(options)));
}

const bisai_option *bisai_precond_text_option(const bisai_precond_options *options, int section,
                                              int index) {
  const bisai_option *option;
  if (!is_section(options, section) || index < 0) return NULL;
  const bisai_precond_kind kind = kind_of(options, section);
  for (int i = 0; (option = bisai_precond_kind_option(kind, i)); i++)
    if (has(options, section, option) && index-- == 0) return option;
  return NULL;
}

bool bisai_precond_text_section(const bisai_precond_options *options, int section,
                                const char **head, const char **word) {
  if (!is_section(options, section)) return false;
  const bisai_option *choice = bsi_section_choice(options, section);
  const int value = choice ? (int)bisai_option_get(choice, options) : 0;
  if (choice && (value < 0 || value > choice->maximum)) return false;
  *head = section == BSI_SECTION_OWN ? NULL : bsi_section_head(section);
  *word = choice ? choice->words[value] : bisai_precond_kind_string(kind_of(options, section));
  return true;
}
