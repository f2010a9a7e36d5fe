/* SPDX-License-Identifier: BSD-3-Clause */
/* A perfect gas: fluxes through a face, and the flow through a channel of varying height. States
 * are (ρ, ρu, ρv, E), in units of the density and the speed of sound of the free stream. */
#ifndef BISAI_CASE_EULER_FLOW_H
#define BISAI_CASE_EULER_FLOW_H

enum { EULER_BS = 4, DUAL_SLOPES = EULER_BS };

#include "dual.h"

/* A normal has the length of its face. */

/* Computes the part of the flux that goes along the normal (sign = 1) or against it (−1), with the
 * derivatives by the state that it comes from. */
void euler_split_flux(const double state[EULER_BS], const double normal[2], int sign,
                      dual flux[EULER_BS]);

/* The flux through a wall. */
void euler_wall_flux(const double state[EULER_BS], const double normal[2], dual flux[EULER_BS]);

/* Returns |u·n| + c|n|, the fastest wave times the length of the face. */
double euler_wave(const double state[EULER_BS], const double normal[2]);

/* The free stream, along x. */
void euler_free_stream(double state[EULER_BS]);

/* The isentropic flow where the channel has this height relative to that of the free stream, in the
 * direction of a streamline with this slope. */
void euler_channel_flow(double height, double slope, double state[EULER_BS]);

#endif
