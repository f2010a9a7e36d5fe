#include "target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

/* 0, or why nothing can be made at a path that names nothing yet: its folder is missing or closed. */
static int refusal_of_new(const char *path, bool folder) {
  size_t length = strlen(path);
  while (folder && length > 1 && path[length - 1] == '/') {
    --length;
  }
  while (length > 0 && path[length - 1] != '/') {
    --length;
  }
  char *parent = length ? strndup(path, length) : strdup(".");
  if (!parent) return ENOMEM;
  int error = access(parent, W_OK | X_OK) == 0 ? 0 : errno;
  free(parent);
  return error;
}

static bool check(const char *flag, const char *path, bool folder) {
  struct stat entry;
  int error = 0;
  if (stat(path, &entry) != 0) {
    error = errno == ENOENT ? refusal_of_new(path, folder) : errno;
  } else if (folder && !S_ISDIR(entry.st_mode)) {
    say("%s: %s: not a folder", flag, path);
    return false;
  } else if (!folder && S_ISDIR(entry.st_mode)) {
    error = EISDIR;
  } else if (access(path, folder ? W_OK | X_OK : W_OK) != 0) {
    error = errno;
  }
  if (error) say("%s: %s: %s", flag, path, strerror(error));
  return error == 0;
}

bool target_check_file(const char *flag, const char *path) { return check(flag, path, false); }

bool target_check_folder(const char *flag, const char *path) { return check(flag, path, true); }

bool target_check_other(const char *flag, const char *path, const char *other_flag, const char *other) {
  struct stat a, b;
  if (!path || !other) return true;
  bool same = strcmp(path, other) == 0;
  if (stat(path, &a) == 0 && stat(other, &b) == 0)
    same = S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  if (same) say("%s: %s: the same file as %s", flag, path, other_flag);
  return !same;
}
