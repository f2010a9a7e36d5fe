/* SPDX-License-Identifier: BSD-3-Clause */
/* The spread of a pollutant in the boundary layer of the atmosphere: convection, diffusion and
 * decay in a box, by finite volumes (README.md has the equations).
 *
 * Cell (i, j, k) of nx × ny × nz is row (k·ny + j)·nx + i, and blocks hold 4 rows along x. */
#include <math.h>

#include "cases.h"

/* in metres, seconds and their powers */
static const double extent[3] = {148e3, 148e3, 1160}, /* of the box */
    friction = 0.4, karman = 0.4, roughness = 0.1,    /* of the wind over the ground */
    depth = 1200,                                     /* of the boundary layer */
    turn = 20,                                        /* of the wind from ground to top, degrees */
    horizontal = 100, background = 0.1,               /* diffusion */
    decay = 1e-5, deposition = 5e-3;

const char *case_atmosphere_refusal(int32_t nx, int32_t ny, int32_t nz) {
  if (nx < 1 || ny < 1 || nz < 1) return "atmosphere needs at least 1 cell in each direction";
  if (case_seven_points_entries((int32_t[3]){nx, ny, nz}) == 0)
    return "atmosphere takes at most 2^31 - 1 entries (7 for each cell)";
  return NULL;
}

/* The wind blows along x and y, faster with the height by the logarithmic law, and it turns. */
static void wind_at(double height, double wind[3]) {
  const double speed = friction / karman * log(1 + height / roughness);
  const double angle = turn * acos(-1) / 180 * height / extent[2];
  wind[0] = speed * cos(angle);
  wind[1] = speed * sin(angle);
  wind[2] = 0;
}

/* Eddies are largest at a third of the boundary layer. */
static double vertical_diffusion(double height) {
  const double rest = fmax(0, 1 - height / depth);
  return background + karman * friction * height * rest * rest;
}

/* The air that enters the box is clean. Nothing diffuses through its sides. The ground takes up the
 * pollutant, and at the top it diffuses into clean air. */
static void row_of(const int32_t size[3], const int32_t at[3], double coefficient[7], double *rhs) {
  double edge[3], wind[3];
  for (int d = 0; d < 3; d++) edge[d] = extent[d] / size[d];
  wind_at((at[2] + 0.5) * edge[2], wind);
  coefficient[3] = decay;
  for (int d = 0; d < 3; d++) {
    for (int side = -1; side <= 1; side += 2) {
      const double face = (at[2] + (side > 0)) * edge[2], out = side * wind[d] / edge[d];
      const double spread = (d < 2 ? horizontal : vertical_diffusion(face)) / (edge[d] * edge[d]);
      const bool boundary = at[d] == (side > 0 ? size[d] - 1 : 0);
      coefficient[side > 0 ? 4 + d : 2 - d] = fmin(out, 0) - spread;
      coefficient[3] += fmax(out, 0) + (boundary ? 0 : spread);
    }
  }
  if (at[2] == 0) coefficient[3] += deposition / edge[2];
  if (at[2] == size[2] - 1)
    coefficient[3] += vertical_diffusion(extent[2]) / (0.5 * edge[2] * edge[2]);

  /* a town of a fifth of the length and width of the box, a quarter of it from the inflow */
  bool town = at[2] == 0;
  for (int d = 0; d < 2; d++) {
    const double place = (at[d] + 0.5) / size[d];
    town = town && place > 0.15 && place < 0.35;
  }
  *rhs = town ? 1e-6 / edge[2] : 0;
}

bisai_status case_atmosphere(bisai_context *context, int32_t nx, int32_t ny, int32_t nz,
                             int32_t block_size, bisai_bcsr **matrix, double **rhs) {
  if (case_atmosphere_refusal(nx, ny, nz)) return BISAI_INVALID_ARGUMENT;
  return case_seven_points(context, (int32_t[3]){nx, ny, nz}, row_of,
                           block_size ? block_size : CASE_ATMOSPHERE_BLOCK_SIZE, matrix, rhs);
}
