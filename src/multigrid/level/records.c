/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/level/records.h"

#include <string.h>

#include "core/context/context_impl.h"

/* Returns the record in `records`, which begin with those of level 0. */
static void *record_in(const bsi_hierarchy *h, void *records, const bsi_level *level,
                       bsi_record_kind kind) {
  size_t before = (size_t)bsi_level_number(h, level) * h->records.of_level;
  for (int k = 0; k < (int)kind; k++) before += h->records.bytes[k];
  return records ? (char *)records + before : NULL;
}

void *bsi_record_there(const bsi_hierarchy *h, const bsi_level *level, bsi_record_kind kind) {
  return record_in(h, h->records.there, level, kind);
}

void *bsi_record_here(const bsi_hierarchy *h, const bsi_level *level, bsi_record_kind kind) {
  return record_in(h, h->records.here, level, kind);
}

int64_t bsi_records_memory(const bsi_hierarchy *h) {
  return h->records.there ? 2 * BISAI_MULTIGRID_LEVELS * (int64_t)h->records.of_level : 0;
}

bisai_status bsi_records_reserve(bsi_hierarchy *h, const size_t bytes[BSI_RECORD_KINDS]) {
  bsi_records *r = &h->records;
  *r = (bsi_records){0};
  memcpy(r->bytes, bytes, sizeof r->bytes);
  for (int k = 0; k < BSI_RECORD_KINDS; k++) r->of_level += r->bytes[k];
  if (r->of_level == 0) return BISAI_OK;
  r->there = bsi_hierarchy_reserve(h, BISAI_MULTIGRID_LEVELS, r->of_level);
  r->here = bsi_allocate(h->context, BISAI_MULTIGRID_LEVELS, r->of_level);
  return r->there && r->here ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

/* The coefficients of a Lanczos process are the first values of its workspace. */
bisai_status bsi_records_fetch_level(const bsi_hierarchy *h, const bsi_level *level) {
  const bsi_fetched fetched[] = {{bsi_record_here(h, level, BSI_RECORD_MISSING),
                                  bsi_record_there(h, level, BSI_RECORD_MISSING),
                                  h->records.of_level},
                                 {bsi_record_here(h, level, BSI_RECORD_RADIUS), h->lanczos.work,
                                  h->records.bytes[BSI_RECORD_RADIUS]}};
  if (!h->records.there) return BISAI_OK;
  return h->context->backend->memory->fetch_together(h->context, h->lanczos.work ? 2 : 1, fetched);
}

bisai_status bsi_records_fetch(const bsi_hierarchy *h) {
  if (!h->records.there) return BISAI_OK;
  return h->context->backend->memory->fetch(h->context, h->records.here, h->records.there,
                                            (size_t)h->count * h->records.of_level);
}

void bsi_records_destroy(bsi_hierarchy *h) {
  h->context->backend->memory->release(h->context, h->records.there);
  bsi_release(h->context, h->records.here);
  h->records = (bsi_records){0};
}
