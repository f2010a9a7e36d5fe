/* SPDX-License-Identifier: BSD-3-Clause */
/* Short spins at OpenMP's barriers, unless the environment has chosen. */
#ifndef TOOL_WAITING_H
#define TOOL_WAITING_H

/* To be called first in main(). Starts the program anew with the setting in its environment, once; returns where there is nothing to
 * set or it cannot be done. */
void waiting_set_up(char **argv);

#endif
