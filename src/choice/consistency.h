/* SPDX-License-Identifier: BSD-3-Clause */
/* Right-hand sides of singular systems. */
#ifndef BSI_CONSISTENCY_H
#define BSI_CONSISTENCY_H

#include "choice/candidate.h"

/* *least ← a relative residual above the tolerance that every x has, or 0 if none is known. b is in
 * backend memory. */
bisai_status bsi_consistency_bound(const bsi_task *task, const double *b, double *least);

/* Takes out of b, in backend memory, what no A x has. */
bisai_status bsi_consistency_project(const bsi_task *task, double *b);

#endif
