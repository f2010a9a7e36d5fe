/* SPDX-License-Identifier: BSD-3-Clause */
#include "message.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (isatty(STDERR_FILENO) == 1) fputs("\r\033[K", stderr); /* removes the line of progress.h */
  fputs("bisai: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
}

const char *plural(int64_t count) { return count == 1 ? "" : "s"; }

static bool names_one(const char *message, const char *what) {
  const char *place = strstr(message, what);
  return place && place[strlen(what)] >= '0' && place[strlen(what)] <= '9';
}

const char *message_base(const char *message) {
  if (names_one(message, "block row ") || names_one(message, "block ("))
    return " (block rows count from 0)";
  return names_one(message, "block column ") ? " (block columns count from 0)" : "";
}

void say_failure(const bisai_context *context, const char *what, bisai_status status) {
  const char *message = bisai_context_error(context);
  if (!*message) message = bisai_status_string(status);
  if (strstr(message, what))
    say("%s%s", message, message_base(message));
  else
    say("%s: %s%s", what, message, message_base(message));
}
