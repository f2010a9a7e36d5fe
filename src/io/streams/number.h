/* SPDX-License-Identifier: BSD-3-Clause */
/* Decimal numbers of Matrix Market files, independent of the process's locale. */
#ifndef BSI_NUMBER_H
#define BSI_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum bsi_number_result {
  BSI_NUMBER_OK,
  BSI_NUMBER_MALFORMED,
  BSI_NUMBER_NOT_FINITE
} bsi_number_result;

static inline bool bsi_is_digit(char c) { return c >= '0' && c <= '9'; }

/* Returns true for the characters between words, including the '\r' of "\r\n". */
static inline bool bsi_is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static inline bool bsi_ends_word(char c) { return c == '\n' || bsi_is_blank(c); }

/* *value ← the double nearest to the word at *cursor; *cursor ← the end of the word. A word has
 * digits with an optional point, and an optional exponent after e, E, d or D. "nan", "inf" and
 * values that round to infinity are BSI_NUMBER_NOT_FINITE. The text must end with '\n'. The letter
 * of a Fortran exponent is overwritten and restored. `c_locale` is the locale_t of the "C" locale,
 * whose type POSIX declares and C does not. */
bsi_number_result bsi_number_parse(char **cursor, void *c_locale, double *value);

/* Returns true if the word is an optional sign and digits. */
bool bsi_number_is_integer(const char *word);

#endif
