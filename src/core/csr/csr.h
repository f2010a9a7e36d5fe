/* SPDX-License-Identifier: BSD-3-Clause */
/* The conversion of scalar CSR matrices to BCSR, for the public call and the readers of files. */
#ifndef BSI_CSR_H
#define BSI_CSR_H

#include <bisai/bcsr.h>

#include "core/context/limit.h"

/* The message about a value that is NaN or infinite: its row and its column. */
#define BSI_ENTRY_NOT_FINITE "entry (%d, %d), counted from 0, is NaN or infinity"

/* Makes a BCSR matrix from CSR arrays whose structure has passed bsi_csr_check(). Columns may come
 * in any order, and entries at the same position add up. Besides the matrix, it needs 4 bytes for
 * each block row, and 4 bytes for each block column and thread. With a `limit` all of this must fit
 * into it, and one thread does the work. NULL: no limit. */
bisai_status bsi_bcsr_from_sound_csr(bisai_context *context, const bisai_csr_desc *desc,
                                     const bsi_limit *limit, bisai_bcsr **matrix);

/* Returns the bytes that bsi_bcsr_from_sound_csr() needs for a square matrix without entries, with
 * its CSR row pointers. Block size 0: the size is to be chosen. */
int64_t bsi_csr_least_bytes(int64_t rows, int32_t block_size);

#endif
