/* SPDX-License-Identifier: BSD-3-Clause */
/* Decimal numbers as Matrix Market files hold them, independent of the process's locale. */
#ifndef BSI_NUMBER_H
#define BSI_NUMBER_H

#include <locale.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum bsi_number_result {
  BSI_NUMBER_OK,
  BSI_NUMBER_MALFORMED,
  BSI_NUMBER_NOT_FINITE
} bsi_number_result;

static inline bool bsi_is_digit(char c) { return c >= '0' && c <= '9'; }

/* What may stand between words. The '\r' of "\r\n" is among it. */
static inline bool bsi_is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static inline bool bsi_ends_word(char c) { return c == '\n' || bsi_is_blank(c); }

/* The double nearest to the word at *cursor, which then is its end: digits with an optional point
 * and an exponent after e, E, d or D. "nan", "inf" and what rounds to infinity are
 * BSI_NUMBER_NOT_FINITE. Text ends with '\n'; a Fortran exponent's letter is written to and
 * restored. `c_locale`: the "C" locale. */
bsi_number_result bsi_number_parse(char **cursor, locale_t c_locale, double *value);

/* Whether the word is an optional sign and digits. */
bool bsi_number_is_integer(const char *word);

#endif
