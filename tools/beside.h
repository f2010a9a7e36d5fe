/* SPDX-License-Identifier: BSD-3-Clause */
/* The right-hand side beside a Matrix Market file: NAME_b.mtx beside NAME.mtx. SuiteSparse's
 * archives unpack to such files, and convert writes them. */
#ifndef TOOL_BESIDE_H
#define TOOL_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the position of the last .mtx in the name of a file, or the length of the name. */
size_t beside_ending(const char *path);

/* Returns the name with the same ending, for example NAME_b.mtx.gz for NAME.mtx.gz. The caller
 * frees it with free(). NULL: out of memory. */
char *beside_name(const char *path);

/* *found ← the name of the file that exists, or NULL. The caller frees it with free(). The ending
 * of the matrix is tried first, then .mtx, .mtx.gz, .mtx.xz, .mtx.bz2 and .mtx.zst. If the matrix
 * is a pipe or a device, nothing is found. The result is never a pipe or a device. Returns false,
 * with a message, if there is no memory. */
bool beside_find(const char *path, char **found);

#endif
