/* What the program says on stderr, one line each, "bisai: " in front. */
#ifndef TOOL_MESSAGE_H
#define TOOL_MESSAGE_H

#include <bisai/context.h>

/* Exit statuses that scripts rely on. */
enum { EXIT_CONVERGED = 0, EXIT_NOT_CONVERGED = 1, EXIT_BAD_INPUT = 2, EXIT_BROKE_DOWN = 3 };

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A failure of the library, "what: message", or the message alone where it names `what` (a file) itself. */
void say_failure(const bisai_context *context, const char *what, bisai_status status);

#endif
