/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/csr/node_map.h"

#include <string.h>

#include "core/context/context_impl.h"

bool bsi_has_nodes(const bisai_csr_desc *d) {
  return d->node || d->component || (d->fields != 0 && d->fields != 1);
}

static bisai_status check_fields(bisai_context *context, const bisai_csr_desc *d) {
  if (d->fields < 0 || d->fields > BISAI_MAX_BLOCK_SIZE)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "fields is %d, outside 0 … %d", d->fields,
                    BISAI_MAX_BLOCK_SIZE);
  if (d->fields <= 1) return BISAI_OK;
  if (d->rows % d->fields != 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%d rows are not %d fields of the same length",
                    d->rows, d->fields);
  if (d->block_size != 0 && d->block_size != d->fields)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "%d fields make blocks of size %d, and the block size is %d", d->fields,
                    d->fields, d->block_size);
  return BISAI_OK;
}

static bisai_status check(bisai_context *context, const bisai_csr_desc *d) {
  BSI_TRY(check_fields(context, d));
  if (d->component && !d->node)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "component is given, and node is NULL");
  if (d->node && d->fields > 1)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "fields and node exclude each other");
  if (d->rows != d->cols)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "only square matrices have nodes, this one is %d × %d", d->rows, d->cols);
  return BISAI_OK;
}

/* count[k] ← the rows of node k. *nodes and *largest ← the number of nodes and the rows of the
 * largest one. */
static bisai_status count_rows(bisai_context *context, const bisai_csr_desc *d, int32_t *count,
                               int32_t *nodes, int32_t *largest) {
  *nodes = *largest = 0;
  memset(count, 0, (size_t)d->rows * sizeof *count);
  for (int32_t i = 0; i < d->rows; i++) {
    const int32_t node = d->node[i];
    if (node < 0 || node >= d->rows)
      return bsi_fail(context, BISAI_INVALID_STRUCTURE, "row %d: node %d is outside 0 … %d", i,
                      node, d->rows - 1);
    if (node >= *nodes) *nodes = node + 1;
    if (++count[node] > *largest) *largest = count[node];
  }
  for (int32_t k = 0; k < *nodes; k++)
    if (count[k] == 0) return bsi_fail(context, BISAI_INVALID_STRUCTURE, "node %d has no row", k);
  return BISAI_OK;
}

/* *largest ← the largest component and one, if that is more. */
static bisai_status check_components(bisai_context *context, const bisai_csr_desc *d,
                                     int32_t *largest) {
  for (int32_t i = 0; i < d->rows && d->component; i++) {
    const int32_t component = d->component[i];
    if (component < 0 || component >= BISAI_MAX_BLOCK_SIZE)
      return bsi_fail(context, BISAI_INVALID_STRUCTURE, "row %d: component %d is outside 0 … %d", i,
                      component, BISAI_MAX_BLOCK_SIZE - 1);
    if (component >= *largest) *largest = component + 1;
  }
  return BISAI_OK;
}

static bisai_status set_sizes(bisai_context *context, const bisai_csr_desc *d, int32_t largest,
                              bsi_node_map *map) {
  map->block_size = d->block_size > 0 ? d->block_size : largest > 0 ? largest : 1;
  if (largest > map->block_size || largest > BISAI_MAX_BLOCK_SIZE)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "the largest node has %d components, and the largest block size is %d", largest,
                    d->block_size > 0 ? d->block_size : BISAI_MAX_BLOCK_SIZE);
  if ((int64_t)map->nodes * map->block_size > INT32_MAX)
    return bsi_fail(context, BISAI_INDEX_OVERFLOW,
                    "%d nodes padded to blocks of size %d: more than %d rows", map->nodes,
                    map->block_size, INT32_MAX);
  return BISAI_OK;
}

static bisai_status reserve_source(bisai_context *context, const bsi_limit *limit,
                                   bsi_node_map *map) {
  const size_t rows = (size_t)map->nodes * (size_t)map->block_size;
  BSI_TRY(bsi_limit_check(context, limit, (int64_t)(rows * sizeof *map->source)));
  map->source = bsi_allocate(context, rows, sizeof *map->source);
  if (!map->source) return BISAI_OUT_OF_MEMORY;
  memset(map->source, 0xff, rows * sizeof *map->source); /* -1 */
  return BISAI_OK;
}

static bisai_status place_fields(bisai_context *context, const bisai_csr_desc *d,
                                 const bsi_limit *limit, bsi_node_map *map) {
  map->nodes = d->rows / d->fields;
  map->block_size = d->fields;
  BSI_TRY(reserve_source(context, limit, map));
  for (int32_t f = 0, i = 0; f < d->fields; f++)
    for (int32_t k = 0; k < map->nodes; k++, i++) {
      map->place[i] = k * d->fields + f;
      map->source[map->place[i]] = i;
    }
  return BISAI_OK;
}

/* Without components, the rows of a node take its places in their order. `count` becomes the number
 * of rows that each node has got so far. */
static bisai_status place_rows(bisai_context *context, const bisai_csr_desc *d, int32_t *count,
                               bsi_node_map *map) {
  memset(count, 0, (size_t)d->rows * sizeof *count);
  for (int32_t i = 0; i < d->rows; i++) {
    const int32_t node = d->node[i];
    const int32_t component = d->component ? d->component[i] : count[node]++;
    map->place[i] = node * map->block_size + component;
    int32_t *source = &map->source[map->place[i]];
    if (*source >= 0)
      return bsi_fail(context, BISAI_INVALID_STRUCTURE,
                      "rows %d and %d are both component %d of node %d", *source, i, component,
                      node);
    *source = i;
  }
  return BISAI_OK;
}

static bisai_status place_nodes(bisai_context *context, const bisai_csr_desc *d,
                                const bsi_limit *limit, bsi_node_map *map) {
  int32_t largest = 0;
  int32_t *count = bsi_allocate(context, (size_t)d->rows, sizeof *count);
  if (!count) return BISAI_OUT_OF_MEMORY;
  bisai_status status = count_rows(context, d, count, &map->nodes, &largest);
  if (!status) status = check_components(context, d, &largest);
  if (!status) status = set_sizes(context, d, largest, map);
  if (!status) status = reserve_source(context, limit, map);
  if (!status) status = place_rows(context, d, count, map);
  bsi_release(context, count);
  return status;
}

bisai_status bsi_node_map_make(bisai_context *context, const bisai_csr_desc *d,
                               const bsi_limit *limit, bsi_node_map *map) {
  *map = (bsi_node_map){0};
  BSI_TRY(check(context, d));
  /* the places, and the rows of each node */
  BSI_TRY(bsi_limit_check(context, limit, 2 * (int64_t)d->rows * (int64_t)sizeof *map->place));
  map->place = bsi_allocate(context, (size_t)d->rows, sizeof *map->place);
  if (!map->place) return BISAI_OUT_OF_MEMORY;
  return d->node ? place_nodes(context, d, limit, map) : place_fields(context, d, limit, map);
}

void bsi_node_map_release(bisai_context *context, bsi_node_map *map) {
  bsi_release(context, map->place);
  bsi_release(context, map->source);
  *map = (bsi_node_map){0};
}
