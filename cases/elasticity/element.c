/* SPDX-License-Identifier: BSD-3-Clause */
/* Stiffness of the trilinear hexahedron: block (a, b) is
 *
 *   K_ab[r][c] = ∫ λ ∂r N_a ∂c N_b + μ ∂c N_a ∂r N_b + δ_rc μ ∇N_a·∇N_b
 *
 * over the box, with λ = Eν/((1 + ν)(1 − 2ν)) and μ = E/(2(1 + ν)). Source: Hughes, The Finite
 * Element Method, section 3.9 (trilinear hexahedra) and section 2.8 (elastostatics). */
#include "element.h"

#include <math.h>
#include <string.h>

static const double poisson = 0.3;

enum { GAUSS_POINTS = 8 };

/* Gradients of the eight shape functions at a point of the box whose sides have length 1. */
static void gradients(const double at[3], const double edge[3], double gradient[ELEMENT_NODES][3]) {
  for (int a = 0; a < ELEMENT_NODES; a++) {
    double shape[3], slope[3];
    for (int d = 0; d < 3; d++) {
      const int high = a >> d & 1;
      shape[d] = high ? at[d] : 1 - at[d];
      slope[d] = (high ? 1 : -1) / edge[d];
    }
    gradient[a][0] = slope[0] * shape[1] * shape[2];
    gradient[a][1] = shape[0] * slope[1] * shape[2];
    gradient[a][2] = shape[0] * shape[1] * slope[2];
  }
}

/* Every product of two gradients is the same number when the nodes change places, so that the
 * matrix is symmetric bit by bit. */
static void add_block(const double a[3], const double b[3], double weight, double *block) {
  const double lambda = poisson / ((1 + poisson) * (1 - 2 * poisson)), mu = 0.5 / (1 + poisson);
  const double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  for (int c = 0; c < ELEMENT_BS; c++) {
    for (int r = 0; r < ELEMENT_BS; r++) {
      const double own = a[r] * b[c], other = a[c] * b[r];
      block[c * ELEMENT_BS + r] += weight * (lambda * own + mu * other + (r == c ? mu * dot : 0));
    }
  }
}

void element_stiffness(const double edge[3], element *e) {
  const double place[2] = {0.5 - 0.5 / sqrt(3), 0.5 + 0.5 / sqrt(3)};
  const double weight = edge[0] * edge[1] * edge[2] / GAUSS_POINTS;
  memset(e, 0, sizeof *e);
  for (int p = 0; p < GAUSS_POINTS; p++) {
    const double at[3] = {place[p & 1], place[p >> 1 & 1], place[p >> 2 & 1]};
    double gradient[ELEMENT_NODES][3];
    gradients(at, edge, gradient);
    for (int a = 0; a < ELEMENT_NODES; a++) {
      for (int b = 0; b < ELEMENT_NODES; b++)
        add_block(gradient[a], gradient[b], weight, e->block[a][b]);
    }
  }
}
