/* SPDX-License-Identifier: BSD-3-Clause */
/* The right-hand side that stands beside a Matrix Market file: NAME_b.mtx beside NAME.mtx, as
 * SuiteSparse's archives unpack and as convert writes it. */
#ifndef TOOL_BESIDE_H
#define TOOL_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

/* The place of the last .mtx in the name of a file, or its end. */
size_t beside_ending(const char *path);

/* The name with the same ending, NAME_b.mtx.gz for NAME.mtx.gz; free with free(). NULL: out of
 * memory. */
char *beside_name(const char *path);

/* The file that is there, or *found = NULL; free with free(). The one with the matrix's own ending
 * comes first, then .mtx, .mtx.gz, .mtx.xz, .mtx.bz2 and .mtx.zst. Neither the matrix nor what is
 * found is a pipe or a device. False: out of memory, which has been said. */
bool beside_find(const char *path, char **found);

#endif
