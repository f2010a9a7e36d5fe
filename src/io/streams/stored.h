/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a file as they are stored, and failures of system calls as statuses. */
#ifndef BSI_STORED_H
#define BSI_STORED_H

#include <stdbool.h>
#include <sys/types.h>

#include <bisai/io.h>

typedef struct bsi_stored {
  bisai_context *context;
  const char *path;
  /* the file descriptor */
  int file;
  int error;
  /* numbers of bytes; total 0: unknown */
  int64_t read, total, reported;
  bool ended;
  bisai_progress progress;
  void *progress_user;
} bsi_stored;

/* The bytes that are read at a time. */
enum { BSI_STORED_CHUNK = 1 << 16 };

/* `path` must outlive `stored`. */
bisai_status bsi_stored_open_file(bisai_context *context, const char *path, bsi_stored *stored);
void bsi_stored_close(bsi_stored *stored);

/* Reads `bytes` bytes, fewer only at the end. Returns their number, or -1 after a failure, which
 * `error` holds. */
ssize_t bsi_stored_read(bsi_stored *stored, void *target, size_t bytes);

/* Reports bytes that are read from now on to `progress`, which may be NULL. */
void bsi_stored_watch(bsi_stored *stored, bisai_progress progress, void *user);

/* Returns to the first byte. */
bisai_status bsi_stored_rewind(bsi_stored *stored);

/* Returns true if bsi_stored_rewind() is possible. It is not for a pipe. */
bool bsi_stored_can_rewind(const bsi_stored *stored);

/* Returns true if a path names a pipe, a socket or a device, whose bytes can be read only once. */
bool bsi_path_passes_once(const char *path);

/* Opens an empty temporary file without a name in $TMPDIR or /tmp. bsi_stored_append() fills it,
 * and it is read after bsi_stored_rewind(). Messages name it by `path`, which must outlive it. */
bisai_status bsi_stored_open_temporary(bisai_context *context, const char *path,
                                       bsi_stored *stored);
bisai_status bsi_stored_append(bsi_stored *stored, const void *bytes, size_t count);

/* Fails with the message of a system call on `path`: "cannot open x.mtx: No such file or
 * directory". */
bisai_status bsi_io_fail(bisai_context *context, const char *action, const char *path, int error);
#ifdef __clang_analyzer__ /* as bsi_fail: core/context/context_impl.h */
#define bsi_io_fail(context, action, path, error)                                                  \
  ((void)(bsi_io_fail)(context, action, path, error), BISAI_IO_ERROR)
#endif

/* The same with a reason in words. The message shows the end of a long path. */
bisai_status bsi_io_fail_because(bisai_context *context, const char *action, const char *path,
                                 const char *reason);

#endif
