#include "message.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("bisai: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
}

const char *plural(int64_t count) { return count == 1 ? "" : "s"; }

const char *message_base(const char *message) {
  const char *row = strstr(message, "block row ");
  bool named = row && row[strlen("block row ")] >= '0' && row[strlen("block row ")] <= '9';
  return named ? " (block rows count from 0)" : "";
}

void say_failure(const bisai_context *context, const char *what, bisai_status status) {
  const char *message = bisai_context_error(context);
  if (!*message) message = bisai_status_string(status);
  if (strstr(message, what)) {
    say("%s%s", message, message_base(message));
  } else {
    say("%s: %s%s", what, message, message_base(message));
  }
}
