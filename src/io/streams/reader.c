/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/streams/reader.h"

#include <inttypes.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/context/context_impl.h"

bisai_status bsi_reader_open(bisai_context *context, bsi_stream *stream, bsi_reader *reader) {
  *reader = (bsi_reader){.context = context, .stream = stream};
  reader->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!reader->c_locale) return bsi_fail(context, BISAI_OUT_OF_MEMORY, "cannot make the C locale");
  return BISAI_OK;
}

void bsi_reader_close(bsi_reader *reader) {
  if (reader->c_locale) freelocale(reader->c_locale);
  reader->c_locale = NULL;
}

bisai_status bsi_reader_fail(const bsi_reader *reader, bisai_status status, const char *format,
                             ...) {
  char text[200];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return bsi_fail(reader->context, status, "line %" PRId64 ": %s",
                  bsi_stream_line_number(reader->stream), text);
}

bsi_quote bsi_quote_word(const char *word) {
  bsi_quote quote = {{0}};
  const size_t room = sizeof quote.text - 4;
  size_t n = 0;
  for (; n < room && !bsi_ends_word(word[n]); n++) {
    quote.text[n] = word[n];
    if (word[n] < 0x20 || word[n] >= 0x7f) quote.text[n] = '?';
  }
  if (!bsi_ends_word(word[n])) memcpy(quote.text + n, "...", 4);
  return quote;
}

bisai_status bsi_reader_next(bsi_reader *reader) {
  for (;;) {
    BSI_TRY(bsi_stream_next(reader->stream, &reader->cursor));
    if (!reader->cursor) return BISAI_OK;
    reader->cursor = bsi_skip_blanks(reader->cursor);
    if (*reader->cursor != '\n' && *reader->cursor != '%') return BISAI_OK;
  }
}

bisai_status bsi_reader_fail_index(const bsi_reader *reader, const char *what, int64_t limit) {
  const char *word = reader->cursor;
  if (*word == '\n') return bsi_reader_fail(reader, BISAI_PARSE_ERROR, "the %s is missing", what);
  if (bsi_number_is_integer(word))
    return bsi_reader_fail(reader, BISAI_PARSE_ERROR, "%s %s is outside 1 … %" PRId64, what,
                           bsi_quote_word(word).text, limit);
  return bsi_reader_fail(reader, BISAI_PARSE_ERROR, "the %s '%s' is not an integer", what,
                         bsi_quote_word(word).text);
}

bisai_status bsi_reader_size(bsi_reader *reader, const char *what, int64_t *size) {
  char *p = reader->cursor = bsi_skip_blanks(reader->cursor);
  if (*p == '\n') return bsi_reader_fail(reader, BISAI_PARSE_ERROR, "the %s is missing", what);
  if (!bsi_number_is_integer(p))
    return bsi_reader_fail(reader, BISAI_PARSE_ERROR, "the %s '%s' is not an integer", what,
                           bsi_quote_word(p).text);
  if (*p == '-')
    return bsi_reader_fail(reader, BISAI_PARSE_ERROR, "the %s %s is negative", what,
                           bsi_quote_word(p).text);
  p += *p == '+';
  int64_t value = 0;
  for (; bsi_is_digit(*p); p++)
    value = value <= INT64_MAX / 10 - 1 ? value * 10 + (*p - '0') : INT64_MAX;
  reader->cursor = p;
  *size = value;
  return BISAI_OK;
}

bisai_status bsi_reader_value(bsi_reader *reader, bool integer, double *value) {
  char *word = reader->cursor = bsi_skip_blanks(reader->cursor);
  if (*word == '\n') return bsi_reader_fail(reader, BISAI_PARSE_ERROR, "the value is missing");
  switch (bsi_number_parse(&reader->cursor, reader->c_locale, value)) {
  case BSI_NUMBER_OK:
    if (integer && !bsi_number_is_integer(word))
      return bsi_reader_fail(reader, BISAI_PARSE_ERROR, "'%s' is not an integer",
                             bsi_quote_word(word).text);
    return BISAI_OK;
  case BSI_NUMBER_NOT_FINITE:
    return bsi_reader_fail(reader, BISAI_NOT_FINITE, "%s is not a finite number",
                           bsi_quote_word(word).text);
  case BSI_NUMBER_MALFORMED: break;
  }
  return bsi_reader_fail(reader, BISAI_PARSE_ERROR, "'%s' is not a number",
                         bsi_quote_word(word).text);
}

bisai_status bsi_reader_end(bsi_reader *reader) {
  reader->cursor = bsi_skip_blanks(reader->cursor);
  if (*reader->cursor == '\n') return BISAI_OK;
  return bsi_reader_fail(reader, BISAI_PARSE_ERROR, "unexpected '%s' at the end",
                         bsi_quote_word(reader->cursor).text);
}
