/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/matrix/entry_map.h"

static size_t index_bytes(const bsi_entry_map *map) {
  return map->wide ? sizeof(uint64_t) : sizeof(uint32_t);
}

bisai_status bsi_entry_map_reserve(bisai_context *context, int32_t entries, size_t values,
                                   bsi_entry_map *map) {
  *map = (bsi_entry_map){.entries = entries, .wide = values > UINT32_MAX};
  map->host = bsi_allocate(context, (size_t)entries, index_bytes(map));
  return map->host ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

bisai_status bsi_entry_map_upload(bisai_context *context, bsi_entry_map *map) {
  const size_t count = (size_t)map->entries, size = index_bytes(map);
  if (context->backend->memory->is_host) {
    map->backend = map->host;
    return BISAI_OK;
  }
  map->backend = context->backend->memory->allocate(context, count, size);
  if (!map->backend) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(context->backend->memory->upload(context, map->backend, map->host, count * size));
  return context->backend->memory->synchronize(context);
}

void bsi_entry_map_release(bisai_context *context, bsi_entry_map *map) {
  if (!context->backend->memory->is_host) context->backend->memory->release(context, map->backend);
  bsi_release(context, map->host);
  *map = (bsi_entry_map){0};
}

int64_t bsi_entry_map_memory(const bsi_entry_map *map) {
  return map->backend ? (int64_t)map->entries * (int64_t)index_bytes(map) : 0;
}
