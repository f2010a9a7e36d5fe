/* SPDX-License-Identifier: BSD-3-Clause */
/* One implicit step of compressible flow over a bump in a channel, by finite volumes around the
 * nodes of triangles (README.md has the equations).
 *
 * Node (i, j) of ni × nj is block row j·ni + i. A row holds the blocks of the up to seven nodes
 * that share a triangle with the node. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "cases.h"
#include "euler/flow.h"

enum { BS = EULER_BS, VALUES = BS * BS };
static_assert((int)BS == (int)CASE_EULER_BLOCK_SIZE, "four unknowns a node");

static const double first_x = -1, last_x = 2, bump = 0.1;

/* The grid and the state, and what is made from them; NULL: not made. */
typedef struct euler {
  int32_t ni, nj;
  const double *state;
  const int32_t *row_ptr, *col_idx;
  double *values, *residual;
  /* of each node: the fastest wave times the length of the faces */
  double *waves;
} euler;

case_euler_options case_euler_options_default(void) { return (case_euler_options){.cfl = 1000}; }

static euler grid_of(const case_euler_options *o) {
  return (euler){.ni = (int32_t)((int64_t)3 * o->nodes / 2), .nj = o->nodes};
}

const char *case_euler_refusal(const case_euler_options *o) {
  if (o->nodes < 4) return "euler needs at least 4 nodes across the channel";
  if (7 * 1.5 * o->nodes * o->nodes > INT32_MAX)
    return "euler takes at most 2^31 - 1 blocks (7 for each node; 14301 nodes across the channel)";
  if (!(o->cfl > 0 && isfinite(o->cfl))) return "the CFL number of euler is greater than 0";
  return NULL;
}

/* --- the channel --- */

static double x_of(const euler *e, int32_t i) {
  return first_x + (last_x - first_x) * i / (e->ni - 1);
}

/* The floor: an arc of a circle through (0, 0), (½, bump) and (1, 0), and flat elsewhere. */
static double floor_at(double x) {
  const double radius = (0.25 + bump * bump) / (2 * bump), from_middle = x - 0.5;
  if (x <= 0 || x >= 1) return 0;
  return sqrt(radius * radius - from_middle * from_middle) - (radius - bump);
}

static void place_of(const euler *e, int32_t i, int32_t j, double place[2]) {
  const double low = floor_at(x_of(e, i));
  place[0] = x_of(e, i);
  place[1] = low + (1 - low) * j / (e->nj - 1);
}

static void fill_state(const euler *e, double *state) {
  for (int32_t i = 0; i < e->ni; i++) {
    const int32_t before = i > 0 ? i - 1 : i, after = i + 1 < e->ni ? i + 1 : i;
    const double rise = floor_at(x_of(e, after)) - floor_at(x_of(e, before));
    const double slope = rise / (x_of(e, after) - x_of(e, before));
    for (int32_t j = 0; j < e->nj; j++) {
      euler_channel_flow(1 - floor_at(x_of(e, i)), slope * (e->nj - 1 - j) / (e->nj - 1),
                         state + ((int64_t)j * e->ni + i) * BS);
    }
  }
}

/* --- fluxes --- */

/* Adds the derivatives of a flux by the state of `by` to the equations of `of`. */
static void add_block(const euler *e, int32_t of, int32_t by, double factor, const dual flux[BS]) {
  if (!e->values) return;
  int32_t p = e->row_ptr[of];
  while (e->col_idx[p] != by) p++;
  for (int v = 0; v < VALUES; v++)
    e->values[(int64_t)p * VALUES + v] += factor * flux[v % BS].slope[v / BS];
}

static void add_residual(const euler *e, int32_t of, double factor, const dual flux[BS]) {
  if (!e->residual) return;
  for (int u = 0; u < BS; u++) e->residual[(int64_t)of * BS + u] += factor * flux[u].value;
}

static void add_wave(const euler *e, int32_t node, const double normal[2]) {
  if (e->waves) e->waves[node] += euler_wave(e->state + (int64_t)node * BS, normal);
}

/* The face between two nodes; the normal points to the second one. What goes along the normal comes
 * from the first node. */
static void add_face(const euler *e, const int32_t nodes[2], const double normal[2]) {
  for (int from = 0; from < 2; from++) {
    dual flux[BS];
    euler_split_flux(e->state + (int64_t)nodes[from] * BS, normal, from == 0 ? 1 : -1, flux);
    for (int of = 0; of < 2; of++) {
      const double factor = of == 0 ? 1 : -1;
      add_block(e, nodes[of], nodes[from], factor, flux);
      add_residual(e, nodes[of], factor, flux);
    }
    add_wave(e, nodes[from], normal);
  }
}

/* The faces of a triangle lie between the middles of its sides and its centroid. Its corners are in
 * counterclockwise order. */
static void add_triangle(const euler *e, const int32_t at[3][2]) {
  double place[3][2], centroid[2] = {0, 0};
  for (int c = 0; c < 3; c++) {
    place_of(e, at[c][0], at[c][1], place[c]);
    for (int d = 0; d < 2; d++) centroid[d] += place[c][d] / 3;
  }
  for (int c = 0; c < 3; c++) {
    const int next = (c + 1) % 3;
    const int32_t nodes[2] = {at[c][1] * e->ni + at[c][0], at[next][1] * e->ni + at[next][0]};
    const double dx = centroid[0] - 0.5 * (place[c][0] + place[next][0]),
                 dy = centroid[1] - 0.5 * (place[c][1] + place[next][1]);
    add_face(e, nodes, (double[2]){dy, -dx});
  }
}

/* Half of a side of the boundary, which belongs to a node. Outside of the open ends there is the
 * free stream. */
static void add_boundary_face(const euler *e, int32_t node, const double normal[2], bool wall) {
  const double *state = e->state + (int64_t)node * BS;
  double outside[BS];
  dual flux[BS], inward[BS];
  if (wall) {
    euler_wall_flux(state, normal, flux);
  } else {
    euler_free_stream(outside);
    euler_split_flux(state, normal, 1, flux);
    euler_split_flux(outside, normal, -1, inward);
    add_residual(e, node, 1, inward);
  }
  add_block(e, node, node, 1, flux);
  add_residual(e, node, 1, flux);
  add_wave(e, node, normal);
}

/* A side of the boundary, with the channel on its left. */
static void add_side(const euler *e, const int32_t from[2], const int32_t to[2], bool wall) {
  double begin[2], end[2];
  place_of(e, from[0], from[1], begin);
  place_of(e, to[0], to[1], end);
  const double normal[2] = {0.5 * (end[1] - begin[1]), 0.5 * (begin[0] - end[0])};
  add_boundary_face(e, from[1] * e->ni + from[0], normal, wall);
  add_boundary_face(e, to[1] * e->ni + to[0], normal, wall);
}

static void add_all(const euler *e) {
  for (int32_t j = 0; j + 1 < e->nj; j++) {
    for (int32_t i = 0; i + 1 < e->ni; i++) {
      const int32_t lower[][2] = {{i, j}, {i + 1, j}, {i + 1, j + 1}},
                    upper[][2] = {{i, j}, {i + 1, j + 1}, {i, j + 1}};
      add_triangle(e, lower);
      add_triangle(e, upper);
    }
  }
  const int32_t right = e->ni - 1, top = e->nj - 1;
  for (int32_t i = 0; i < right; i++) {
    add_side(e, (int32_t[2]){i, 0}, (int32_t[2]){i + 1, 0}, true);
    add_side(e, (int32_t[2]){i + 1, top}, (int32_t[2]){i, top}, true);
  }
  for (int32_t j = 0; j < top; j++) {
    add_side(e, (int32_t[2]){right, j}, (int32_t[2]){right, j + 1}, false);
    add_side(e, (int32_t[2]){0, j + 1}, (int32_t[2]){0, j}, false);
  }
}

/* --- the case --- */

bisai_status case_euler_state(const case_euler_options *o, double **state) {
  if (case_euler_refusal(o)) return BISAI_INVALID_ARGUMENT;
  const euler e = grid_of(o);
  double *all = malloc((size_t)e.ni * (size_t)e.nj * BS * sizeof *all);
  if (!all) return BISAI_OUT_OF_MEMORY;
  fill_state(&e, all);
  *state = all;
  return BISAI_OK;
}

bisai_status case_euler_residual(const case_euler_options *o, const double *state,
                                 double **residual) {
  if (case_euler_refusal(o)) return BISAI_INVALID_ARGUMENT;
  euler e = grid_of(o);
  e.state = state;
  e.residual = calloc((size_t)e.ni * (size_t)e.nj * BS, sizeof *e.residual);
  if (!e.residual) return BISAI_OUT_OF_MEMORY;
  add_all(&e);
  *residual = e.residual;
  return BISAI_OK;
}

/* Adds V/Δt to the diagonal, and turns the residual into the right-hand side. */
static void finish(const case_euler_options *o, const euler *e) {
  for (int32_t row = 0; row < e->ni * e->nj; row++) {
    int32_t p = e->row_ptr[row];
    while (e->col_idx[p] != row) p++;
    for (int u = 0; u < BS; u++) {
      e->values[(int64_t)p * VALUES + u * BS + u] += e->waves[row] / o->cfl;
      e->residual[(int64_t)row * BS + u] *= -1;
    }
  }
}

static bisai_status fill(const void *of, const case_arrays *a) {
  const case_euler_options *o = of;
  euler e = grid_of(o);
  double *state = NULL;
  bisai_status status = case_euler_state(o, &state);
  e.waves = calloc((size_t)e.ni * (size_t)e.nj, sizeof *e.waves);
  if (!status && !e.waves) status = BISAI_OUT_OF_MEMORY;
  if (!status) {
    case_triangles_pattern(e.ni, e.nj, a->row_ptr, a->col_idx);
    e.row_ptr = a->row_ptr;
    e.col_idx = a->col_idx;
    e.values = a->values;
    e.residual = a->rhs;
    e.state = state;
    add_all(&e);
    finish(o, &e);
  }
  free(e.waves);
  free(state);
  return status;
}

bisai_status case_euler(bisai_context *context, const case_euler_options *o, int32_t block_size,
                        bisai_bcsr **matrix, double **rhs) {
  if (case_euler_refusal(o)) return BISAI_INVALID_ARGUMENT;
  const euler e = grid_of(o);
  const case_system system = {(size_t)e.ni * (size_t)e.nj,
                              (size_t)case_triangles_blocks(e.ni, e.nj), BS, fill, o};
  return case_make(context, &system, block_size, matrix, rhs);
}
