/* SPDX-License-Identifier: BSD-3-Clause */
/* ‖b − A x‖₂ in extended precision, whose range no square leaves.
 *
 * In double precision a row of k products differs by at most (k + 2) u (|A||x| + |b|). What
 * denormal products lose may not count: small b are scaled. */
#include "api.h"

#include <math.h>
#include <stdlib.h>

fuzz_residual fuzz_residual_of(const fuzz_system *s, const double *x, const double *b) {
  long double *ax = fuzz_memory((size_t)s->rows, sizeof *ax),
              *size = fuzz_memory((size_t)s->rows, sizeof *size);
  if (x) fuzz_system_multiply(s, FUZZ_FIRST, x, ax, size);
  fuzz_residual r = {0};
  for (int32_t i = 0; i < s->rows; i++) {
    const int32_t block_row = i / s->block_size;
    const long double entries = (s->row_ptr[block_row + 1] - s->row_ptr[block_row]) * s->block_size;
    const long double difference = b[i] - ax[i];
    const long double error =
        x ? (entries + 2) * 0x1p-53L * (size[i] + fabsl((long double)b[i])) : 0;
    r.rhs += (long double)b[i] * b[i];
    r.norm += difference * difference;
    r.error += error * error;
  }
  r.rhs = sqrtl(r.rhs);
  r.norm = sqrtl(r.norm);
  r.error = sqrtl(r.error);
  free(ax);
  free(size);
  return r;
}
