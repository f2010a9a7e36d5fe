/* SPDX-License-Identifier: BSD-3-Clause */
#include "precond/composed/stages.h"

#include <string.h>

#include "core/context/context_impl.h"

bool bisai_precond_stage(const bisai_precond_options *options, int32_t stage,
                         bisai_precond_kind *kind) {
  const bsi_precond_ops *ops = options ? bsi_precond_ops_of(options->kind) : NULL;
  if (!ops || !ops->stages || stage < 0 || stage >= BISAI_PRECOND_STAGES) return false;
  *kind = ops->stages->kind(options, stage);
  return true;
}

const bisai_option *bisai_precond_stage_option(bisai_precond_kind kind, int32_t stage) {
  const bsi_precond_ops *ops = bsi_precond_ops_of(kind);
  const bisai_option *option;
  if (!ops || !ops->stages || stage < 0 || stage >= BISAI_PRECOND_STAGES) return NULL;
  const char *field = ops->stages->fields[stage];
  if (!field) return NULL;
  for (int i = 0; (option = bisai_precond_kind_option(kind, i)); i++)
    if (strcmp(option->field, field) == 0) return option;
  return NULL;
}

bool bisai_precond_options_take(const bisai_precond_options *options, const char *field) {
  const bsi_precond_ops *ops = options ? bsi_precond_ops_of(options->kind) : NULL;
  bisai_precond_kind kind;
  if (!ops || !field) return false;
  if (!ops->stages) return bisai_precond_kind_takes(options->kind, field);
  for (int l = 0; l < BSI_OPTION_LISTS && ops->options[l]; l++)
    for (int i = 0; i < ops->options[l]->count; i++)
      if (strcmp(ops->options[l]->items[i].field, field) == 0) return true;
  for (int32_t stage = 0; bisai_precond_stage(options, stage, &kind); stage++)
    if (bisai_precond_kind_takes(kind, field)) return true;
  return false;
}

bisai_status bsi_stages_check(bisai_context *context, const bisai_precond_options *given,
                              const char *title) {
  const bisai_precond_kind *kinds = bsi_precond_ops_of(given->kind)->stages->kinds;
  for (; *kinds != BISAI_PRECOND_NONE; kinds++) {
    const bisai_option *option;
    for (int i = 0; (option = bisai_precond_kind_option(*kinds, i)); i++)
      if (bisai_option_get(option, given) != option->initial && !bsi_may_ignore(option) &&
          !bisai_precond_options_take(given, option->field))
        return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                        "%s does not take the option %s, which is for %s", title, option->field,
                        bisai_precond_kind_string(*kinds));
  }
  return BISAI_OK;
}

bisai_status bsi_stage_check_ready(const bisai_precond *stage, const char *place) {
  if (!stage || !stage->factors || stage->factors->ready) return BISAI_OK;
  return bsi_fail(stage->context, BISAI_NOT_READY, "%s: the factors' last update failed", place);
}
