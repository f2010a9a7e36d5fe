/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors on the device. */
#include "core/context/backend.h"
#include "core/vector/norms.h"
#include "core/vector/start_value.h"
#include "gpu/for_each.cuh"

static bisai_status vector_set(bisai_context *context, int64_t n, double value, double *y) {
  return bsi_for_each(context, "vector set", n, [=] __device__(int64_t i) { y[i] = value; });
}

static bisai_status vector_copy(bisai_context *context, int64_t n, const double *x, double *y) {
  return bsi_for_each(context, "vector copy", n, [=] __device__(int64_t i) { y[i] = x[i]; });
}

static bisai_status vector_add(bisai_context *context, int64_t n, const double *x, double *y) {
  return bsi_for_each(context, "vector sum", n, [=] __device__(int64_t i) { y[i] += x[i]; });
}

static bisai_status vector_subtract_from(bisai_context *context, int64_t n, const double *b,
                                         double *y) {
  return bsi_for_each(context, "vector difference", n,
                      [=] __device__(int64_t i) { y[i] = b[i] - y[i]; });
}

static bisai_status vector_combine(bisai_context *context, int64_t n, double alpha, const double *x,
                                   double beta, double *y) {
  return bsi_for_each(context, "vector combination", n, [=] __device__(int64_t i) {
    const double step = alpha * x[i];
    y[i] = beta == 0.0 ? step : step + beta * y[i];
  });
}

static bisai_status vector_start(bisai_context *context, int64_t n, double *x) {
  return bsi_for_each(context, "start vector", n,
                      [=] __device__(int64_t i) { x[i] = bsi_start_value(i); });
}

const bsi_vector_ops bsi_vectors_cuda = {.set = vector_set,
                                         .copy = vector_copy,
                                         .add = vector_add,
                                         .subtract_from = vector_subtract_from,
                                         .combine = vector_combine,
                                         .start = vector_start,
                                         .norms = bsi_norms_cuda,
                                         .norms_bytes = BSI_NORMS_BYTES,
                                         .record_norms = bsi_record_norms_cuda,
                                         .read_norms = bsi_read_norms_cuda,
                                         .largest = bsi_largest_cuda};
