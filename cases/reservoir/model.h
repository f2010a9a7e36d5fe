/* SPDX-License-Identifier: BSD-3-Clause */
/* The reservoir that the case is about: rock, fluids, and the state at the beginning of the step.
 * README.md has the formulas. Units are bar, day, m, mD and cP. */
#ifndef BISAI_CASE_RESERVOIR_MODEL_H
#define BISAI_CASE_RESERVOIR_MODEL_H

#include <stdint.h>

/* Phases and components have the same names, and unknown c is the one that belongs to component c:
 * the pressure, the saturation of water, the saturation of gas. */
enum { OIL, WATER, GAS, COMPONENTS };
enum { PRESSURE = OIL };
enum { DUAL_SLOPES = COMPONENTS };

#include "dual.h"

/* A stream is a component in a phase. With two components there are the first two streams only. */
enum { OIL_IN_OIL, WATER_IN_WATER, GAS_IN_GAS, GAS_IN_OIL, STREAMS };
extern const int reservoir_stream_phase[STREAMS], reservoir_stream_component[STREAMS];

/* Streams of a model with so many components. */
static inline int reservoir_streams(int components) { return components == 2 ? 2 : STREAMS; }

/* What the equations need to know of the fluids in a cell. */
typedef struct fluid {
  /* of a component, for each volume of pores */
  dual amount[COMPONENTS];
  /* of a stream: concentration in its phase times relative permeability over viscosity */
  dual mobility[STREAMS];
  /* of a phase, kg/m³ */
  dual density[COMPONENTS];
  /* concentration of water in water, times the relative permeabilities over viscosities of all
   * phases: the mobility of water that is injected */
  dual injected;
} fluid;

fluid reservoir_fluid(int components, const double unknowns[COMPONENTS]);

/* The lengths of the edges of a cell. */
extern const double reservoir_edge[3];

typedef struct rock {
  /* in x and y; that in z is a tenth of it */
  double permeability;
  /* at the reference pressure */
  double porosity;
  /* of the midpoint */
  double depth;
} rock;

rock reservoir_rock(const int32_t cells[3], const int32_t at[3]);

/* Pores of compressible rock, relative to those at the reference pressure. */
dual reservoir_pores(double pressure);

/* Pressures of the wells at the depth of a cell. */
double reservoir_injector(const int32_t cells[3], const int32_t at[3]);
double reservoir_producer(const int32_t cells[3], const int32_t at[3]);

/* The state at the beginning of the step. The saturation of gas is 0 with two components. */
void reservoir_initial(int components, const int32_t cells[3], const int32_t at[3],
                       double unknowns[COMPONENTS]);

#endif
