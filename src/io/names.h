/* SPDX-License-Identifier: BSD-3-Clause */
/* What the name of a file says about it. */
#ifndef BSI_NAMES_H
#define BSI_NAMES_H

#include <stdbool.h>
#include <stddef.h>

typedef enum bsi_compression { BSI_PLAIN, BSI_GZIP, BSI_XZ, BSI_BZIP2, BSI_ZSTD } bsi_compression;

/* The name without folders. */
const char *bsi_base_name(const char *path);

/* Takes an ending off a name of *length bytes, where it has it and something before it. */
bool bsi_drop_ending(const char *name, size_t *length, const char *ending);

/* Takes .gz, .xz, .bz2 or .zst off. */
bsi_compression bsi_drop_compression(const char *name, size_t *length);

/* Takes the endings of an archive off: .tar, .tar.gz, .tgz, … False where there are none. */
bool bsi_drop_tar(const char *name, size_t *length, bsi_compression *compression);

#endif
