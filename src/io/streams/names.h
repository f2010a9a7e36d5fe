/* SPDX-License-Identifier: BSD-3-Clause */
/* The information in the name of a file. */
#ifndef BSI_NAMES_H
#define BSI_NAMES_H

#include <stdbool.h>
#include <stddef.h>

typedef enum bsi_compression { BSI_PLAIN, BSI_GZIP, BSI_XZ, BSI_BZIP2, BSI_ZSTD } bsi_compression;

/* Returns the name without folders. */
const char *bsi_base_name(const char *path);

/* Removes an ending from a name of *length bytes. Returns false if the name has another ending or
 * nothing before it. */
bool bsi_drop_ending(const char *name, size_t *length, const char *ending);

/* Removes .gz, .xz, .bz2 or .zst, and returns the compression. */
bsi_compression bsi_drop_compression(const char *name, size_t *length);

/* Removes the endings of an archive: .tar, .tar.gz, .tgz, … Returns false if there are none. */
bool bsi_drop_tar(const char *name, size_t *length, bsi_compression *compression);

#endif
