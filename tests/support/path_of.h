/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes in memory as a file that the library can read. */
#ifndef BISAI_TEST_PATH_OF_H
#define BISAI_TEST_PATH_OF_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the path of a file with these bytes. It has no name in a folder, so that nothing lies
 * beside it, and is on no disk. The next call of the same thread in the same source file replaces
 * its bytes. */
static inline const char *test_path_of(const void *bytes, size_t count) {
  static _Thread_local int file = -1;
  static _Thread_local char path[64];
  if (file < 0) {
    snprintf(path, sizeof path, "/bisai-%d-%p", (int)getpid(), (void *)path);
    file = shm_open(path, O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    shm_unlink(path);
    snprintf(path, sizeof path, "/dev/fd/%d", file);
  }
  if (file < 0 || ftruncate(file, 0) || pwrite(file, bytes, count, 0) != (ssize_t)count) abort();
  return path;
}

#endif
