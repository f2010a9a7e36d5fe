/* SPDX-License-Identifier: BSD-3-Clause */
/* Scalar CSR matrices on their way to BCSR: what the public call and the readers of files share. */
#ifndef BSI_CSR_H
#define BSI_CSR_H

#include <bisai/bcsr.h>

#include "core/limit.h"

/* What is said of a value that is NaN or infinite: its row, its column. */
#define BSI_ENTRY_NOT_FINITE "entry (%d, %d), counted from 0, is NaN or infinity"

/* Returns true for a large matrix nearly all of whose block rows are empty at every size: its size
 * is 1 without a study. */
bool bsi_is_nearly_empty(const bisai_csr_desc *desc);

/* The rule of bisai_block_size_choose(), of sizes that divide rows and cols or, with desc->pad, of
 * all. The structure is known to be sound. */
bisai_status bsi_block_size_study(bisai_context *context, const bisai_csr_desc *desc,
                                  bisai_block_size_info sizes[BISAI_CHOSEN_SIZES],
                                  int32_t *block_size);

/* The bytes that it needs. */
int64_t bsi_block_size_bytes(const bisai_csr_desc *desc);

/* BCSR from CSR arrays whose structure is known to be sound. Columns come in any order, entries at
 * one place add up. Besides the matrix, needs 4 bytes a block column and 4 a block row. `limit`:
 * what all of it must fit into; then one thread does the work. NULL: no limit, and 4 bytes a block
 * column for each thread. */
bisai_status bsi_bcsr_from_sound_csr(bisai_context *context, const bisai_csr_desc *desc,
                                     const bsi_limit *limit, bisai_bcsr **matrix);

/* The bytes that a square matrix without entries needs there, its row pointers included; block size
 * 0: it is to be chosen. */
int64_t bsi_csr_least_bytes(int64_t rows, int32_t block_size);

/* Refuses unknown sizes, NULL, row pointers that do not ascend from 0 and columns out of range. */
bisai_status bsi_csr_check(bisai_context *context, const bisai_csr_desc *desc);

#endif
