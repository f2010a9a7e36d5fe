/* SPDX-License-Identifier: BSD-3-Clause */
/* A raster of counts, small enough to draw, of a square block pattern or of a window of it. */
#ifndef TOOL_RASTER_H
#define TOOL_RASTER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { RASTER_CELLS = 600 };

typedef struct window {
  /* rows and columns first … first + size − 1 */
  int32_t first, size;
} window;

/* Returns a window around the middle. It is three times as wide as the largest distance of a row's
 * blocks from the diagonal. */
window raster_middle(int32_t rows, const int32_t *row_ptr, const int32_t *col_idx);

/* Return the number of cells along a side of a window, and the number of block rows in each
 * cell. */
int32_t raster_side(window w);
int32_t raster_scale(window w);

/* Writes the number of blocks in each cell, one line for each row of cells. Returns false if there
 * is no memory or if writing fails. */
bool raster_write(FILE *out, window w, const int32_t *row_ptr, const int32_t *col_idx);

#endif
