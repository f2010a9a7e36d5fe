/* SPDX-License-Identifier: BSD-3-Clause */
/* Methods that do not go with the options, or with their own keys. */
#ifndef TOOL_CONFLICTS_H
#define TOOL_CONFLICTS_H

#include "options.h"

/* Whether every method can have all that was asked for. Says what is wrong. */
bool conflicts_check(command which, const options *o);

#endif
