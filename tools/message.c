#include "message.h"

#include <stdarg.h>
#include <stdio.h>

void say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("bisai: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
}
