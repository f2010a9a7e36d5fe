/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors on the CPU. */
#include "core/context/context_impl.h"
#include "core/threads/parallel.h"
#include "core/vector/chunks_host.h"
#include "core/vector/norms.h"
#include "core/vector/start_value.h"

/* Operands of an elementwise operation. */
typedef struct vectors {
  int64_t n;
  double a, b;
  const double *x;
  double *y;
} vectors;

static void run(bisai_context *context, bsi_work *work, vectors *job) {
  bsi_run(context, bsi_threads_for(context->threads, job->n, BSI_CHUNK_GRAIN), BSI_SOME_PARTS, work,
          job);
}

static void set_part(void *job, bsi_part part) {
  const vectors *v = job;
  const bsi_range range = bsi_range_of(v->n, part);
  const double a = v->a;
  for (int64_t i = range.begin; i < range.end; i++) v->y[i] = a;
}

static bisai_status vector_set(bisai_context *context, int64_t n, double value, double *y) {
  run(context, set_part, &(vectors){.n = n, .a = value, .y = y});
  return BISAI_OK;
}

static void copy_part(void *job, bsi_part part) {
  const vectors *v = job;
  const bsi_range range = bsi_range_of(v->n, part);
  for (int64_t i = range.begin; i < range.end; i++) v->y[i] = v->x[i];
}

static bisai_status vector_copy(bisai_context *context, int64_t n, const double *x, double *y) {
  run(context, copy_part, &(vectors){.n = n, .x = x, .y = y});
  return BISAI_OK;
}

static void add_part(void *job, bsi_part part) {
  const vectors *v = job;
  const bsi_range range = bsi_range_of(v->n, part);
  for (int64_t i = range.begin; i < range.end; i++) v->y[i] += v->x[i];
}

static bisai_status vector_add(bisai_context *context, int64_t n, const double *x, double *y) {
  run(context, add_part, &(vectors){.n = n, .x = x, .y = y});
  return BISAI_OK;
}

static void subtract_part(void *job, bsi_part part) {
  const vectors *v = job;
  const bsi_range range = bsi_range_of(v->n, part);
  for (int64_t i = range.begin; i < range.end; i++) v->y[i] = v->x[i] - v->y[i];
}

static bisai_status vector_subtract_from(bisai_context *context, int64_t n, const double *b,
                                         double *y) {
  run(context, subtract_part, &(vectors){.n = n, .x = b, .y = y});
  return BISAI_OK;
}

static void combine_part(void *job, bsi_part part) {
  const vectors *v = job;
  const bsi_range range = bsi_range_of(v->n, part);
  const double alpha = v->a, beta = v->b;
  for (int64_t i = range.begin; i < range.end; i++)
    v->y[i] = beta == 0.0 ? alpha * v->x[i] : alpha * v->x[i] + beta * v->y[i];
}

static bisai_status vector_combine(bisai_context *context, int64_t n, double alpha, const double *x,
                                   double beta, double *y) {
  run(context, combine_part, &(vectors){.n = n, .a = alpha, .b = beta, .x = x, .y = y});
  return BISAI_OK;
}

static void start_part(void *job, bsi_part part) {
  const vectors *v = job;
  const bsi_range range = bsi_range_of(v->n, part);
  for (int64_t i = range.begin; i < range.end; i++) v->y[i] = bsi_start_value(i);
}

static bisai_status vector_start(bisai_context *context, int64_t n, double *x) {
  run(context, start_part, &(vectors){.n = n, .y = x});
  return BISAI_OK;
}

const bsi_vector_ops bsi_vectors_host = {.set = vector_set,
                                         .copy = vector_copy,
                                         .add = vector_add,
                                         .subtract_from = vector_subtract_from,
                                         .combine = vector_combine,
                                         .start = vector_start,
                                         .norms = bsi_norms_host,
                                         .largest = bsi_largest_host};
