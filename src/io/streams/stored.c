/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/streams/stored.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/context/context_impl.h"

enum { PATH_SHOWN = 120 };
static const int64_t progress_step = 4 << 20;

bisai_status bsi_io_fail_because(bisai_context *context, const char *action, const char *path,
                                 const char *reason) {
  const size_t length = strlen(path);
  const bool cut = length > PATH_SHOWN;
  return bsi_fail(context, BISAI_IO_ERROR, "cannot %s %s%s: %s", action, cut ? "..." : "",
                  cut ? path + length - PATH_SHOWN : path, reason);
}

bisai_status(bsi_io_fail)(bisai_context *context, const char *action, const char *path, int error) {
  char reason[128];
  if (strerror_r(error, reason, sizeof reason) != 0) strcpy(reason, "unknown error");
  return bsi_io_fail_because(context, action, path, reason);
}

bisai_status bsi_stored_open_file(bisai_context *context, const char *path, bsi_stored *stored) {
  *stored = (bsi_stored){.context = context, .path = path};
  stored->file = open(path, O_RDONLY | O_CLOEXEC);
  if (stored->file < 0) return bsi_io_fail(context, "open", path, errno);
  struct stat about;
  if (fstat(stored->file, &about) == 0 && S_ISREG(about.st_mode)) stored->total = about.st_size;
  return BISAI_OK;
}

void bsi_stored_close(bsi_stored *stored) {
  if (stored->file >= 0) close(stored->file);
  stored->file = -1;
}

static void report_progress(bsi_stored *s) {
  if (!s->progress || s->reported == s->read) return;
  if (!s->ended && s->read - s->reported < progress_step) return;
  s->reported = s->read;
  s->progress(s->progress_user, s->read, s->total);
}

ssize_t bsi_stored_read(bsi_stored *s, void *target, size_t bytes) {
  size_t got = 0;
  while (got < bytes) {
    const ssize_t count = read(s->file, (char *)target + got, bytes - got);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      s->error = errno;
      return -1;
    }
    if (count == 0) break;
    got += (size_t)count;
  }
  s->read += (int64_t)got;
  s->ended = got < bytes;
  report_progress(s);
  return (ssize_t)got;
}

void bsi_stored_watch(bsi_stored *s, bisai_progress progress, void *user) {
  s->progress = progress;
  s->progress_user = user;
  report_progress(s);
}

bool bsi_stored_can_rewind(const bsi_stored *s) { return lseek(s->file, 0, SEEK_CUR) >= 0; }

bool bsi_path_passes_once(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 &&
         (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode) || S_ISCHR(about.st_mode));
}

bisai_status bsi_stored_open_temporary(bisai_context *context, const char *path,
                                       bsi_stored *stored) {
  enum { MAX_PATH_BYTES = 4096 };
  static const char action[] = "make a temporary file in";
  char name[MAX_PATH_BYTES];
  const char *folder = getenv("TMPDIR");
  *stored = (bsi_stored){.context = context, .path = path, .file = -1};
  if (!folder || !*folder) folder = "/tmp";
  if (snprintf(name, sizeof name, "%s/bisai-XXXXXX", folder) >= MAX_PATH_BYTES)
    return bsi_io_fail(context, action, folder, ENAMETOOLONG);
  stored->file = mkstemp(name);
  if (stored->file < 0) return bsi_io_fail(context, action, folder, errno);
  unlink(name);
  fcntl(stored->file, F_SETFD, FD_CLOEXEC);
  return BISAI_OK;
}

bisai_status bsi_stored_append(bsi_stored *s, const void *bytes, size_t count) {
  for (size_t done = 0; done < count;) {
    const ssize_t some = write(s->file, (const char *)bytes + done, count - done);
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) return bsi_io_fail(s->context, "write a temporary copy of", s->path, errno);
    done += (size_t)some;
  }
  s->total += (int64_t)count;
  return BISAI_OK;
}

bisai_status bsi_stored_rewind(bsi_stored *s) {
  if (lseek(s->file, 0, SEEK_SET) != 0) return bsi_io_fail(s->context, "rewind", s->path, errno);
  s->read = s->reported = 0;
  s->ended = false;
  return BISAI_OK;
}
