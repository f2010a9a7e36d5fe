/* SPDX-License-Identifier: BSD-3-Clause */
/* --solver of the command line: a method with the keys of its options, as the library describes
 * them. */
#ifndef TOOL_SOLVER_OPTION_H
#define TOOL_SOLVER_OPTION_H

#include <stdbool.h>

#include <bisai/krylov.h>

enum { SOLVER_NAME = 24 };

/* Sets the method and the options that have keys; the keys that are not given get their defaults.
 * Says what is wrong, naming `flag`, and returns false. */
bool solver_parse(const char *flag, const char *text, bisai_solver_options *how);

/* "GMRES(30)" */
const char *solver_name(const bisai_solver_options *how, char name[SOLVER_NAME]);

#endif
