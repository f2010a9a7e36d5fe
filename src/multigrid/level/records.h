/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of what is found on levels of a device (bsi_records). */
#ifndef BSI_RECORDS_H
#define BSI_RECORDS_H

#include "multigrid/level/hierarchy_impl.h"

/* Reserves the records of all levels, of these bytes. Without bytes there are no records. */
bisai_status bsi_records_reserve(bsi_hierarchy *h, const size_t bytes[BSI_RECORD_KINDS]);
/* Copies the records of a level to host memory, or those of all levels. Waits once. */
bisai_status bsi_records_fetch_level(const bsi_hierarchy *h, const bsi_level *level);
bisai_status bsi_records_fetch(const bsi_hierarchy *h);
/* Returns the bytes of the records of all levels, in backend memory and in host memory. */
int64_t bsi_records_memory(const bsi_hierarchy *h);
void bsi_records_destroy(bsi_hierarchy *h);

/* Returns a record of a level in backend memory, or its copy in host memory. NULL: there are no
 * records. */
void *bsi_record_there(const bsi_hierarchy *h, const bsi_level *level, bsi_record_kind kind);
void *bsi_record_here(const bsi_hierarchy *h, const bsi_level *level, bsi_record_kind kind);

#endif
