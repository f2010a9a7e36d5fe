/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors on the device. */
#include "core/context/backend.h"
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

const bsi_vector_ops bsi_vectors_cuda = {.set = vector_set,
                                         .copy = vector_copy,
                                         .add = vector_add,
                                         .subtract_from = vector_subtract_from};
