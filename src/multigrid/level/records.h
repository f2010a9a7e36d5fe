/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of what updates find on a device (bsi_records). */
#ifndef BSI_RECORDS_H
#define BSI_RECORDS_H

#include "multigrid/level/hierarchy_impl.h"

/* Reserves the records of all levels, of these bytes for an inversion of diagonal blocks and for a
 * group of copies in fp32. Without bytes there are no records. */
bisai_status bsi_records_reserve(bsi_hierarchy *h, size_t inversion_bytes, size_t copies_bytes);
/* Copies the records of all levels to host memory. */
bisai_status bsi_records_fetch(const bsi_hierarchy *h);
/* Returns the bytes of the records of all levels, in backend memory and in host memory. */
int64_t bsi_records_memory(const bsi_hierarchy *h);
void bsi_records_destroy(bsi_hierarchy *h);

/* Returns the record of the inversion of the diagonal blocks of a level. `records` is `there` or
 * `here` of bsi_records. */
void *bsi_record_of_inversion(const bsi_hierarchy *h, void *records, const bsi_level *level);
/* Returns the record of copies in fp32 of a level. */
void *bsi_record_of_copies(const bsi_hierarchy *h, void *records, const bsi_level *level,
                           bsi_copies copies);

#endif
