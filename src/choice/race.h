/* SPDX-License-Identifier: BSD-3-Clause */
/* Trials of candidates until one of them has solved the system. */
#ifndef BSI_RACE_H
#define BSI_RACE_H

#include "choice/race_impl.h"

/* Runs trials of race->candidates. Returns BISAI_OK, with or without a winner, unless memory or a
 * function of the caller fails. */
bisai_status bsi_race_run(bsi_race *race);

/* Returns the number of trials that began. */
int bsi_race_tried(const bsi_race *race);

/* Releases all trials but `keep`, which may be −1. */
void bsi_race_release(bsi_race *race, int keep);

#endif
