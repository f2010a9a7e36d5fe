/* SPDX-License-Identifier: BSD-3-Clause */
/* The files and folders that a command writes to, looked at before a computation that may be long.
 * Nothing that exists is changed. */
#ifndef TOOL_TARGET_H
#define TOOL_TARGET_H

#include <stdbool.h>

#include <bisai/io.h>

/* A file as the user knows it: "--output" and its name. NULL for a name: there is none. */
typedef struct target {
  const char *flag, *path;
} target;

/* Whether every output can be written without harm to an input, to an output before it, or to the
 * file that standard output goes to. Says what is wrong. */
bool target_check(bisai_context *context, int outputs, const target *output, int inputs,
                  const target *input);

/* Whether a file that stands beside an output and that the user has not named may be written: as
 * above, and none is there yet unless `force` is set. */
bool target_check_beside(bisai_context *context, target beside, int inputs, const target *input,
                         bool force);

/* Whether a folder is there or can be made. Says what is wrong. */
bool target_check_folder(const char *flag, const char *path);

/* Whether `path` names a file, or nothing yet: neither a pipe nor a device. */
bool target_is_file(const char *path);

/* Writes a text where target_check() has looked. Says what is wrong. */
bool target_write(bisai_context *context, target output, const char *text);

/* Opens /dev/null for what is closed of standard input, output and error, so that no file takes
 * their place. */
void target_open_standard(void);

/* Whether standard output was closed when the program started: nobody would see what is written
 * there. */
bool target_standard_is_closed(void);

#endif
