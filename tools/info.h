/* SPDX-License-Identifier: BSD-3-Clause */
/* `bisai info` describes a matrix without solving anything. info.c collects the figures;
 * info_text.c prints them as text and info_json.c as JSON. */
#ifndef TOOL_INFO_H
#define TOOL_INFO_H

#include "options.h"

int info_run(bisai_context *context, const options *o); /* returns an exit status */

#endif
