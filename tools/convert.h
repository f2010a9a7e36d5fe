/* SPDX-License-Identifier: BSD-3-Clause */
/* bisai convert writes a matrix in another format. */
#ifndef TOOL_CONVERT_H
#define TOOL_CONVERT_H

#include "options.h"

/* Returns the exit status. */
int convert_run(bisai_context *context, const options *o);

#endif
