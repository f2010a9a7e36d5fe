#include "message.h"

#include <stdarg.h>
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

void say_failure(const bisai_context *context, const char *what, bisai_status status) {
  const char *message = bisai_context_error(context);
  if (!*message) message = bisai_status_string(status);
  if (strstr(message, what)) {
    say("%s", message);
  } else {
    say("%s: %s", what, message);
  }
}
