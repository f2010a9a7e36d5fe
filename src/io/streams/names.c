/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/streams/names.h"

#include <string.h>

const char *bsi_base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

bool bsi_drop_ending(const char *name, size_t *length, const char *ending) {
  const size_t bytes = strlen(ending);
  if (*length <= bytes || memcmp(name + *length - bytes, ending, bytes) != 0) return false;
  *length -= bytes;
  return true;
}

bsi_compression bsi_drop_compression(const char *name, size_t *length) {
  static const char *const endings[] = {[BSI_PLAIN] = "",
                                        [BSI_GZIP] = ".gz",
                                        [BSI_XZ] = ".xz",
                                        [BSI_BZIP2] = ".bz2",
                                        [BSI_ZSTD] = ".zst"};
  for (int kind = BSI_ZSTD; kind > BSI_PLAIN; kind--)
    if (bsi_drop_ending(name, length, endings[kind])) return (bsi_compression)kind;
  return BSI_PLAIN;
}

bool bsi_drop_tar(const char *name, size_t *length, bsi_compression *compression) {
  static const char *const endings[] = {[BSI_PLAIN] = ".tar",
                                        [BSI_GZIP] = ".tgz",
                                        [BSI_XZ] = ".txz",
                                        [BSI_BZIP2] = ".tbz2",
                                        [BSI_ZSTD] = ".tzst"};
  for (int kind = BSI_ZSTD; kind > BSI_PLAIN; kind--)
    if (bsi_drop_ending(name, length, endings[kind])) {
      *compression = (bsi_compression)kind;
      return true;
    }
  size_t rest = *length;
  *compression = bsi_drop_compression(name, &rest);
  if (!bsi_drop_ending(name, &rest, endings[BSI_PLAIN])) return false;
  *length = rest;
  return true;
}
