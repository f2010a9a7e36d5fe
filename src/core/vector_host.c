/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors and the small dense part of GMRES on the CPU. Everything here is bound by memory traffic:
 * inside a chunk, tiles of w stay in the L1 cache while each basis vector streams through once. */
#include <math.h>

#include "core/backend_host.h"
#include "core/chunks_host.h"
#include "core/context.h"
#include "core/parallel.h"
#include "core/rotation.h"

/* Operands of what is done value by value. */
typedef struct vectors {
  int64_t n;
  double a;
  const double *x;
  double *y;
} vectors;

/* Shares out n values of `count` vectors. */
static void run(bisai_context *context, int64_t n, int64_t count, bsi_work *work, void *job) {
  bsi_run(context, bsi_threads_for(context->threads, count * n, GRAIN), BSI_SOME_PARTS, work, job);
}

static void set_part(void *job, bsi_part part) {
  const vectors *v = job;
  const bsi_range range = bsi_range_of(v->n, part);
  const double a = v->a;
  for (int64_t i = range.begin; i < range.end; i++) {
    v->y[i] = a;
  }
}

bisai_status bsi_vector_set_host(bisai_context *context, int64_t n, double value, double *y) {
  run(context, n, 1, set_part, &(vectors){.n = n, .a = value, .y = y});
  return BISAI_OK;
}

static void copy_part(void *job, bsi_part part) {
  const vectors *v = job;
  const bsi_range range = bsi_range_of(v->n, part);
  for (int64_t i = range.begin; i < range.end; i++) {
    v->y[i] = v->x[i];
  }
}

bisai_status bsi_vector_copy_host(bisai_context *context, int64_t n, const double *x, double *y) {
  run(context, n, 1, copy_part, &(vectors){.n = n, .x = x, .y = y});
  return BISAI_OK;
}

static void add_part(void *job, bsi_part part) {
  const vectors *v = job;
  const bsi_range range = bsi_range_of(v->n, part);
  for (int64_t i = range.begin; i < range.end; i++) {
    v->y[i] += v->x[i];
  }
}

bisai_status bsi_vector_add_host(bisai_context *context, int64_t n, const double *x, double *y) {
  run(context, n, 1, add_part, &(vectors){.n = n, .x = x, .y = y});
  return BISAI_OK;
}

static void subtract_part(void *job, bsi_part part) {
  const vectors *v = job;
  const bsi_range range = bsi_range_of(v->n, part);
  for (int64_t i = range.begin; i < range.end; i++) {
    v->y[i] = v->x[i] - v->y[i];
  }
}

bisai_status bsi_vector_subtract_from_host(bisai_context *context, int64_t n, const double *b,
                                           double *y) {
  run(context, n, 1, subtract_part, &(vectors){.n = n, .x = b, .y = y});
  return BISAI_OK;
}

/* Operands of what goes by the chunks of n values. */
typedef struct chunked {
  int64_t n;
  int count;
  const double *basis;
  int64_t ld;
  const double *coefficients;
  double sign, *w, *work;
  bool norm;
} chunked;

static void dot_tile(int count, int64_t n, const double *basis, int64_t ld, const double *w,
                     double *sums) {
  int c = 0;
  for (; c + GROUP <= count; c += GROUP) {
    bsi_dot_group(GROUP, n, basis + c * ld, ld, w, sums + c);
  }
  for (; c < count; c++) {
    bsi_dot_group(1, n, basis + c * ld, ld, w, sums + c);
  }
}

static void dot_part(void *job, bsi_part part) {
  const chunked *v = job;
  const int64_t length = bsi_chunk_length(v->n);
  const bsi_range range = bsi_range_of(bsi_chunks_of(v->n), part);
  for (int64_t chunk = range.begin; chunk < range.end; chunk++) {
    const int64_t end = bsi_smaller((chunk + 1) * length, v->n);
    double *sums = v->work + chunk * v->count;
    for (int c = 0; c < v->count; c++) {
      sums[c] = 0;
    }
    for (int64_t i = chunk * length; i < end; i += TILE) {
      dot_tile(v->count, bsi_smaller(TILE, end - i), v->basis + i, v->ld, v->w + i, sums);
    }
  }
}

bisai_status bsi_dot_many_host(bisai_context *context, int64_t n, int count, const double *basis,
                               int64_t ld, const double *w, double *work, double *out) {
  run(context, n, count + 1, dot_part,
      &(chunked){.n = n, .count = count, .basis = basis, .ld = ld, .w = (double *)w, .work = work});
  bsi_add_chunks(bsi_chunks_of(n), count, work, out);
  return BISAI_OK;
}

/* w ← w + sign·Σ_c coefficients[c]·basis_c on a tile. */
static void axpy_tile(int count, int64_t n, const double *basis, int64_t ld,
                      const double *coefficients, double sign, double *restrict w) {
  int c = 0;
  for (; c + GROUP <= count; c += GROUP) {
    const double *restrict v0 = basis + c * ld, *restrict v1 = v0 + ld, *restrict v2 = v1 + ld,
                           *restrict v3 = v2 + ld;
    const double a0 = sign * coefficients[c], a1 = sign * coefficients[c + 1];
    const double a2 = sign * coefficients[c + 2], a3 = sign * coefficients[c + 3];
    for (int64_t i = 0; i < n; i++) {
      w[i] += (a0 * v0[i] + a1 * v1[i]) + (a2 * v2[i] + a3 * v3[i]);
    }
  }
  for (; c < count; c++) {
    const double *restrict v = basis + c * ld;
    const double a = sign * coefficients[c];
    for (int64_t i = 0; i < n; i++) {
      w[i] += a * v[i];
    }
  }
}

static void axpy_part(void *job, bsi_part part) {
  const chunked *v = job;
  const int64_t length = bsi_chunk_length(v->n);
  const bsi_range range = bsi_range_of(bsi_chunks_of(v->n), part);
  for (int64_t chunk = range.begin; chunk < range.end; chunk++) {
    const int64_t end = bsi_smaller((chunk + 1) * length, v->n);
    double sum = 0;
    for (int64_t i = chunk * length; i < end; i += TILE) {
      const int64_t tile = bsi_smaller(TILE, end - i);
      axpy_tile(v->count, tile, v->basis + i, v->ld, v->coefficients, v->sign, v->w + i);
      if (v->norm) {
        bsi_dot_group(1, tile, v->w + i, 0, v->w + i, &sum);
      }
    }
    if (v->norm) {
      v->work[chunk] = sum;
    }
  }
}

bisai_status bsi_axpy_many_host(bisai_context *context, int64_t n, int count, const double *basis,
                                int64_t ld, const double *coefficients, double sign, double *w,
                                double *work, double *norm2) {
  run(context, n, count + 1, axpy_part,
      &(chunked){n, count, basis, ld, coefficients, sign, w, work, .norm = norm2 != NULL});
  if (norm2) {
    bsi_add_chunks(bsi_chunks_of(n), 1, work, norm2);
  }
  return BISAI_OK;
}

static void scale_part(void *job, bsi_part part) {
  const vectors *v = job;
  const bsi_range range = bsi_range_of(v->n, part);
  const double a = v->a;
  for (int64_t i = range.begin; i < range.end; i++) {
    v->y[i] = a * v->x[i];
  }
}

bisai_status bsi_scale_by_norm_host(bisai_context *context, int64_t n, const double *norm2,
                                    const double *x, double *y) {
  run(context, n, 1, scale_part, &(vectors){n, *norm2 == 0 ? 0 : 1 / sqrt(*norm2), x, y});
  return BISAI_OK;
}

bisai_status bsi_gmres_start_host(bisai_context *context, int64_t n, const double *norm2, double *v,
                                  double *beta, double *seen) {
  *beta = sqrt(*norm2);
  *seen = *norm2;
  return bsi_scale_by_norm_host(context, n, norm2, v, v);
}

bisai_status bsi_gmres_cancelled_host(bisai_context *context, int count, const double *h,
                                      const double *norm2, bool *cancelled) {
  (void)context;
  *cancelled = bsi_cancelled(count, h, *norm2);
  return BISAI_OK;
}

bisai_status bsi_gmres_rotate_host(bisai_context *context, int m, int j, const double *h,
                                   const double *h2, const double *norm2, double *H,
                                   double *cosines, double *sines, double *g, double *status) {
  (void)context;
  double *column = H + (size_t)j * ((size_t)m + 1);
  for (int i = 0; i <= j; i++) {
    column[i] = h2 ? h[i] + h2[i] : h[i];
  }
  bsi_rotate(j, column, *norm2, cosines, sines, g, status);
  return BISAI_OK;
}

bisai_status bsi_gmres_coefficients_host(bisai_context *context, int m, int k, const double *H,
                                         const double *g, double *y) {
  (void)context;
  bsi_back_substitute(m, k, H, g, y);
  return BISAI_OK;
}
