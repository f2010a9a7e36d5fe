/* SPDX-License-Identifier: BSD-3-Clause */
/* Scalar CSR arrays in the numbering of blocks: row i becomes row place(i), column j becomes column
 * place(j), and rows of the padding are those of the identity. */
#ifndef BSI_MAPPED_CSR_H
#define BSI_MAPPED_CSR_H

#include "core/csr/node_map.h"
#include "core/matrix/entry_map.h"

typedef struct bsi_mapped_csr {
  int32_t rows;
  int32_t *row_ptr, *col_idx;
  double *values;
} bsi_mapped_csr;

/* The entries of a row keep their order. The caller owns the arrays, also after a failure. */
bisai_status bsi_mapped_csr_make(bisai_context *context, const bisai_csr_desc *desc,
                                 const bsi_node_map *map, const bsi_limit *limit,
                                 bsi_mapped_csr *mapped);
void bsi_mapped_csr_release(bisai_context *context, bsi_mapped_csr *mapped);

/* Returns the bytes of the arrays of a matrix with that map. */
int64_t bsi_mapped_csr_bytes(const bisai_csr_desc *desc, const bsi_node_map *map);

/* *entries, the map from the mapped entries, ← that from the entries of `desc`. */
bisai_status bsi_mapped_csr_rename(bisai_context *context, const bisai_csr_desc *desc,
                                   const bsi_node_map *map, const bsi_mapped_csr *mapped,
                                   bsi_entry_map *entries);

#endif
