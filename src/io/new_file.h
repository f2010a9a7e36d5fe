/* SPDX-License-Identifier: BSD-3-Clause */
/* The place of a file that is being written.
 *
 * A file grows under another name beside its own and takes that when it is whole. What stood there
 * is kept until then, and when something fails. Some folders allow no new name, or no other file in
 * the old one's place: closed folders, files that are mount points, folders with the sticky bit. A
 * file that exists there is overwritten where it stands, which is not atomic. Pipes and devices are
 * written as they are. */
#ifndef BSI_NEW_FILE_H
#define BSI_NEW_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include <bisai/io.h>

typedef struct bsi_new_file {
  bisai_context *context;
  /* as the caller gave it */
  const char *path;
  /* the name behind all links; NULL: a pipe or a device */
  char *final;
  /* a file has that name already, … */
  bool exists;
  /* … with these rights */
  mode_t mode;
  /* it has no name that could be taken */
  bool unlinked;
  /* the name until the file is whole; NULL: it has none, and is written where it stands */
  char *temporary;
  /* the unfinished file before this one in the context's list */
  struct bsi_new_file *next;
} bsi_new_file;

/* Finds out what `path` names, which must outlive the target, and whether it may be written. End
 * with bsi_new_file_close(), which accepts a place that was never found. */
bisai_status bsi_new_file_find(bisai_context *context, const char *path, bsi_new_file *target);

/* Opens what bsi_new_file_find() has found. The caller closes the file. */
bisai_status bsi_new_file_open(bsi_new_file *target, FILE **file);

/* Gives the closed file its name where `status` and all else is well, and removes it otherwise. */
bisai_status bsi_new_file_close(bsi_new_file *target, bisai_status status);

#endif
