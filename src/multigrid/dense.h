/* SPDX-License-Identifier: BSD-3-Clause */
/* Small matrices as dense ones on the host. */
#ifndef BSI_DENSE_H
#define BSI_DENSE_H

#include "core/bcsr_impl.h"

/* Writes the blocks of a matrix of n scalar rows, whose arrays are in host memory, into a dense
 * matrix, column by column. */
void bsi_dense_fill(const bisai_bcsr *a, int64_t n, double *dense);

#endif
