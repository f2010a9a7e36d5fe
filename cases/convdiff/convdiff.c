/* SPDX-License-Identifier: BSD-3-Clause */
/* Convection-diffusion on a grid of nx × ny × nz points with a seven-point stencil, x fastest
 * (README.md).
 *
 * Row r = (z·ny + y)·nx + x has 6 on the diagonal, −1.4 for the lower neighbour and −0.6 for the
 * higher neighbour in each direction. Dirichlet neighbours are dropped, and b = 1. In blocks of 4
 * along x, 148 × 148 × 58 points give the block pattern of atmosmodd (Ma et al. 2021, table 1):
 * 317608 block rows, 2190844 blocks. */
#include <string.h>

#include "cases.h"

const char *case_convdiff_refusal(int32_t nx, int32_t ny, int32_t nz) {
  if (nx < 1 || ny < 1 || nz < 1)
    return "convection-diffusion needs at least 1 point in each direction";
  if (case_seven_points_entries((int32_t[3]){nx, ny, nz}) == 0)
    return "convection-diffusion takes at most 2^31 - 1 entries (7 for each point)";
  return NULL;
}

static void row_of(const int32_t size[3], const int32_t at[3], double coefficient[7], double *rhs) {
  static const double stencil[7] = {-1.4, -1.4, -1.4, 6, -0.6, -0.6, -0.6};
  (void)size, (void)at;
  memcpy(coefficient, stencil, sizeof stencil);
  *rhs = 1;
}

bisai_status case_convdiff(bisai_context *context, int32_t nx, int32_t ny, int32_t nz,
                           int32_t block_size, bisai_bcsr **matrix, double **rhs) {
  if (case_convdiff_refusal(nx, ny, nz)) return BISAI_INVALID_ARGUMENT;
  return case_seven_points(context, (int32_t[3]){nx, ny, nz}, row_of,
                           block_size ? block_size : CASE_CONVDIFF_BLOCK_SIZE, matrix, rhs);
}
