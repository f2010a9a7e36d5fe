/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/places.h"

static size_t place_bytes(const bsi_places *places) {
  return places->wide ? sizeof(uint64_t) : sizeof(uint32_t);
}

bisai_status bsi_places_reserve(bisai_context *context, int32_t entries, size_t values,
                                bsi_places *places) {
  *places = (bsi_places){.entries = entries, .wide = values > UINT32_MAX};
  places->host = bsi_allocate(context, (size_t)entries, place_bytes(places));
  return places->host ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

bisai_status bsi_places_upload(bisai_context *context, bsi_places *places) {
  const size_t count = (size_t)places->entries, size = place_bytes(places);
  if (context->backend->host_memory) {
    places->backend = places->host;
    return BISAI_OK;
  }
  places->backend = context->backend->memory->allocate(context, count, size);
  if (!places->backend) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(context->backend->memory->upload(context, places->backend, places->host, count * size));
  return context->backend->memory->synchronize(context);
}

void bsi_places_release(bisai_context *context, bsi_places *places) {
  if (!context->backend->host_memory) context->backend->memory->release(context, places->backend);
  bsi_release(context, places->host);
  *places = (bsi_places){0};
}

int64_t bsi_places_memory(const bsi_places *places) {
  return places->host ? (int64_t)places->entries * (int64_t)place_bytes(places) : 0;
}
