/* SPDX-License-Identifier: BSD-3-Clause */
/* Compressed files as the bytes that they were made of. gzip goes through zlib, because libarchive
 * compares neither its CRC nor its length; the other formats go through libarchive's filters, which
 * make the checks that the formats have: xz, bzip2 and lzip always have one, zstd and lz4 where the
 * compressor wrote one, and .Z never. */
#ifndef BSI_UNPACK_H
#define BSI_UNPACK_H

#include "io/stored.h"

typedef struct bsi_unpack bsi_unpack;

/* Starts with the `count` ≤ BSI_STORED_CHUNK bytes of `first`, which tell the format and are
 * copied, and goes on reading from `stored`, which must outlive it. *unpack is NULL where the bytes
 * are not compressed. */
bisai_status bsi_unpack_open(bsi_stored *stored, const char *first, size_t count,
                             bsi_unpack **unpack);
void bsi_unpack_close(bsi_unpack **unpack);

/* As many bytes as are asked for; fewer only at the end of the file, when all checks have been
 * made. */
bisai_status bsi_unpack_read(bsi_unpack *unpack, char *target, size_t bytes, size_t *got);

#endif
