/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TOOL_INFO_TEXT_H
#define TOOL_INFO_TEXT_H

#include "info_figures.h"

void info_print(const info *i); /* prints to standard output */

#endif
