/* Vectors and the small dense part of GMRES on the CPU.
 *
 * A reduction over 0 … n-1 splits the range into at most BSI_CHUNKS chunks that depend on n alone; threads share out whole chunks and
 * the chunks' sums are added up in chunk order, so the bits do not depend on the number of threads. Everything here is bound by
 * memory traffic: inside a chunk, tiles of w stay in the L1 cache while each basis vector streams through once. */
#include <math.h>

#include "core/backend_host.h"
#include "core/context.h"
#include "core/parallel.h"
#include "core/rotation.h"

enum {
  GROUP = 4,   /* basis vectors that share one pass over a tile of w */
  TILE = 1024, /* doubles */
  SHORTEST_CHUNK = 256,
  GRAIN = 32768 /* values a thread must have to touch to be worth waking */
};

static int64_t chunk_length(int64_t n) {
  int64_t length = (n + BSI_CHUNKS - 1) / BSI_CHUNKS;
  length = (length + 7) / 8 * 8;
  return length > SHORTEST_CHUNK ? length : SHORTEST_CHUNK;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

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

/* Two doubles for one SSE2 instruction; the compiler keeps arrays of lanes in scalar registers. */
typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));

/* sums[g] += basis_g · w for g < group; `group` is a constant at every call. */
static inline __attribute__((always_inline)) void dot_group(int group, int64_t n, const double *basis, int64_t ld,
                                                            const double *w, double *sums) {
  pair even[GROUP] = {{0, 0}}, odd[GROUP] = {{0, 0}};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const pair w0 = *(const pair *)(w + i), w1 = *(const pair *)(w + i + 2);
    for (int g = 0; g < group; g++) {
      even[g] += *(const pair *)(basis + g * ld + i) * w0;
      odd[g] += *(const pair *)(basis + g * ld + i + 2) * w1;
    }
  }
  for (int g = 0; g < group; g++) {
    const pair both = even[g] + odd[g];
    double sum = both[0] + both[1];
    for (int64_t rest = i; rest < n; rest++) sum += basis[g * ld + rest] * w[rest];
    sums[g] += sum;
  }
}

static void dot_tile(int count, int64_t n, const double *basis, int64_t ld, const double *w, double *sums) {
  int c = 0;
  for (; c + GROUP <= count; c += GROUP) {
    dot_group(GROUP, n, basis + c * ld, ld, w, sums + c);
  }
  for (; c < count; c++) {
    dot_group(1, n, basis + c * ld, ld, w, sums + c);
  }
}

/* out[c] ← Σ of work[chunk·count + c] over the chunks, in order. */
static void add_chunks(int64_t chunks, int count, const double *work, double *out) {
  for (int c = 0; c < count; c++) {
    out[c] = 0;
  }
  for (int64_t chunk = 0; chunk < chunks; chunk++) {
    for (int c = 0; c < count; c++) {
      out[c] += work[chunk * count + c];
    }
  }
}

bisai_status bsi_dot_many_host(bisai_context *context, int64_t n, int count, const double *basis, int64_t ld,
                               const double *w, double *work, double *out) {
  (void)context;
  const int64_t length = chunk_length(n), chunks = (n + length - 1) / length;
#pragma omp parallel for schedule(static) num_threads(bsi_threads_for(context->threads, (count + 1) * n, GRAIN))
  for (int64_t chunk = 0; chunk < chunks; chunk++) {
    const int64_t end = smaller((chunk + 1) * length, n);
    double *sums = work + chunk * count;
    for (int c = 0; c < count; c++) {
      sums[c] = 0;
    }
    for (int64_t i = chunk * length; i < end; i += TILE) {
      dot_tile(count, smaller(TILE, end - i), basis + i, ld, w + i, sums);
    }
  }
  add_chunks(chunks, count, work, out);
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
  const int64_t length = chunk_length(n), chunks = (n + length - 1) / length;
#pragma omp parallel for schedule(static) num_threads(bsi_threads_for(context->threads, (count + 1) * n, GRAIN))
  for (int64_t chunk = 0; chunk < chunks; chunk++) {
    const int64_t end = smaller((chunk + 1) * length, n);
    double sum = 0;
    for (int64_t i = chunk * length; i < end; i += TILE) {
      const int64_t tile = smaller(TILE, end - i);
      axpy_tile(count, tile, basis + i, ld, coefficients, sign, w + i);
      if (norm2) {
        dot_group(1, tile, w + i, 0, w + i, &sum);
      }
    }
    if (norm2) {
      work[chunk] = sum;
    }
  }
  if (norm2) {
    add_chunks(chunks, 1, work, norm2);
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
