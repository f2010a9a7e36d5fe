/* SPDX-License-Identifier: BSD-3-Clause */
/* A square block pattern, or a window of it, as a raster of counts small enough to draw. */
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

/* What is worth a closer look: around the middle, three times as wide as a row reaches from the
 * diagonal. */
window raster_middle(int32_t rows, const int32_t *row_ptr, const int32_t *col_idx);

/* Cells along a side, and block rows in each cell, for a window. */
int32_t raster_side(window w);
int32_t raster_scale(window w);

/* Writes the blocks of each cell, a line a row of cells. False: no memory, or not written. */
bool raster_write(FILE *out, window w, const int32_t *row_ptr, const int32_t *col_idx);

#endif
