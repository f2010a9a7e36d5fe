/* SPDX-License-Identifier: BSD-3-Clause */
/* Near-null-space vectors in a file: the option --write-null. */
#ifndef TOOL_NULL_SPACE_H
#define TOOL_NULL_SPACE_H

#include "options.h"
#include "problem.h"

/* Writes the vectors of the case to the file of the options, if there is one, as a Matrix Market
 * array with a row for each row of the matrix without padding and a column for each vector. Prints
 * a message and returns false on failure. */
bool null_space_write(bisai_context *context, const options *o, const problem *p);

#endif
