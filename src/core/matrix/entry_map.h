/* SPDX-License-Identifier: BSD-3-Clause */
/* The map from the entries of scalar CSR arrays to the values of the matrix that was made from
 * them: entry p is value bsi_entry_map_at(p). */
#ifndef BSI_ENTRY_MAP_H
#define BSI_ENTRY_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/block/column.h"
#include "core/context/context_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bsi_entry_map {
  int32_t entries;
  /* the indices are uint64_t, otherwise uint32_t */
  bool wide;
  /* NULL: a device has made the map, and the host has not asked for it */
  void *host;
  /* the same in backend memory; on the host, the same array. NULL: the matrix was not made from CSR
   * arrays */
  void *backend;
} bsi_entry_map;

BSI_INLINE uint64_t bsi_entry_map_at(const bool wide, const void *map, int64_t p) {
  return wide ? ((const uint64_t *)map)[p] : ((const uint32_t *)map)[p];
}

static inline void bsi_entry_map_set(const bsi_entry_map *map, int32_t p, size_t value) {
  if (map->wide)
    ((uint64_t *)map->host)[p] = value;
  else
    ((uint32_t *)map->host)[p] = (uint32_t)value;
}

/* Reserves host memory for the map of `entries` entries to `values` values. */
bisai_status bsi_entry_map_reserve(bisai_context *context, int32_t entries, size_t values,
                                   bsi_entry_map *map);
/* Copies a map that has been set to backend memory. Waits. */
bisai_status bsi_entry_map_upload(bisai_context *context, bsi_entry_map *map);
void bsi_entry_map_release(bisai_context *context, bsi_entry_map *map);
int64_t bsi_entry_map_memory(const bsi_entry_map *map);

#ifdef __cplusplus
}
#endif

#endif
