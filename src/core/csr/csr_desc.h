/* SPDX-License-Identifier: BSD-3-Clause */
/* The check of scalar CSR arrays. */
#ifndef BSI_CSR_DESC_H
#define BSI_CSR_DESC_H

#include <bisai/bcsr.h>

#include "core/csr/index_base.h"

/* *zero ← the description, with copies of the structure if it counts from 1, and the struct size
 * checked. */
bisai_status bsi_csr_from_zero(bisai_context *context, const bisai_csr_desc *desc,
                               bisai_csr_desc *zero, bsi_index_copies *copies);

/* Refuses a wrong struct size, NULL, row pointers that do not ascend from 0 and columns out of
 * range. */
bisai_status bsi_csr_check(bisai_context *context, const bisai_csr_desc *desc);

/* Checks the block size, `pad` and `find_nodes` of a description that passed bsi_csr_check(). */
bisai_status bsi_csr_check_choices(bisai_context *context, const bisai_csr_desc *desc);

#endif
