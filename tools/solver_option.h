/* SPDX-License-Identifier: BSD-3-Clause */
/* --solver of the command line. It names a method of the library with the keys of its options,
 * which the library describes. */
#ifndef TOOL_SOLVER_OPTION_H
#define TOOL_SOLVER_OPTION_H

#include <stdbool.h>

#include <bisai/krylov.h>

enum { SOLVER_NAME = 32, SOLVER_HELP = 2048 };

/* Reads the method and its options (bisai/text.h). Prints a message that names `flag` and returns
 * false if the text is wrong. */
bool solver_parse(const char *flag, const char *text, bisai_solver_options *how);

/* Writes the help on --solver: all methods with their keys, and what the keys mean. */
void solver_help(char help[SOLVER_HELP]);

/* Writes and returns a name such as "GMRES(30)" or "flexible CG". */
const char *solver_name(const bisai_solver_options *how, char name[SOLVER_NAME]);

#endif
