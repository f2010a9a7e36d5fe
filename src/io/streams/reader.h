/* SPDX-License-Identifier: BSD-3-Clause */
/* The words and lines of a Matrix Market file, and failures that name them. */
#ifndef BSI_READER_H
#define BSI_READER_H

#include "io/streams/number.h"
#include "io/streams/stream.h"

typedef struct bsi_reader {
  bisai_context *context;
  bsi_stream *stream;
  /* a locale_t, or NULL */
  void *c_locale;
  /* the position in the current line; NULL after the last line */
  char *cursor;
} bsi_reader;

/* The beginning of a word for a message. Unprintable bytes are replaced, and long words are cut. */
typedef struct bsi_quote {
  char text[36];
} bsi_quote;

bisai_status bsi_reader_open(bisai_context *context, bsi_stream *stream, bsi_reader *reader);
void bsi_reader_close(bsi_reader *reader);

/* Fails with a message "line 7: …". */
bisai_status bsi_reader_fail(const bsi_reader *reader, bisai_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

bsi_quote bsi_quote_word(const char *word);

/* Goes to the next line that is neither blank nor a comment. */
bisai_status bsi_reader_next(bsi_reader *reader);

static inline char *bsi_skip_blanks(char *p) {
  while (bsi_is_blank(*p)) p++;
  return p;
}

/* Reads an index in 1 … limit. Returns 0 if the next word is something else, and leaves the cursor
 * at the word. */
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

/* Fails with the reason for which bsi_reader_index() returned 0. */
bisai_status bsi_reader_fail_index(const bsi_reader *reader, const char *what, int64_t limit);

/* Reads a size ≥ 0. A size that does not fit becomes INT64_MAX. */
bisai_status bsi_reader_size(bsi_reader *reader, const char *what, int64_t *size);

/* Reads a finite number. */
bisai_status bsi_reader_value(bsi_reader *reader, bool integer, double *value);

/* Checks that only blanks follow in the line. */
bisai_status bsi_reader_end(bsi_reader *reader);

#endif
