/* SPDX-License-Identifier: BSD-3-Clause */
#include "choice/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

/* Appends those options of a kind whose fields begin with `prefix`. */
static void append_options(bisai_precond_kind kind, const char *prefix,
                           const bisai_precond_options *options, size_t size, char *text) {
  const bisai_option *option;
  for (int i = 0; (option = bisai_precond_kind_option(kind, i)); i++)
    if (strncmp(option->field, prefix, strlen(prefix)) == 0)
      append_option(option, options, size, text);
}

void bsi_method_text(const bisai_precond_options *options, size_t size, char *text) {
  snprintf(text, size, "%s", bisai_precond_kind_string(options->kind));
  append_options(options->kind, options->kind == BISAI_PRECOND_CPR ? "cpr." : "", options, size,
                 text);
}

void bsi_solver_text(const bisai_solver_options *options, size_t size, char *text) {
  const bisai_option *option;
  snprintf(text, size, "%s", bisai_method_string(options->method));
  for (int i = 0; (option = bisai_method_option(options->method, i)); i++)
    append_option(option, options, size, text);
  if (options->method == BISAI_GMRES && options->gmres.restart != 30)
    append(size, text, " --restart %d", options->gmres.restart);
}
