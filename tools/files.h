/* SPDX-License-Identifier: BSD-3-Clause */
/* The files that METHOD names: null=, weights= and storage=. */
#ifndef TOOL_FILES_H
#define TOOL_FILES_H

#include "options.h"
#include "problem.h"
#include "target.h"

/* Returns true if no output of the command is such a file. Otherwise prints a message. */
bool files_check(bisai_context *context, const options *o, int outputs, const target *output);

/* Reads the files of all methods, which null_space_write() may have written. The matrix may have
 * rows of padding, which files do not have: their vectors and weights are zero, and their part of
 * storage is the identity. Prints a message and returns false on failure. */
bool files_read(bisai_context *context, const problem *p, method_list *methods);

#endif
