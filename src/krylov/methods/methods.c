/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of methods, and their options: defaults, ranges, words. */
#include "krylov/methods/methods.h"

#include "core/context/words.h"

BSI_DEFINE_WORDS(method, BISAI_METHOD_LIST, "unknown method")
BSI_DEFINE_WORDS(side, BISAI_SIDE_LIST, "unknown side")
BSI_DEFINE_WORDS(orthogonalization, BISAI_ORTHOGONALIZATION_LIST, "unknown orthogonalization")
BSI_DEFINE_WORDS(reason, BISAI_REASON_LIST, "unknown reason")
BSI_DEFINE_STRING(breakdown, BISAI_BREAKDOWN_LIST, "unknown breakdown")

const bsi_method *bsi_method_of(bisai_method method) {
#define METHOD(enumerator, word, name, title) [enumerator] = &bsi_method_##name,
  static const bsi_method *const methods[] = {BISAI_METHOD_LIST(METHOD)};
#undef METHOD
  return (int)method >= 0 && (int)method < BISAI_METHODS ? methods[method] : NULL;
}

const bisai_option *bisai_method_option(bisai_method method, int index) {
  const bsi_method *table = bsi_method_of(method);
  return table && index >= 0 && index < table->options.count ? &table->options.items[index] : NULL;
}

bisai_solver_options bisai_solver_options_default(void) {
  bisai_solver_options o = {.struct_size = sizeof(bisai_solver_options),
                            .method = BISAI_GMRES,
                            .tolerance = 1e-8,
                            .max_iterations = 10000,
                            .stagnation_cycles = 10};
  for (int method = 0; method < BISAI_METHODS; method++) {
    const bisai_option *option;
    for (int i = 0; (option = bisai_method_option((bisai_method)method, i)); i++)
      bisai_option_set(option, option->initial, &o);
  }
  return o;
}

static bisai_status check_method(bisai_context *context, bisai_method method,
                                 const bisai_solver_options *o) {
  const bsi_method *table = bsi_method_of(method);
  for (int i = 0; i < table->options.count; i++)
    BSI_TRY(bsi_option_check(context, &table->options.items[i], o));
  return table->check.options ? table->check.options(context, o) : BISAI_OK;
}

bisai_status bsi_solver_options_check(bisai_context *context, const bisai_solver_options *o) {
  if (!bsi_method_of(o->method))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown method %d", (int)o->method);
  if (!(o->tolerance >= 0 && o->tolerance < 1))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "tolerance is %g, must be at least 0 and below 1", o->tolerance);
  if (o->max_iterations < 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "max_iterations is %d, must not be negative",
                    o->max_iterations);
  if (o->stagnation_cycles < 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "stagnation_cycles is %d, must not be negative", o->stagnation_cycles);
  for (int method = 0; method < BISAI_METHODS; method++)
    BSI_TRY(check_method(context, (bisai_method)method, o));
  return BISAI_OK;
}
