/* SPDX-License-Identifier: BSD-3-Clause */
/* `bisai info`: what a matrix is like, before anything is solved. */
#ifndef TOOL_INFO_H
#define TOOL_INFO_H

#include "options.h"

int info_run(bisai_context *context, const options *o); /* an exit status */

#endif
