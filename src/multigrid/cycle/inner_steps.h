/* SPDX-License-Identifier: BSD-3-Clause */
/* The scalar work of cycles, compiled for the host and for CUDA.
 *
 * Two steps of flexible GCR for the right-hand side r₀ (Notay, SIAM J. Sci. Comput. 30 (2008),
 * Algorithm 3.2), with v = A c, v₂ = A c₂ and r = r₀ − a v:
 *
 *   first step   a = (v·r₀)/(v·v)
 *   second step  s = (v₂·v)/(v·v),  b = (v₂·r)/(v₂·v₂ − s v₂·v),  c ← (a − b s) c + b c₂ */
#ifndef BSI_INNER_STEPS_H
#define BSI_INNER_STEPS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/block/column.h"

/* The places of the scalars of a K-cycle: a, v·v, the coefficient of c, and that of c₂. A direction
 * that is dropped has the coefficient 0. */
enum { BSI_K_STEP, BSI_K_SQUARE, BSI_K_OLD, BSI_K_NEW };

/* v₂ adds a direction if this part of v₂·v₂ is left after v has been removed from v₂. What is left
 * of a smaller part has lost most of its digits. */
#define BSI_K_LEAST_PART 0x1p-40

/* The scalars of the first step. `sums` are v·r₀ and v·v. */
BSI_INLINE void bsi_k_first(const double *sums, double *scalars) {
  const double step = sums[0] / sums[1];
  const bool good = sums[1] > 0.0 && isfinite(sums[1]) && isfinite(step);
  scalars[BSI_K_STEP] = good ? step : 0.0;
  scalars[BSI_K_SQUARE] = good ? sums[1] : 0.0;
}

/* The scalars of the second step, from those of the first one. `sums` are v₂·v, v₂·v₂ and v₂·r. */
BSI_INLINE void bsi_k_second(const double *sums, double *scalars) {
  const double square = scalars[BSI_K_SQUARE], step = scalars[BSI_K_STEP];
  const double share = square > 0.0 ? sums[0] / square : 0.0;
  const double rest = square > 0.0 ? sums[1] - share * sums[0] : sums[1];
  const double more = sums[2] / rest, less = more * share;
  const bool good = sums[1] > 0.0 && isfinite(sums[1]) && rest > BSI_K_LEAST_PART * sums[1] &&
                    isfinite(more) && isfinite(less);
  scalars[BSI_K_OLD] = good ? step - less : step;
  scalars[BSI_K_NEW] = good ? more : 0.0;
}

/* Returns a·c + b·c2. A value whose coefficient is 0 may be infinite or NaN. */
BSI_INLINE double bsi_k_combine(double a, double c, double b, double c2) {
  return (a != 0.0 ? a * c : 0.0) + (b != 0.0 ? b * c2 : 0.0);
}

#endif
