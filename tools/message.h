/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on stderr. Each is one line that begins with "bisai: ". */
#ifndef TOOL_MESSAGE_H
#define TOOL_MESSAGE_H

#include <stdint.h>

#include <bisai/context.h>

/* Exit statuses that scripts rely on. */
enum { EXIT_CONVERGED = 0, EXIT_NOT_CONVERGED = 1, EXIT_BAD_INPUT = 2, EXIT_BROKE_DOWN = 3 };

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "" or "s". */
const char *plural(int64_t count);

/* Block rows in messages of the library count from 0 as in C, and lines and entries of files
 * count from 1. Returns a note about this for a message that names a block row or a block,
 * otherwise "". */
const char *message_base(const char *message);

/* Prints the message of a failed call of the library as "what: message", or alone if the message
 * contains `what` (a file name). */
void say_failure(const bisai_context *context, const char *what, bisai_status status);

#endif
