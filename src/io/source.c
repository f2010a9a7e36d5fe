#include "io/source.h"

#include <string.h>

#ifdef BISAI_HAVE_ARCHIVE
#include <archive.h>
#include <archive_entry.h>
#endif

#include "core/context.h"
#include "io/stored.h"

enum { RAW_BYTES = 1 << 16, TAR_MAGIC = 257 };

struct bsi_source {
  bisai_context *context;
  bsi_stored stored;
  bisai_progress progress;
  void *progress_user;
  char *raw; /* stored bytes that were read and not used: raw_begin … raw_end */
  size_t raw_begin, raw_end;
  unsigned char peeked[BSI_PEEK_BYTES]; /* bytes that were read and not taken: peek_begin … peek_end */
  size_t peek_begin, peek_end;
  struct archive *archive; /* NULL: the stored bytes are the bytes */
  struct archive_entry *entry;
  bool is_tar, entry_pending, ended;
};

typedef enum packing { PLAIN, TAR, GZIP, XZ, BZIP2, ZSTD, LZIP, LZ4, COMPRESS } packing;

/* By the first bytes. */
static packing packing_of(const char *bytes, size_t count) {
  static const struct {
    packing kind;
    size_t at, length;
    char bytes[8];
  } known[] = {{GZIP, 0, 2, "\x1f\x8b"},         {XZ, 0, 6, "\xfd\x37zXZ"},   {BZIP2, 0, 3, "BZh"},
               {ZSTD, 0, 4, "\x28\xb5\x2f\xfd"}, {LZIP, 0, 4, "LZIP"},        {LZ4, 0, 4, "\x04\x22\x4d\x18"},
               {COMPRESS, 0, 2, "\x1f\x9d"},     {TAR, TAR_MAGIC, 5, "ustar"}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (count >= known[k].at + known[k].length && memcmp(bytes + known[k].at, known[k].bytes, known[k].length) == 0)
      return known[k].kind;
  return PLAIN;
}

static bisai_status fail_read(bsi_source *s) {
  return bsi_io_fail(s->context, "read", s->stored.path, s->stored.error);
}

#ifdef BISAI_HAVE_ARCHIVE

/* libarchive's source of stored bytes: first those that were read to look at. */
static la_ssize_t read_for_archive(struct archive *archive, void *user, const void **bytes) {
  bsi_source *s = user;
  ssize_t count = (ssize_t)(s->raw_end - s->raw_begin);
  *bytes = s->raw + s->raw_begin;
  s->raw_begin = s->raw_end = 0;
  if (count > 0) return count;
  count = bsi_stored_read(&s->stored, s->raw, RAW_BYTES);
  if (count < 0) archive_set_error(archive, s->stored.error, "read error");
  *bytes = s->raw;
  return count;
}

static bisai_status fail_archive(bsi_source *s) {
  if (s->stored.error) return fail_read(s);
  const char *reason = archive_error_string(s->archive);
  return bsi_io_fail_because(s->context, s->is_tar ? "unpack" : "decompress", s->stored.path,
                             reason ? reason : "unknown error");
}

/* Sets s->entry, or s->ended. */
static bisai_status next_entry(bsi_source *s) {
  const int result = archive_read_next_header(s->archive, &s->entry);
  if (result == ARCHIVE_EOF) s->ended = true;
  return result == ARCHIVE_EOF || result == ARCHIVE_OK || result == ARCHIVE_WARN ? BISAI_OK : fail_archive(s);
}

static bisai_status open_archive(bsi_source *s, packing kind) {
  s->archive = archive_read_new();
  if (!s->archive) return bsi_fail(s->context, BISAI_OUT_OF_MEMORY, "libarchive is out of memory");
  /* A filter that would run a program instead answers with a warning. */
  static int (*const support[])(struct archive *) = {
      [GZIP] = archive_read_support_filter_gzip,   [XZ] = archive_read_support_filter_xz,
      [BZIP2] = archive_read_support_filter_bzip2, [ZSTD] = archive_read_support_filter_zstd,
      [LZIP] = archive_read_support_filter_lzip,   [LZ4] = archive_read_support_filter_lz4,
      [TAR] = archive_read_support_filter_none,    [COMPRESS] = archive_read_support_filter_compress};
  if (support[kind](s->archive) != ARCHIVE_OK)
    return bsi_fail(s->context, BISAI_UNAVAILABLE, "this libarchive cannot decompress %s itself", s->stored.path);
  archive_read_support_format_tar(s->archive);
  archive_read_support_format_raw(s->archive);
  archive_read_support_format_empty(s->archive);
  if (archive_read_open(s->archive, s, NULL, read_for_archive, NULL) != ARCHIVE_OK) return fail_archive(s);
  const bisai_status status = next_entry(s);
  s->is_tar = (archive_format(s->archive) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_TAR;
  s->entry_pending = s->is_tar && !s->ended;
  return status;
}

static bisai_status read_archive(bsi_source *s, char *target, size_t bytes, size_t *got) {
  for (*got = 0; *got < bytes && !s->ended;) {
    const la_ssize_t count = archive_read_data(s->archive, target + *got, bytes - *got);
    if (count < 0) return fail_archive(s); /* ARCHIVE_RETRY too, which damaged archives give for ever */
    if (count == 0) break;
    *got += (size_t)count;
  }
  return BISAI_OK;
}

static void close_archive(bsi_source *s) {
  if (s->archive) archive_read_free(s->archive);
  s->archive = NULL;
}

bisai_status bsi_source_next_member(bsi_source *s, const char **name) {
  *name = NULL;
  s->peek_begin = s->peek_end = 0;
  while (!s->ended) {
    if (!s->entry_pending) {
      const bisai_status status = next_entry(s);
      if (status) return status;
    }
    s->entry_pending = false;
    if (s->ended || archive_entry_filetype(s->entry) != AE_IFREG || archive_entry_hardlink(s->entry)) continue;
    *name = archive_entry_pathname(s->entry); /* NULL where the locale cannot express it */
    if (*name) break;
  }
  return BISAI_OK;
}

#else

static bisai_status open_archive(bsi_source *s, packing kind) {
  return bsi_fail(s->context, BISAI_UNAVAILABLE, "%s need a build with libarchive",
                  kind == TAR ? "archives" : "compressed files");
}

static bisai_status read_archive(bsi_source *s, char *target, size_t bytes, size_t *got) {
  (void)s, (void)target, (void)bytes;
  *got = 0;
  return BISAI_OK;
}

static void close_archive(bsi_source *s) { (void)s; }

bisai_status bsi_source_next_member(bsi_source *s, const char **name) {
  (void)s;
  *name = NULL;
  return BISAI_OK;
}

#endif

/* Looks at the first bytes and opens what they announce. */
static bisai_status begin(bsi_source *s) {
  const ssize_t count = bsi_stored_read(&s->stored, s->raw, RAW_BYTES);
  if (count < 0) return fail_read(s);
  s->raw_begin = 0;
  s->raw_end = (size_t)count;
  const packing kind = packing_of(s->raw, s->raw_end);
  return kind == PLAIN ? BISAI_OK : open_archive(s, kind);
}

/* Takes the stored bytes over. */
static bisai_status open_source(bisai_context *context, bsi_source *settings, bsi_source **source) {
  bsi_source *s = bsi_allocate(context, 1, sizeof *s);
  if (!s) {
    bsi_stored_close(&settings->stored);
    return BISAI_OUT_OF_MEMORY;
  }
  *s = *settings;
  s->context = context;
  s->raw = bsi_allocate(context, RAW_BYTES, 1);
  const bisai_status status = s->raw ? begin(s) : BISAI_OUT_OF_MEMORY;
  if (!status && !s->is_tar) bsi_stored_watch(&s->stored, s->progress, s->progress_user);
  if (status)
    bsi_source_close(&s);
  else
    *source = s;
  return status;
}

bisai_status bsi_source_open_file(bisai_context *context, const char *path, bisai_progress progress, void *user,
                                  bsi_source **source) {
  bsi_source settings = {.progress = progress, .progress_user = user};
  const bisai_status status = bsi_stored_open_file(context, path, &settings.stored);
  return status ? status : open_source(context, &settings, source);
}

bisai_status bsi_source_open_memory(bisai_context *context, const void *data, size_t bytes, bsi_source **source) {
  bsi_source settings = {0};
  bsi_stored_open_memory(context, data, bytes, &settings.stored);
  return open_source(context, &settings, source);
}

void bsi_source_close(bsi_source **source) {
  if (!source || !*source) return;
  bsi_source *s = *source;
  *source = NULL;
  close_archive(s);
  bsi_stored_close(&s->stored);
  bsi_release(s->context, s->raw);
  bsi_release(s->context, s);
}

bisai_context *bsi_source_context(const bsi_source *s) { return s->context; }

const char *bsi_source_path(const bsi_source *s) { return s->stored.path; }

bool bsi_source_is_archive(const bsi_source *s) { return s->is_tar; }

static bisai_status read_plain(bsi_source *s, char *target, size_t bytes, size_t *got) {
  const size_t pending = s->raw_end - s->raw_begin, first = bytes < pending ? bytes : pending;
  memcpy(target, s->raw + s->raw_begin, first);
  s->raw_begin += first;
  *got = first;
  if (first == bytes) return BISAI_OK;
  const ssize_t count = bsi_stored_read(&s->stored, target + first, bytes - first);
  if (count < 0) return fail_read(s);
  *got += (size_t)count;
  return BISAI_OK;
}

bisai_status bsi_source_read(bsi_source *s, void *target, size_t bytes, size_t *got) {
  const size_t peeked = s->peek_end - s->peek_begin, first = bytes < peeked ? bytes : peeked;
  if (first > 0) memcpy(target, s->peeked + s->peek_begin, first);
  s->peek_begin += first;
  size_t rest = 0;
  bisai_status status = BISAI_OK;
  if (first < bytes)
    status = s->archive ? read_archive(s, (char *)target + first, bytes - first, &rest)
                        : read_plain(s, (char *)target + first, bytes - first, &rest);
  *got = first + rest;
  return status;
}

bisai_status bsi_source_peek(bsi_source *s, const unsigned char **bytes, size_t *count) {
  unsigned char next[BSI_PEEK_BYTES];
  size_t got = 0;
  const bisai_status status = bsi_source_read(s, next, sizeof next, &got);
  if (status) return status;
  memcpy(s->peeked, next, got);
  s->peek_begin = 0;
  s->peek_end = got;
  *bytes = s->peeked;
  *count = got;
  return BISAI_OK;
}

int64_t bsi_source_left(const bsi_source *s) {
  if (s->archive || s->stored.total == 0) return -1;
  const int64_t left =
      s->stored.total - s->stored.read + (int64_t)(s->raw_end - s->raw_begin + s->peek_end - s->peek_begin);
  return left < 0 ? 0 : left;
}

bisai_status bsi_source_rewind(bsi_source *s) {
  close_archive(s);
  s->is_tar = s->entry_pending = s->ended = false;
  s->peek_begin = s->peek_end = 0;
  const bisai_status status = bsi_stored_rewind(&s->stored);
  if (status) return status;
  bsi_stored_watch(&s->stored, s->progress, s->progress_user);
  return begin(s);
}
