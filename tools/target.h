/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of the files and folders that a command writes to, before a computation that may be long.
 * They change nothing that exists. */
#ifndef TOOL_TARGET_H
#define TOOL_TARGET_H

#include <stdbool.h>

#include <bisai/io.h>

/* A file with the option that gave it, for example "--output". The name is NULL if there is
 * none. */
typedef struct target {
  const char *flag, *path;
} target;

/* Returns true if every output can be written without overwriting an input, an earlier output, or
 * the file of standard output. Otherwise prints a message. */
bool target_check(bisai_context *context, int outputs, const target *output, int inputs,
                  const target *input);

/* The same for a file beside an output that the user has not named. The file must not exist unless
 * `force` is set. */
bool target_check_beside(bisai_context *context, target beside, int inputs, const target *input,
                         bool force);

/* Returns true if the folder exists or can be made. Otherwise prints a message. */
bool target_check_folder(const char *flag, const char *path);

/* Returns true if `path` names a file or nothing yet, and neither a pipe nor a device. */
bool target_is_file(const char *path);

/* Writes a text to an output that target_check() has accepted. Prints a message and returns false
 * on failure. */
bool target_write(bisai_context *context, target output, const char *text);

/* Opens /dev/null for each standard stream that is closed, so that no file takes its number. */
void target_open_standard(void);

/* Returns true if standard output was closed when the program started. Nobody would see its
 * contents. */
bool target_standard_is_closed(void);

#endif
