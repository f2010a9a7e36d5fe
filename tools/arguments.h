/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of the subcommands, parsed by argp. */
#ifndef TOOL_ARGUMENTS_H
#define TOOL_ARGUMENTS_H

#include "options.h"

/* Parses the arguments of a subcommand; argv[0] is its name in messages. Returns false after a
 * message if something is wrong. --help and --usage print and exit. The caller releases the options
 * with options_free(). */
bool arguments_parse(command which, int argc, char **argv, options *o);

#endif
