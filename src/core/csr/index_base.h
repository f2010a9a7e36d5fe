/* SPDX-License-Identifier: BSD-3-Clause */
/* Structures of the caller that count from 1, as copies that count from 0. */
#ifndef BSI_INDEX_BASE_H
#define BSI_INDEX_BASE_H

#include <stdint.h>

#include <bisai/context.h>

/* Zeros: there are no copies. */
typedef struct bsi_index_copies {
  int32_t *row_ptr, *col_idx;
} bsi_index_copies;

/* Copies a structure in host memory if it counts from 1, and sets *row_ptr and *col_idx to the
 * copies. Refuses other bases than 0 and 1, and row pointers that do not ascend from 1. Arrays that
 * are NULL stay so. `rows` may be negative, which others refuse. */
bisai_status bsi_index_copies_make(bisai_context *context, int32_t index_base, const char *what,
                                   int32_t rows, const int32_t **row_ptr, const int32_t **col_idx,
                                   bsi_index_copies *copies);

void bsi_index_copies_release(bisai_context *context, bsi_index_copies *copies);

#endif
