#include "io/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef BISAI_HAVE_ARCHIVE
#include <archive.h>
#include <archive_entry.h>
#endif

#include "core/context.h"

enum { RAW_BYTES = 1 << 16, PATH_SHOWN = 120 };
static const int64_t progress_step = 4 << 20;

struct bsi_stream {
  bisai_context *context;
  const char *path;
  int file; /* -1: memory */
  int read_error;
  const char *memory;
  size_t memory_left;
  bisai_progress progress;
  void *progress_user;
  int64_t bytes_read, bytes_total, bytes_reported; /* as they are stored */
  struct archive *archive;
  char *raw; /* compressed bytes; NULL: the bytes are the text */
  size_t raw_pending;
  char *buffer; /* text that was read and not returned: begin … end */
  size_t begin, end;
  bool ended;
  int64_t line;
};

static bisai_status fail_on_path(bisai_context *context, const char *action, const char *path, const char *reason) {
  const size_t length = strlen(path);
  const bool cut = length > PATH_SHOWN;
  return bsi_fail(context, BISAI_IO_ERROR, "cannot %s %s%s: %s", action, cut ? "..." : "",
                  cut ? path + length - PATH_SHOWN : path, reason);
}

bisai_status bsi_io_fail(bisai_context *context, const char *action, const char *path, int error) {
  char reason[128];
  if (strerror_r(error, reason, sizeof reason) != 0) strcpy(reason, "unknown error");
  return fail_on_path(context, action, path, reason);
}

static void report_progress(bsi_stream *s, bool last) {
  if (!s->progress || s->bytes_reported == s->bytes_read) return;
  if (!last && s->bytes_read - s->bytes_reported < progress_step) return;
  s->bytes_reported = s->bytes_read;
  s->progress(s->progress_user, s->bytes_read, s->bytes_total);
}

/* Stored bytes, fewer than asked for at the end only; -1 with read_error on failure. */
static ssize_t read_stored(bsi_stream *s, char *target, size_t bytes) {
  size_t got = 0;
  if (s->file < 0) {
    got = bytes < s->memory_left ? bytes : s->memory_left;
    if (got > 0) memcpy(target, s->memory, got);
    s->memory += got;
    s->memory_left -= got;
  }
  while (s->file >= 0 && got < bytes) {
    const ssize_t count = read(s->file, target + got, bytes - got);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      s->read_error = errno;
      return -1;
    }
    if (count == 0) break;
    got += (size_t)count;
  }
  s->bytes_read += (int64_t)got;
  report_progress(s, got < bytes);
  return (ssize_t)got;
}

typedef enum compression_kind { PLAIN, GZIP, XZ, BZIP2, ZSTD } compression_kind;

/* By the first bytes. */
static compression_kind compression_of(const char *bytes, size_t count) {
  static const struct {
    compression_kind kind;
    size_t length;
    char bytes[8];
  } known[] = {{GZIP, 2, "\x1f\x8b"}, {XZ, 6, "\xfd\x37zXZ"}, {BZIP2, 3, "BZh"}, {ZSTD, 4, "\x28\xb5\x2f\xfd"}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (count >= known[k].length && memcmp(bytes, known[k].bytes, known[k].length) == 0) return known[k].kind;
  return PLAIN;
}

#ifdef BISAI_HAVE_ARCHIVE

/* libarchive's source of compressed bytes: first those that were read to look at. */
static la_ssize_t read_for_archive(struct archive *archive, void *user, const void **bytes) {
  bsi_stream *s = user;
  ssize_t count = (ssize_t)s->raw_pending;
  s->raw_pending = 0;
  if (count == 0) count = read_stored(s, s->raw, RAW_BYTES);
  if (count < 0) archive_set_error(archive, s->read_error, "read error");
  *bytes = s->raw;
  return count;
}

static bisai_status fail_decompress(bsi_stream *s) {
  if (s->read_error) return bsi_io_fail(s->context, "read", s->path, s->read_error);
  const char *reason = archive_error_string(s->archive);
  return fail_on_path(s->context, "decompress", s->path, reason ? reason : "unknown error");
}

/* Takes over the bytes in the buffer. */
static bisai_status open_archive(bsi_stream *s, compression_kind kind) {
  s->raw = bsi_allocate(s->context, RAW_BYTES, 1);
  if (!s->raw) return BISAI_OUT_OF_MEMORY;
  memcpy(s->raw, s->buffer, s->end);
  s->raw_pending = s->end;
  s->end = 0;
  s->archive = archive_read_new();
  if (!s->archive) return bsi_fail(s->context, BISAI_OUT_OF_MEMORY, "libarchive is out of memory");
  /* A filter that would run a program instead answers with a warning. */
  static int (*const support[])(struct archive *) = {[GZIP] = archive_read_support_filter_gzip,
                                                     [XZ] = archive_read_support_filter_xz,
                                                     [BZIP2] = archive_read_support_filter_bzip2,
                                                     [ZSTD] = archive_read_support_filter_zstd};
  if (support[kind](s->archive) != ARCHIVE_OK)
    return bsi_fail(s->context, BISAI_UNAVAILABLE, "this libarchive cannot decompress %s itself", s->path);
  archive_read_support_format_raw(s->archive);
  archive_read_support_format_empty(s->archive);
  if (archive_read_open(s->archive, s, NULL, read_for_archive, NULL) != ARCHIVE_OK) return fail_decompress(s);
  struct archive_entry *entry;
  const int result = archive_read_next_header(s->archive, &entry);
  if (result == ARCHIVE_EOF)
    s->ended = true;
  else if (result != ARCHIVE_OK)
    return fail_decompress(s);
  return BISAI_OK;
}

static bisai_status read_archive(bsi_stream *s, char *target, size_t bytes, size_t *got) {
  const la_ssize_t count = archive_read_data(s->archive, target, bytes);
  if (count < 0) return fail_decompress(s);
  *got = (size_t)count;
  return BISAI_OK;
}

static void close_archive(bsi_stream *s) {
  if (s->archive) archive_read_free(s->archive);
}

#else

static bisai_status open_archive(bsi_stream *s, compression_kind kind) {
  (void)kind;
  return bsi_fail(s->context, BISAI_UNAVAILABLE, "compressed files need a build with libarchive");
}

static bisai_status read_archive(bsi_stream *s, char *target, size_t bytes, size_t *got) {
  (void)s, (void)target, (void)bytes;
  *got = 0;
  return BISAI_OK;
}

static void close_archive(bsi_stream *s) { (void)s; }

#endif

static bisai_status fail_read(bsi_stream *s) { return bsi_io_fail(s->context, "read", s->path, s->read_error); }

static bisai_status open_stream(bisai_context *context, const bsi_stream *source, bsi_stream **stream) {
  bsi_stream *s = bsi_allocate(context, 1, sizeof *s);
  if (!s) {
    if (source->file >= 0) close(source->file);
    return BISAI_OUT_OF_MEMORY;
  }
  *s = *source;
  s->context = context;
  bisai_status status = BISAI_OUT_OF_MEMORY;
  s->buffer = bsi_allocate(context, BSI_STREAM_LINE_BYTES + 1, 1); /* one more for the last line's '\n' */
  if (!s->buffer) goto exit;
  const ssize_t count = read_stored(s, s->buffer, RAW_BYTES);
  status = count < 0 ? fail_read(s) : BISAI_OK;
  if (status) goto exit;
  s->end = (size_t)count;
  const compression_kind kind = compression_of(s->buffer, s->end);
  if (kind != PLAIN) status = open_archive(s, kind);
exit:
  if (status)
    bsi_stream_close(&s);
  else
    *stream = s;
  return status;
}

bisai_status bsi_stream_open_file(bisai_context *context, const char *path, bisai_progress progress, void *user,
                                  bsi_stream **stream) {
  bsi_stream source = {.path = path, .progress = progress, .progress_user = user};
  source.file = open(path, O_RDONLY | O_CLOEXEC);
  if (source.file < 0) return bsi_io_fail(context, "open", path, errno);
  struct stat about;
  if (fstat(source.file, &about) == 0 && S_ISREG(about.st_mode)) source.bytes_total = about.st_size;
  return open_stream(context, &source, stream);
}

bisai_status bsi_stream_open_memory(bisai_context *context, const void *data, size_t bytes, bsi_stream **stream) {
  const bsi_stream source = {
      .path = "memory", .file = -1, .memory = data, .memory_left = bytes, .bytes_total = (int64_t)bytes};
  return open_stream(context, &source, stream);
}

void bsi_stream_close(bsi_stream **stream) {
  if (!stream || !*stream) return;
  bsi_stream *s = *stream;
  *stream = NULL;
  close_archive(s);
  if (s->file >= 0) close(s->file);
  bsi_release(s->context, s->raw);
  bsi_release(s->context, s->buffer);
  bsi_release(s->context, s);
}

/* More text behind what is left in the buffer. */
static bisai_status fill(bsi_stream *s) {
  const size_t left = s->end - s->begin;
  memmove(s->buffer, s->buffer + s->begin, left);
  s->begin = 0;
  s->end = left;
  const size_t space = BSI_STREAM_LINE_BYTES - left;
  if (space == 0)
    return bsi_fail(s->context, BISAI_PARSE_ERROR, "line %" PRId64 ": longer than %d bytes", s->line + 1,
                    BSI_STREAM_LINE_BYTES);
  size_t got = 0;
  if (s->raw) {
    const bisai_status status = read_archive(s, s->buffer + left, space, &got);
    if (status) return status;
  } else {
    const ssize_t count = read_stored(s, s->buffer + left, space);
    if (count < 0) return fail_read(s);
    got = (size_t)count;
  }
  s->ended = got == 0;
  s->end += got;
  return BISAI_OK;
}

bisai_status bsi_stream_next(bsi_stream *s, char **line) {
  size_t searched = s->begin;
  char *end = NULL;
  for (;;) {
    if (searched < s->end) end = memchr(s->buffer + searched, '\n', s->end - searched);
    if (end) break;
    if (s->ended && s->begin == s->end) {
      *line = NULL;
      return BISAI_OK;
    }
    if (s->ended) {
      end = s->buffer + s->end;
      *end = '\n';
      s->end++;
      break;
    }
    const size_t left = s->end - s->begin;
    const bisai_status status = fill(s);
    if (status) return status;
    searched = left;
  }
  *line = s->buffer + s->begin;
  s->begin = (size_t)(end - s->buffer) + 1;
  s->line++;
  return BISAI_OK;
}

int64_t bsi_stream_line_number(const bsi_stream *s) { return s->line; }

int64_t bsi_stream_text_bytes(const bsi_stream *s) { return s->raw ? 0 : s->bytes_total; }
