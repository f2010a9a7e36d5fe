/* SPDX-License-Identifier: BSD-3-Clause */
/* Words and lines of a Matrix Market file, and failures that name them. */
#ifndef BSI_READER_H
#define BSI_READER_H

#include "io/number.h"
#include "io/stream.h"

typedef struct bsi_reader {
  bisai_context *context;
  bsi_stream *stream;
  locale_t c_locale;
  /* in the current line; NULL after the last */
  char *cursor;
} bsi_reader;

/* The start of a word for a message: unprintable bytes replaced, long ones cut. */
typedef struct bsi_quote {
  char text[36];
} bsi_quote;

bisai_status bsi_reader_open(bisai_context *context, bsi_stream *stream, bsi_reader *reader);
void bsi_reader_close(bsi_reader *reader);

/* "line 7: …" */
bisai_status bsi_reader_fail(const bsi_reader *reader, bisai_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

bsi_quote bsi_quote_word(const char *word);

/* The next line that is neither blank nor a comment. */
bisai_status bsi_reader_next(bsi_reader *reader);

static inline char *bsi_skip_blanks(char *p) {
  while (bsi_is_blank(*p)) p++;
  return p;
}

/* 1 … limit, or 0 where the next word is something else; the cursor is then left at the word. */
static inline int64_t bsi_reader_index(bsi_reader *reader, int64_t limit) {
  char *p = reader->cursor = bsi_skip_blanks(reader->cursor);
  if (*p == '+') p++;
  if (!bsi_is_digit(*p)) return 0;
  int64_t value = 0;
  for (; bsi_is_digit(*p) && value <= INT64_MAX / 10 - 1; p++) value = value * 10 + (*p - '0');
  if (!bsi_ends_word(*p) || value < 1 || value > limit) return 0;
  reader->cursor = p;
  return value;
}

/* Why bsi_reader_index() returned 0. */
bisai_status bsi_reader_fail_index(const bsi_reader *reader, const char *what, int64_t limit);

/* A size ≥ 0; larger ones than any limit become INT64_MAX. */
bisai_status bsi_reader_size(bsi_reader *reader, const char *what, int64_t *size);

/* A finite number. */
bisai_status bsi_reader_value(bsi_reader *reader, bool integer, double *value);

/* Nothing but blanks until the end of the line. */
bisai_status bsi_reader_end(bsi_reader *reader);

#endif
