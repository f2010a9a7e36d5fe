/* SPDX-License-Identifier: BSD-3-Clause */
/* The check of scalar CSR arrays. */
#ifndef BSI_CSR_DESC_H
#define BSI_CSR_DESC_H

#include <bisai/bcsr.h>

/* Refuses a wrong struct size, NULL, row pointers that do not ascend from 0 and columns out of
 * range. */
bisai_status bsi_csr_check(bisai_context *context, const bisai_csr_desc *desc);

/* Checks the block size, `pad` and `find_nodes` of a description that passed bsi_csr_check(). */
bisai_status bsi_csr_check_choices(bisai_context *context, const bisai_csr_desc *desc);

#endif
