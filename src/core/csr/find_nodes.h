/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for the nodes of scalar CSR arrays. */
#ifndef BSI_FIND_NODES_H
#define BSI_FIND_NODES_H

#include <bisai/bcsr.h>

/* `nodes` 0: none were found. Blocks of the nodes: `blocks` at least. */
typedef struct bsi_found_nodes {
  int32_t nodes, block_size;
  int64_t blocks;
} bsi_found_nodes;

/* Does what bisai_csr_find_nodes() does, for square arrays that have passed bsi_csr_check(). */
bisai_status bsi_find_nodes(bisai_context *context, const bisai_csr_desc *desc, int32_t *node,
                            int32_t *component, bsi_found_nodes *found);

/* Returns the bytes that bsi_find_nodes() needs beside its results. */
int64_t bsi_find_nodes_bytes(const bisai_csr_desc *desc);

#endif
