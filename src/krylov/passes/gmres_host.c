/* SPDX-License-Identifier: BSD-3-Clause */
/* The small dense part of GMRES on the CPU. */
#include "krylov/passes/krylov_ops.h"
#include "krylov/passes/rotation.h"

static bisai_status gmres_cancelled(bisai_context *context, int count, const double *h,
                                    const double *norm2, bool *cancelled) {
  (void)context;
  *cancelled = bsi_cancelled(count, h, *norm2);
  return BISAI_OK;
}

static bisai_status gmres_rotate(bisai_context *context, const bsi_cycle *cycle, int j,
                                 const double *h, const double *h2, const double *norm2) {
  (void)context;
  double *column = cycle->hessenberg + (size_t)j * ((size_t)cycle->m + 1);
  for (int i = 0; i <= j; i++) column[i] = h2 ? h[i] + h2[i] : h[i];
  bsi_rotate(j, column, *norm2, cycle->cosines, cycle->sines, cycle->rhs,
             cycle->status + 2 * (size_t)j);
  return BISAI_OK;
}

static bisai_status gmres_coefficients(bisai_context *context, int m, int k, const double *H,
                                       const double *g, double *y) {
  (void)context;
  bsi_back_substitute(m, k, H, g, y);
  return BISAI_OK;
}

/* More than the cache that the cores of most processors share. */
enum { LEAST_ROUNDED = 1 << 25 };

const bsi_gmres_ops bsi_gmres_host = {.least_rounded = LEAST_ROUNDED,
                                      .cancelled = gmres_cancelled,
                                      .rotate = gmres_rotate,
                                      .coefficients = gmres_coefficients};
