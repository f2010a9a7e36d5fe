/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors and the small dense part of GMRES on the CPU. Everything here is bound by memory traffic: inside a chunk, tiles of w stay in
 * the L1 cache while each basis vector streams through once. */
#include <math.h>

#include "core/backend_host.h"
#include "core/chunks_host.h"
#include "core/context.h"
#include "core/parallel.h"
#include "core/rotation.h"

bisai_status bsi_vector_set_host(bisai_context *context, int64_t n, double value, double *y) {
  (void)context;
#pragma omp parallel for schedule(static) num_threads(bsi_threads_for(context->threads, n, GRAIN))
  for (int64_t i = 0; i < n; i++) {
    y[i] = value;
  }
  return BISAI_OK;
}

bisai_status bsi_vector_copy_host(bisai_context *context, int64_t n, const double *x, double *y) {
  (void)context;
#pragma omp parallel for schedule(static) num_threads(bsi_threads_for(context->threads, n, GRAIN))
  for (int64_t i = 0; i < n; i++) {
    y[i] = x[i];
  }
  return BISAI_OK;
}

bisai_status bsi_vector_add_host(bisai_context *context, int64_t n, const double *x, double *y) {
  (void)context;
#pragma omp parallel for schedule(static) num_threads(bsi_threads_for(context->threads, n, GRAIN))
  for (int64_t i = 0; i < n; i++) {
    y[i] += x[i];
  }
  return BISAI_OK;
}

bisai_status bsi_vector_subtract_from_host(bisai_context *context, int64_t n, const double *b, double *y) {
  (void)context;
#pragma omp parallel for schedule(static) num_threads(bsi_threads_for(context->threads, n, GRAIN))
  for (int64_t i = 0; i < n; i++) {
    y[i] = b[i] - y[i];
  }
  return BISAI_OK;
}

static void dot_tile(int count, int64_t n, const double *basis, int64_t ld, const double *w, double *sums) {
  int c = 0;
  for (; c + GROUP <= count; c += GROUP) {
    bsi_dot_group(GROUP, n, basis + c * ld, ld, w, sums + c);
  }
  for (; c < count; c++) {
    bsi_dot_group(1, n, basis + c * ld, ld, w, sums + c);
  }
}

bisai_status bsi_dot_many_host(bisai_context *context, int64_t n, int count, const double *basis, int64_t ld,
                               const double *w, double *work, double *out) {
  (void)context;
  const int64_t length = bsi_chunk_length(n), chunks = (n + length - 1) / length;
#pragma omp parallel for schedule(static) num_threads(bsi_threads_for(context->threads, (count + 1) * n, GRAIN))
  for (int64_t chunk = 0; chunk < chunks; chunk++) {
    const int64_t end = bsi_smaller((chunk + 1) * length, n);
    double *sums = work + chunk * count;
    for (int c = 0; c < count; c++) {
      sums[c] = 0;
    }
    for (int64_t i = chunk * length; i < end; i += TILE) {
      dot_tile(count, bsi_smaller(TILE, end - i), basis + i, ld, w + i, sums);
    }
  }
  bsi_add_chunks(chunks, count, work, out);
  return BISAI_OK;
}

/* w ← w + sign·Σ_c coefficients[c]·basis_c on a tile. */
static void axpy_tile(int count, int64_t n, const double *basis, int64_t ld, const double *coefficients, double sign,
                      double *restrict w) {
  int c = 0;
  for (; c + GROUP <= count; c += GROUP) {
    const double *restrict v0 = basis + c * ld, *restrict v1 = v0 + ld, *restrict v2 = v1 + ld, *restrict v3 = v2 + ld;
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

bisai_status bsi_axpy_many_host(bisai_context *context, int64_t n, int count, const double *basis, int64_t ld,
                                const double *coefficients, double sign, double *w, double *work, double *norm2) {
  (void)context;
  const int64_t length = bsi_chunk_length(n), chunks = (n + length - 1) / length;
#pragma omp parallel for schedule(static) num_threads(bsi_threads_for(context->threads, (count + 1) * n, GRAIN))
  for (int64_t chunk = 0; chunk < chunks; chunk++) {
    const int64_t end = bsi_smaller((chunk + 1) * length, n);
    double sum = 0;
    for (int64_t i = chunk * length; i < end; i += TILE) {
      const int64_t tile = bsi_smaller(TILE, end - i);
      axpy_tile(count, tile, basis + i, ld, coefficients, sign, w + i);
      if (norm2) {
        bsi_dot_group(1, tile, w + i, 0, w + i, &sum);
      }
    }
    if (norm2) {
      work[chunk] = sum;
    }
  }
  if (norm2) {
    bsi_add_chunks(chunks, 1, work, norm2);
  }
  return BISAI_OK;
}

bisai_status bsi_scale_by_norm_host(bisai_context *context, int64_t n, const double *norm2, const double *x,
                                    double *y) {
  (void)context;
  const double scale = *norm2 == 0 ? 0 : 1 / sqrt(*norm2);
#pragma omp parallel for schedule(static) num_threads(bsi_threads_for(context->threads, n, GRAIN))
  for (int64_t i = 0; i < n; i++) {
    y[i] = scale * x[i];
  }
  return BISAI_OK;
}

bisai_status bsi_gmres_start_host(bisai_context *context, int64_t n, const double *norm2, double *v, double *beta,
                                  double *seen) {
  *beta = sqrt(*norm2);
  *seen = *norm2;
  return bsi_scale_by_norm_host(context, n, norm2, v, v);
}

bisai_status bsi_gmres_cancelled_host(bisai_context *context, int count, const double *h, const double *norm2,
                                      bool *cancelled) {
  (void)context;
  *cancelled = bsi_cancelled(count, h, *norm2);
  return BISAI_OK;
}

bisai_status bsi_gmres_rotate_host(bisai_context *context, int m, int j, const double *h, const double *h2,
                                   const double *norm2, double *H, double *cosines, double *sines, double *g,
                                   double *status) {
  (void)context;
  double *column = H + (size_t)j * ((size_t)m + 1);
  for (int i = 0; i <= j; i++) {
    column[i] = h2 ? h[i] + h2[i] : h[i];
  }
  bsi_rotate(j, column, *norm2, cosines, sines, g, status);
  return BISAI_OK;
}

bisai_status bsi_gmres_coefficients_host(bisai_context *context, int m, int k, const double *H, const double *g,
                                         double *y) {
  (void)context;
  bsi_back_substitute(m, k, H, g, y);
  return BISAI_OK;
}
