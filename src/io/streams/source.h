/* SPDX-License-Identifier: BSD-3-Clause */
/* The content of a file: its bytes, decompressed if the first bytes announce a compression, or the
 * members of a tar or zip archive one after the other. */
#ifndef BSI_SOURCE_H
#define BSI_SOURCE_H

#include <stdbool.h>

#include <bisai/io.h>

typedef struct bsi_source bsi_source;

/* `path` must outlive the source. `progress` may be NULL. For an archive it is called only after
 * the first bsi_source_rewind(). */
bisai_status bsi_source_open_file(bisai_context *context, const char *path, bisai_progress progress,
                                  void *user, bsi_source **source);
void bsi_source_close(bsi_source **source);

bisai_context *bsi_source_context(const bsi_source *source);

/* Returns the path. */
const char *bsi_source_path(const bsi_source *source);

/* Reads `bytes` bytes, fewer only at the end. */
bisai_status bsi_source_read(bsi_source *source, void *target, size_t bytes, size_t *got);

/* Returns the next BSI_PEEK_BYTES bytes without taking them, fewer only at the end. */
enum { BSI_PEEK_BYTES = 8 };
bisai_status bsi_source_peek(bsi_source *source, const unsigned char **bytes, size_t *count);

/* Returns the number of bytes that have not been read, or -1 if it is unknown. */
int64_t bsi_source_left(const bsi_source *source);

/* Returns the number of bytes that have been read; of an archive, those of the present member. */
int64_t bsi_source_taken(const bsi_source *source);

/* Reads a compressed file to its end, so that its checks are made. Fails if one of them fails.
 * Nothing can be read after it. */
bisai_status bsi_source_finish(bsi_source *source);

/* Returns true for a tar archive, which is read member by member and has no bytes before its first
 * member. */
bool bsi_source_is_archive(const bsi_source *source);

/* Returns true for a zip archive, which is read likewise. */
bool bsi_source_is_zip(const bsi_source *source);

/* Goes to the next regular file in an archive. Its name lives until the next call and is NULL after
 * the last member. */
bisai_status bsi_source_next_member(bsi_source *source, const char **name);

/* Returns to the beginning; in an archive, before its first member. */
bisai_status bsi_source_rewind(bsi_source *source);

#endif
