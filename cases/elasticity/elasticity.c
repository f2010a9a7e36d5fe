/* SPDX-License-Identifier: BSD-3-Clause */
/* Linear elasticity on the unit cube with trilinear hexahedra (README.md has the equations).
 *
 * Node (i, j, k) of nx × ny × nz is block row (k·ny + j)·nx + i with the three displacements. Each
 * row of a free node holds the blocks of the 27 nodes around it that lie on the grid and are not
 * clamped. The face x = 0 is clamped: its rows are rows of the identity, or they are left out, and
 * the numbering then goes over the other nodes in the same order. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "element.h"

enum { BS = ELEMENT_BS, VALUES = BS * BS, AROUND = 27 };
static_assert((int)BS == (int)CASE_ELASTICITY_BLOCK_SIZE, "three displacements a node");

/* The grid of nodes, and the nodes that are numbered: all of them, or those with i ≥ first. */
typedef struct grid {
  int32_t nodes[3];
  int32_t first;
  /* no row of a node with i < free_from couples with others */
  int32_t free_from;
} grid;

static grid grid_of(const case_elasticity_options *o) {
  return (grid){.nodes = {o->nodes[0], o->nodes[1], o->nodes[2]},
                .first = o->clamped == CASE_CLAMPED_ELIMINATED,
                .free_from = o->clamped != CASE_CLAMPED_NOWHERE};
}

static int64_t rows_of(const grid *g) {
  return (int64_t)(g->nodes[0] - g->first) * g->nodes[1] * g->nodes[2];
}

/* n nodes in a line have 3n − 2 pairs of nodes that are the same or next to each other. */
static int64_t blocks_of(const grid *g) {
  const int64_t free_nodes = g->nodes[0] - g->free_from, ny = g->nodes[1], nz = g->nodes[2];
  const int64_t identity = (g->free_from - g->first) * ny * nz;
  return (3 * free_nodes - 2) * (3 * ny - 2) * (3 * nz - 2) + identity;
}

static int32_t row_of(const grid *g, const int32_t at[3]) {
  return (at[2] * g->nodes[1] + at[1]) * (g->nodes[0] - g->first) + at[0] - g->first;
}

const char *case_elasticity_refusal(const case_elasticity_options *o) {
  double blocks = 1;
  for (int d = 0; d < 3; d++) {
    if (o->nodes[d] < 2) return "elasticity needs at least 2 nodes in each direction";
    blocks *= 3.0 * o->nodes[d];
  }
  if (blocks > INT32_MAX)
    return "elasticity takes at most 2^31 - 1 blocks (27 for each node; 430 nodes in each "
           "direction)";
  if (!(o->contrast > 0 && isfinite(o->contrast)))
    return "the contrast of elasticity is a number greater than 0";
  return NULL;
}

case_elasticity_options case_elasticity_options_default(void) {
  return (case_elasticity_options){.contrast = 1, .clamped = CASE_CLAMPED_IDENTITY};
}

/* Returns E of an element, by its midpoint: |midpoint − centre| ≤ ¼ is
 * 4 Σ (a_d/m_d)² ≤ 1 with m elements in a direction and a_d = 2·at_d + 1 − m_d. The integers do not
 * overflow, since the product of the m is below 2³¹/27. */
static double modulus(const grid *g, const case_elasticity_options *o, const int32_t at[3]) {
  int64_t m[3], a[3];
  for (int d = 0; d < 3; d++) {
    m[d] = g->nodes[d] - 1;
    a[d] = 2 * (int64_t)at[d] + 1 - m[d];
  }
  const int64_t x = a[0] * m[1] * m[2], y = a[1] * m[2] * m[0], z = a[2] * m[0] * m[1],
                all = m[0] * m[1] * m[2];
  return 4 * (x * x + y * y + z * z) <= all * all ? o->contrast : 1;
}

/* Adds the row of node `corner` of one element. The 27 blocks around the node are in the order of
 * their columns. */
static void add_element(const element *e, double young, int corner, double blocks[][VALUES]) {
  for (int b = 0; b < ELEMENT_NODES; b++) {
    int around = 0;
    for (int d = 2; d >= 0; d--) around = 3 * around + (b >> d & 1) - (corner >> d & 1) + 1;
    for (int v = 0; v < VALUES; v++) blocks[around][v] += young * e->block[corner][b][v];
  }
}

/* Adds up the elements at a node and returns their number. The elements come in the order of the
 * grid in every row, so that block (i, j) is the transpose of block (j, i) bit by bit. */
static int add_elements(const grid *g, const case_elasticity_options *o, const element *e,
                        const int32_t at[3], double blocks[][VALUES]) {
  int count = 0;
  for (int corner = ELEMENT_NODES - 1; corner >= 0; corner--) {
    int32_t origin[3];
    bool inside = true;
    for (int d = 0; d < 3; d++) {
      origin[d] = at[d] - (corner >> d & 1);
      inside = inside && origin[d] >= 0 && origin[d] < g->nodes[d] - 1;
    }
    if (!inside) continue;
    add_element(e, modulus(g, o, origin), corner, blocks);
    count++;
  }
  return count;
}

/* Finds node number `around` of the 27 around a node. Returns false if the grid has no such node or
 * if it is clamped. */
static bool neighbour(const grid *g, const int32_t at[3], int around, int32_t found[3]) {
  for (int d = 0; d < 3; d++, around /= 3) {
    found[d] = at[d] + around % 3 - 1;
    if (found[d] < 0 || found[d] >= g->nodes[d]) return false;
  }
  return found[0] >= g->free_from;
}

/* A row being written: the blocks so far, and where they go. */
typedef struct writer {
  int32_t blocks;
  int32_t *row_ptr, *col_idx;
  double *values, *rhs;
} writer;

static void append(writer *w, int32_t column, const double block[VALUES]) {
  w->col_idx[w->blocks] = column;
  memcpy(w->values + (int64_t)w->blocks++ * VALUES, block, VALUES * sizeof *block);
}

static void write_free_row(const grid *g, const case_elasticity_options *o, const element *e,
                           double volume, const int32_t at[3], writer *w) {
  double blocks[AROUND][VALUES] = {{0}};
  const int elements = add_elements(g, o, e, at, blocks);
  for (int around = 0; around < AROUND; around++) {
    int32_t found[3];
    if (neighbour(g, at, around, found)) append(w, row_of(g, found), blocks[around]);
  }
  /* a force of −1 in z for each unit of volume */
  w->rhs[(int64_t)row_of(g, at) * BS + 2] = -elements * volume / ELEMENT_NODES;
}

static bisai_status fill(const void *of, const case_arrays *a) {
  const case_elasticity_options *o = of;
  const grid owned = grid_of(o), *g = &owned;
  writer writing = {
      .row_ptr = a->row_ptr, .col_idx = a->col_idx, .values = a->values, .rhs = a->rhs};
  writer *w = &writing;
  static const double identity[VALUES] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  double edge[3];
  for (int d = 0; d < 3; d++) edge[d] = 1.0 / (g->nodes[d] - 1);
  element e;
  element_stiffness(edge, &e);
  int32_t at[3];
  for (at[2] = 0; at[2] < g->nodes[2]; at[2]++) {
    for (at[1] = 0; at[1] < g->nodes[1]; at[1]++) {
      for (at[0] = g->first; at[0] < g->nodes[0]; at[0]++) {
        const int32_t row = row_of(g, at);
        w->row_ptr[row] = w->blocks;
        if (at[0] < g->free_from)
          append(w, row, identity);
        else
          write_free_row(g, o, &e, edge[0] * edge[1] * edge[2], at, w);
      }
    }
  }
  w->row_ptr[rows_of(g)] = w->blocks;
  return BISAI_OK;
}

bisai_status case_elasticity(bisai_context *context, const case_elasticity_options *o,
                             int32_t block_size, bisai_bcsr **matrix, double **rhs) {
  if (case_elasticity_refusal(o)) return BISAI_INVALID_ARGUMENT;
  const grid g = grid_of(o);
  const case_system system = {(size_t)rows_of(&g), (size_t)blocks_of(&g), BS, fill, o};
  return case_make(context, &system, block_size, matrix, rhs);
}

bisai_status case_elasticity_modes(const case_elasticity_options *o, double **modes) {
  if (case_elasticity_refusal(o)) return BISAI_INVALID_ARGUMENT;
  const grid g = grid_of(o);
  const int64_t n = rows_of(&g) * BS;
  double *all = calloc((size_t)n * CASE_ELASTICITY_MODES, sizeof *all);
  if (!all) return BISAI_OUT_OF_MEMORY;
  int32_t at[3];
  for (at[2] = 0; at[2] < g.nodes[2]; at[2]++) {
    for (at[1] = 0; at[1] < g.nodes[1]; at[1]++) {
      for (at[0] = g.first; at[0] < g.nodes[0]; at[0]++) {
        double *row = all + (int64_t)row_of(&g, at) * BS, place[3];
        for (int d = 0; d < 3; d++) {
          place[d] = (double)at[d] / (g.nodes[d] - 1) - 0.5;
          row[d * n + d] = 1;
        }
        for (int axis = 0; axis < 3; axis++) { /* e × place */
          const int next = (axis + 1) % 3, last = (axis + 2) % 3;
          row[(3 + axis) * n + next] = 0 - place[last]; /* 0, and not −0, in the middle */
          row[(3 + axis) * n + last] = place[next];
        }
      }
    }
  }
  *modes = all;
  return BISAI_OK;
}
