/* SPDX-License-Identifier: BSD-3-Clause */
/* The results as JSON, the schema of bisai(1). */
#ifndef TOOL_JSON_H
#define TOOL_JSON_H

#include "run_method.h"

/* The first `count` results as a text that ends with a line; free with free(). NULL where it could
 * not be made. */
char *json_text(bisai_context *context, const problem *p, const options *o, int count,
                const run_result *results);

/* Writes the text, which it takes, to the file that --json names, or to standard output. NULL: it
 * could not be made. Says what is wrong. */
bool json_write(bisai_context *context, const char *path, char *text);

#endif
