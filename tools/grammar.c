/* SPDX-License-Identifier: BSD-3-Clause */
#include "grammar.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void append(char *text, size_t size, const char *format, ...) {
  const size_t length = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + length, size - length, format, arguments);
  va_end(arguments);
}

void append_key(char *text, size_t size, const bisai_option *option) {
  const bool needed = option->use == BISAI_OPTION_NEEDED;
  append(text, size, "%s:%s", needed ? "" : "[", option->key);
  if (option->type == BISAI_OPTION_WORD) {
    for (int i = 0; i <= (int)option->advised; ++i) {
      append(text, size, "%s%s", i == 0 ? "=" : "|", option->words[i]);
    }
  } else if (option->type != BISAI_OPTION_FLAG && option->words) {
    append(text, size, "=%s|%s", option->words[0], option->placeholder);
  } else if (option->type != BISAI_OPTION_FLAG) {
    append(text, size, "=%s", option->placeholder);
  }
  if (!needed) append(text, size, "]");
}
