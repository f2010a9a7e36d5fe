/* SPDX-License-Identifier: BSD-3-Clause */
/* A file that is being written.
 *
 * A file is written under a temporary name beside its own and renamed when it is complete. An old
 * file of that name is kept until then, and if anything fails. Some folders allow no new file or no
 * replacement: folders without write permission, folders with the sticky bit, and files that are
 * mount points. There an existing file is overwritten in place, which is not atomic. Pipes and
 * devices are written directly. */
#ifndef BSI_NEW_FILE_H
#define BSI_NEW_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include <bisai/io.h>

typedef struct bsi_new_file {
  bisai_context *context;
  /* the caller's path */
  const char *path;
  /* the name behind all links; NULL: the path is a pipe or a device */
  char *final;
  /* a file of that name exists */
  bool exists;
  /* its permissions */
  mode_t mode;
  /* the existing file has no name any more, so that it cannot be replaced */
  bool unlinked;
  /* the temporary name until the file is complete; NULL: there is none, and the file is written in
   * place */
  char *temporary;
  /* the next file in the context's list of unfinished files */
  struct bsi_new_file *next;
} bsi_new_file;

/* Finds what `path` names and whether it may be written. `path` must outlive the target. End with
 * bsi_new_file_close(), which accepts a target that was never found. */
bisai_status bsi_new_file_find(bisai_context *context, const char *path, bsi_new_file *target);

/* Opens the file that bsi_new_file_find() has found. The caller closes it. */
bisai_status bsi_new_file_open(bsi_new_file *p, FILE **file);

/* If `status` is BISAI_OK, gives the closed file its final name; otherwise removes it. */
bisai_status bsi_new_file_close(bsi_new_file *p, bisai_status status);

#endif
