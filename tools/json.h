/* The results as JSON, the schema of bisai(1). */
#ifndef TOOL_JSON_H
#define TOOL_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "run.h"

/* False where it could not be made or written completely. */
bool json_write(FILE *out, bisai_context *context, const problem *p, const options *o, int count,
                const run_result *results);

#endif
