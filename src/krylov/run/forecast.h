/* SPDX-License-Identifier: BSD-3-Clause */
/* How many steps a cycle will take.
 *
 * Steps that are enqueued beyond the end of a cycle are computed in vain, and the next operation
 * waits for them. The last two reductions of the estimate tell when the end is near. The forecast
 * depends on estimates alone, so that all processes enqueue the same steps. */
#ifndef BSI_FORECAST_H
#define BSI_FORECAST_H

#include <limits.h>
#include <math.h>
#include <stdbool.h>

/* The estimates of a cycle: the last one, and the factors of the last two steps. NaN: unknown. The
 * norm of the first residual, and the steps since. */
typedef struct bsi_forecast {
  double estimate, factors[2], first;
  int steps;
} bsi_forecast;

/* Begins a cycle. `norm` is the norm of its first residual. */
static inline bsi_forecast bsi_forecast_begin(double norm) {
  return (bsi_forecast){norm, {(double)NAN, (double)NAN}, norm, 0};
}

/* Takes the estimate of the next step. */
static inline void bsi_forecast_add(bsi_forecast *f, double estimate) {
  f->factors[0] = f->factors[1];
  f->factors[1] = estimate / f->estimate;
  f->estimate = estimate;
  f->steps++;
}

/* Returns the estimate before step j, whose last ones may not be known yet, at the pace of the last
 * two steps. */
static inline double bsi_forecast_before(const bsi_forecast *f, int j) {
  const double pace = isnan(f->factors[0]) ? f->factors[1] : sqrt(f->factors[0] * f->factors[1]);
  return pace < 1.0 ? f->estimate * pow(pace, j - f->steps) : f->estimate;
}

/* Returns true if a cycle of so many steps reaches the target at its pace so far. */
static inline bool bsi_forecast_ends(const bsi_forecast *f, double target, int steps) {
  return f->estimate < f->first &&
         f->steps * log(target / f->first) >= steps * log(f->estimate / f->first);
}

/* Returns the steps from the last estimate to the target, at least 1, as if each of them reduced
 * the estimate by the smaller factor. Too few steps make the device wait once for the host, which
 * costs less than a step too many. Returns 2 before the first step. */
static inline int bsi_forecast_left(const bsi_forecast *f, double target) {
  const double factor = fmin(f->factors[0], f->factors[1]); /* ignores NaN */
  if (isnan(factor)) return 2;
  if (!(factor < 1.0)) return INT_MAX;
  /* a forecast that misses the target by rounding has reached it */
  const double left = ceil(log(target / f->estimate) / log(factor) - 0.01);
  return left > 1.0 ? left < (double)INT_MAX ? (int)left : INT_MAX : 1;
}

#endif
