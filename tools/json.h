/* SPDX-License-Identifier: BSD-3-Clause */
/* The results as JSON. bisai(1) documents the keys. */
#ifndef TOOL_JSON_H
#define TOOL_JSON_H

#include "run_method.h"

/* Returns the first `count` results as a text that ends with a newline, or NULL if it could not be
 * made. The caller frees the text with free(). */
char *json_text(bisai_context *context, const problem *p, const options *o, int count,
                const run_result *results);

/* Writes the text to the file of --json or to standard output, and frees the text. A NULL text
 * means that it could not be made. Prints a message and returns false on failure. */
bool json_write(bisai_context *context, const char *path, char *text);

#endif
