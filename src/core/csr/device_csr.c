/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/csr/device_csr.h"

#include "core/context/context_impl.h"

bool bsi_csr_is_on_device(const bisai_context *context, const bisai_csr_desc *desc) {
  const bsi_memory_ops *memory = context->backend->memory;
  return !memory->is_host && desc->rows >= 0 && desc->row_ptr &&
         memory->reaches(context, desc->row_ptr);
}

/* NULL is refused later, if there are entries. */
bisai_status bsi_device_csr_check(bisai_context *context, const bisai_csr_desc *desc) {
  const bsi_memory_ops *memory = context->backend->memory;
  if ((!desc->col_idx || memory->reaches(context, desc->col_idx)) &&
      (!desc->values || memory->reaches(context, desc->values)))
    return BISAI_OK;
  return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                  "row_ptr is in device memory, and col_idx or values is not");
}

/* Arrays in host memory need no copy. */
bisai_status bsi_unite_rows_host(bisai_context *context, const bisai_csr_desc *desc,
                                 bisai_bcsr **matrix) {
  (void)context, (void)desc, (void)matrix;
  return BISAI_OK;
}

/* Returns a copy of an array in host memory, or NULL. */
static void *fetch(bisai_context *context, const void *from, size_t count, size_t size,
                   bisai_status *status) {
  if (!from) return NULL;
  void *host = bsi_allocate(context, count, size);
  if (!host) *status = BISAI_OUT_OF_MEMORY;
  if (!*status) *status = context->backend->memory->fetch(context, host, from, count * size);
  return host;
}

bisai_status bsi_device_csr_fetch(bisai_context *context, const bisai_csr_desc *desc,
                                  bisai_csr_desc *host) {
  bisai_status status = BISAI_OK;
  *host = *desc;
  host->col_idx = NULL;
  host->values = NULL;
  const int32_t *row_ptr = host->row_ptr =
      fetch(context, desc->row_ptr, (size_t)desc->rows + 1, sizeof *row_ptr, &status);
  if (status || !row_ptr) return status;
  const int32_t end = row_ptr[desc->rows] - (desc->index_base == 1),
                entries = end > 0 ? end : 0; /* refused later */
  host->col_idx = fetch(context, desc->col_idx, (size_t)entries, sizeof *host->col_idx, &status);
  if (!status)
    host->values = fetch(context, desc->values, (size_t)entries, sizeof *host->values, &status);
  return status;
}

void bsi_device_csr_release(bisai_context *context, bisai_csr_desc *host) {
  bsi_release(context, (void *)(uintptr_t)host->row_ptr);
  bsi_release(context, (void *)(uintptr_t)host->col_idx);
  bsi_release(context, (void *)(uintptr_t)host->values);
}

bisai_status bsi_device_map_fetch(bisai_context *context, bsi_entry_map *map) {
  const size_t count = (size_t)map->entries, size = map->wide ? sizeof(uint64_t) : sizeof(uint32_t);
  if (map->host) return BISAI_OK;
  map->host = bsi_allocate(context, count, size);
  if (!map->host) return BISAI_OUT_OF_MEMORY;
  return context->backend->memory->fetch(context, map->host, map->backend, count * size);
}
