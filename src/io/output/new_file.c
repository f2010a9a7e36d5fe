/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/output/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/context/context_impl.h"
#include "io/streams/names.h"
#include "io/streams/stored.h"

enum { MAX_LINKS = 40, MAX_NAMES = 100, MAX_ENDING = 32, COPY_BYTES = 1 << 16 };

/* replaces the file's own name if that leaves no room for the ending */
static const char short_name[] = "bisai";

static bool is_same(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Joins the first `kept` bytes of `name` and `rest`, with room for `more` bytes. Returns NULL if
 * out of memory. */
static char *join(bisai_context *context, const char *name, size_t kept, const char *rest,
                  size_t more) {
  const size_t length = strlen(rest);
  char *text = bsi_allocate(context, kept + length + more + 1, 1);
  if (!text) return NULL;
  memcpy(text, name, kept);
  memcpy(text + kept, rest, length + 1);
  return text;
}

static size_t folder_length(const char *path) { return (size_t)(bsi_base_name(path) - path); }

/* Replaces *name, a link, by its target. */
static bisai_status follow(bisai_context *context, const char *path, char **name) {
  char target[4096];
  const ssize_t length = readlink(*name, target, sizeof target - 1);
  if (length < 0) return bsi_io_fail(context, "open", path, errno);
  target[length] = '\0';
  char *next = join(context, *name, target[0] == '/' ? 0 : folder_length(*name), target, 0);
  if (!next) return BISAI_OUT_OF_MEMORY;
  bsi_release(context, *name);
  *name = next;
  return BISAI_OK;
}

/* *final ← the name behind all links, so that the target of a link is written and not the link. No
 * file of that name may exist yet. */
static bisai_status find_final(bisai_context *context, const char *path, char **final) {
  struct stat entry;
  char *name = join(context, path, 0, path, 0);
  bisai_status status = name ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  for (int links = 0; !status && lstat(name, &entry) == 0 && S_ISLNK(entry.st_mode); links++)
    status = links < MAX_LINKS ? follow(context, path, &name)
                               : bsi_io_fail(context, "open", path, ELOOP);
  if (status)
    bsi_release(context, name);
  else
    *final = name;
  return status;
}

/* Returns the error of opening the file for writing, or 0. A file without permission to write must
 * not be replaced either, though its folder would allow that. */
static int refusal(const char *path) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return errno;
  close(file);
  return 0;
}

bisai_status bsi_new_file_find(bisai_context *context, const char *path, bsi_new_file *target) {
  struct stat about, behind;
  *target = (bsi_new_file){.context = context, .path = path};
  target->exists = stat(path, &about) == 0;
  int error = target->exists || errno == ENOENT ? 0 : errno;
  const bool special = target->exists && !S_ISREG(about.st_mode);
  if (special)
    error = S_ISDIR(about.st_mode)                             ? EISDIR
            : faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0 ? errno
                                                               : 0;
  else if (target->exists)
    error = refusal(path);
  if (error) return bsi_io_fail(context, "open", path, error);
  if (special) return BISAI_OK;
  BSI_TRY(find_final(context, path, &target->final));
  if (!target->exists) return BISAI_OK;
  target->mode = about.st_mode & 07777;
  /* A link of /proc/self/fd may lead to a file whose name has been deleted. */
  target->unlinked = lstat(target->final, &behind) != 0 || !is_same(&about, &behind);
  return BISAI_OK;
}

static bisai_status fail_to_open(const bsi_new_file *p, int error) {
  if (error == ENOMEM) return bsi_fail(p->context, BISAI_OUT_OF_MEMORY, "no memory to open a file");
  return bsi_io_fail(p->context, "open", p->path, error);
}

/* Makes the file FINAL.PROCESS-K.part, or with `base` instead of FINAL's own name. Returns its
 * descriptor, or -1 and errno. The context learns the name before the file is made, so that a
 * signal handler can always remove it. An existing file of that name can only be a leftover of a
 * process with the same number. */
static int make_temporary(bsi_new_file *p, const char *base) {
  const size_t folder = folder_length(p->final), length = folder + strlen(base);
  char *name = join(p->context, p->final, folder, base, MAX_ENDING);
  int file = -1;
  if (!name) {
    errno = ENOMEM;
    return -1;
  }
  for (int k = 0; k < MAX_NAMES && file < 0; k++) {
    snprintf(name + length, MAX_ENDING, ".%ld-%d.part", (long)getpid(), k);
    if (k == 0) {
      p->temporary = name;
      p->next = p->context->unfinished;
      p->context->unfinished = p;
    }
    file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, p->exists ? p->mode & 0777 : 0666);
    if (file < 0 && errno != EEXIST) break;
  }
  if (file < 0) {
    const int error = errno;
    p->context->unfinished = p->next;
    p->temporary = NULL;
    bsi_release(p->context, name);
    errno = error;
  }
  return file;
}

/* Makes a file beside the final one, with the permissions of the file that it replaces. Returns its
 * descriptor, or -1 and errno. */
static int open_temporary(bsi_new_file *p) {
  int file = make_temporary(p, bsi_base_name(p->final));
  if (file < 0 && errno == ENAMETOOLONG) file = make_temporary(p, short_name);
  /* a file system without permissions makes fchmod() fail, which does not matter */
  if (file >= 0 && p->exists) fchmod(file, p->mode);
  return file;
}

/* Returns true if `error`, from making a file, says that the folder takes no new files. */
static bool forbids_new_files(int error) {
  return error == EACCES || error == EPERM || error == EROFS || error == ENAMETOOLONG;
}

bisai_status bsi_new_file_open(bsi_new_file *p, FILE **file) {
  int opened = -1;
  errno = EACCES;
  if (p->final && !p->unlinked) opened = open_temporary(p);
  if (opened < 0 && (!p->final || (p->exists && forbids_new_files(errno))))
    opened = open(p->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
  *file = opened >= 0 ? fdopen(opened, "wb") : NULL;
  if (*file) return BISAI_OK;
  const bisai_status status = fail_to_open(p, errno);
  if (opened >= 0) close(opened);
  return status;
}

static bool write_all(int file, const char *bytes, size_t count) {
  while (count > 0) {
    const ssize_t written = write(file, bytes, count);
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) {
      bytes += written;
      count -= (size_t)written;
    }
  }
  return true;
}

/* Copies the file over the old one, which cannot be replaced: it is a mount point, or belongs to
 * another user in a folder with the sticky bit. */
static bool copy_over(const bsi_new_file *p) {
  char bytes[COPY_BYTES];
  const int from = open(p->temporary, O_RDONLY | O_CLOEXEC);
  const int to = from < 0 ? -1 : open(p->final, O_WRONLY | O_TRUNC | O_CLOEXEC);
  bool ok = to >= 0;
  while (ok) {
    const ssize_t count = read(from, bytes, sizeof bytes);
    if (count == 0) break;
    ok = count > 0 ? write_all(to, bytes, (size_t)count) : errno == EINTR;
  }
  int error = ok ? 0 : errno;
  if (from >= 0) close(from);
  if (to >= 0 && close(to) != 0 && !error) error = errno;
  errno = error;
  return error == 0;
}

bisai_status bsi_new_file_close(bsi_new_file *p, bisai_status status) {
  if (p->temporary) {
    const bool named = !status && rename(p->temporary, p->final) == 0;
    if (!status && !named && !(p->exists && copy_over(p)))
      status = bsi_io_fail(p->context, "write", p->path, errno);
    if (!named) unlink(p->temporary);
    p->context->unfinished = p->next;
    bsi_release(p->context, p->temporary);
  }
  bsi_release(p->context, p->final);
  *p = (bsi_new_file){0};
  return status;
}

bisai_status bisai_write_check(bisai_context *context, const char *path) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!path) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_write_check: path is NULL");
  bsi_new_file target;
  bisai_status status = bsi_new_file_find(context, path, &target);
  if (!status && !target.exists) {
    const int file = open_temporary(&target);
    if (file >= 0)
      close(file);
    else
      status = fail_to_open(&target, errno);
  }
  bsi_new_file_close(&target, status ? status : BISAI_STOPPED); /* removes the file */
  return status;
}

/* *same ← true if two names, neither of which exists yet, would make the same file. */
static bisai_status would_be_same(bisai_context *context, const char *a, const char *b,
                                  bool *same) {
  char *names[2] = {NULL, NULL};
  struct stat folders[2];
  bool found = true;
  bisai_status status = find_final(context, a, &names[0]);
  if (!status) status = find_final(context, b, &names[1]);
  if (!status && strcmp(bsi_base_name(names[0]), bsi_base_name(names[1])) == 0) {
    for (int i = 0; i < 2; i++) {
      const size_t length = folder_length(names[i]);
      names[i][length] = '\0';
      found = stat(length ? names[i] : ".", &folders[i]) == 0 && found;
    }
    *same = found && is_same(&folders[0], &folders[1]);
  }
  bsi_release(context, names[0]);
  bsi_release(context, names[1]);
  return status;
}

bisai_status bisai_write_same_file(bisai_context *context, const char *a, const char *b,
                                   bool *same) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!a || !b || !same)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_write_same_file: %s is NULL",
                    a && b ? "same" : "a name");
  struct stat entries[2];
  const bool first = stat(a, &entries[0]) == 0, second = stat(b, &entries[1]) == 0;
  *same = false;
  if (!first && !second) return would_be_same(context, a, b, same);
  *same = first && second && !S_ISCHR(entries[0].st_mode) && is_same(&entries[0], &entries[1]);
  return BISAI_OK;
}

void bisai_write_abandon(bisai_context *context) {
  for (const bsi_new_file *p = context ? context->unfinished : NULL; p; p = p->next)
    unlink(p->temporary);
}
