/* SPDX-License-Identifier: BSD-3-Clause */
/* Near-null-space vectors in files: the option --write-null and the key null=FILE of METHOD. */
#ifndef TOOL_NULL_SPACE_H
#define TOOL_NULL_SPACE_H

#include "options.h"
#include "problem.h"

/* Writes the vectors of the case to the file of the options, if there is one, as a Matrix Market
 * array with a row for each row of the matrix without padding and a column for each vector. Prints
 * a message and returns false on failure. */
bool null_space_write(bisai_context *context, const options *o, const problem *p);

/* Reads the vectors of all methods that have a file, which null_space_write() may have written.
 * Rows of padding get zeros. Prints a message and returns false on failure. */
bool null_space_read(bisai_context *context, const problem *p, method_list *methods);

#endif
