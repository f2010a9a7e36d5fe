/* SPDX-License-Identifier: BSD-3-Clause */
/* Anisotropic diffusion of two components with jumping coefficients and a reaction, by
 * cell-centred finite volumes (README.md has the equations).
 *
 * Cell (i, j), 0 ≤ i, j < n, is block row j·n + i with the two components. Each block row holds the
 * blocks of the five-point stencil S, W, P, E, N that lie on the grid: 5n² − 4n blocks. The
 * equations are multiplied by the area of a cell. */
#include <assert.h>
#include <stdlib.h>

#include "cases.h"

enum { BS = 2, VALUES = BS * BS, SQUARES = 8 };
static_assert((int)BS == (int)CASE_REACTION_BLOCK_SIZE, "two components a cell");

static const double jump = 1e4, across = 1e-3; /* k of every second square; ε */
static const double reaction[VALUES] = {20, -10, -10, 20}, source[BS] = {1, 0};

const char *case_reaction_refusal(int32_t n) {
  if (n < SQUARES) return "reaction needs at least 8 cells in each direction, one for each square";
  if (n > 20724)
    return "reaction takes at most 20724 cells in each direction (5n^2 - 4n blocks must stay below "
           "2^31)";
  return NULL;
}

/* Returns k of a cell, which the square of its midpoint gives. */
static double diffusion(int32_t n, int32_t i, int32_t j) {
  const int64_t column = (2 * (int64_t)i + 1) * SQUARES / (2 * (int64_t)n),
                row = (2 * (int64_t)j + 1) * SQUARES / (2 * (int64_t)n);
  return (column + row) % 2 == 0 ? 1 : jump;
}

/* The five places of a stencil, in the order of their columns. */
enum { SOUTH, WEST, CENTRE, EAST, NORTH, PLACES };
static const int32_t step[PLACES][2] = {{0, -1}, {-1, 0}, {0, 0}, {1, 0}, {0, 1}};

static bool is_inside(int32_t n, int32_t i, int32_t j) {
  return i >= 0 && i < n && j >= 0 && j < n;
}

/* Returns the flux out of a cell for a difference of 1: the harmonic mean of both k over the
 * distance of the midpoints. The boundary is half a cell away. */
static double flux(int32_t n, int32_t i, int32_t j, int place) {
  const int32_t x = i + step[place][0], y = j + step[place][1];
  const double own = diffusion(n, i, j), factor = step[place][1] != 0 ? across : 1;
  if (!is_inside(n, x, y)) return factor * 2 * own;
  const double other = diffusion(n, x, y);
  return factor * 2 * own * other / (own + other);
}

/* Writes the blocks of a cell and returns their number. */
static int32_t fill_row(int32_t n, int32_t i, int32_t j, int32_t *col_idx, double *values) {
  int32_t blocks = 0;
  double sum = 0, *centre = NULL;
  for (int p = 0; p < PLACES; p++) {
    const int32_t x = i + step[p][0], y = j + step[p][1];
    const double out = p == CENTRE ? 0 : flux(n, i, j, p);
    sum += out;
    if (!is_inside(n, x, y)) continue;
    double *block = values + (size_t)blocks * VALUES;
    col_idx[blocks++] = y * n + x;
    block[0] = block[3] = -out;
    if (p == CENTRE) centre = block;
  }
  for (int v = 0; v < VALUES; v++) centre[v] = reaction[v] / n / n + (v == 0 || v == 3 ? sum : 0);
  return blocks;
}

static bisai_status fill(const void *of, const case_arrays *a) {
  const int32_t n = *(const int32_t *)of;
  int32_t *row_ptr = a->row_ptr, *col_idx = a->col_idx;
  double *values = a->values, *rhs = a->rhs;
  int32_t blocks = 0;
  for (int32_t j = 0; j < n; j++) {
    for (int32_t i = 0; i < n; i++) {
      const int32_t row = j * n + i;
      row_ptr[row] = blocks;
      blocks += fill_row(n, i, j, col_idx + blocks, values + (size_t)blocks * VALUES);
      for (int c = 0; c < BS; c++) rhs[(int64_t)row * BS + c] = source[c] / n / n;
    }
  }
  row_ptr[n * n] = blocks;
  return BISAI_OK;
}

bisai_status case_reaction(bisai_context *context, int32_t n, int32_t block_size,
                           bisai_bcsr **matrix, double **rhs) {
  if (case_reaction_refusal(n)) return BISAI_INVALID_ARGUMENT;
  const size_t nodes = (size_t)n;
  const case_system system = {nodes * nodes, 5 * nodes * nodes - 4 * nodes, BS, fill, &n};
  return case_make(context, &system, block_size, matrix, rhs);
}
