/* SPDX-License-Identifier: BSD-3-Clause */
#include "choice/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <bisai/stages.h>

static void append(size_t size, char *text, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void append(size_t size, char *text, const char *format, ...) {
  const size_t length = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + length, size - length, format, arguments);
  va_end(arguments);
}

/* Appends ":key=value" unless the option has its default, which METHOD may leave out. */
static void append_option(const bisai_option *option, const void *options, size_t size,
                          char *text) {
  const double value = bisai_option_get(option, options);
  if (!option->key || (value == option->initial && option->use != BISAI_OPTION_NEEDED)) return;
  switch (option->type) {
  case BISAI_OPTION_POINTER:
  case BISAI_OPTION_VECTORS: return;
  case BISAI_OPTION_FLAG: append(size, text, ":%s", option->key); return;
  case BISAI_OPTION_WORD:
    append(size, text, ":%s=%s", option->key, option->words[(int)value]);
    return;
  default: append(size, text, ":%s=%.10g", option->key, value);
  }
}

/* Appends the options of a kind, or only those whose fields begin with a prefix. */
static void append_options(bisai_precond_kind kind, const char *prefix,
                           const bisai_precond_options *options, size_t size, char *text) {
  const bisai_option *option, *stages[BISAI_PRECOND_STAGES];
  for (int32_t s = 0; s < BISAI_PRECOND_STAGES; s++)
    stages[s] = bisai_precond_stage_option(kind, s);
  for (int i = 0; (option = bisai_precond_kind_option(kind, i)); i++)
    if (strncmp(option->field, prefix, strlen(prefix)) == 0 && option != stages[0] &&
        option != stages[1])
      append_option(option, options, size, text);
}

/* Appends the stages that are chosen, each with its options. */
static void append_stages(const bisai_precond_options *options, size_t size, char *text) {
  bisai_precond_kind kind;
  for (int32_t s = 0; bisai_precond_stage(options, s, &kind); s++) {
    const bisai_option *word = bisai_precond_stage_option(options->kind, s);
    if (!word || bisai_option_get(word, options) == word->initial) continue;
    append_option(word, options, size, text);
    append_options(kind, "", options, size, text);
  }
}

void bsi_method_text(const bisai_precond_options *options, size_t size, char *text) {
  const char *word = bisai_precond_kind_string(options->kind);
  bisai_precond_kind first;
  char prefix[16] = "";
  if (bisai_precond_stage(options, 0, &first)) snprintf(prefix, sizeof prefix, "%s.", word);
  snprintf(text, size, "%s", word);
  append_options(options->kind, prefix, options, size, text);
  append_stages(options, size, text);
}

void bsi_solver_text(const bisai_solver_options *options, size_t size, char *text) {
  const bisai_option *option;
  snprintf(text, size, "%s", bisai_method_string(options->method));
  for (int i = 0; (option = bisai_method_option(options->method, i)); i++)
    append_option(option, options, size, text);
  if (options->method == BISAI_GMRES && options->gmres.restart != 30)
    append(size, text, " --restart %d", options->gmres.restart);
}
