/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads gzip (RFC 1952) through zlib, which checks the CRC-32 and the length of every member. */
#ifndef BSI_GUNZIP_H
#define BSI_GUNZIP_H

#include "io/streams/stored.h"

typedef struct bsi_gunzip bsi_gunzip;

/* `input` is a buffer of BSI_STORED_CHUNK bytes that begins with the first `count` bytes of the
 * file. The rest is read into it from `stored`. Both must outlive the result. */
bisai_status bsi_gunzip_open(bsi_stored *stored, char *input, size_t count, bsi_gunzip **gunzip);
void bsi_gunzip_close(bsi_gunzip **gunzip);

/* Reads `bytes` bytes. *got is less only at the end of the file, when all members have passed their
 * checks and nothing else was found. */
bisai_status bsi_gunzip_read(bsi_gunzip *gunzip, char *target, size_t bytes, size_t *got);

#endif
