/* SPDX-License-Identifier: BSD-3-Clause */
/* What a file says: its bytes, decompressed on the way where the first of them say so, and the
 * members of a tar archive one after the other. */
#ifndef BSI_SOURCE_H
#define BSI_SOURCE_H

#include <stdbool.h>

#include <bisai/io.h>

typedef struct bsi_source bsi_source;

/* `path` must outlive the source. `progress` may be NULL; it hears of an archive after the first
 * bsi_source_rewind() only. */
bisai_status bsi_source_open_file(bisai_context *context, const char *path, bisai_progress progress,
                                  void *user, bsi_source **source);
/* `data` is not copied. */
bisai_status bsi_source_open_memory(bisai_context *context, const void *data, size_t bytes,
                                    bsi_source **source);
void bsi_source_close(bsi_source **source);

bisai_context *bsi_source_context(const bsi_source *source);

/* The path; "memory" where there is none. */
const char *bsi_source_path(const bsi_source *source);

/* As many bytes as are asked for, fewer at the end only. */
bisai_status bsi_source_read(bsi_source *source, void *target, size_t bytes, size_t *got);

/* The next BSI_PEEK_BYTES bytes, which stay to be read; fewer at the end only. */
enum { BSI_PEEK_BYTES = 8 };
bisai_status bsi_source_peek(bsi_source *source, const unsigned char **bytes, size_t *count);

/* Bytes that have not been read; -1 where that is not known. */
int64_t bsi_source_left(const bsi_source *source);

/* Bytes that have been read, of an archive those of the member. */
int64_t bsi_source_taken(const bsi_source *source);

/* Reads a compressed file to its end, so that its checks are made, and fails where one of them
 * does. Nothing can be read after it. */
bisai_status bsi_source_finish(bsi_source *source);

/* A tar archive is read member by member, and has no bytes before its first one. */
bool bsi_source_is_archive(const bsi_source *source);

/* Goes to the next regular file in it; its name lives until the next call and is NULL after the
 * last. */
bisai_status bsi_source_next_member(bsi_source *source, const char **name);

/* Back to the beginning; an archive's before its first member. */
bisai_status bsi_source_rewind(bsi_source *source);

#endif
