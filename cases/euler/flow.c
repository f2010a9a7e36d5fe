/* SPDX-License-Identifier: BSD-3-Clause */
/* Flux-vector splitting of the Euler equations (van Leer, Flux-vector splitting for the Euler
 * equations, 1982) and one-dimensional isentropic flow (Anderson, Modern Compressible Flow, chapter
 * 5). README.md has the formulas. */
#include "flow.h"

static const double gamma_ = 1.4, mach = 0.675;

/* The primitive variables, and the velocity along a unit normal. */
typedef struct primitive {
  dual density, velocity[2], energy, pressure, sound, normal_velocity;
} primitive;

static primitive primitive_of(const double state[EULER_BS], const double unit[2]) {
  primitive w;
  dual unknown[EULER_BS];
  for (int u = 0; u < EULER_BS; u++) unknown[u] = dual_unknown(state[u], u);
  const dual volume = dual_inverse(unknown[0]);
  w.density = unknown[0];
  w.energy = unknown[3];
  w.normal_velocity = dual_constant(0);
  dual kinetic = dual_constant(0);
  for (int d = 0; d < 2; d++) {
    w.velocity[d] = dual_times(unknown[1 + d], volume);
    w.normal_velocity = dual_add(w.normal_velocity, unit[d], w.velocity[d]);
    kinetic = dual_add(kinetic, 0.5, dual_times(unknown[1 + d], w.velocity[d]));
  }
  w.pressure = dual_add(dual_constant(0), gamma_ - 1, dual_add(w.energy, -1, kinetic));
  w.sound = dual_root(dual_add(dual_constant(0), gamma_, dual_times(w.pressure, volume)));
  return w;
}

static void whole_flux(const primitive *w, const double unit[2], dual flux[EULER_BS]) {
  flux[0] = dual_times(w->density, w->normal_velocity);
  for (int d = 0; d < 2; d++)
    flux[1 + d] = dual_add(dual_times(flux[0], w->velocity[d]), unit[d], w->pressure);
  flux[3] = dual_times(dual_add(w->energy, 1, w->pressure), w->normal_velocity);
}

/* The flux of one direction where the flow is subsonic along the normal. */
static void subsonic_flux(const primitive *w, const double unit[2], int sign, dual flux[EULER_BS]) {
  const dual wave = dual_add(w->normal_velocity, sign, w->sound);
  flux[0] = dual_times(dual_times(w->density, dual_inverse(w->sound)), dual_times(wave, wave));
  flux[0] = dual_add(dual_constant(0), 0.25 * sign, flux[0]);

  dual square = dual_constant(0); /* of the velocity along the face */
  const dual push = dual_add(dual_add(dual_constant(0), -1 / gamma_, w->normal_velocity),
                             2 * sign / gamma_, w->sound);
  for (int d = 0; d < 2; d++) {
    flux[1 + d] = dual_times(flux[0], dual_add(w->velocity[d], unit[d], push));
    square = dual_add(square, 1, dual_times(w->velocity[d], w->velocity[d]));
  }
  square = dual_add(square, -1, dual_times(w->normal_velocity, w->normal_velocity));

  const dual root =
      dual_add(dual_add(dual_constant(0), gamma_ - 1, w->normal_velocity), 2 * sign, w->sound);
  const dual energy = dual_add(dual_add(dual_constant(0), 0.5, square), 0.5 / (gamma_ * gamma_ - 1),
                               dual_times(root, root));
  flux[3] = dual_times(flux[0], energy);
}

static double unit_of(const double normal[2], double unit[2]) {
  const double length = hypot(normal[0], normal[1]);
  unit[0] = normal[0] / length;
  unit[1] = normal[1] / length;
  return length;
}

static void scale(double length, dual flux[EULER_BS]) {
  for (int u = 0; u < EULER_BS; u++) flux[u] = dual_add(dual_constant(0), length, flux[u]);
}

void euler_split_flux(const double state[EULER_BS], const double normal[2], int sign,
                      dual flux[EULER_BS]) {
  double unit[2];
  const double length = unit_of(normal, unit);
  const primitive w = primitive_of(state, unit);
  const double ratio = sign * w.normal_velocity.value / w.sound.value;
  if (ratio >= 1)
    whole_flux(&w, unit, flux);
  else if (ratio <= -1)
    for (int u = 0; u < EULER_BS; u++) flux[u] = dual_constant(0);
  else
    subsonic_flux(&w, unit, sign, flux);
  scale(length, flux);
}

void euler_wall_flux(const double state[EULER_BS], const double normal[2], dual flux[EULER_BS]) {
  double unit[2];
  const double length = unit_of(normal, unit);
  const primitive w = primitive_of(state, unit);
  flux[0] = flux[3] = dual_constant(0);
  for (int d = 0; d < 2; d++) flux[1 + d] = dual_add(dual_constant(0), unit[d], w.pressure);
  scale(length, flux);
}

double euler_wave(const double state[EULER_BS], const double normal[2]) {
  double unit[2];
  const double length = unit_of(normal, unit);
  const primitive w = primitive_of(state, unit);
  return length * (fabs(w.normal_velocity.value) + w.sound.value);
}

/* --- the channel --- */

/* T₀/T */
static double heat(double m) { return 1 + 0.5 * (gamma_ - 1) * m * m; }

/* The height at a Mach number, relative to that of the free stream. */
static double height_at(double m) {
  return mach / m * pow(heat(m) / heat(mach), 0.5 * (gamma_ + 1) / (gamma_ - 1));
}

void euler_channel_flow(double height, double slope, double state[EULER_BS]) {
  double low = 0, high = 1; /* the height falls from infinity as the Mach number rises to 1 */
  for (int step = 0; step < 60; step++) {
    const double middle = 0.5 * (low + high);
    if (height_at(middle) > height)
      low = middle;
    else
      high = middle;
  }
  const double m = 0.5 * (low + high), temperature = heat(mach) / heat(m);
  const double speed = m * sqrt(temperature), along = speed / hypot(1, slope);
  const double density = pow(temperature, 1 / (gamma_ - 1));
  const double pressure = density * temperature / gamma_;
  state[0] = density;
  state[1] = density * along;
  state[2] = density * along * slope;
  state[3] = pressure / (gamma_ - 1) + 0.5 * density * speed * speed;
}

void euler_free_stream(double state[EULER_BS]) { euler_channel_flow(1, 0, state); }
