/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that are made byte by byte: tar archives and PETSc's big-endian numbers. */
#ifndef BISAI_TEST_BYTES_H
#define BISAI_TEST_BYTES_H

#include "files.h"

void bytes_append(test_text *text, const void *bytes, size_t count);

/* Big-endian integers of `width` bytes, and doubles. */
void bytes_integer(test_text *text, int width, int64_t value);
void bytes_double(test_text *text, double value);

/* A member of a tar archive (POSIX ustar): its header, `count` bytes and what fills up the last
 * block. `type`: '0' a file, '5' a folder, '2' a symbolic link. */
void tar_member(test_text *text, char type, const char *name, const void *bytes, size_t count);
/* The same for a text that is ended by '\0'. */
void tar_text(test_text *text, const char *name, const char *content);
/* The two empty blocks at the end. */
void tar_end(test_text *text);
/* Ends an archive, writes it to a file, and frees the text. */
void tar_write(test_text *text, const char *path);

#endif
