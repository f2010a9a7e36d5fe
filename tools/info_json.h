/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TOOL_INFO_JSON_H
#define TOOL_INFO_JSON_H

#include "info_figures.h"

/* Returns the JSON of bisai(1), or NULL if it could not be made. The caller frees it with
 * free(). */
char *info_json(const info *i);

#endif
