/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the entries of scalar CSR arrays lie among the values of the matrix that was made from
 * them: entry p is value place(p). */
#ifndef BSI_PLACES_H
#define BSI_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/column.h"
#include "core/context_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bsi_places {
  int32_t entries;
  /* places are uint64_t, otherwise uint32_t */
  bool wide;
  /* NULL: the matrix was not made from CSR arrays */
  void *host;
  /* the same in the backend's memory; the same array on the host */
  void *backend;
} bsi_places;

BSI_INLINE uint64_t bsi_place(const bool wide, const void *places, int64_t p) {
  return wide ? ((const uint64_t *)places)[p] : ((const uint32_t *)places)[p];
}

static inline void bsi_place_set(const bsi_places *places, int32_t p, size_t value) {
  if (places->wide)
    ((uint64_t *)places->host)[p] = value;
  else
    ((uint32_t *)places->host)[p] = (uint32_t)value;
}

/* Room for the places of `entries` among `values` values, in host memory. */
bisai_status bsi_places_reserve(bisai_context *context, int32_t entries, size_t values,
                                bsi_places *places);
/* Brings places that have been set to the backend's memory. Waits. */
bisai_status bsi_places_upload(bisai_context *context, bsi_places *places);
void bsi_places_release(bisai_context *context, bsi_places *places);
int64_t bsi_places_memory(const bsi_places *places);

#ifdef __cplusplus
}
#endif

#endif
