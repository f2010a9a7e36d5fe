/* SPDX-License-Identifier: BSD-3-Clause */
#include "raster.h"

#include <stdlib.h>

int32_t raster_scale(window w) { return (w.size + RASTER_CELLS - 1) / RASTER_CELLS; }

/* gnuplot cannot draw an image of less than 2 × 2 cells. */
int32_t raster_side(window w) {
  return w.size < 2 ? 2 : (w.size + raster_scale(w) - 1) / raster_scale(w);
}

window raster_middle(int32_t rows, const int32_t *row_ptr, const int32_t *col_idx) {
  int32_t row = rows / 2, reach = 10;
  for (int32_t p = row_ptr[row]; p < row_ptr[row + 1]; p++) {
    int32_t distance = abs(col_idx[p] - row);
    if (distance > reach) reach = distance;
  }
  int32_t size = reach > rows / 3 ? rows : 3 * reach;
  return (window){(rows - size) / 2, size};
}

bool raster_write(FILE *out, window w, const int32_t *row_ptr, const int32_t *col_idx) {
  int32_t side = raster_side(w), scale = raster_scale(w);
  int32_t *count = malloc((size_t)side * sizeof *count);
  if (!count) return false;
  for (int32_t y = 0; y < side; y++) {
    for (int32_t x = 0; x < side; x++) count[x] = 0;
    for (int32_t i = y * scale; i < (y + 1) * scale && i < w.size; i++) {
      for (int32_t p = row_ptr[w.first + i]; p < row_ptr[w.first + i + 1]; p++) {
        int32_t j = col_idx[p] - w.first;
        if (j >= 0 && j < w.size) count[j / scale]++;
      }
    }
    for (int32_t x = 0; x < side; x++) fprintf(out, " %d", (int)count[x]);
    fputc('\n', out);
  }
  free(count);
  return !ferror(out);
}
