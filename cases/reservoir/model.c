/* SPDX-License-Identifier: BSD-3-Clause */
/* Rock, fluids and first state of the case `reservoir` (README.md has the formulas and their
 * sources). */
#include "model.h"

#include <math.h>

static const double reference = 200; /* pressure p₀, bar */

/* --- rock --- */

static const double top = 2000, dip = 0.05;
const double reservoir_edge[3] = {10, 10, 1};

/* Cells of a tile in x and y and of a layer in z; parts of a power of ten. */
enum { LAYERS = 20, TILE = 5, PARTS = 4 };

/* log₁₀ of the permeability of each layer in mD, from the top. The list is repeated below. */
static const int8_t layer_exponent[LAYERS] = {2, 1, 3,  2, -1, 1, 2, 0, 3, 1,
                                              2, 0, -1, 1, 2,  3, 0, 1, 2, 1};

static int exponent_of(const int32_t at[3]) { return layer_exponent[at[2] / TILE % LAYERS]; }

/* Mixes the bits of a number (the finaliser `lowbias32` of C. Wellons). */
static uint32_t mix(uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352dU;
  x = (x ^ x >> 15) * 0x846ca68bU;
  return x ^ x >> 16;
}

/* Returns one of −range, …, range, which looks random. */
static int deviation(const int32_t at[3], int range) {
  const uint32_t h = mix((uint32_t)at[0] + mix((uint32_t)at[1] + mix((uint32_t)at[2])));
  return (int)(h % (uint32_t)(2 * range + 1)) - range;
}

/* Returns 10 to the power of parts/4, −2 ≤ parts/4 ≤ 4, without a call of pow(). */
static double power_of_ten(int parts) {
  static const double decade[] = {1e-2, 1e-1, 1, 1e1, 1e2, 1e3, 1e4},
                      quarter[PARTS] = {1, 1.7782794100389228, 3.1622776601683795,
                                        5.6234132519034908};
  const int positive = parts + 2 * PARTS;
  return decade[positive / PARTS] * quarter[positive % PARTS];
}

rock reservoir_rock(const int32_t cells[3], const int32_t at[3]) {
  const int32_t tile[3] = {at[0] / TILE, at[1] / TILE, at[2] / TILE};
  const int parts = PARTS * exponent_of(at) + deviation(tile, 3) + deviation(at, 1);
  return (rock){.permeability = power_of_ten(parts),
                .porosity = 0.16 + 0.0075 * parts,
                .depth = top + dip * reservoir_edge[0] * (cells[0] - at[0] - 0.5) +
                         reservoir_edge[2] * (at[2] + 0.5)};
}

dual reservoir_pores(double pressure) {
  const double compressibility = 5e-5;
  return (dual){.value = 1 + compressibility * (pressure - reference),
                .slope[PRESSURE] = compressibility};
}

/* --- fluids --- */

const int reservoir_stream_phase[STREAMS] = {OIL, WATER, GAS, OIL};
const int reservoir_stream_component[STREAMS] = {OIL, WATER, GAS, GAS};

/* Saturations of water and oil that no flow goes below, and the part of the pores between them. */
static const double connate = 0.2, residual_oil = 0.2, mobile = 0.6;

/* Returns the volume at the reference pressure of one volume of a slightly compressible liquid:
 * exp(x) to second order, x = compressibility·(p − p₀). */
static dual liquid(double compressibility, dual p) {
  const dual x = {.value = compressibility * (p.value - reference),
                  .slope[PRESSURE] = compressibility};
  return dual_add(dual_add(dual_constant(1), 1, x), 0.5, dual_times(x, x));
}

/* Returns relative permeability over viscosity: factor·s², s the part of the mobile saturation. */
static dual corey(dual saturation, double least, double factor) {
  const dual s = dual_add(dual_constant(-least / mobile), 1 / mobile, saturation);
  return s.value > 0 ? dual_add(dual_constant(0), factor, dual_times(s, s)) : dual_constant(0);
}

fluid reservoir_fluid(int components, const double unknowns[COMPONENTS]) {
  const double surface_density[COMPONENTS] = {components == 2 ? 850 : 620, 1030, 160};
  const int gas = components > 2;
  dual unknown[COMPONENTS], saturation[COMPONENTS], concentration[STREAMS], flow[COMPONENTS];
  for (int u = 0; u < COMPONENTS; u++) unknown[u] = dual_unknown(unknowns[u], u);
  saturation[WATER] = unknown[WATER];
  saturation[GAS] = gas ? unknown[GAS] : dual_constant(0);
  saturation[OIL] =
      dual_add(dual_add(dual_constant(1), -1, saturation[WATER]), -1, saturation[GAS]);

  const dual p = unknown[PRESSURE];
  concentration[WATER_IN_WATER] = liquid(4.5e-5, p);
  concentration[GAS_IN_GAS] = dual_add(dual_constant(0), 1 / reference, p);
  /* oil swells as it takes up gas */
  concentration[OIL_IN_OIL] =
      gas ? dual_inverse(dual_add(dual_constant(1 - 9e-4 * reference), 9e-4, p)) : liquid(1e-4, p);
  concentration[GAS_IN_OIL] = dual_add(
      dual_constant(0), 0.4, dual_times(concentration[GAS_IN_GAS], concentration[OIL_IN_OIL]));

  flow[WATER] = corey(saturation[WATER], connate, 0.5 / 0.5);
  flow[OIL] = corey(saturation[OIL], residual_oil, gas ? 1 / 1.0 : 1 / 2.0);
  flow[GAS] = gas ? corey(saturation[GAS], 0, 0.8 / 0.02) : dual_constant(0);

  fluid f = {0};
  for (int s = 0; s < reservoir_streams(components); s++) {
    const int phase = reservoir_stream_phase[s], component = reservoir_stream_component[s];
    f.amount[component] =
        dual_add(f.amount[component], 1, dual_times(saturation[phase], concentration[s]));
    f.mobility[s] = dual_times(concentration[s], flow[phase]);
    f.density[phase] = dual_add(f.density[phase], surface_density[component], concentration[s]);
  }
  f.injected = dual_times(concentration[WATER_IN_WATER],
                          dual_add(dual_add(flow[OIL], 1, flow[WATER]), 1, flow[GAS]));
  return f;
}

/* --- wells and the first state --- */

/* The pressure halfway between the wells, in hydrostatic equilibrium. */
static double halfway(double depth) { return reference + 0.075 * (depth - top); }

/* Returns what the pressure falls by, from one corner of the reservoir to the other. */
static double fall(const int32_t cells[3]) {
  return 0.04 * (reservoir_edge[0] * cells[0] + reservoir_edge[1] * cells[1]);
}

static const double drawdown = 10;

double reservoir_injector(const int32_t cells[3], const int32_t at[3]) {
  return halfway(reservoir_rock(cells, at).depth) + 0.5 * fall(cells) + drawdown;
}

double reservoir_producer(const int32_t cells[3], const int32_t at[3]) {
  return halfway(reservoir_rock(cells, at).depth) - 0.5 * fall(cells) - drawdown;
}

void reservoir_initial(int components, const int32_t cells[3], const int32_t at[3],
                       double unknowns[COMPONENTS]) {
  const double depth = reservoir_rock(cells, at).depth;
  const double thickness = dip * reservoir_edge[0] * cells[0] + reservoir_edge[2] * cells[2];
  const double way = 0.5 * ((at[0] + 0.5) / cells[0] + (at[1] + 0.5) / cells[1]);
  const double front = 0.3 + 0.1 * exponent_of(at);
  const double water = way < front ? 1 - 0.5 * way / front : 0;
  const double cap = fmax(0, 1 - 2 * (depth - top) / thickness);
  unknowns[PRESSURE] = halfway(depth) + fall(cells) * (0.5 - way);
  unknowns[WATER] = connate + mobile * water;
  unknowns[GAS] = components == 2 ? 0 : mobile * (1 - water) * (0.1 + 0.6 * cap);
}
