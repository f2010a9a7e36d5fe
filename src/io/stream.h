/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of a source. */
#ifndef BSI_STREAM_H
#define BSI_STREAM_H

#include "io/source.h"

/* A line with its end may have as many bytes. */
enum { BSI_STREAM_LINE_BYTES = 1 << 18 };

typedef struct bsi_stream bsi_stream;

/* From where the source is. The source is the caller's and must not be read otherwise before the
 * stream is closed. */
bisai_status bsi_stream_open(bsi_source *source, bsi_stream **stream);
void bsi_stream_close(bsi_stream **stream);

/* The next line, ended by '\n' even where the file's last line is not; NULL after the last. It may
 * be written to and lives until the next call. */
bisai_status bsi_stream_next(bsi_stream *stream, char **line);

/* The number of the line last returned, from 1. */
int64_t bsi_stream_line_number(const bsi_stream *stream);

#endif
