/* The lines of a file or of a piece of memory, decompressed on the way where their first bytes say gzip or xz. */
#ifndef BSI_STREAM_H
#define BSI_STREAM_H

#include <bisai/io.h>

/* A line with its end may have as many bytes. */
enum { BSI_STREAM_LINE_BYTES = 1 << 18 };

typedef struct bsi_stream bsi_stream;

/* `path` must outlive the stream. `progress` may be NULL. */
bisai_status bsi_stream_open_file(bisai_context *context, const char *path, bisai_progress progress, void *user,
                                  bsi_stream **stream);
/* `data` is not copied. */
bisai_status bsi_stream_open_memory(bisai_context *context, const void *data, size_t bytes, bsi_stream **stream);
void bsi_stream_close(bsi_stream **stream);

/* The next line, ended by '\n' even where the file's last line is not; NULL after the last. It may be written to and lives until
 * the next call. */
bisai_status bsi_stream_next(bsi_stream *stream, char **line);

/* Bytes of the whole text; 0 where that is not known beforehand. */
int64_t bsi_stream_text_bytes(const bsi_stream *stream);

/* The number of the line last returned, from 1. */
int64_t bsi_stream_line_number(const bsi_stream *stream);

/* A failed system call on `path` as a status: "cannot open x.mtx: No such file or directory". */
bisai_status bsi_io_fail(bisai_context *context, const char *action, const char *path, int error);

#endif
