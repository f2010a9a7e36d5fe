/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of vectors for relaxation, on a device. */
#include "bjacobi/bjacobi_ops.h"
#include "gpu/for_each.cuh"

static bisai_status combine(bisai_context *context, int64_t n, int32_t count, double alpha,
                            const double *x, int64_t ldx, double beta, double *y, int64_t ldy) {
  return bsi_for_each(context, "relaxation of block-Jacobi", n, [=] __device__(int64_t i) {
    for (int32_t c = 0; c < count; c++) {
      const double step = alpha * x[c * ldx + i];
      y[c * ldy + i] = beta == 0.0 ? step : step + beta * y[c * ldy + i];
    }
  });
}

const bsi_relaxation_ops bsi_relaxation_cuda = {.combine = combine};
