/* SPDX-License-Identifier: BSD-3-Clause */
/* SIGINT, SIGTERM and SIGHUP. The program keeps results, and leaves no unfinished file.
 *
 * Before there is a result, the first signal ends the program. Later the first signal is only
 * noted. Loops then end, and the results are written. A second signal ends the program. Signals
 * that are ignored when the program starts stay ignored, as nohup(1) requires. SIGXFSZ is ignored,
 * so that a file beyond the limit is a failed write. */
#ifndef TOOL_SIGNALS_H
#define TOOL_SIGNALS_H

#include <bisai/context.h>

void signals_install(void);

/* Sets the context whose unfinished files are removed when a signal ends the program. NULL:
 * none. */
void signals_guard(bisai_context *context);

/* Says that there are results to keep from now on. */
void signals_keep(void);

/* Returns the first signal that was noted, or 0. */
int signals_caught(void);

/* Returns a name such as "SIGINT". */
const char *signals_name(int number);

#endif
