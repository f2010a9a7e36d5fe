/* SPDX-License-Identifier: BSD-3-Clause */
#include "staggered.h"

#include <stdlib.h>

/* A staggered grid of side × side cells: u between cells along x, v along y, then p. */
typedef struct grid {
  int side, velocities;
} grid;

static int u_of(const grid *g, int x, int y) {
  return x < 0 || x >= g->side - 1 || y < 0 || y >= g->side ? -1 : y * (g->side - 1) + x;
}

static int v_of(const grid *g, int x, int y) {
  return x < 0 || x >= g->side || y < 0 || y >= g->side - 1 ? -1
                                                            : g->velocities / 2 + y * g->side + x;
}

static void put(test_bcsr *a, int *count, int column, double value) {
  if (column < 0) return;
  a->col_idx[*count] = column;
  a->values[(*count)++] = value;
}

/* The Laplacian of a velocity without slip at the walls, which lie on its nodes along `along` and
 * halfway between nodes across, and a term of time. Entries come in any order. */
static void put_velocity(const grid *g, test_bcsr *a, int *count, int x, int y, bool along_x,
                         double time) {
  int (*const of)(const grid *, int, int) = along_x ? u_of : v_of;
  const int across = along_x ? y : x;
  const double walls = (across == 0) + (across == g->side - 1);
  const int p = g->velocities + y * g->side + x;
  put(a, count, of(g, x, y), 4.0 + walls + time);
  put(a, count, of(g, x - 1, y), -1.0);
  put(a, count, of(g, x + 1, y), -1.0);
  put(a, count, of(g, x, y - 1), -1.0);
  put(a, count, of(g, x, y + 1), -1.0);
  put(a, count, p, -1.0 / g->side);
  put(a, count, along_x ? p + 1 : p + g->side, 1.0 / g->side);
}

static void put_pressure(const grid *g, test_bcsr *a, int *count, int x, int y) {
  put(a, count, u_of(g, x - 1, y), 1.0 / g->side);
  put(a, count, u_of(g, x, y), -1.0 / g->side);
  put(a, count, v_of(g, x, y - 1), 1.0 / g->side);
  put(a, count, v_of(g, x, y), -1.0 / g->side);
}

test_bcsr test_bcsr_staggered(int side, double time) {
  const grid g = {side, 2 * side * (side - 1)};
  const int rows = g.velocities + side * side;
  test_bcsr a = {.block_rows = rows, .block_cols = rows, .block_size = 1};
  int count = 0, row = 0;
  a.row_ptr = calloc((size_t)rows + 1, sizeof *a.row_ptr);
  a.col_idx = malloc(7 * (size_t)rows * sizeof *a.col_idx);
  a.values = malloc(7 * (size_t)rows * sizeof *a.values);
  for (int k = 0; k < 3; k++)
    for (int y = 0; y < side - (k == 1); y++)
      for (int x = 0; x < side - (k == 0); x++) {
        if (k == 2)
          put_pressure(&g, &a, &count, x, y);
        else
          put_velocity(&g, &a, &count, x, y, k == 0, time);
        a.row_ptr[++row] = count;
      }
  return a;
}
