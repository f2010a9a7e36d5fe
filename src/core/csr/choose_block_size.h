/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of a block size for scalar CSR arrays. */
#ifndef BSI_CHOOSE_BLOCK_SIZE_H
#define BSI_CHOOSE_BLOCK_SIZE_H

#include <bisai/bcsr.h>

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

#endif
