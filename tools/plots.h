/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures as PNG files, drawn by gnuplot. The data and the script stay in the same folder. */
#ifndef TOOL_PLOTS_H
#define TOOL_PLOTS_H

#include <stdbool.h>

#include "run_method.h"

/* Checks, before anything is computed, that gnuplot exists and that the folder exists or can be
 * made. Prints a message and returns false otherwise. */
bool plots_check(const char *folder);

/* Makes the folder, and in it residuals.png, setup.png, pattern_A.png, pattern_L.png,
 * pattern_NL.png (and U, NU). Prints a message and returns false on failure. */
bool plots_draw(bisai_context *context, const char *folder, const problem *p, int count,
                const run_result *results);

#endif
