/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of a source. */
#ifndef BSI_STREAM_H
#define BSI_STREAM_H

#include "io/streams/source.h"

/* The maximum length of a line with its '
 *
 * '. */
enum { BSI_STREAM_LINE_BYTES = 1 << 18 };

typedef struct bsi_stream bsi_stream;

/* Opens a stream at the position of the source. The caller owns the source and must not read from
 * it before the stream is closed. */
bisai_status bsi_stream_open(bsi_source *source, bsi_stream **stream);
void bsi_stream_close(bsi_stream **stream);

/* *line ← the next line, which ends with '
 *
 * ' even if the file's last line does not; NULL after the last. The line may be written to and
 * lives until the next call. */
bisai_status bsi_stream_next(bsi_stream *stream, char **line);

/* Returns the number of the last returned line, from 1. */
int64_t bsi_stream_line_number(const bsi_stream *stream);

#endif
