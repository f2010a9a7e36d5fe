/* SPDX-License-Identifier: BSD-3-Clause */
/* SIGINT, SIGTERM and SIGHUP: what was computed is kept, and no unfinished file stays behind.
 *
 * As long as there is nothing to keep, the first of them ends the program. Later it is only noted,
 * for loops to end and results to be written, and the second ends the program. Signals that were
 * ignored when the program started stay ignored, as nohup(1) wants it. SIGXFSZ is ignored: a file
 * that grows beyond the limit is a failed write. */
#ifndef TOOL_SIGNALS_H
#define TOOL_SIGNALS_H

#include <bisai/context.h>

void signals_install(void);

/* The context whose unfinished files are removed when a signal ends the program; NULL: none. */
void signals_guard(bisai_context *context);

/* From now on there is something to keep. */
void signals_keep(void);

/* The first signal that was noted, or 0. */
int signals_caught(void);

/* "SIGINT" */
const char *signals_name(int number);

#endif
