/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of a few unknowns with their derivatives (forward differentiation). DUAL_SLOPES, the
 * number of unknowns, is defined before this file is included. */
#ifndef BISAI_CASES_DUAL_H
#define BISAI_CASES_DUAL_H

#include <math.h>

typedef struct dual {
  double value, slope[DUAL_SLOPES];
} dual;

static inline dual dual_constant(double value) { return (dual){.value = value}; }

/* Returns unknown number u, which has this value. */
static inline dual dual_unknown(double value, int u) {
  dual a = {.value = value};
  a.slope[u] = 1;
  return a;
}

/* Returns a + f·b. */
static inline dual dual_add(dual a, double f, dual b) {
  a.value += f * b.value;
  for (int u = 0; u < DUAL_SLOPES; u++) a.slope[u] += f * b.slope[u];
  return a;
}

static inline dual dual_times(dual a, dual b) {
  dual c = {.value = a.value * b.value};
  for (int u = 0; u < DUAL_SLOPES; u++) c.slope[u] = a.value * b.slope[u] + a.slope[u] * b.value;
  return c;
}

static inline dual dual_inverse(dual a) {
  dual c = {.value = 1 / a.value};
  for (int u = 0; u < DUAL_SLOPES; u++) c.slope[u] = -a.slope[u] * c.value * c.value;
  return c;
}

static inline dual dual_root(dual a) {
  dual c = {.value = sqrt(a.value)};
  for (int u = 0; u < DUAL_SLOPES; u++) c.slope[u] = 0.5 * a.slope[u] / c.value;
  return c;
}

#endif
