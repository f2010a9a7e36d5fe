/* SPDX-License-Identifier: BSD-3-Clause */
/* What a race may begin and hold: memory, work, and the fill of a set-up. */
#ifndef BSI_BOUNDS_H
#define BSI_BOUNDS_H

#include "choice/race_impl.h"

/* Returns the limit of the search for the blocks of a candidate's factors. */
bsi_fill_limit bsi_bounds_fill(const bsi_task *task, const bsi_candidate *candidate);

/* Returns true if a candidate may begin. Otherwise it is left out, and its result says why. Waiting
 * trials that promise the least end if memory is short. */
bool bsi_bounds_admit(bsi_race *race, int which);

/* Ends waiting trials until what is held fits into memory, and the trial itself if that is not
 * enough. */
void bsi_bounds_check_memory(bsi_race *race, int which);

/* Ends the waiting trial that promises the least, without one. Returns false if none waits. */
bool bsi_bounds_end_worst(bsi_race *race, int without, const char *why);

#endif
