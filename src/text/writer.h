/* SPDX-License-Identifier: BSD-3-Clause */
/* A text that is cut at the end of its memory, and whose whole length is counted. */
#ifndef BSI_TEXT_WRITER_H
#define BSI_TEXT_WRITER_H

#include <stddef.h>

typedef struct bsi_writer {
  size_t size, length;
  char *text;
} bsi_writer;

enum { BSI_NUMBER_TEXT = 40 };

/* Begins an empty text. text may be NULL. */
bsi_writer bsi_writer_begin(size_t size, char *text);

void bsi_write(bsi_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* digits ← the value with a point, whatever the locale has, and with the fewest digits, but at
 * least `precision` of them, that give all its bits. Returns digits. */
const char *bsi_number(double value, int precision, char digits[BSI_NUMBER_TEXT]);

#endif
