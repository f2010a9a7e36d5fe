/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/streams/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef BISAI_HAVE_ARCHIVE
#include <archive.h>
#include <archive_entry.h>
#endif

#include "core/context/context_impl.h"
#include "io/streams/stored.h"
#include "io/streams/unpack.h"

/* What a file holds: bytes, or members. */
typedef enum holding { BYTES, TAR, ZIP } holding;

struct bsi_source {
  bisai_context *context;
  bsi_stored stored;
  bisai_progress progress;
  void *progress_user;
  /* NULL: the file is not compressed */
  bsi_unpack *unpack;
  /* a buffer of BSI_STORED_CHUNK bytes; begin … end were read and not used */
  struct {
    char *bytes;
    size_t begin, end;
  } head;
  /* the bytes begin … end were read and not taken */
  struct {
    unsigned char bytes[BSI_PEEK_BYTES];
    size_t begin, end;
  } peeked;
  int64_t taken;
  /* libarchive's state of an archive */
  struct archive *archive;
  struct archive_entry *entry;
  holding holding;
  bool entry_pending, ended;
  /* the failure because of which libarchive got no bytes */
  bisai_status failed;
};

/* Returns true for a tar header. It names its format or, in the oldest archives, has a correct
 * checksum. */
static bool is_tar(const char *block, size_t count) {
  enum { BLOCK = 512, MAGIC = 257, SUM = 148, SUM_BYTES = 8 };
  if (count < BLOCK) return false;
  if (memcmp(block + MAGIC, "ustar", 5) == 0) return true;
  char digits[SUM_BYTES + 1] = {0};
  memcpy(digits, block + SUM, SUM_BYTES);
  unsigned long sum = 0;
  for (int i = 0; i < BLOCK; i++)
    sum += i >= SUM && i < SUM + SUM_BYTES ? ' ' : (unsigned char)block[i];
  return strtoul(digits, NULL, 8) == sum;
}

static holding holding_of(const char *bytes, size_t count) {
  if (count >= 4 && (memcmp(bytes, "PK\3\4", 4) == 0 || memcmp(bytes, "PK\5\6", 4) == 0))
    return ZIP;
  return is_tar(bytes, count) ? TAR : BYTES;
}

static bisai_status read_stored(bsi_source *s, char *target, size_t bytes, size_t *got) {
  const ssize_t count = bsi_stored_read(&s->stored, target, bytes);
  *got = count < 0 ? 0 : (size_t)count;
  return count < 0 ? bsi_io_fail(s->context, "read", s->stored.path, s->stored.error) : BISAI_OK;
}

/* Reads the next bytes of the file, decompressed. */
static bisai_status pull(bsi_source *s, char *target, size_t bytes, size_t *got) {
  const size_t pending = s->head.end - s->head.begin, first = bytes < pending ? bytes : pending;
  memcpy(target, s->head.bytes + s->head.begin, first);
  s->head.begin += first;
  *got = first;
  if (first == bytes) return BISAI_OK;
  size_t rest = 0;
  BSI_TRY(s->unpack ? bsi_unpack_read(s->unpack, target + first, bytes - first, &rest)
                    : read_stored(s, target + first, bytes - first, &rest));
  *got += rest;
  return BISAI_OK;
}

/* Fills the buffer. */
static bisai_status fill_head(bsi_source *s) {
  s->head.begin = s->head.end = 0;
  return pull(s, s->head.bytes, BSI_STORED_CHUNK, &s->head.end);
}

#ifdef BISAI_HAVE_ARCHIVE

static la_ssize_t read_for_archive(struct archive *archive, void *user, const void **bytes) {
  bsi_source *s = user;
  if (s->head.begin == s->head.end) s->failed = fill_head(s);
  *bytes = s->head.bytes + s->head.begin;
  const size_t count = s->head.end - s->head.begin;
  s->head.begin = s->head.end;
  if (!s->failed) return (la_ssize_t)count;
  archive_set_error(archive, EIO, "read error");
  return -1;
}

static bisai_status fail_archive(bsi_source *s) {
  if (s->failed) return s->failed; /* the message is already set */
  const char *reason = archive_error_string(s->archive);
  return bsi_io_fail_because(s->context, "unpack", s->stored.path,
                             reason ? reason : "unknown error");
}

/* Goes to the next entry of an archive: sets s->entry or s->ended. */
static bisai_status next_entry(bsi_source *s) {
  const int result = archive_read_next_header(s->archive, &s->entry);
  if (result == ARCHIVE_EOF) s->ended = true;
  return result == ARCHIVE_EOF || result == ARCHIVE_OK || result == ARCHIVE_WARN ? BISAI_OK
                                                                                 : fail_archive(s);
}

static bisai_status open_archive(bsi_source *s) {
  s->archive = archive_read_new();
  if (!s->archive) return bsi_fail(s->context, BISAI_OUT_OF_MEMORY, "libarchive is out of memory");
  archive_read_support_filter_none(s->archive);
  if (s->holding == ZIP)
    archive_read_support_format_zip_streamable(s->archive);
  else
    archive_read_support_format_tar(s->archive);
  if (archive_read_open(s->archive, s, NULL, read_for_archive, NULL) != ARCHIVE_OK)
    return fail_archive(s);
  BSI_TRY(next_entry(s));
  s->entry_pending = !s->ended;
  return BISAI_OK;
}

static bisai_status read_archive(bsi_source *s, char *target, size_t bytes, size_t *got) {
  for (*got = 0; *got < bytes && !s->ended;) {
    const la_ssize_t count = archive_read_data(s->archive, target + *got, bytes - *got);
    /* this includes ARCHIVE_RETRY, which damaged archives return endlessly */
    if (count < 0) return fail_archive(s);
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
  s->peeked.begin = s->peeked.end = 0;
  s->taken = 0;
  while (!s->ended) {
    if (!s->entry_pending) BSI_TRY(next_entry(s));
    s->entry_pending = false;
    if (s->ended || archive_entry_filetype(s->entry) != AE_IFREG ||
        archive_entry_hardlink(s->entry))
      continue;
    *name = archive_entry_pathname(s->entry); /* NULL if the locale cannot represent the name */
    if (*name) break;
  }
  return BISAI_OK;
}

#else

static bisai_status open_archive(bsi_source *s) {
  return bsi_fail(s->context, BISAI_UNAVAILABLE, "archives need a build with libarchive");
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

/* Copies an archive from a pipe to a temporary file, decompressed, because its members are read
 * more than once. */
static bisai_status spool(bsi_source *s) {
  bsi_stored spooled;
  bisai_status status = bsi_stored_open_temporary(s->context, s->stored.path, &spooled);
  while (!status && s->head.end > 0) {
    status = bsi_stored_append(&spooled, s->head.bytes, s->head.end);
    if (!status) status = fill_head(s);
  }
  if (!status) status = bsi_stored_rewind(&spooled);
  if (status) {
    bsi_stored_close(&spooled);
    return status;
  }
  bsi_unpack_close(&s->unpack);
  bsi_stored_close(&s->stored);
  s->stored = spooled;
  return fill_head(s);
}

/* Detects compression and tar format by the first bytes, and opens both. */
static bisai_status open_contents(bsi_source *s) {
  BSI_TRY(fill_head(s));
  BSI_TRY(bsi_unpack_open(&s->stored, s->head.bytes, s->head.end, &s->unpack));
  if (s->unpack) BSI_TRY(fill_head(s));
  s->holding = holding_of(s->head.bytes, s->head.end);
  if (s->holding == BYTES) return BISAI_OK;
  if (!bsi_stored_can_rewind(&s->stored)) BSI_TRY(spool(s));
  return open_archive(s);
}

/* Makes a source and takes over the stored bytes of `settings`. */
static bisai_status open_source(bisai_context *context, bsi_source *settings, bsi_source **source) {
  bsi_source *s = bsi_allocate(context, 1, sizeof *s);
  if (!s) {
    bsi_stored_close(&settings->stored);
    return BISAI_OUT_OF_MEMORY;
  }
  *s = *settings;
  s->context = context;
  s->head.bytes = bsi_allocate(context, BSI_STORED_CHUNK, 1);
  const bisai_status status = s->head.bytes ? open_contents(s) : BISAI_OUT_OF_MEMORY;
  if (!status && s->holding == BYTES) bsi_stored_watch(&s->stored, s->progress, s->progress_user);
  if (status)
    bsi_source_close(&s);
  else
    *source = s;
  return status;
}

bisai_status bsi_source_open_file(bisai_context *context, const char *path, bisai_progress progress,
                                  void *user, bsi_source **source) {
  bsi_source settings = {.progress = progress, .progress_user = user};
  BSI_TRY(bsi_stored_open_file(context, path, &settings.stored));
  return open_source(context, &settings, source);
}

void bsi_source_close(bsi_source **source) {
  if (!source || !*source) return;
  bsi_source *s = *source;
  *source = NULL;
  close_archive(s);
  bsi_unpack_close(&s->unpack);
  bsi_stored_close(&s->stored);
  bsi_release(s->context, s->head.bytes);
  bsi_release(s->context, s);
}

bisai_context *bsi_source_context(const bsi_source *s) { return s->context; }

const char *bsi_source_path(const bsi_source *s) { return s->stored.path; }

bool bsi_source_is_archive(const bsi_source *s) { return s->holding == TAR; }

bool bsi_source_is_zip(const bsi_source *s) { return s->holding == ZIP; }

bisai_status bsi_source_read(bsi_source *s, void *target, size_t bytes, size_t *got) {
  const size_t peeked = s->peeked.end - s->peeked.begin, first = bytes < peeked ? bytes : peeked;
  if (first > 0) memcpy(target, s->peeked.bytes + s->peeked.begin, first);
  s->peeked.begin += first;
  size_t rest = 0;
  if (first < bytes)
    BSI_TRY(s->holding != BYTES ? read_archive(s, (char *)target + first, bytes - first, &rest)
                                : pull(s, (char *)target + first, bytes - first, &rest));
  *got = first + rest;
  s->taken += (int64_t)*got;
  return BISAI_OK;
}

bisai_status bsi_source_peek(bsi_source *s, const unsigned char **bytes, size_t *count) {
  unsigned char next[BSI_PEEK_BYTES];
  size_t got = 0;
  BSI_TRY(bsi_source_read(s, next, sizeof next, &got));
  memcpy(s->peeked.bytes, next, got);
  s->peeked.begin = 0;
  s->peeked.end = got;
  s->taken -= (int64_t)got;
  *bytes = s->peeked.bytes;
  *count = got;
  return BISAI_OK;
}

int64_t bsi_source_left(const bsi_source *s) {
  if (s->holding != BYTES || s->unpack || s->stored.total == 0) return -1;
  const int64_t left = s->stored.total - s->stored.read +
                       (int64_t)(s->head.end - s->head.begin + s->peeked.end - s->peeked.begin);
  return left < 0 ? 0 : left;
}

int64_t bsi_source_taken(const bsi_source *s) { return s->taken; }

bisai_status bsi_source_finish(bsi_source *s) {
  if (!s->unpack) return BISAI_OK;
  do {
    BSI_TRY(fill_head(s));
  } while (s->head.end > 0);
  return BISAI_OK;
}

bisai_status bsi_source_rewind(bsi_source *s) {
  close_archive(s);
  bsi_unpack_close(&s->unpack);
  s->holding = BYTES;
  s->entry_pending = s->ended = false;
  s->head.begin = s->head.end = s->peeked.begin = s->peeked.end = 0;
  s->taken = 0;
  s->failed = BISAI_OK;
  const bisai_status status = bsi_stored_rewind(&s->stored);
  if (status) return status;
  bsi_stored_watch(&s->stored, s->progress, s->progress_user);
  return open_contents(s);
}
