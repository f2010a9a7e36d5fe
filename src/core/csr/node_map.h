/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rows of a scalar matrix belong to one node: the fields or the nodes of a bisai_csr_desc. */
#ifndef BSI_NODE_MAP_H
#define BSI_NODE_MAP_H

#include <bisai/bcsr.h>

#include "core/context/limit.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bsi_node_map {
  int32_t nodes, block_size;
  /* of each of the caller's rows: its row among those of the blocks, node·block_size + component */
  int32_t *place;
  /* of each row of the blocks: the caller's row, or -1 for padding */
  int32_t *source;
} bsi_node_map;

/* Returns true if the description has fields or nodes. */
bool bsi_has_nodes(const bisai_csr_desc *desc);

/* Makes the map of a square matrix whose structure has passed bsi_csr_check(). Refuses fields and
 * nodes that fit neither the matrix nor its block size. The caller owns the map, also after a
 * failure. */
bisai_status bsi_node_map_make(bisai_context *context, const bisai_csr_desc *desc,
                               const bsi_limit *limit, bsi_node_map *map);
void bsi_node_map_release(bisai_context *context, bsi_node_map *map);

#ifdef __cplusplus
}
#endif

#endif
