/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of a Schur complement on a GPU, with one thread for each index. */
#include "gpu/for_each.cuh"
#include "schur/steps.h"

static bisai_status take(bisai_context *context, bsi_taking how, int64_t count, const int64_t *map,
                         const double *from, double *to) {
  return bsi_for_each(context, "parts of the saddle point", count,
                      [=] __device__(int64_t k) { to[k] = bsi_taken(how, map[k], from); });
}

static bisai_status complement(bisai_context *context, const bsi_complement *x) {
  const bsi_complement job = *x;
  return bsi_for_each(context, "Schur complement", job.rows, [=] __device__(int64_t i) {
    bsi_complement_row(&job, static_cast<int32_t>(i));
  });
}

static bisai_status gather(bisai_context *context, int32_t n, const int32_t *rows,
                           const double *from, double *to) {
  return bsi_for_each(context, "rows of the saddle point", n,
                      [=] __device__(int64_t k) { to[k] = from[rows[k]]; });
}

static bisai_status scatter(bisai_context *context, int32_t n, const int32_t *rows,
                            const double *from, double *to) {
  return bsi_for_each(context, "rows of the saddle point", n,
                      [=] __device__(int64_t k) { to[rows[k]] = from[k]; });
}

static bisai_status scale(bisai_context *context, int32_t n, const double *d, const double *x,
                          double *y) {
  return bsi_for_each(context, "scaled velocities", n,
                      [=] __device__(int64_t k) { y[k] = d[k] * x[k]; });
}

const bsi_schur_ops bsi_schur_cuda = {take, complement, gather, scatter, scale};
