/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of the command line. The whole text must be the number, without blanks, hexadecimal
 * digits or overflow. */
#ifndef TOOL_PARSE_H
#define TOOL_PARSE_H

#include <stdbool.h>

bool parse_integer(const char *text, int minimum, int maximum, int *value);
bool parse_number(const char *text, double *value); /* the value is finite */

#endif
