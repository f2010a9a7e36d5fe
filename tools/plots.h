/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures as PNG files, drawn by gnuplot; the data and the script stay beside them. */
#ifndef TOOL_PLOTS_H
#define TOOL_PLOTS_H

#include <stdbool.h>

#include "run_method.h"

/* Whether the folder is there or can be made, and gnuplot is there, before anything is computed.
 * Says what is wrong and returns false. */
bool plots_check(const char *folder);

/* Makes the folder, and in it residuals.png, setup.png, pattern_A.png, pattern_L.png,
 * pattern_NL.png (and U, NU). Says what is wrong and returns false. */
bool plots_draw(bisai_context *context, const char *folder, const problem *p, int count,
                const run_result *results);

#endif
