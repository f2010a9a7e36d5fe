/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/level/records.h"

#include "core/context/context_impl.h"

static size_t bytes_of_level(const bsi_hierarchy *h) {
  return h->records.inversion_bytes + BSI_COPIES * h->records.copies_bytes;
}

void *bsi_record_of_inversion(const bsi_hierarchy *h, void *records, const bsi_level *level) {
  return (char *)records + (size_t)bsi_level_number(h, level) * bytes_of_level(h);
}

void *bsi_record_of_copies(const bsi_hierarchy *h, void *records, const bsi_level *level,
                           bsi_copies copies) {
  return (char *)bsi_record_of_inversion(h, records, level) + h->records.inversion_bytes +
         (size_t)copies * h->records.copies_bytes;
}

int64_t bsi_records_memory(const bsi_hierarchy *h) {
  return h->records.there ? 2 * BISAI_MULTIGRID_LEVELS * (int64_t)bytes_of_level(h) : 0;
}

bisai_status bsi_records_reserve(bsi_hierarchy *h, size_t inversion_bytes, size_t copies_bytes) {
  bsi_records *r = &h->records;
  *r = (bsi_records){.inversion_bytes = inversion_bytes, .copies_bytes = copies_bytes};
  if (bytes_of_level(h) == 0) return BISAI_OK;
  r->there = bsi_hierarchy_reserve(h, BISAI_MULTIGRID_LEVELS, bytes_of_level(h));
  r->here = bsi_allocate(h->context, BISAI_MULTIGRID_LEVELS, bytes_of_level(h));
  return r->there && r->here ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

bisai_status bsi_records_fetch(const bsi_hierarchy *h) {
  if (!h->records.there) return BISAI_OK;
  return h->context->backend->memory->fetch(h->context, h->records.here, h->records.there,
                                            (size_t)h->count * bytes_of_level(h));
}

void bsi_records_destroy(bsi_hierarchy *h) {
  h->context->backend->memory->release(h->context, h->records.there);
  bsi_release(h->context, h->records.here);
  h->records = (bsi_records){0};
}
