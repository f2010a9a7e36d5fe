/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/streams/unpack.h"

#include <string.h>

#ifdef BISAI_HAVE_ARCHIVE
#include <archive.h>
#include <archive_entry.h>
#endif

#include "core/context/context_impl.h"
#include "io/streams/gunzip.h"

struct bsi_unpack {
  bsi_stored *stored;
  /* NULL: libarchive */
  bsi_gunzip *gunzip;
  struct archive *archive;
  /* libarchive has reached the end */
  bool ended;
  /* the bytes of `input` that libarchive has not seen yet */
  size_t first;
  char input[BSI_STORED_CHUNK];
};

typedef enum packing { PLAIN, GZIP, XZ, BZIP2, ZSTD, LZIP, LZ4, COMPRESS } packing;

/* Detects the compression by the first bytes. */
static packing packing_of(const char *bytes, size_t count) {
  static const struct {
    packing kind;
    size_t length;
    char bytes[8];
  } known[] = {{GZIP, 2, "\x1f\x8b"},         {XZ, 6, "\xfd\x37zXZ"}, {BZIP2, 3, "BZh"},
               {ZSTD, 4, "\x28\xb5\x2f\xfd"}, {LZIP, 4, "LZIP"},      {LZ4, 4, "\x04\x22\x4d\x18"},
               {COMPRESS, 2, "\x1f\x9d"}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (count >= known[k].length && memcmp(bytes, known[k].bytes, known[k].length) == 0)
      return known[k].kind;
  return PLAIN;
}

#ifdef BISAI_HAVE_ARCHIVE

static la_ssize_t read_for_archive(struct archive *archive, void *user, const void **bytes) {
  bsi_unpack *u = user;
  *bytes = u->input;
  ssize_t count = (ssize_t)u->first;
  u->first = 0;
  if (count == 0) count = bsi_stored_read(u->stored, u->input, sizeof u->input);
  if (count < 0) archive_set_error(archive, u->stored->error, "read error");
  return count;
}

static bisai_status fail_archive(const bsi_unpack *u) {
  bisai_context *context = u->stored->context;
  if (u->stored->error) return bsi_io_fail(context, "read", u->stored->path, u->stored->error);
  const char *reason = archive_error_string(u->archive);
  return bsi_io_fail_because(context, "decompress", u->stored->path,
                             reason ? reason : "unknown error");
}

/* Opens libarchive with a filter and the format `raw`, whose one entry is the whole content. */
static bisai_status open_archive(bsi_unpack *u, packing kind) {
  bisai_context *context = u->stored->context;
  u->archive = archive_read_new();
  if (!u->archive) return bsi_fail(context, BISAI_OUT_OF_MEMORY, "libarchive is out of memory");
  /* A filter that would run an external program returns a warning. */
  static int (*const support[])(struct archive *) = {
      [XZ] = archive_read_support_filter_xz,     [BZIP2] = archive_read_support_filter_bzip2,
      [ZSTD] = archive_read_support_filter_zstd, [LZIP] = archive_read_support_filter_lzip,
      [LZ4] = archive_read_support_filter_lz4,   [COMPRESS] = archive_read_support_filter_compress};
  if (support[kind](u->archive) != ARCHIVE_OK)
    return bsi_fail(context, BISAI_UNAVAILABLE, "this libarchive cannot decompress %s itself",
                    u->stored->path);
  archive_read_support_format_raw(u->archive);
  archive_read_support_format_empty(u->archive);
  struct archive_entry *entry;
  int result = archive_read_open(u->archive, u, NULL, read_for_archive, NULL);
  if (result == ARCHIVE_OK) result = archive_read_next_header(u->archive, &entry);
  u->ended = result == ARCHIVE_EOF;
  return result == ARCHIVE_OK || u->ended ? BISAI_OK : fail_archive(u);
}

static bisai_status read_archive(bsi_unpack *u, char *target, size_t bytes, size_t *got) {
  for (*got = 0; *got < bytes && !u->ended;) {
    const la_ssize_t count = archive_read_data(u->archive, target + *got, bytes - *got);
    if (count < 0) return fail_archive(u);
    u->ended = count == 0;
    *got += (size_t)count;
  }
  return BISAI_OK;
}

static void close_archive(bsi_unpack *u) {
  if (u->archive) archive_read_free(u->archive);
}

#else

static bisai_status open_archive(bsi_unpack *u, packing kind) {
  (void)kind;
  return bsi_fail(u->stored->context, BISAI_UNAVAILABLE,
                  "compressed files need a build with libarchive");
}

static bisai_status read_archive(bsi_unpack *u, char *target, size_t bytes, size_t *got) {
  (void)u, (void)target, (void)bytes;
  *got = 0;
  return BISAI_OK;
}

static void close_archive(bsi_unpack *u) { (void)u; }

#endif

bisai_status bsi_unpack_open(bsi_stored *stored, const char *first, size_t count,
                             bsi_unpack **unpack) {
  const packing kind = packing_of(first, count);
  *unpack = NULL;
  if (kind == PLAIN) return BISAI_OK;
  bsi_unpack *u = bsi_allocate(stored->context, 1, sizeof *u);
  if (!u) return BISAI_OUT_OF_MEMORY;
  memset(u, 0, sizeof *u - sizeof u->input);
  u->stored = stored;
  u->first = count;
  memcpy(u->input, first, count);
  const bisai_status status =
      kind == GZIP ? bsi_gunzip_open(stored, u->input, count, &u->gunzip) : open_archive(u, kind);
  if (status)
    bsi_unpack_close(&u);
  else
    *unpack = u;
  return status;
}

void bsi_unpack_close(bsi_unpack **unpack) {
  if (!unpack || !*unpack) return;
  bsi_unpack *u = *unpack;
  *unpack = NULL;
  bsi_gunzip_close(&u->gunzip);
  close_archive(u);
  bsi_release(u->stored->context, u);
}

bisai_status bsi_unpack_read(bsi_unpack *u, char *target, size_t bytes, size_t *got) {
  return u->gunzip ? bsi_gunzip_read(u->gunzip, target, bytes, got)
                   : read_archive(u, target, bytes, got);
}
