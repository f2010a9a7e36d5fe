/* SPDX-License-Identifier: BSD-3-Clause */
/* The lid-driven cavity in velocity–vorticity form, the Jacobian of the first Newton step from rest
 * (README.md has the equations).
 *
 * Node (i, j), 0 ≤ i, j < n, is block row j·n + i with the unknowns u, v, ω. Each block row holds
 * the blocks of the five-point stencil S, W, P, E, N that lie on the grid, zero blocks included:
 * 5n² − 4n blocks. Source: Ma et al. 2021, section 4, third case. */
#include <assert.h>
#include <stdlib.h>

#include "cases.h"

enum { U, V, OMEGA, BS };
static_assert((int)BS == (int)CASE_CAVITY_BLOCK_SIZE, "three unknowns a node");

/* The blocks of one row of the stencil, column-major. NULL: the neighbour is beyond the
 * boundary. */
typedef struct star {
  double *south, *west, *centre, *east, *north;
} star;

const char *case_cavity_refusal(int32_t n) {
  if (n < 3) return "the cavity needs at least 3 nodes in each direction";
  if (n > 20724)
    return "the cavity takes at most 20724 nodes in each direction (5n^2 - 4n blocks must stay "
           "below 2^31)";
  return NULL;
}

static void add(double *block, int row, int col, double value) { block[col * BS + row] += value; }

static void fill_interior(const star *s, double hx, double hy) {
  for (int unknown = U; unknown <= OMEGA; unknown++) {
    add(s->centre, unknown, unknown, 2 * hy / hx + 2 * hx / hy);
    add(s->west, unknown, unknown, -hy / hx);
    add(s->east, unknown, unknown, -hy / hx);
    add(s->south, unknown, unknown, -hx / hy);
    add(s->north, unknown, unknown, -hx / hy);
  }
  add(s->north, U, OMEGA, -0.5 * hx);
  add(s->south, U, OMEGA, 0.5 * hx);
  add(s->east, V, OMEGA, 0.5 * hy);
  add(s->west, V, OMEGA, -0.5 * hy);
}

/* The velocities are given. ω = ∂v/∂x − ∂u/∂y by one-sided differences. The corners belong to the
 * vertical walls. */
static void fill_boundary(const star *s, double hx, double hy) {
  for (int unknown = U; unknown <= OMEGA; unknown++) add(s->centre, unknown, unknown, 1);
  if (s->west && !s->east) {
    add(s->centre, OMEGA, V, -1 / hx);
    add(s->west, OMEGA, V, 1 / hx);
  } else if (s->east && !s->west) {
    add(s->east, OMEGA, V, -1 / hx);
    add(s->centre, OMEGA, V, 1 / hx);
  } else if (s->south && !s->north) {
    add(s->centre, OMEGA, U, 1 / hy);
    add(s->south, OMEGA, U, -1 / hy);
  } else if (s->north) {
    add(s->north, OMEGA, U, 1 / hy);
    add(s->centre, OMEGA, U, -1 / hy);
  }
}

/* Appends a block of zeros in the given column and returns its values. */
static double *append(int32_t *blocks, int32_t column, int32_t *col_idx, double *values) {
  col_idx[*blocks] = column;
  return values + (int64_t)(*blocks)++ * BS * BS;
}

static bisai_status fill(const void *of, const case_arrays *a) {
  const int32_t n = *(const int32_t *)of;
  int32_t *row_ptr = a->row_ptr, *col_idx = a->col_idx;
  double *values = a->values, *rhs = a->rhs;
  double h = 1.0 / (n - 1);
  int32_t blocks = 0;
  for (int32_t j = 0; j < n; j++) {
    for (int32_t i = 0; i < n; i++) {
      int32_t row = j * n + i;
      star s = {0};
      row_ptr[row] = blocks;
      if (j > 0) s.south = append(&blocks, row - n, col_idx, values);
      if (i > 0) s.west = append(&blocks, row - 1, col_idx, values);
      s.centre = append(&blocks, row, col_idx, values);
      if (i < n - 1) s.east = append(&blocks, row + 1, col_idx, values);
      if (j < n - 1) s.north = append(&blocks, row + n, col_idx, values);
      if (s.south && s.west && s.east && s.north)
        fill_interior(&s, h, h);
      else
        fill_boundary(&s, h, h);
      if (j == n - 1 && i > 0 && i < n - 1) rhs[(int64_t)row * BS + U] = 1;
    }
  }
  row_ptr[n * n] = blocks;
  return BISAI_OK;
}

bisai_status case_cavity(bisai_context *context, int32_t n, int32_t block_size, bisai_bcsr **matrix,
                         double **rhs) {
  if (case_cavity_refusal(n)) return BISAI_INVALID_ARGUMENT;
  const size_t nodes = (size_t)n;
  const case_system system = {nodes * nodes, 5 * nodes * nodes - 4 * nodes, BS, fill, &n};
  return case_make(context, &system, block_size, matrix, rhs);
}
