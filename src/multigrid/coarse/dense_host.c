/* SPDX-License-Identifier: BSD-3-Clause */
/* The inverse of a small matrix on the host, by blocked Gauss–Jordan elimination in place with row
 * pivoting. n is the number of rows, and columns are n values apart.
 *
 * For each panel of columns K, with rows K below the rows of earlier panels:
 *
 *   1. Elimination of the columns K alone brings the largest magnitude of each column to the
 *      diagonal, and leaves W, which has P⁻¹ in the rows K and −A_{·K} P⁻¹ in the others. P is the
 *      block of the pivots.
 *   2. The rows of all other columns are swapped in the same way. Each column a then becomes
 *      W a_K + (a without its rows K).
 *
 * At the end the swaps are undone in the columns of the inverse. Columns are shared out in groups,
 * so that results do not depend on the number of threads. */
#include <math.h>
#include <string.h>

#include "core/block/block_math.h"
#include "core/context/context_impl.h"
#include "core/threads/parallel.h"
#include "multigrid/coarse/dense.h"
#include "multigrid/level/dense_ops.h"

enum {
  /* the rows of a group, which W is stored by, and the columns of a group */
  QUAD = 4,
  /* the rows of a part of a product */
  ROWS = 64,
  FLOPS_PER_THREAD = 1 << 20,
  VALUES_PER_THREAD = 1 << 15
};

static void swap(double *a, double *b) {
  const double kept = *a;
  *a = *b;
  *b = kept;
}

void bsi_eliminate_column(const bsi_elimination *e, int64_t k) {
  const int64_t n = e->n;
  double *restrict column = e->a + k * n;
  const double pivot = column[k];
  column[k] = 0.0; /* row k stays as it is */
  for (int64_t c = e->first; c < e->first + e->count; c++) {
    double *restrict other = e->a + c * n;
    if (c == k) continue;
    const double factor = other[k] / pivot;
    other[k] = factor;
    if (factor == 0.0) continue;
    for (int64_t i = 0; i < n; i++) other[i] -= column[i] * factor;
  }
  for (int64_t i = 0; i < n; i++) column[i] /= -pivot;
  column[k] = 1.0 / pivot;
}

/* Step 1. Returns false if a pivot is zero or not finite. */
static bool eliminate_panel(bsi_elimination *e, double *smallest, double *largest) {
  const int64_t n = e->n;
  for (int64_t k = e->first; k < e->first + e->count; k++) {
    const int64_t row = k + bsi_place_of_largest(n - k, e->a + k * n + k);
    const double magnitude = fabs(e->a[k * n + row]);
    if (magnitude == 0.0 || !isfinite(magnitude)) return false;
    *smallest = fmin(*smallest, magnitude);
    *largest = fmax(*largest, magnitude);
    e->swapped[k] = (int32_t)row;
    if (row != k)
      for (int64_t c = e->first; c < e->first + e->count; c++)
        swap(e->a + c * n + k, e->a + c * n + row);
    bsi_eliminate_column(e, k);
  }
  return true;
}

/* Adds W·rows to `columns` columns. `rows` has the rows K of these columns, row by row. */
BSI_INLINE void add_product(const bsi_elimination *e, const int columns, double *const *column,
                            const double *rows) {
  const int64_t n = e->n;
  int64_t i = 0;
  for (; i + QUAD <= n; i += QUAD) {
    const double *packed = e->packed + i * e->count;
    bsi_quad sum[QUAD];
    for (int c = 0; c < columns; c++) sum[c] = *(const bsi_quad *)(column[c] + i);
    for (int k = 0; k < e->count; k++) {
      const bsi_quad w = *(const bsi_quad *)(packed + k * QUAD);
      for (int c = 0; c < columns; c++) sum[c] += w * rows[k * QUAD + c];
    }
    for (int c = 0; c < columns; c++) *(bsi_quad *)(column[c] + i) = sum[c];
  }
  for (; i < n; i++)
    for (int c = 0; c < columns; c++) {
      double sum = column[c][i];
      for (int k = 0; k < e->count; k++) sum += e->a[(e->first + k) * n + i] * rows[k * QUAD + c];
      column[c][i] = sum;
    }
}

/* Step 2 for some groups of columns. */
static void update_part(void *job, bsi_part part) {
  const bsi_elimination *e = job;
  const int64_t others = e->n - e->count;
  const bsi_range range = bsi_range_of((others + QUAD - 1) / QUAD, part);
  for (int64_t group = range.begin; group < range.end; group++) {
    const int columns = group * QUAD + QUAD <= others ? QUAD : (int)(others - group * QUAD);
    double *column[QUAD], rows[BSI_PANEL * QUAD];
    for (int c = 0; c < columns; c++) {
      const int64_t place = group * QUAD + c;
      column[c] = e->a + (place < e->first ? place : place + e->count) * e->n;
      for (int64_t k = e->first; e->swapped && k < e->first + e->count; k++)
        swap(column[c] + k, column[c] + e->swapped[k]);
      for (int k = 0; k < e->count; k++) {
        rows[k * QUAD + c] = column[c][e->first + k];
        column[c][e->first + k] = 0.0;
      }
    }
    if (columns == QUAD)
      add_product(e, QUAD, column, rows);
    else
      add_product(e, columns, column, rows);
  }
}

void bsi_eliminate_others(bisai_context *context, const bsi_elimination *e) {
  const int64_t n = e->n;
  for (int64_t i = 0; i + QUAD <= n; i += QUAD)
    for (int k = 0; k < e->count; k++)
      memcpy(e->packed + i * e->count + (int64_t)k * QUAD, e->a + (e->first + k) * n + i,
             QUAD * sizeof *e->packed);
  const int threads = bsi_threads_for(context->threads, 2 * n * n * e->count, FLOPS_PER_THREAD);
  bsi_run(context, threads, BSI_SOME_PARTS, update_part, (void *)e);
}

void bsi_dense_fill(const bisai_bcsr *a, int64_t n, double *dense) {
  const int bs = a->block_size;
  const double *values = a->values;
  memset(dense, 0, (size_t)(n * n) * sizeof *dense);
  for (int32_t i = 0; i < a->block_rows; i++)
    for (int32_t q = a->row_ptr[i]; q < a->row_ptr[i + 1]; q++)
      for (int c = 0; c < bs; c++)
        memcpy(dense + ((int64_t)a->col_idx[q] * bs + c) * n + (int64_t)i * bs,
               values + bsi_block_offset(a, q) + (size_t)(c * bs), (size_t)bs * sizeof *dense);
}

/* Begins the elimination of a matrix of n rows with its first panel. `work` has n² doubles. W takes
 * whole quads of rows, and the swaps of n rows lie behind it. There is room for them, because a
 * panel has less than n columns, and W is empty if n is 1. */
static bsi_elimination elimination_of(int64_t n, double *a, double *work) {
  const int panel = n > BSI_PANEL ? BSI_PANEL : n > 1 ? (int)(n - 1) : 1;
  const int64_t packed = n / QUAD * QUAD * panel;
  return (bsi_elimination){
      .n = n, .a = a, .count = panel, .packed = work, .swapped = (int32_t *)(work + packed)};
}

/* Undoes the swaps of rows in the columns of the inverse, the last one first. */
static void swap_back(const bsi_elimination *e) {
  for (int64_t k = e->n - 1; k >= 0; k--) {
    double *column = e->a + k * e->n, *other = e->a + e->swapped[k] * e->n;
    if (column == other) continue;
    for (int64_t i = 0; i < e->n; i++) swap(&column[i], &other[i]);
  }
}

static bisai_status invert(bisai_context *context, const bisai_bcsr *a, double *work,
                           double *inverse, double *smallest, double *largest) {
  const int64_t n = (int64_t)a->block_rows * a->block_size;
  bsi_elimination e = elimination_of(n, inverse, work);
  bsi_dense_fill(a, n, inverse);
  *smallest = n > 0 ? INFINITY : 0.0;
  *largest = 0.0;
  for (; e.first < n; e.first += e.count) {
    if (n - e.first < e.count) e.count = (int)(n - e.first);
    if (!eliminate_panel(&e, smallest, largest)) {
      *smallest = 0.0;
      return BISAI_OK;
    }
    bsi_eliminate_others(context, &e);
  }
  swap_back(&e);
  if (!bsi_all_finite((size_t)(n * n), inverse)) *smallest = 0.0;
  return BISAI_OK;
}

typedef struct product {
  int64_t n;
  const double *inverse, *x;
  double *y;
} product;

/* The rows begin … end − 1, at most ROWS. Four columns share a pass over the sums. */
BSI_INLINE void multiply_rows(const product *p, int64_t begin, int64_t end) {
  const int64_t n = p->n;
  double sum[ROWS] = {0};
  int64_t c = 0;
  for (; c + QUAD <= n; c += QUAD) {
    const double *column = p->inverse + c * n + begin, *x = p->x + c;
    for (int64_t i = 0; i < end - begin; i++)
      sum[i] += (column[i] * x[0] + column[i + n] * x[1]) +
                (column[i + 2 * n] * x[2] + column[i + 3 * n] * x[3]);
  }
  for (; c < n; c++)
    for (int64_t i = 0; i < end - begin; i++) sum[i] += p->inverse[c * n + begin + i] * p->x[c];
  memcpy(p->y + begin, sum, (size_t)(end - begin) * sizeof *sum);
}

static void multiply_part(void *job, bsi_part part) {
  const product *p = job;
  const bsi_range range = bsi_range_of((p->n + ROWS - 1) / ROWS, part);
  for (int64_t tile = range.begin; tile < range.end; tile++) {
    if ((tile + 1) * ROWS <= p->n)
      multiply_rows(p, tile * ROWS, tile * ROWS + ROWS);
    else
      multiply_rows(p, tile * ROWS, p->n);
  }
}

static bisai_status multiply(bisai_context *context, int32_t n, const double *inverse,
                             const double *x, double *y) {
  const int64_t rows = n;
  bsi_run(context, bsi_threads_for(context->threads, rows * rows, VALUES_PER_THREAD),
          BSI_SOME_PARTS, multiply_part, &(product){rows, inverse, x, y});
  return BISAI_OK;
}

const bsi_dense_ops bsi_dense_host = {.cheap = false, .invert = invert, .multiply = multiply};
