/* SPDX-License-Identifier: BSD-3-Clause */
#include "grammar.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void append(char *text, size_t size, const char *format, ...) {
  const size_t length = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + length, size - length, format, arguments);
  va_end(arguments);
}

void append_list(char *text, size_t size, int count, const char *const *words, const char *last) {
  for (int i = 0; i < count; i++)
    append(text, size, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : last, words[i]);
}

void append_key(char *text, size_t size, const bisai_option *option) {
  const bool needed = option->use == BISAI_OPTION_NEEDED;
  append(text, size, "%s:%s", needed ? "" : "[", option->key);
  if (option->type == BISAI_OPTION_WORD) {
    for (int i = 0; i <= (int)option->advised; i++)
      append(text, size, "%s%s", i == 0 ? "=" : "|", option->words[i]);
  } else if (option->type != BISAI_OPTION_FLAG && option->words) {
    append(text, size, "=%s|%s", option->words[0], option->placeholder);
  } else if (option->type != BISAI_OPTION_FLAG) {
    append(text, size, "=%s", option->placeholder);
  }
  if (!needed) append(text, size, "]");
}

static void append_values(char *text, size_t size, const bisai_option *option) {
  if (option->type == BISAI_OPTION_FLAG) return;
  const bool word = option->type == BISAI_OPTION_WORD;
  append(text, size, "=");
  for (int i = 0; option->words && option->words[i] && (word ? i <= (int)option->advised : i < 1);
       i++) {
    append(text, size, "%s%s", i == 0 ? "" : "|", option->words[i]);
  }
  if (!word)
    append(text, size, "%s%s", option->words ? "|" : "",
           option->placeholder ? option->placeholder : "N");
}

/* Appends the default and the range of a number. */
static void append_range(char *text, size_t size, const bisai_option *option) {
  const bool number = option->type == BISAI_OPTION_INTEGER || option->type == BISAI_OPTION_NUMBER;
  if (!number) return;
  append(text, size, option->open ? ", above %.10g" : ", from %.10g", option->minimum);
  if (option->advised < INT32_MAX)
    append(text, size, option->open ? " and below %.10g" : " to %.10g", option->advised);
  if (!option->words) append(text, size, ", default %.10g", option->initial);
}

void append_key_help(char *text, size_t size, const bisai_option *option) {
  append(text, size, "%s", option->key);
  append_values(text, size, option);
  append(text, size, ": %s", option->help);
  append_range(text, size, option);
  const int initial = option->type == BISAI_OPTION_WORD ? (int)option->initial : 0;
  if (option->words) append(text, size, ", default %s", option->words[initial]);
}
