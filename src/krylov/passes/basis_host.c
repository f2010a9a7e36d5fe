/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations on vectors of a Krylov basis on the CPU. Memory traffic bounds them: tiles of w
 * stay in the L1 cache while each basis vector streams through once. */
#include <math.h>

#include "core/context/context_impl.h"
#include "core/threads/parallel.h"
#include "core/vector/chunks_host.h"
#include "krylov/passes/krylov_ops.h"

/* Shares out n values of `count` vectors over the threads. */
static void run(bisai_context *context, int64_t n, int64_t count, bsi_work *work, void *job) {
  bsi_run(context, bsi_threads_for(context->threads, count * n, BSI_CHUNK_GRAIN), BSI_SOME_PARTS,
          work, job);
}

/* The operands of an operation on chunks of the vectors. */
typedef struct chunked {
  bsi_basis basis;
  const double *coefficients;
  double sign, *w, *work;
  bool norm;
} chunked;

static void dot_tile(int count, int64_t n, const double *basis, int64_t ld, const double *w,
                     double *sums) {
  int c = 0;
  for (; c + BSI_CHUNK_GROUP <= count; c += BSI_CHUNK_GROUP)
    bsi_dot_group(BSI_CHUNK_GROUP, n, basis + c * ld, ld, w, sums + c);
  for (; c < count; c++) bsi_dot_group(1, n, basis + c * ld, ld, w, sums + c);
}

/* *sum ← *sum + v·w on a tile, in the order of bsi_dot_group(). */
static void dot_narrow(int64_t n, const float *v, const double *w, double *sum) {
  double of_four[4] = {0};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; k++) of_four[k] += (double)v[i + k] * w[i + k];
  double all = (of_four[0] + of_four[2]) + (of_four[1] + of_four[3]);
  for (; i < n; i++) all += (double)v[i] * w[i];
  *sum += all;
}

/* Returns value i of basis vector c, which is in fp32. */
static const float *narrow_at(const bsi_basis *basis, int c, int64_t i) {
  return (const float *)(const void *)(basis->vectors + c * basis->ld) + i;
}

static void dot_part(void *job, bsi_part part) {
  const chunked *v = job;
  const bsi_basis basis = v->basis;
  const int64_t length = bsi_chunk_length(basis.n);
  const bsi_range range = bsi_range_of(bsi_chunks_of(basis.n), part);
  for (int64_t chunk = range.begin; chunk < range.end; chunk++) {
    const int64_t end = bsi_smaller((chunk + 1) * length, basis.n);
    double *sums = v->work + chunk * basis.count;
    for (int c = 0; c < basis.count; c++) sums[c] = 0;
    for (int64_t i = chunk * length; i < end; i += BSI_CHUNK_TILE) {
      const int64_t tile = bsi_smaller(BSI_CHUNK_TILE, end - i);
      const int wide = basis.count - basis.narrow;
      dot_tile(wide, tile, basis.vectors + i, basis.ld, v->w + i, sums);
      for (int c = wide; c < basis.count; c++)
        dot_narrow(tile, narrow_at(&basis, c, i), v->w + i, sums + c);
    }
  }
}

static bisai_status dot_many(bisai_context *context, bsi_basis basis, const double *w, double *work,
                             double *out) {
  run(context, basis.n, basis.count + 1, dot_part,
      &(chunked){.basis = basis, .w = (double *)w, .work = work});
  bsi_add_chunks(bsi_chunks_of(basis.n), basis.count, work, out);
  return BISAI_OK;
}

/* w ← w + sign·Σ_c coefficients[c]·basis_c on a tile. */
static void axpy_tile(int count, int64_t n, const double *basis, int64_t ld,
                      const double *coefficients, double sign, double *restrict w) {
  int c = 0;
  for (; c + BSI_CHUNK_GROUP <= count; c += BSI_CHUNK_GROUP) {
    const double *restrict v0 = basis + c * ld, *restrict v1 = v0 + ld, *restrict v2 = v1 + ld,
                           *restrict v3 = v2 + ld;
    const double a0 = sign * coefficients[c], a1 = sign * coefficients[c + 1];
    const double a2 = sign * coefficients[c + 2], a3 = sign * coefficients[c + 3];
    for (int64_t i = 0; i < n; i++) w[i] += (a0 * v0[i] + a1 * v1[i]) + (a2 * v2[i] + a3 * v3[i]);
  }
  for (; c < count; c++) {
    const double *restrict v = basis + c * ld;
    const double a = sign * coefficients[c];
    for (int64_t i = 0; i < n; i++) w[i] += a * v[i];
  }
}

/* w ← w + a·v on a tile. */
static void axpy_narrow(int64_t n, double a, const float *restrict v, double *restrict w) {
  for (int64_t i = 0; i < n; i++) w[i] += a * (double)v[i];
}

static void axpy_part(void *job, bsi_part part) {
  const chunked *v = job;
  const bsi_basis basis = v->basis;
  const int64_t length = bsi_chunk_length(basis.n);
  const bsi_range range = bsi_range_of(bsi_chunks_of(basis.n), part);
  for (int64_t chunk = range.begin; chunk < range.end; chunk++) {
    const int64_t end = bsi_smaller((chunk + 1) * length, basis.n);
    double sum = 0;
    for (int64_t i = chunk * length; i < end; i += BSI_CHUNK_TILE) {
      const int64_t tile = bsi_smaller(BSI_CHUNK_TILE, end - i);
      const int wide = basis.count - basis.narrow;
      axpy_tile(wide, tile, basis.vectors + i, basis.ld, v->coefficients, v->sign, v->w + i);
      for (int c = wide; c < basis.count; c++)
        axpy_narrow(tile, v->sign * v->coefficients[c], narrow_at(&basis, c, i), v->w + i);
      if (v->norm) bsi_dot_group(1, tile, v->w + i, 0, v->w + i, &sum);
    }
    if (v->norm) v->work[chunk] = sum;
  }
}

static bisai_status axpy_many(bisai_context *context, bsi_basis basis, const double *coefficients,
                              double sign, double *w, double *work, double *norm2) {
  run(context, basis.n, basis.count + 1, axpy_part,
      &(chunked){basis, coefficients, sign, w, work, .norm = norm2 != NULL});
  if (norm2) bsi_add_chunks(bsi_chunks_of(basis.n), 1, work, norm2);
  return BISAI_OK;
}

typedef struct scaling {
  int64_t n;
  double factor;
  const double *x;
  double *y;
} scaling;

static void scale_part(void *job, bsi_part part) {
  const scaling *v = job;
  const bsi_range range = bsi_range_of(v->n, part);
  const double a = v->factor;
  for (int64_t i = range.begin; i < range.end; i++) v->y[i] = a * v->x[i];
}

static bisai_status scale_by_norm(bisai_context *context, int64_t n, const double *norm2,
                                  const double *x, double *y) {
  run(context, n, 1, scale_part, &(scaling){n, *norm2 == 0 ? 0 : 1 / sqrt(*norm2), x, y});
  return BISAI_OK;
}

typedef struct rounding {
  int64_t n;
  const double *x;
  double *wide;
  float *narrow;
} rounding;

static void round_part(void *job, bsi_part part) {
  const rounding *v = job;
  const bsi_range range = bsi_range_of(v->n, part);
  for (int64_t i = range.begin; i < range.end; i++) {
    const float value = (float)v->x[i];
    v->wide[i] = value;
    v->narrow[i] = value;
  }
}

static bisai_status round_vector(bisai_context *context, int64_t n, const double *x, double *wide,
                                 float *narrow) {
  run(context, n, 1, round_part, &(rounding){n, x, wide, narrow});
  if (n % 2 == 1) narrow[n] = 0;
  return BISAI_OK;
}

static bisai_status gmres_start(bisai_context *context, int64_t n, const double *norm2, double *v,
                                double *beta, double *seen) {
  *beta = sqrt(*norm2);
  *seen = *norm2;
  return scale_by_norm(context, n, norm2, v, v);
}

const bsi_basis_ops bsi_basis_host = {.dot_many = dot_many,
                                      .axpy_many = axpy_many,
                                      .scale_by_norm = scale_by_norm,
                                      .start = gmres_start,
                                      .round = round_vector};
