/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a file or of a piece of memory as they are stored, and failures of system calls as
 * statuses. */
#ifndef BSI_STORED_H
#define BSI_STORED_H

#include <stdbool.h>
#include <sys/types.h>

#include <bisai/io.h>

typedef struct bsi_stored {
  bisai_context *context;
  const char *path;
  /* -1: memory */
  int file;
  int error;
  const char *memory;
  /* bytes; total 0: not known */
  int64_t read, total, reported;
  bool ended;
  bisai_progress progress;
  void *progress_user;
} bsi_stored;

/* Bytes that are read at a time. */
enum { BSI_STORED_CHUNK = 1 << 16 };

/* `path` must outlive it. */
bisai_status bsi_stored_open_file(bisai_context *context, const char *path, bsi_stored *stored);
/* `data` is not copied. */
void bsi_stored_open_memory(bisai_context *context, const void *data, size_t bytes,
                            bsi_stored *stored);
void bsi_stored_close(bsi_stored *stored);

/* The number of bytes, fewer than asked for at the end only; -1 on failure, with `error`. */
ssize_t bsi_stored_read(bsi_stored *stored, void *target, size_t bytes);

/* From now on `progress`, which may be NULL, hears of what is read. */
void bsi_stored_watch(bsi_stored *stored, bisai_progress progress, void *user);

/* Back to the first byte. */
bisai_status bsi_stored_rewind(bsi_stored *stored);

/* Whether that is possible: a pipe passes only once. */
bool bsi_stored_can_rewind(const bsi_stored *stored);

/* Whether a path names something that opening again does not bring back: a pipe, a socket or a
 * device. */
bool bsi_path_passes_once(const char *path);

/* An empty temporary file without a name, in $TMPDIR or /tmp, to be filled by bsi_stored_append()
 * and read after bsi_stored_rewind(). Messages name it by `path`, which must outlive it. */
bisai_status bsi_stored_open_temporary(bisai_context *context, const char *path,
                                       bsi_stored *stored);
bisai_status bsi_stored_append(bsi_stored *stored, const void *bytes, size_t count);

/* A failed system call on `path` as a status: "cannot open x.mtx: No such file or directory". */
bisai_status bsi_io_fail(bisai_context *context, const char *action, const char *path, int error);
#ifdef __clang_analyzer__ /* as bsi_fail: core/context_impl.h */
#define bsi_io_fail(context, action, path, error)                                                  \
  ((void)(bsi_io_fail)(context, action, path, error), BISAI_IO_ERROR)
#endif

/* The same for a failure that has its own words. Of a long path the end is shown. */
bisai_status bsi_io_fail_because(bisai_context *context, const char *action, const char *path,
                                 const char *reason);

#endif
