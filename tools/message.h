/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program says on stderr, one line each, "bisai: " in front. */
#ifndef TOOL_MESSAGE_H
#define TOOL_MESSAGE_H

#include <stdint.h>

#include <bisai/context.h>

/* Exit statuses that scripts rely on. */
enum { EXIT_CONVERGED = 0, EXIT_NOT_CONVERGED = 1, EXIT_BAD_INPUT = 2, EXIT_BROKE_DOWN = 3 };

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "" or "s". */
const char *plural(int64_t count);

/* Block rows in messages of the library count from 0 as in C, while lines and entries of files
 * count from 1: what to add to a message that names a block row or a block by row and column,
 * otherwise "". */
const char *message_base(const char *message);

/* A failure of the library, "what: message", or the message alone where it names `what` (a file)
 * itself. */
void say_failure(const bisai_context *context, const char *what, bisai_status status);

#endif
