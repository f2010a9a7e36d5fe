/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/writer.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIGITS = 17 };

bsi_writer bsi_writer_begin(size_t size, char *text) {
  const bsi_writer w = {.size = text ? size : 0, .text = text};
  if (w.size > 0) *text = '\0';
  return w;
}

void bsi_write(bsi_writer *w, const char *format, ...) {
  const bool full = w->length >= w->size;
  va_list arguments;
  va_start(arguments, format);
  const int more = vsnprintf(full ? NULL : w->text + w->length, full ? 0 : w->size - w->length,
                             format, arguments);
  va_end(arguments);
  if (more > 0) w->length += (size_t)more;
}

const char *bsi_number(double value, int precision, char digits[BSI_NUMBER_TEXT]) {
  char local[BSI_NUMBER_TEXT];
  do snprintf(local, sizeof local, "%.*g", precision, value);
  while (strtod(local, NULL) != value && precision++ < MOST_DIGITS);
  const size_t whole = strspn(local, "+-0123456789e");
  const size_t point = strcspn(local + whole, "0123456789");
  const bool cut = point > 0 && local[whole + point] != '\0';
  snprintf(digits, BSI_NUMBER_TEXT, "%.*s%s%s", (int)whole, local, cut ? "." : "",
           local + whole + (cut ? point : 0));
  return digits;
}
