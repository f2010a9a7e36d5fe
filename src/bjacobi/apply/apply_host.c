/* SPDX-License-Identifier: BSD-3-Clause */
/* z_b = D_b⁻¹ v_b on the host. Each block is read once for all vectors. Narrow values are widened
 * to fp64: in registers by a product with one vector, otherwise into a buffer. */
#include "core/block/block_decompose.h"
#include "core/block/block_sizes.h"
#include "core/block/value_quads.h"
#include "core/threads/parallel.h"
#include "core/threads/prefetch.h"

#include "bjacobi/bjacobi.h"
#include "bjacobi/bjacobi_ops.h"
#include "core/context/context_impl.h"

/* AHEAD: groups from one that is prefetched to the one that is applied. */
enum { BYTES_PER_THREAD = 1 << 16, AHEAD = 2 };

typedef struct vectors {
  int32_t count;
  const double *x;
  int64_t ldx;
  double *y;
  int64_t ldy;
} vectors;

BSI_INLINE void multiply(const int m, const double *e, const vectors *v, const int32_t row) {
  for (int32_t i = 0; i < v->count; i++) {
    bsi_column sum;
    bsi_column_clear(m, &sum);
    bsi_column_add_product(m, &sum, e, v->x + i * v->ldx + row);
    bsi_column_store(m, &sum, v->y + i * v->ldy + row);
  }
}

#define STAMP(BS)                                                                                  \
  static void multiply_##BS(const double *e, const vectors *v, int32_t row) {                      \
    multiply(BS, e, v, row);                                                                       \
  }
BSI_BLOCK_SIZES(STAMP)
#undef STAMP
#define ENTRY(BS) [BS] = multiply_##BS,
static void (*const multiply_functions[BSI_SPECIAL_SIZES + 1])(const double *, const vectors *,
                                                               int32_t) = {NULL,
                                                                           BSI_BLOCK_SIZES(ENTRY)};
#undef ENTRY

/* y ← E x for `4·quads` rows of a block of `columns` columns, which begin `height` values apart.
 * The sums stay in registers. */
BSI_INLINE void multiply_quads(const bisai_value_type format, const int quads, const int columns,
                               const char *e, const int32_t height, const double *x, double *y) {
  bsi_quad sum[4] = {{0}};
  for (int c = 0; c < columns; c++)
    for (int q = 0; q < quads; q++) {
      bsi_quad values;
      bsi_quad_load(format, e, (size_t)c * (size_t)height + 4 * (size_t)q, &values);
      sum[q] += values * x[c];
    }
  for (int q = 0; q < quads; q++) *(bsi_quad *)(y + 4 * q) = sum[q];
}

/* y ← E x for a block of m ≥ 4 rows. The last four rows may be computed twice: a loop over single
 * rows would be vectorised without fused operations, and have other bits than several vectors. */
BSI_INLINE void multiply_stored(const bisai_value_type format, const int m, const char *e,
                                const int32_t height, const double *x, double *y) {
  const size_t bytes = bsi_value_bytes(format);
  int r = 0;
  for (; r + 16 <= m; r += 16)
    multiply_quads(format, 4, m, e + (size_t)r * bytes, height, x, y + r);
  for (; r + 4 <= m; r += 4) multiply_quads(format, 1, m, e + (size_t)r * bytes, height, x, y + r);
  if (r < m) multiply_quads(format, 1, m, e + (size_t)(m - 4) * bytes, height, x, y + (m - 4));
}

static void multiply_one(bisai_value_type format, int m, const char *e, int32_t height,
                         const double *x, double *y) {
  switch (format) {
#define MULTIPLY(enumerator, word, bytes, mantissa)                                                \
  case enumerator: multiply_stored(enumerator, m, e, height, x, y); return;
    BISAI_BLOCK_TYPE_LIST(MULTIPLY)
#undef MULTIPLY
  default: return; /* blocks have no other */
  }
}

static void apply_block(bisai_form form, int m, const double *e, const uint8_t *pivots,
                        const vectors *v, int32_t row) {
  if (form == BISAI_FORM_INVERSE) {
    if (m > 0 && m <= BSI_SPECIAL_SIZES)
      multiply_functions[m](e, v, row);
    else
      multiply(m, e, v, row);
    return;
  }
  for (int32_t i = 0; i < v->count; i++) {
    const double *x = v->x + i * v->ldx + row;
    double *y = v->y + i * v->ldy + row;
    if (form == BISAI_FORM_LU)
      bsi_block_lu_solve(m, e, pivots, x, y);
    else
      bsi_block_gauss_huard_solve(form == BISAI_FORM_GAUSS_HUARD_TRANSPOSED, m, e, pivots, x, y);
  }
}

BSI_INLINE void widen(const bisai_value_type format, const int m, const char *place,
                      const int32_t height, double *e) {
  for (int c = 0; c < m; c++)
    for (int r = 0; r < m; r++)
      e[c * m + r] = bsi_value_load(format, place, (size_t)c * (size_t)height + (size_t)r);
}

/* Returns the values of a block as fp64 side by side: in place if they are stored so, otherwise in
 * `buffer`. */
static const double *load(bisai_value_type format, int m, const char *place, int32_t height,
                          double *buffer) {
  if (format == BISAI_FP64 && height == m) return (const double *)(const void *)place;
  switch (format) {
#define WIDEN(enumerator, word, bytes, mantissa)                                                   \
  case enumerator: widen(enumerator, m, place, height, buffer); break;
    BISAI_BLOCK_TYPE_LIST(WIDEN)
#undef WIDEN
  default: break; /* blocks have no other */
  }
  return buffer;
}

static void apply_group(const bsi_bjacobi *jacobi, int32_t g, const vectors *v) {
  const bsi_partition *p = &jacobi->partition;
  const bsi_group group = bsi_bjacobi_group(jacobi, g);
  const bisai_value_type format =
      jacobi->format ? (bisai_value_type)jacobi->format[g] : jacobi->options.storage;
  const char *place = (const char *)jacobi->data +
                      (size_t)bsi_bjacobi_first_value(jacobi, g) * (size_t)jacobi->slot_bytes;
  for (int32_t b = group.begin; b < group.end; b++) {
    const int32_t row = bsi_partition_start(p, b), m = bsi_partition_start(p, b + 1) - row;
    const char *const values = place + (size_t)(row - group.row) * bsi_value_bytes(format);
    const bool in_place = format == BISAI_FP64 && group.height == m;
    if (jacobi->options.form == BISAI_FORM_INVERSE && v->count == 1 && m >= 4 &&
        !(in_place && m <= BSI_SPECIAL_SIZES)) {
      multiply_one(format, m, values, group.height, v->x + row, v->y + row);
      continue;
    }
    double buffer[BSI_MAX_BLOCK_VALUES];
    const double *e = load(format, m, values, group.height, buffer);
    apply_block(jacobi->options.form, m, e, jacobi->pivots ? jacobi->pivots + row : NULL, v, row);
  }
}

/* Prefetches the values of group g if formats are adaptive. Narrow groups leave gaps, at which the
 * hardware prefetchers end. */
static void prefetch_group(const bsi_bjacobi *jacobi, int32_t g) {
  if (!jacobi->format || g >= jacobi->groups) return;
  const bsi_group group = bsi_bjacobi_group(jacobi, g);
  const size_t first = (size_t)bsi_bjacobi_first_value(jacobi, g) * (size_t)jacobi->slot_bytes,
               values = (size_t)group.height * (size_t)group.height;
  bsi_prefetch(jacobi->data, first,
               first + values * bsi_value_bytes((bisai_value_type)jacobi->format[g]));
}

typedef struct apply_job {
  const bsi_bjacobi *jacobi;
  const vectors *v;
} apply_job;

static void apply_part(void *job, bsi_part part) {
  const apply_job *a = job;
  const bsi_range range = bsi_range_of(a->jacobi->groups, part);
  for (int64_t g = range.begin; g < range.end; g++) {
    prefetch_group(a->jacobi, (int32_t)g + AHEAD);
    apply_group(a->jacobi, (int32_t)g, a->v);
  }
}

static bisai_status bjacobi_apply(bisai_context *context, const bsi_bjacobi *jacobi, int32_t count,
                                  const double *x, int64_t ldx, double *y, int64_t ldy) {
  const vectors v = {count, x, ldx, y, ldy};
  const int threads =
      bsi_threads_for(context->threads, jacobi->stats.value_bytes, BYTES_PER_THREAD);
  bsi_run(context, threads, BSI_SOME_PARTS, apply_part, &(apply_job){jacobi, &v});
  return BISAI_OK;
}

const bsi_block_solve_ops bsi_block_solve_host = {.apply = bjacobi_apply};
