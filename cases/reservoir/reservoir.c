/* SPDX-License-Identifier: BSD-3-Clause */
/* One Newton step of implicit multiphase flow in a heterogeneous reservoir, by finite volumes with
 * two-point fluxes (README.md has the equations).
 *
 * Cell (i, j, k) of nx × ny × nz is block row (k·ny + j)·nx + i. Each block row holds the blocks of
 * the seven-point stencil that lie on the grid. The matrix is the derivative of the residual that
 * case_reservoir_residual() computes: the same loops make both. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cases.h"
#include "model.h"

enum { PLACES = 7, CENTRE = 3 };

/* m³·cP/(day·bar·mD·m), and bar/m for one kg/m³ */
static const double darcy = 0.00852702, gravity = 9.80665e-5;
static const double well_radius = 0.1, vertical = 0.1, pi = 3.14159265358979324;

/* The places of unknowns and equations in a block. */
static const int place_of[2][COMPONENTS] = {{[OIL] = 0, [WATER] = 1},
                                            {[WATER] = 0, [OIL] = 1, [GAS] = 2}};

/* A system being assembled. `values` is NULL if only the residual is wanted. */
typedef struct assembly {
  const int32_t *cells;
  int components, streams;
  const int *place;
  double step;
  int32_t *row_ptr;
  double *values, *residual;
} assembly;

static int64_t rows_of(const case_reservoir_options *o) {
  return (int64_t)o->cells[0] * o->cells[1] * o->cells[2];
}

/* Each of the 3·rows pairs of neighbours gives two blocks, but for those that end at a face. */
static int64_t blocks_of(const case_reservoir_options *o) {
  const int64_t x = o->cells[0], y = o->cells[1], z = o->cells[2];
  return 7 * x * y * z - 2 * (x * y + y * z + z * x);
}

case_reservoir_options case_reservoir_options_default(void) {
  return (case_reservoir_options){.components = 2, .step = 10};
}

const char *case_reservoir_refusal(const case_reservoir_options *o) {
  for (int d = 0; d < 3; d++) {
    if (o->cells[d] < 2) return "the reservoir needs at least 2 cells in each direction";
    if (o->cells[d] > 250) return "the reservoir takes at most 250 cells in each direction";
  }
  if (o->components != 2 && o->components != 3) return "the reservoir has 2 or 3 components";
  if (!(o->step > 0 && isfinite(o->step)))
    return "the step of the reservoir is a number of days greater than 0";
  return NULL;
}

static int32_t row_of(const int32_t cells[3], const int32_t at[3]) {
  return (at[2] * cells[1] + at[1]) * cells[0] + at[0];
}

/* Goes to the next cell in the order of the rows. Returns false after the last one. */
static bool advance(const int32_t cells[3], int32_t at[3]) {
  for (int d = 0; d < 3; d++) {
    if (++at[d] < cells[d]) return true;
    at[d] = 0;
  }
  return false;
}

/* --- the pattern --- */

/* Returns true if the grid has the neighbour of a cell at a place of the stencil: −z, −y, −x, the
 * cell itself, x, y, z. */
static bool exists(const int32_t cells[3], const int32_t at[3], int place) {
  if (place < CENTRE) return at[CENTRE - 1 - place] > 0;
  const int d = place - CENTRE - 1;
  return d < 0 || at[d] < cells[d] - 1;
}

/* Returns the distance of the rows of a cell and its neighbour. */
static int32_t distance(const int32_t cells[3], int place) {
  const int32_t stride[3] = {1, cells[0], cells[0] * cells[1]};
  if (place == CENTRE) return 0;
  return place < CENTRE ? -stride[CENTRE - 1 - place] : stride[place - CENTRE - 1];
}

static void fill_pattern(const int32_t cells[3], int32_t *row_ptr, int32_t *col_idx) {
  int32_t blocks = 0, row = 0, at[3] = {0};
  do {
    row_ptr[row] = blocks;
    for (int place = 0; place < PLACES; place++)
      if (exists(cells, at, place)) col_idx[blocks++] = row + distance(cells, place);
    row++;
  } while (advance(cells, at));
  row_ptr[row] = blocks;
}

/* Returns the block of a cell and its neighbour at a place of the stencil. */
static double *block_at(const assembly *s, const int32_t at[3], int place) {
  int64_t block = s->row_ptr[row_of(s->cells, at)];
  for (int p = 0; p < place; p++) block += exists(s->cells, at, p);
  return s->values + block * s->components * s->components;
}

/* --- the equations --- */

/* A cell in a state. */
typedef struct cell {
  double pressure;
  fluid fluid;
} cell;

/* Returns a cell in a state; NULL: that at the beginning of the step. */
static cell cell_at(const assembly *s, const int32_t at[3], const double *state) {
  double unknowns[COMPONENTS];
  reservoir_initial(s->components, s->cells, at, unknowns);
  for (int u = 0; state && u < s->components; u++)
    unknowns[u] = state[(int64_t)row_of(s->cells, at) * s->components + s->place[u]];
  return (cell){unknowns[PRESSURE], reservoir_fluid(s->components, unknowns)};
}

/* Adds the derivatives of the equation of a component to a block. */
static void add_slopes(const assembly *s, int component, double factor, const double *slope,
                       double *block) {
  for (int u = 0; u < COMPONENTS && u < s->components; u++)
    block[s->place[u] * s->components + s->place[component]] += factor * slope[u];
}

static double *residual_of(const assembly *s, const int32_t at[3]) {
  return s->residual + (int64_t)row_of(s->cells, at) * s->components;
}

/* What a cell holds more than at the beginning of the step, over the length of the step. */
static void add_storage(const assembly *s, const int32_t at[3], const cell *now) {
  const cell before = cell_at(s, at, NULL);
  const dual pores = reservoir_pores(now->pressure), old = reservoir_pores(before.pressure);
  const double volume = reservoir_edge[0] * reservoir_edge[1] * reservoir_edge[2] *
                        reservoir_rock(s->cells, at).porosity / s->step;
  double *block = s->values ? block_at(s, at, CENTRE) : NULL;
  for (int c = 0; c < s->components; c++) {
    const dual *amount = &now->fluid.amount[c];
    residual_of(s, at)[s->place[c]] +=
        volume * (pores.value * amount->value - old.value * before.fluid.amount[c].value);
    if (!block) continue;
    add_slopes(s, c, volume * pores.value, amount->slope, block);
    add_slopes(s, c, volume * amount->value, pores.slope, block);
  }
}

/* Returns the flow between the midpoints of two neighbours in direction d for a mobility and a
 * difference of potential of 1: both halves in series. */
static double transmissibility(int d, const rock *a, const rock *b) {
  const double face = reservoir_edge[(d + 1) % 3] * reservoir_edge[(d + 2) % 3],
               factor = darcy * (d == 2 ? vertical : 1) * face / reservoir_edge[d];
  return factor * 2 * a->permeability * b->permeability / (a->permeability + b->permeability);
}

/* A face between two cells. Side 1 is deeper by `drop`. */
typedef struct face {
  const cell *side[2];
  double drop, transmissibility;
  double *residual[2], *block[2][2];
} face;

/* The flow of a stream from side 0 to side 1. Its mobility is that of the side it comes from, and
 * its density the mean of both. */
static void add_stream(const assembly *s, const face *f, int stream) {
  const int phase = reservoir_stream_phase[stream], c = reservoir_stream_component[stream];
  const dual *density[2] = {&f->side[0]->fluid.density[phase], &f->side[1]->fluid.density[phase]};
  const double weight = 0.5 * gravity * f->drop;
  const double potential = f->side[0]->pressure - f->side[1]->pressure +
                           weight * (density[0]->value + density[1]->value);
  const int from = potential >= 0 ? 0 : 1;
  const dual *mobility = &f->side[from]->fluid.mobility[stream];
  const double conductance = f->transmissibility * mobility->value;
  for (int side = 0; side < 2; side++) {
    const double sign = side == 0 ? 1 : -1;
    f->residual[side][s->place[c]] += sign * conductance * potential;
    if (!s->values) continue;
    add_slopes(s, c, sign * f->transmissibility * potential, mobility->slope, f->block[side][from]);
    for (int other = 0; other < 2; other++) {
      double slope[COMPONENTS] = {0};
      for (int u = 0; u < s->components; u++) slope[u] = weight * density[other]->slope[u];
      slope[PRESSURE] += other == 0 ? 1 : -1;
      add_slopes(s, c, sign * conductance, slope, f->block[side][other]);
    }
  }
}

/* The flows to the higher neighbours of a cell. */
static void add_flows(const assembly *s, const int32_t at[3], const cell *now) {
  const int32_t row = row_of(s->cells, at);
  const rock own = reservoir_rock(s->cells, at);
  for (int d = 0; d < 3; d++) {
    if (!exists(s->cells, at, CENTRE + 1 + d)) continue;
    int32_t next[3] = {at[0], at[1], at[2]};
    next[d]++;
    const int32_t column = row_of(s->cells, next);
    const rock other = reservoir_rock(s->cells, next);
    face f = {.side = {now + row, now + column},
              .drop = other.depth - own.depth,
              .transmissibility = transmissibility(d, &own, &other),
              .residual = {residual_of(s, at), residual_of(s, next)}};
    if (s->values) {
      f.block[0][0] = block_at(s, at, CENTRE);
      f.block[0][1] = block_at(s, at, CENTRE + 1 + d);
      f.block[1][0] = block_at(s, next, CENTRE - 1 - d);
      f.block[1][1] = block_at(s, next, CENTRE);
    }
    for (int stream = 0; stream < s->streams; stream++) add_stream(s, &f, stream);
  }
}

/* Adds what a well takes out of a cell: index·mobility·(pressure − that of the well). */
static void add_well(const assembly *s, const int32_t at[3], int component, const dual *mobility,
                     double difference) {
  const rock here = reservoir_rock(s->cells, at);
  const double distance = 0.14 * hypot(reservoir_edge[0], reservoir_edge[1]);
  const double index =
      darcy * 2 * pi * here.permeability * reservoir_edge[2] / log(distance / well_radius);
  residual_of(s, at)[s->place[component]] += index * mobility->value * difference;
  if (!s->values) return;
  const double slope[COMPONENTS] = {[PRESSURE] = 1};
  double *block = block_at(s, at, CENTRE);
  add_slopes(s, component, index * mobility->value, slope, block);
  add_slopes(s, component, index * difference, mobility->slope, block);
}

/* The injector is the column of the first cell, and the producer that of the last one. */
static void add_wells(const assembly *s, const cell *now) {
  int32_t at[3] = {0};
  for (; at[2] < s->cells[2]; at[2]++) {
    at[0] = at[1] = 0;
    const cell *c = &now[row_of(s->cells, at)];
    add_well(s, at, WATER, &c->fluid.injected, c->pressure - reservoir_injector(s->cells, at));
    at[0] = s->cells[0] - 1;
    at[1] = s->cells[1] - 1;
    c = &now[row_of(s->cells, at)];
    for (int stream = 0; stream < s->streams; stream++) {
      add_well(s, at, reservoir_stream_component[stream], &c->fluid.mobility[stream],
               c->pressure - reservoir_producer(s->cells, at));
    }
  }
}

/* Adds all terms at a state; NULL: that at the beginning of the step. */
static bisai_status assemble(const assembly *s, const double *state) {
  const size_t rows = (size_t)s->cells[0] * (size_t)s->cells[1] * (size_t)s->cells[2];
  cell *now = malloc(rows * sizeof *now);
  int32_t at[3] = {0};
  if (!now) return BISAI_OUT_OF_MEMORY;
  do {
    now[row_of(s->cells, at)] = cell_at(s, at, state);
  } while (advance(s->cells, at));
  do {
    add_storage(s, at, &now[row_of(s->cells, at)]);
    add_flows(s, at, now);
  } while (advance(s->cells, at));
  add_wells(s, now);
  free(now);
  return BISAI_OK;
}

static assembly assembly_of(const case_reservoir_options *o) {
  assembly s = {.cells = o->cells,
                .components = o->components,
                .streams = reservoir_streams(o->components),
                .place = place_of[o->components - 2],
                .step = o->step};
  return s;
}

/* --- the interface --- */

bisai_status case_reservoir_state(const case_reservoir_options *o, double **state) {
  if (case_reservoir_refusal(o)) return BISAI_INVALID_ARGUMENT;
  const assembly s = assembly_of(o);
  double *all = malloc((size_t)(rows_of(o) * s.components) * sizeof *all);
  int32_t at[3] = {0};
  if (!all) return BISAI_OUT_OF_MEMORY;
  do {
    double unknowns[COMPONENTS];
    reservoir_initial(s.components, s.cells, at, unknowns);
    for (int u = 0; u < s.components; u++)
      all[(int64_t)row_of(s.cells, at) * s.components + s.place[u]] = unknowns[u];
  } while (advance(s.cells, at));
  *state = all;
  return BISAI_OK;
}

bisai_status case_reservoir_residual(const case_reservoir_options *o, const double *state,
                                     double **residual) {
  if (case_reservoir_refusal(o)) return BISAI_INVALID_ARGUMENT;
  assembly s = assembly_of(o);
  s.residual = calloc((size_t)(rows_of(o) * s.components), sizeof *s.residual);
  const bisai_status status = s.residual ? assemble(&s, state) : BISAI_OUT_OF_MEMORY;
  if (!status)
    *residual = s.residual;
  else
    free(s.residual);
  return status;
}

static bisai_status fill(const void *of, const case_arrays *a) {
  const case_reservoir_options *o = of;
  assembly s = assembly_of(o);
  s.row_ptr = a->row_ptr;
  s.values = a->values;
  s.residual = a->rhs;
  fill_pattern(s.cells, a->row_ptr, a->col_idx);
  const bisai_status status = assemble(&s, NULL);
  for (int64_t i = 0; i < rows_of(o) * s.components; i++) a->rhs[i] = 0 - a->rhs[i];
  return status;
}

bisai_status case_reservoir(bisai_context *context, const case_reservoir_options *o,
                            int32_t block_size, bisai_bcsr **matrix, double **rhs) {
  if (case_reservoir_refusal(o)) return BISAI_INVALID_ARGUMENT;
  const case_system system = {(size_t)rows_of(o), (size_t)blocks_of(o), o->components, fill, o};
  return case_make(context, &system, block_size, matrix, rhs);
}
