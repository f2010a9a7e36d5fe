/* SPDX-License-Identifier: BSD-3-Clause */
/* gzip (RFC 1952) through zlib, which compares the CRC-32 and the length of every member with what
 * was decompressed. */
#ifndef BSI_GUNZIP_H
#define BSI_GUNZIP_H

#include "io/stored.h"

typedef struct bsi_gunzip bsi_gunzip;

/* `input` is a buffer of BSI_STORED_CHUNK bytes that begins with `count` bytes of the file; what
 * follows is read from `stored` into it. Both must outlive it. */
bisai_status bsi_gunzip_open(bsi_stored *stored, char *input, size_t count, bsi_gunzip **gunzip);
void bsi_gunzip_close(bsi_gunzip **gunzip);

/* As many bytes as are asked for. There are fewer only at the end of the file, when all members
 * have proved sound and nothing but members was there. */
bisai_status bsi_gunzip_read(bsi_gunzip *gunzip, char *target, size_t bytes, size_t *got);

#endif
