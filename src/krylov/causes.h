/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a solve may have failed. */
#ifndef BSI_CAUSES_H
#define BSI_CAUSES_H

#include "krylov/run/solver_run.h"

/* text ← the cause of a failed solve as the end of a sentence, for example "; block column 1 is
 * empty: the matrix is singular". Otherwise text ← "". Overwrites the solver's vectors. */
void bsi_say_cause(bsi_solver_run *run, size_t size, char *text);

#endif
