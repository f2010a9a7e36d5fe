/* SPDX-License-Identifier: BSD-3-Clause */
/* The conversion of scalar CSR matrices to BCSR, for the public call and the readers of files. */
#ifndef BSI_CSR_H
#define BSI_CSR_H

#include <bisai/bcsr.h>

#include "core/context/limit.h"

/* The message about a value that is NaN or infinite: its row and its column. */
#define BSI_ENTRY_NOT_FINITE "entry (%d, %d), counted from 0, is NaN or infinity"

/* Returns true for a large matrix with so few entries that nearly all block rows are empty at every
 * size. Its block size is 1 without a study. */
bool bsi_is_nearly_empty(const bisai_csr_desc *desc);

/* Applies the rule of bisai_block_size_choose() to the sizes that divide rows and cols or, with
 * desc->pad, to all sizes. The structure must have passed bsi_csr_check(). */
bisai_status bsi_block_size_study(bisai_context *context, const bisai_csr_desc *desc,
                                  bisai_block_size_info sizes[BISAI_CHOSEN_SIZES],
                                  int32_t *block_size);

/* Returns the bytes that bsi_block_size_study() needs. */
int64_t bsi_block_size_bytes(const bisai_csr_desc *desc);

/* Makes a BCSR matrix from CSR arrays whose structure has passed bsi_csr_check(). Columns may come
 * in any order, and entries at the same position add up. Besides the matrix, it needs 4 bytes for
 * each block row, and 4 bytes for each block column and thread. With a `limit` all of this must fit
 * into it, and one thread does the work. NULL: no limit. */
bisai_status bsi_bcsr_from_sound_csr(bisai_context *context, const bisai_csr_desc *desc,
                                     const bsi_limit *limit, bisai_bcsr **matrix);

/* Returns the bytes that bsi_bcsr_from_sound_csr() needs for a square matrix without entries, with
 * its CSR row pointers. Block size 0: the size is to be chosen. */
int64_t bsi_csr_least_bytes(int64_t rows, int32_t block_size);

/* Refuses a wrong struct size, NULL, row pointers that do not ascend from 0 and columns out of
 * range. */
bisai_status bsi_csr_check(bisai_context *context, const bisai_csr_desc *desc);

#endif
