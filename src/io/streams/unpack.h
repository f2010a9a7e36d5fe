/* SPDX-License-Identifier: BSD-3-Clause */
/* Decompression of files. gzip uses zlib, because libarchive checks neither its CRC nor its length.
 * The other formats use libarchive's filters, which make the checks of the formats: xz, bzip2 and
 * lzip always have one, zstd and lz4 if the compressor wrote one, and .Z never. */
#ifndef BSI_UNPACK_H
#define BSI_UNPACK_H

#include "io/streams/stored.h"

typedef struct bsi_unpack bsi_unpack;

/* Opens a decompressor. The `count` ≤ BSI_STORED_CHUNK bytes of `first` determine the format and
 * are copied; the rest is read from `stored`, which must outlive the result. *unpack ← NULL if the
 * bytes are not compressed. */
bisai_status bsi_unpack_open(bsi_stored *stored, const char *first, size_t count,
                             bsi_unpack **unpack);
void bsi_unpack_close(bsi_unpack **unpack);

/* Reads `bytes` bytes. *got is less only at the end of the file, when all checks have been made. */
bisai_status bsi_unpack_read(bsi_unpack *unpack, char *target, size_t bytes, size_t *got);

#endif
