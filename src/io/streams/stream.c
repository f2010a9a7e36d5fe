/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/streams/stream.h"

#include <inttypes.h>
#include <string.h>

#include "core/context/context_impl.h"

struct bsi_stream {
  bisai_context *context;
  bsi_source *source;
  /* the text begin … end was read and not returned */
  char *buffer;
  size_t begin, end;
  bool ended;
  int64_t line;
};

bisai_status bsi_stream_open(bsi_source *source, bsi_stream **stream) {
  bisai_context *context = bsi_source_context(source);
  bsi_stream *s = bsi_allocate(context, 1, sizeof *s);
  if (!s) return BISAI_OUT_OF_MEMORY;
  *s = (bsi_stream){.context = context, .source = source};
  /* one more byte for the '
   *
   * ' of the last line */
  s->buffer = bsi_allocate(context, BSI_STREAM_LINE_BYTES + 1, 1);
  if (!s->buffer) {
    bsi_stream_close(&s);
    return BISAI_OUT_OF_MEMORY;
  }
  *stream = s;
  return BISAI_OK;
}

void bsi_stream_close(bsi_stream **stream) {
  if (!stream || !*stream) return;
  bsi_stream *s = *stream;
  *stream = NULL;
  bsi_release(s->context, s->buffer);
  bsi_release(s->context, s);
}

/* Reads more text behind the remaining text of the buffer. */
static bisai_status fill(bsi_stream *s) {
  const size_t left = s->end - s->begin;
  memmove(s->buffer, s->buffer + s->begin, left);
  s->begin = 0;
  s->end = left;
  const size_t space = BSI_STREAM_LINE_BYTES - left;
  if (space == 0)
    return bsi_fail(s->context, BISAI_PARSE_ERROR, "line %" PRId64 ": longer than %d bytes",
                    s->line + 1, BSI_STREAM_LINE_BYTES);
  size_t got = 0;
  BSI_TRY(bsi_source_read(s->source, s->buffer + left, space, &got));
  s->ended = got == 0;
  s->end += got;
  return BISAI_OK;
}

bisai_status bsi_stream_next(bsi_stream *s, char **line) {
  size_t searched = s->begin;
  char *end = NULL;
  for (;;) {
    if (searched < s->end) end = memchr(s->buffer + searched, '\n', s->end - searched);
    if (end) break;
    if (s->ended && s->begin == s->end) {
      *line = NULL;
      return BISAI_OK;
    }
    if (s->ended) {
      end = s->buffer + s->end;
      *end = '\n';
      s->end++;
      break;
    }
    const size_t left = s->end - s->begin;
    BSI_TRY(fill(s));
    searched = left;
  }
  *line = s->buffer + s->begin;
  s->begin = (size_t)(end - s->buffer) + 1;
  s->line++;
  return BISAI_OK;
}

int64_t bsi_stream_line_number(const bsi_stream *s) { return s->line; }
