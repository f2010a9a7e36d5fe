/* SPDX-License-Identifier: BSD-3-Clause */
/* Stiffness of the flat shell triangle (README.md has the equations): the linear membrane triangle
 * and the discrete Kirchhoff triangle for bending (Batoz, Bathe and Ho, A study of three-node
 * triangular plate bending elements, 1980, section 3), on nodes that have no rotation about their
 * normals. */
#include "element.h"

#include <math.h>
#include <string.h>

enum { MEMBRANE = 2 * SHELL_CORNERS, BENDING = 3 * SHELL_CORNERS, POINTS = 2 * SHELL_CORNERS };

/* The triangle in its own plane. Corners and gradients have two coordinates there. Side k goes from
 * corner k to corner (k + 1) mod 3. */
typedef struct triangle {
  double axis[3][3];
  double area;
  /* gradients of the area coordinates */
  double slope[SHELL_CORNERS][2];
  double along[SHELL_CORNERS][2], length[SHELL_CORNERS];
} triangle;

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double c[3]) {
  for (int d = 0; d < 3; d++) {
    const int next = (d + 1) % 3, last = (d + 2) % 3;
    c[d] = a[next] * b[last] - a[last] * b[next];
  }
}

static double normalise(double a[3]) {
  const double length = sqrt(dot(a, a));
  for (int d = 0; d < 3; d++) a[d] /= length;
  return length;
}

static triangle triangle_of(const shell_node *const corners[]) {
  triangle t;
  double side[SHELL_CORNERS][3];
  for (int k = 0; k < SHELL_CORNERS; k++)
    for (int d = 0; d < 3; d++) side[k][d] = corners[(k + 1) % 3]->place[d] - corners[k]->place[d];
  memcpy(t.axis[0], side[0], sizeof side[0]);
  normalise(t.axis[0]);
  cross(side[0], side[1], t.axis[2]);
  t.area = 0.5 * normalise(t.axis[2]);
  cross(t.axis[2], t.axis[0], t.axis[1]);
  for (int k = 0; k < SHELL_CORNERS; k++) {
    const double x = dot(side[k], t.axis[0]), y = dot(side[k], t.axis[1]);
    const int opposite = (k + 2) % 3;
    t.length[k] = sqrt(x * x + y * y);
    t.along[k][0] = x / t.length[k];
    t.along[k][1] = y / t.length[k];
    t.slope[opposite][0] = -0.5 * y / t.area;
    t.slope[opposite][1] = 0.5 * x / t.area;
  }
  return t;
}

/* Adds weight·BᵀDB to the upper triangle of the stiffness, where B gives the strains ε_xx, ε_yy and
 * γ_xy, and D is that of plane stress. */
static void add_energy(const shell_material *m, double weight, double strain[3][SHELL_SIDE],
                       double stiffness[SHELL_SIDE][SHELL_SIDE]) {
  const double factor = weight * m->young / (1 - m->poisson * m->poisson);
  const double shear = 0.5 * (1 - m->poisson);
  for (int i = 0; i < SHELL_SIDE; i++) {
    const double xx = factor * (strain[0][i] + m->poisson * strain[1][i]);
    const double yy = factor * (strain[1][i] + m->poisson * strain[0][i]);
    const double xy = factor * shear * strain[2][i];
    for (int j = i; j < SHELL_SIDE; j++)
      stiffness[i][j] += xx * strain[0][j] + yy * strain[1][j] + xy * strain[2][j];
  }
}

/* Writes the place of the unknowns of the element's own axes in the unknowns of its nodes:
 * `in_plane` for the displacements in the plane, then `out_of_plane` for w and the rotations about
 * the two axes.
 *
 * A node has no rotation about its normal n. The element takes the one with which the node turns
 * about the element's normal m as fast as the membrane does: Θ = θ1 t1 + θ2 t2 + c n with
 * Θ·m = ½ (∂v/∂x − ∂u/∂y). Rigid motions of curved shells then have no energy. */
static void transform(const triangle *t, const shell_node *const corners[],
                      double in_plane[MEMBRANE][SHELL_SIDE],
                      double out_of_plane[BENDING][SHELL_SIDE]) {
  double turn[SHELL_SIDE] = {0};
  memset(in_plane, 0, MEMBRANE * sizeof in_plane[0]);
  memset(out_of_plane, 0, BENDING * sizeof out_of_plane[0]);
  for (int a = 0; a < SHELL_CORNERS; a++) {
    for (int u = 0; u < 3; u++) {
      const double *direction = corners[a]->frame[u];
      const double x = dot(t->axis[0], direction), y = dot(t->axis[1], direction);
      in_plane[2 * a][SHELL_BS * a + u] = x;
      in_plane[2 * a + 1][SHELL_BS * a + u] = y;
      out_of_plane[3 * a][SHELL_BS * a + u] = dot(t->axis[2], direction);
      turn[SHELL_BS * a + u] = 0.5 * (t->slope[a][0] * y - t->slope[a][1] * x);
    }
  }
  for (int a = 0; a < SHELL_CORNERS; a++) {
    const double *normal = corners[a]->frame[2], cosine = dot(t->axis[2], normal);
    for (int d = 0; d < 2; d++) {
      double *rotation = out_of_plane[3 * a + 1 + d];
      const double part = dot(t->axis[d], normal) / cosine;
      for (int i = 0; i < SHELL_SIDE; i++) rotation[i] = part * turn[i];
      for (int u = 0; u < 2; u++) {
        const double *direction = corners[a]->frame[u];
        rotation[SHELL_BS * a + 3 + u] +=
            dot(t->axis[d], direction) - part * dot(t->axis[2], direction);
      }
    }
  }
}

/* Adds the linear triangle, with constant strains. */
static void add_membrane(const triangle *t, const shell_material *m,
                         double in_plane[MEMBRANE][SHELL_SIDE],
                         double stiffness[SHELL_SIDE][SHELL_SIDE]) {
  double strain[3][SHELL_SIDE] = {{0}};
  for (int a = 0; a < SHELL_CORNERS; a++) {
    const double *slope = t->slope[a], *u = in_plane[2 * a], *v = in_plane[2 * a + 1];
    for (int i = 0; i < SHELL_SIDE; i++) {
      strain[0][i] += slope[0] * u[i];
      strain[1][i] += slope[1] * v[i];
      strain[2][i] += slope[1] * u[i] + slope[0] * v[i];
    }
  }
  add_energy(m, t->area * m->thickness, strain, stiffness);
}

/* Writes β_x and β_y, by which a normal to the surface turns towards x and y, at the three corners
 * and then at the middles of the sides. There w is a cubic along the side, whose slope is −β in the
 * corners and in the middle, and β across the side is the mean of the corners. */
static void turns_of_normals(const triangle *t, double out_of_plane[BENDING][SHELL_SIDE],
                             double beta[POINTS][2][SHELL_SIDE]) {
  for (int a = 0; a < SHELL_CORNERS; a++) {
    for (int i = 0; i < SHELL_SIDE; i++) {
      beta[a][0][i] = out_of_plane[3 * a + 2][i];
      beta[a][1][i] = -out_of_plane[3 * a + 1][i];
    }
  }
  for (int k = 0; k < SHELL_CORNERS; k++) {
    const int from = k, to = (k + 1) % 3;
    const double *s = t->along[k];
    for (int i = 0; i < SHELL_SIDE; i++) {
      const double x = beta[from][0][i] + beta[to][0][i], y = beta[from][1][i] + beta[to][1][i];
      const double fall = out_of_plane[3 * from][i] - out_of_plane[3 * to][i];
      const double along = 1.5 * fall / t->length[k] - 0.25 * (s[0] * x + s[1] * y);
      const double across = 0.5 * (s[0] * y - s[1] * x);
      beta[3 + k][0][i] = along * s[0] - across * s[1];
      beta[3 + k][1][i] = along * s[1] + across * s[0];
    }
  }
}

/* Gradients of the quadratic shape functions of the six points, in the middle of side k. */
static void gradients_at_middle(const triangle *t, int k, double gradient[POINTS][2]) {
  double place[SHELL_CORNERS] = {0.5, 0.5, 0.5};
  place[(k + 2) % 3] = 0;
  for (int d = 0; d < 2; d++) {
    for (int a = 0; a < SHELL_CORNERS; a++) {
      const int next = (a + 1) % 3;
      gradient[a][d] = (4 * place[a] - 1) * t->slope[a][d];
      gradient[3 + a][d] = 4 * (place[a] * t->slope[next][d] + place[next] * t->slope[a][d]);
    }
  }
}

/* Adds the discrete Kirchhoff triangle. Its curvatures are linear, so that the middles of the sides
 * integrate exactly. */
static void add_bending(const triangle *t, const shell_material *m,
                        double out_of_plane[BENDING][SHELL_SIDE],
                        double stiffness[SHELL_SIDE][SHELL_SIDE]) {
  double beta[POINTS][2][SHELL_SIDE];
  const double inertia = m->thickness * m->thickness * m->thickness / 12;
  turns_of_normals(t, out_of_plane, beta);
  for (int k = 0; k < SHELL_CORNERS; k++) {
    double gradient[POINTS][2], curvature[3][SHELL_SIDE] = {{0}};
    gradients_at_middle(t, k, gradient);
    for (int p = 0; p < POINTS; p++) {
      for (int i = 0; i < SHELL_SIDE; i++) {
        curvature[0][i] += gradient[p][0] * beta[p][0][i];
        curvature[1][i] += gradient[p][1] * beta[p][1][i];
        curvature[2][i] += gradient[p][1] * beta[p][0][i] + gradient[p][0] * beta[p][1][i];
      }
    }
    add_energy(m, t->area * inertia / 3, curvature, stiffness);
  }
}

double shell_stiffness(const shell_material *m, const shell_node *const corners[],
                       double stiffness[SHELL_SIDE][SHELL_SIDE]) {
  const triangle t = triangle_of(corners);
  double in_plane[MEMBRANE][SHELL_SIDE], out_of_plane[BENDING][SHELL_SIDE];
  memset(stiffness, 0, SHELL_SIDE * sizeof stiffness[0]);
  transform(&t, corners, in_plane, out_of_plane);
  add_membrane(&t, m, in_plane, stiffness);
  add_bending(&t, m, out_of_plane, stiffness);
  for (int i = 0; i < SHELL_SIDE; i++)
    for (int j = 0; j < i; j++) stiffness[i][j] = stiffness[j][i];
  return t.area;
}
