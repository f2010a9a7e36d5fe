/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of preconditioner and their options: defaults, which kind takes which, ranges. */
#include <stdio.h>
#include <string.h>

#include "core/context/words.h"
#include "precond/precond_impl.h"

BSI_DEFINE_WORDS(precond_kind, BISAI_PRECOND_KIND_LIST, "unknown kind")
BSI_DEFINE_WORDS(symmetry, BISAI_SYMMETRY_LIST, "unknown symmetry")

const bsi_precond_ops *bsi_precond_ops_of(bisai_precond_kind kind) {
#define OPS(enumerator, word, name) [enumerator] = &bsi_precond_##name,
  static const bsi_precond_ops *const kinds[] = {BISAI_PRECOND_KIND_LIST(OPS)};
#undef OPS
  return (int)kind >= 0 && (int)kind < BISAI_PRECOND_KINDS ? kinds[kind] : NULL;
}

/* The lists of the options that a kind takes: its own, and those of the kinds of its stages. */
typedef struct option_lists {
  const bsi_option_list *list[16];
  int count;
} option_lists;

/* Adds the lists of one kind that are not there yet. */
static void add_lists(const bsi_precond_ops *ops, option_lists *to) {
  const int most = sizeof to->list / sizeof *to->list;
  for (int l = 0; l < BSI_OPTION_LISTS && ops->options[l]; l++) {
    int known = 0;
    while (known < to->count && to->list[known] != ops->options[l]) known++;
    if (known == to->count && to->count < most) to->list[to->count++] = ops->options[l];
  }
}

/* Loops over all options of a kind call it once. */
static option_lists lists_of(bisai_precond_kind kind) {
  const bsi_precond_ops *ops = bsi_precond_ops_of(kind);
  option_lists lists = {.count = 0};
  if (!ops) return lists;
  add_lists(ops, &lists);
  const bisai_precond_kind *s = ops->stages ? ops->stages->kinds : NULL;
  for (; s && *s != BISAI_PRECOND_NONE; s++) add_lists(bsi_precond_ops_of(*s), &lists);
  return lists;
}

/* Returns option `index` ≥ 0 of all lists, or NULL behind the last one. */
static const bisai_option *option_at(const option_lists *lists, int index) {
  for (int l = 0; l < lists->count; index -= lists->list[l++]->count)
    if (index < lists->list[l]->count) return &lists->list[l]->items[index];
  return NULL;
}

const bisai_option *bisai_precond_kind_option(bisai_precond_kind kind, int index) {
  const option_lists lists = lists_of(kind);
  return index < 0 ? NULL : option_at(&lists, index);
}

static bool has_field(const option_lists *lists, const char *field) {
  const bisai_option *option;
  for (int i = 0; (option = option_at(lists, i)); i++)
    if (strcmp(option->field, field) == 0) return true;
  return false;
}

bool bisai_precond_kind_takes(bisai_precond_kind kind, const char *field) {
  const option_lists lists = lists_of(kind);
  return field && has_field(&lists, field);
}

bool bisai_precond_kind_needs_code(bisai_precond_kind kind) {
  const option_lists lists = lists_of(kind);
  const bisai_option *option;
  for (int i = 0; (option = option_at(&lists, i)); i++)
    if (option->use == BISAI_OPTION_NEEDED && !option->key) return true;
  return false;
}

bisai_precond_options bisai_precond_options_default(void) {
  bisai_precond_options o = {.struct_size = sizeof(bisai_precond_options),
                             .kind = BISAI_PRECOND_AUTO,
                             .shift_amount = bisai_factor_options_default().shift_amount};
  for (int kind = 0; kind < BISAI_PRECOND_KINDS; kind++) {
    const bsi_precond_ops *ops = bsi_precond_ops_of((bisai_precond_kind)kind);
    for (int l = 0; l < BSI_OPTION_LISTS && ops->options[l]; l++)
      for (int i = 0; i < ops->options[l]->count; i++)
        bisai_option_set(&ops->options[l]->items[i], ops->options[l]->items[i].initial, &o);
  }
  return o;
}

/* Returns true if the kind has an option of that name, be it another field. */
static bool has_name(bisai_precond_kind kind, const char *name) {
  const option_lists lists = lists_of(kind);
  const bisai_option *option;
  for (int i = 0; (option = option_at(&lists, i)); i++)
    if (strcmp(option->name, name) == 0) return true;
  return false;
}

/* Says "ilu does not take the option storage, which is for bjacobi, isai"; where the kind has an
 * option of the same name, the field is named. */
static bisai_status refuse(bisai_context *context, bisai_precond_kind kind,
                           const bisai_option *option) {
  const bool same = has_name(kind, option->name);
  char takers[128] = "";
  for (int k = 0; k < BISAI_PRECOND_KINDS; k++) {
    const bisai_precond_kind other = (bisai_precond_kind)k;
    const size_t length = strlen(takers);
    if (same ? bisai_precond_kind_takes(other, option->field) : has_name(other, option->name))
      snprintf(takers + length, sizeof takers - length, "%s%s", length > 0 ? ", " : "",
               bisai_precond_kind_string(other));
  }
  return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                  "%s does not take the option %s, which is for %s",
                  bisai_precond_kind_string(kind), same ? option->field : option->name, takers);
}

bool bsi_may_ignore(const bisai_option *option) {
  return strcmp(option->field, "factor.ordering") == 0 ||
         strcmp(option->field, "factor.equilibrate") == 0;
}

/* Checks the options of a list, which may be that of another kind. taken: those of the kind. */
static bisai_status check_list(bisai_context *context, const bsi_option_list *list,
                               const option_lists *taken, const bisai_precond_options *given) {
  for (int i = 0; i < list->count; i++) {
    const bisai_option *option = &list->items[i];
    if (bisai_option_get(option, given) != option->initial && !bsi_may_ignore(option) &&
        !has_field(taken, option->field))
      return refuse(context, given->kind, option);
  }
  return BISAI_OK;
}

bisai_status bsi_precond_options_check(bisai_context *context, const bisai_precond_options *given) {
  const option_lists taken = lists_of(given->kind);
  for (int kind = 0; kind < BISAI_PRECOND_KINDS; kind++) {
    const bsi_precond_ops *ops = bsi_precond_ops_of((bisai_precond_kind)kind);
    for (int l = 0; l < BSI_OPTION_LISTS && ops->options[l]; l++)
      BSI_TRY(check_list(context, ops->options[l], &taken, given));
  }
  return BISAI_OK;
}

bisai_status bsi_precond_ranges_check(bisai_context *context, const bisai_precond_options *given) {
  const option_lists lists = lists_of(given->kind);
  const bisai_option *option;
  for (int i = 0; (option = option_at(&lists, i)); i++)
    BSI_TRY(bsi_option_check(context, option, given));
  return BISAI_OK;
}
