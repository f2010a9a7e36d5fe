/* SPDX-License-Identifier: BSD-3-Clause */
/* Conflicts between a method, its keys and the other options. */
#ifndef TOOL_CONFLICTS_H
#define TOOL_CONFLICTS_H

#include "options.h"

/* Returns true if no method has a conflict. Otherwise prints a message. */
bool conflicts_check(command which, const options *o);

#endif
