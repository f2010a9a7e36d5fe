/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/output/output.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#ifdef BISAI_HAVE_ARCHIVE
#include <archive.h>
#include <archive_entry.h>
#endif

#include "core/context/context_impl.h"
#include "io/output/new_file.h"
#include "io/streams/stored.h"

enum { BUFFER_BYTES = 1 << 16, MAX_PRINTED = 256 };

struct bsi_output {
  bisai_context *context;
  const char *path;
  bsi_new_file target;
  /* NULL: the output only counts, or is finished */
  FILE *file;
  /* nothing more is written */
  bool failed;
  /* not even the bytes that libarchive still holds are written */
  bool abandoned;
  /* the error of a system call, or 0 */
  int error;
  /* libarchive's reason otherwise */
  char reason[96];
  locale_t c_locale;
  /* NULL: the file is written without compression */
  struct archive *archive;
  int64_t count;
  size_t held;
  char buffer[BUFFER_BYTES];
};

#ifdef BISAI_HAVE_ARCHIVE

static la_ssize_t write_to_file(struct archive *archive, void *user, const void *bytes,
                                size_t count) {
  bsi_output *o = user;
  if (o->abandoned || !o->file) return -1;
  if (fwrite(bytes, 1, count, o->file) == count) return (la_ssize_t)count;
  o->error = errno;
  archive_set_error(archive, o->error, "write error");
  return -1;
}

static void note_failure(bsi_output *o) {
  const char *reason = archive_error_string(o->archive);
  if (!o->failed) snprintf(o->reason, sizeof o->reason, "%s", reason ? reason : "unknown error");
  o->failed = true;
}

static void begin_entry(bsi_output *o, const char *name, int64_t bytes) {
  struct archive_entry *entry = archive_entry_new2(o->archive);
  if (!entry) {
    archive_set_error(o->archive, ENOMEM, "libarchive is out of memory");
    note_failure(o);
    return;
  }
  archive_entry_set_pathname(entry, name);
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_perm(entry, 0644);
  archive_entry_set_mtime(entry, 0, 0); /* the same matrix gives the same file */
  if (bytes >= 0) archive_entry_set_size(entry, bytes);
  const int result = archive_write_header(o->archive, entry);
  archive_entry_free(entry);
  if (result != ARCHIVE_OK) note_failure(o);
}

static bool is_ascii(const char *text) {
  while (*text && (unsigned char)*text < 0x80) text++;
  return !*text;
}

static bisai_status open_archive(bsi_output *o, bsi_container container,
                                 bsi_compression compression) {
  static int (*const filters[])(struct archive *) = {[BSI_PLAIN] = archive_write_add_filter_none,
                                                     [BSI_GZIP] = archive_write_add_filter_gzip,
                                                     [BSI_XZ] = archive_write_add_filter_xz,
                                                     [BSI_BZIP2] = archive_write_add_filter_bzip2,
                                                     [BSI_ZSTD] = archive_write_add_filter_zstd};
  o->archive = archive_write_new();
  if (!o->archive) return bsi_fail(o->context, BISAI_OUT_OF_MEMORY, "libarchive is out of memory");
  /* A filter that would run an external program returns a warning. */
  if (filters[compression](o->archive) != ARCHIVE_OK)
    return bsi_fail(o->context, BISAI_UNAVAILABLE, "this libarchive cannot compress as %s asks for",
                    o->path);
  archive_write_set_filter_option(o->archive, "gzip", "timestamp", NULL);
  if (container == BSI_ZIP)
    archive_write_set_format_zip(o->archive);
  else if (container == BSI_SINGLE)
    archive_write_set_format_raw(o->archive);
  else if (is_ascii(bsi_base_name(o->path)))
    archive_write_set_format_pax_restricted(o->archive);
  else /* GNU's format stores names as bytes; pax needs UTF-8, which the locale may lack */
    archive_write_set_format_gnutar(o->archive);
  archive_write_set_bytes_in_last_block(o->archive, 1);
  if (archive_write_open(o->archive, o, NULL, write_to_file, NULL) != ARCHIVE_OK) note_failure(o);
  if (container == BSI_SINGLE) begin_entry(o, "data", -1);
  return BISAI_OK;
}

static void write_archive(bsi_output *o) {
  if (archive_write_data(o->archive, o->buffer, o->held) != (la_ssize_t)o->held) note_failure(o);
}

/* Writes the bytes that libarchive still holds, unless the output has failed. libarchive frees all
 * of its memory only when an archive is closed. */
static void finish_archive(bsi_output *o, bool abandon) {
  o->abandoned = abandon || o->failed;
  if (archive_write_close(o->archive) != ARCHIVE_OK && !o->abandoned) note_failure(o);
}

static void free_archive(bsi_output *o) {
  if (o->archive) archive_write_free(o->archive);
  o->archive = NULL;
}

#else

static void begin_entry(bsi_output *o, const char *name, int64_t bytes) {
  (void)o, (void)name, (void)bytes;
}

static bisai_status open_archive(bsi_output *o, bsi_container container,
                                 bsi_compression compression) {
  (void)compression;
  return bsi_fail(o->context, BISAI_UNAVAILABLE, "%s need a build with libarchive",
                  container == BSI_SINGLE ? "compressed files" : "archives");
}

static void write_archive(bsi_output *o) { (void)o; }
static void finish_archive(bsi_output *o, bool abandon) { (void)o, (void)abandon; }
static void free_archive(bsi_output *o) { (void)o; }

#endif

static void destroy(bsi_output *o) {
  free_archive(o);
  if (o->file) fclose(o->file);
  if (o->c_locale) freelocale(o->c_locale);
  bsi_release(o->context, o);
}

static bisai_status make(bisai_context *context, const char *path, bsi_output **output) {
  bsi_output *o = bsi_allocate(context, 1, sizeof *o);
  if (!o) return BISAI_OUT_OF_MEMORY;
  memset(o, 0, sizeof *o - sizeof o->buffer);
  o->context = context;
  o->path = path;
  o->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!o->c_locale) {
    destroy(o);
    return bsi_fail(context, BISAI_OUT_OF_MEMORY, "cannot make the C locale");
  }
  *output = o;
  return BISAI_OK;
}

bisai_status bsi_output_open_counter(bisai_context *context, bsi_output **output) {
  return make(context, "", output);
}

bisai_status bsi_output_open(bisai_context *context, const char *path, bsi_container container,
                             bsi_compression compression, bsi_output **output) {
  bsi_output *o = NULL;
  bisai_status status = make(context, path, &o);
  if (status) return status;
  status = bsi_new_file_find(context, path, &o->target);
  /* This comes before the file is opened, which may empty it. */
  if (!status && (container != BSI_SINGLE || compression != BSI_PLAIN))
    status = open_archive(o, container, compression);
  if (!status) status = bsi_new_file_open(&o->target, &o->file);
  if (status)
    bsi_output_close(&o, status);
  else
    *output = o;
  return status;
}

static void flush(bsi_output *o) {
  if (o->held > 0 && o->file && !o->failed) {
    if (o->archive) {
      write_archive(o);
    } else if (fwrite(o->buffer, 1, o->held, o->file) != o->held) {
      o->failed = true;
      o->error = errno;
    }
  }
  o->held = 0;
}

void bsi_output_begin_member(bsi_output *o, const char *name, int64_t bytes) {
  flush(o);
  if (!o->failed && o->archive) begin_entry(o, name, bytes);
}

void bsi_output_write(bsi_output *o, const void *bytes, size_t count) {
  o->count += (int64_t)count;
  const char *next = bytes;
  while (count > 0) {
    const size_t room = BUFFER_BYTES - o->held, some = count < room ? count : room;
    memcpy(o->buffer + o->held, next, some);
    o->held += some;
    next += some;
    count -= some;
    if (o->held == BUFFER_BYTES) flush(o);
  }
}

void bsi_output_print(bsi_output *o, const char *format, ...) {
  char text[MAX_PRINTED];
  va_list arguments;
  va_start(arguments, format);
  const locale_t previous = uselocale(o->c_locale);
  const int length = vsnprintf(text, sizeof text, format, arguments);
  uselocale(previous);
  va_end(arguments);
  bsi_output_write(o, text, (size_t)length);
}

bool bsi_output_good(const bsi_output *o) { return !o->failed; }

int64_t bsi_output_count(const bsi_output *o) { return o->count; }

bool bsi_output_is_file(const bsi_output *o) { return o->target.final != NULL; }

bisai_status bsi_output_finish(bsi_output *o, bisai_status status) {
  flush(o);
  if (o->archive) finish_archive(o, status != BISAI_OK);
  free_archive(o);
  if (o->file && fclose(o->file) != 0 && !o->failed) {
    o->failed = true;
    o->error = errno;
  }
  o->file = NULL;
  if (!o->failed || status) return status;
  return o->error ? bsi_io_fail(o->context, "write", o->path, o->error)
                  : bsi_io_fail_because(o->context, "write", o->path, o->reason);
}

bisai_status bsi_output_close(bsi_output **output, bisai_status status) {
  if (!output || !*output) return status;
  bsi_output *o = *output;
  *output = NULL;
  if (o->file) status = bsi_output_finish(o, status);
  status = bsi_new_file_close(&o->target, status);
  destroy(o);
  return status;
}
