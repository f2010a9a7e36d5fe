/* Figures as PNG files, drawn by gnuplot; the data and the script stay beside them. */
#ifndef TOOL_PLOTS_H
#define TOOL_PLOTS_H

#include <stdbool.h>

#include "run.h"

/* Makes the folder and looks for gnuplot, before anything is computed. Says what is wrong and returns false. */
bool plots_prepare(const char *folder);

/* residuals.png, setup.png, pattern_A.png, pattern_L.png, pattern_NL.png (and U, NU). Says what is wrong and returns false. */
bool plots_draw(bisai_context *context, const char *folder, const problem *p, int count, const run_result *results);

#endif
