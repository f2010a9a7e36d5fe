/* SPDX-License-Identifier: BSD-3-Clause */
/* A cylindrical shell roof under its weight (README.md has the equations).
 *
 * Node (i, j) of ni × nj is block row j·ni + i with the unknowns u1, u2, w, θ1, θ2. A row holds the
 * blocks of the up to seven nodes that share a triangle with the node. The unknowns that a support
 * holds keep their diagonal entries and nothing else in their rows and columns. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "shell/element.h"

enum { BS = SHELL_BS, VALUES = BS * BS };
static_assert((int)BS == (int)CASE_SHELL_BLOCK_SIZE, "five unknowns a node");

/* in feet, pounds and seconds: the roof of Scordelis and Lo */
static const double radius = 25, length = 50, load = 90, gravity = 32.174;
static const shell_material concrete = {.young = 4.32e8, .poisson = 0, .thickness = 0.25};

case_shell_options case_shell_options_default(void) {
  return (case_shell_options){.angle = 40, .supports = CASE_SHELL_ROOF};
}

const char *case_shell_refusal(const case_shell_options *o) {
  for (int d = 0; d < 2; d++)
    if (o->nodes[d] < 2) return "shell needs at least 2 nodes in each direction";
  if (7.0 * o->nodes[0] * o->nodes[1] > INT32_MAX)
    return "shell takes at most 2^31 - 1 blocks (7 for each node; 17515 nodes in each direction)";
  if (!(o->angle >= 0 && o->angle <= 90)) return "the angle of shell is between 0 and 90 degrees";
  if (!(o->step >= 0 && isfinite(o->step))) return "the step of shell is at least 0 seconds";
  return NULL;
}

/* The nodes lie on a quarter of the roof: i goes from the crown to the free edge, and j from the
 * diaphragm to the middle. The arc has the length of 40 degrees at every angle; 0 is a plate. */
static shell_node node_of(const case_shell_options *o, int32_t i, int32_t j) {
  const double arc = radius * 40 * acos(-1) / 180, s = arc * i / (o->nodes[0] - 1);
  const double angle = o->angle * acos(-1) / 180 * i / (o->nodes[0] - 1);
  const double sine = sin(angle), cosine = cos(angle);
  const double bend = o->angle > 0 ? radius * 40 / o->angle : 0;
  return (shell_node){.place = {o->angle > 0 ? bend * sine : s,
                                0.5 * length * j / (o->nodes[1] - 1), bend * cosine - bend},
                      .frame = {{cosine, 0, -sine}, {0, 1, 0}, {sine, 0, cosine}}};
}

/* Returns true if a support holds unknown u of node (i, j): planes of symmetry at the crown and in
 * the middle, and a rigid diaphragm at the end. */
static bool is_held(const case_shell_options *o, int32_t i, int32_t j, int u) {
  if (o->supports == CASE_SHELL_FREE) return false;
  if (i == 0 && (u == 0 || u == 4)) return true;
  if (j == o->nodes[1] - 1 && (u == 1 || u == 3)) return true;
  return j == 0 && (u == 0 || u == 2 || u == 4);
}

static double *block_at(const case_arrays *a, int32_t row, int32_t column) {
  int32_t p = a->row_ptr[row];
  while (a->col_idx[p] != column) p++;
  return a->values + (int64_t)p * VALUES;
}

/* Adds a third of the weight and of the inertia of a triangle to a corner: the load is the weight
 * of the mass ρt = load/g, and 4/Δt² is Newmark's factor of the mass with β = ¼. */
static void add_mass(const case_shell_options *o, const case_arrays *a, int32_t row,
                     const shell_node *node, double third) {
  double *diagonal = block_at(a, row, row);
  const double mass = o->step > 0 ? load / gravity * third * 4 / (o->step * o->step) : 0;
  const double rotary = mass * concrete.thickness * concrete.thickness / 12;
  for (int u = 0; u < BS; u++) {
    diagonal[u * BS + u] += u < 3 ? mass : rotary;
    if (u < 3) a->rhs[(int64_t)row * BS + u] -= load * third * node->frame[u][2];
  }
}

/* Adds a triangle. Every block gets its triangles in the same order as its transpose. */
static void add_triangle(const case_shell_options *o, const int32_t at[SHELL_CORNERS][2],
                         const case_arrays *a) {
  shell_node nodes[SHELL_CORNERS];
  const shell_node *corners[SHELL_CORNERS];
  int32_t rows[SHELL_CORNERS];
  double stiffness[SHELL_SIDE][SHELL_SIDE];
  for (int c = 0; c < SHELL_CORNERS; c++) {
    nodes[c] = node_of(o, at[c][0], at[c][1]);
    corners[c] = &nodes[c];
    rows[c] = at[c][1] * o->nodes[0] + at[c][0];
  }
  const double area = shell_stiffness(&concrete, corners, stiffness);
  for (int r = 0; r < SHELL_CORNERS; r++) {
    for (int c = 0; c < SHELL_CORNERS; c++) {
      double *block = block_at(a, rows[r], rows[c]);
      for (int v = 0; v < VALUES; v++) block[v] += stiffness[BS * r + v % BS][BS * c + v / BS];
    }
    add_mass(o, a, rows[r], &nodes[r], area / 3);
  }
}

/* Clears the rows and columns of held unknowns, but for the diagonal. */
static void hold(const case_shell_options *o, const case_arrays *a) {
  const int32_t ni = o->nodes[0], n = ni * o->nodes[1];
  for (int32_t row = 0; row < n; row++) {
    for (int32_t p = a->row_ptr[row]; p < a->row_ptr[row + 1]; p++) {
      const int32_t column = a->col_idx[p];
      double *block = a->values + (int64_t)p * VALUES;
      for (int v = 0; v < VALUES; v++) {
        const int r = v % BS, c = v / BS;
        if (row == column && r == c) continue;
        if (is_held(o, row % ni, row / ni, r) || is_held(o, column % ni, column / ni, c))
          block[v] = 0;
      }
    }
    for (int u = 0; u < BS; u++)
      if (is_held(o, row % ni, row / ni, u)) a->rhs[(int64_t)row * BS + u] = 0;
  }
}

static bisai_status fill(const void *of, const case_arrays *a) {
  const case_shell_options *o = of;
  case_triangles_pattern(o->nodes[0], o->nodes[1], a->row_ptr, a->col_idx);
  for (int32_t j = 0; j + 1 < o->nodes[1]; j++) {
    for (int32_t i = 0; i + 1 < o->nodes[0]; i++) {
      const int32_t lower[][2] = {{i, j}, {i + 1, j}, {i + 1, j + 1}},
                    upper[][2] = {{i, j}, {i + 1, j + 1}, {i, j + 1}};
      add_triangle(o, lower, a);
      add_triangle(o, upper, a);
    }
  }
  hold(o, a);
  return BISAI_OK;
}

bisai_status case_shell(bisai_context *context, const case_shell_options *o, int32_t block_size,
                        bisai_bcsr **matrix, double **rhs) {
  if (case_shell_refusal(o)) return BISAI_INVALID_ARGUMENT;
  const case_system system = {(size_t)o->nodes[0] * (size_t)o->nodes[1],
                              (size_t)case_triangles_blocks(o->nodes[0], o->nodes[1]), BS, fill, o};
  return case_make(context, &system, block_size, matrix, rhs);
}

/* A translation along axis d, or the turn about it through the middle of the corners (0, 0) and
 * (ni − 1, nj − 1), in the directions of the node. */
static void motion_of(const shell_node *node, const double centre[3], int mode, double unknowns[]) {
  const int axis = mode % 3, next = (axis + 1) % 3, last = (axis + 2) % 3;
  double shift[3] = {0}, turn[3] = {0};
  if (mode < 3) {
    shift[axis] = 1;
  } else {
    turn[axis] = 1;
    shift[next] = centre[last] - node->place[last];
    shift[last] = node->place[next] - centre[next];
  }
  for (int u = 0; u < BS; u++) {
    const double *direction = node->frame[u % 3], *vector = u < 3 ? shift : turn;
    unknowns[u] = direction[0] * vector[0] + direction[1] * vector[1] + direction[2] * vector[2];
  }
}

bisai_status case_shell_modes(const case_shell_options *o, double **modes) {
  if (case_shell_refusal(o)) return BISAI_INVALID_ARGUMENT;
  const int64_t n = (int64_t)o->nodes[0] * o->nodes[1] * BS;
  double *all = malloc((size_t)n * CASE_SHELL_MODES * sizeof *all), centre[3];
  if (!all) return BISAI_OUT_OF_MEMORY;
  const shell_node first = node_of(o, 0, 0), last = node_of(o, o->nodes[0] - 1, o->nodes[1] - 1);
  for (int d = 0; d < 3; d++) centre[d] = 0.5 * (first.place[d] + last.place[d]);
  for (int32_t j = 0; j < o->nodes[1]; j++) {
    for (int32_t i = 0; i < o->nodes[0]; i++) {
      const shell_node node = node_of(o, i, j);
      for (int mode = 0; mode < CASE_SHELL_MODES; mode++)
        motion_of(&node, centre, mode, all + mode * n + ((int64_t)j * o->nodes[0] + i) * BS);
    }
  }
  *modes = all;
  return BISAI_OK;
}
