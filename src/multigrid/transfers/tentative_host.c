/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers between levels on the host. Every aggregate and every row is computed by one thread. */
#include <math.h>
#include <string.h>

#include "core/block/block_math.h"
#include "core/block/block_sizes.h"
#include "core/threads/parallel.h"
#include "multigrid/transfers/transfer_ops.h"

enum {
  /* the least number of values for which a thread is woken */
  VALUES_PER_THREAD = 16384
};

static int threads_for(const bisai_context *context, const bsi_block_matrix *m) {
  return bsi_threads_for(context->threads, (int64_t)bsi_block_matrix_offset(m, m->blocks),
                         VALUES_PER_THREAD);
}

/* --- structures --- */

static bisai_status list(bisai_context *context, const int32_t *aggregate, int32_t members,
                         bsi_block_matrix *t) {
  (void)members; /* the rows are counted anyway */
  t->row_ptr = bsi_allocate(context, (size_t)t->rows + 1, sizeof *t->row_ptr);
  if (!t->row_ptr) return BISAI_OUT_OF_MEMORY;
  t->row_ptr[0] = 0;
  for (int32_t i = 0; i < t->rows; i++) t->row_ptr[i + 1] = t->row_ptr[i] + (aggregate[i] >= 0);
  t->blocks = t->row_ptr[t->rows];
  t->col_idx = bsi_allocate(context, (size_t)t->blocks, sizeof *t->col_idx);
  if (!t->col_idx) return BISAI_OUT_OF_MEMORY;
  for (int32_t i = 0; i < t->rows; i++)
    if (aggregate[i] >= 0) t->col_idx[t->row_ptr[i]] = aggregate[i];
  return BISAI_OK;
}

static bisai_status transpose(bisai_context *context, const bsi_block_matrix *m,
                              bsi_block_matrix *transposed, int32_t *position) {
  (void)context;
  int32_t *ptr = transposed->row_ptr;
  memset(ptr, 0, ((size_t)m->cols + 1) * sizeof *ptr);
  for (int32_t p = 0; p < m->blocks; p++) ptr[m->col_idx[p] + 1]++;
  for (int32_t j = 0; j < m->cols; j++) ptr[j + 1] += ptr[j];
  /* ptr[j] moves to the end of row j, where row j + 1 begins */
  for (int32_t i = 0; i < m->rows; i++)
    for (int32_t p = m->row_ptr[i]; p < m->row_ptr[i + 1]; p++) {
      const int32_t q = ptr[m->col_idx[p]]++;
      transposed->col_idx[q] = i;
      position[q] = p;
    }
  for (int32_t j = m->cols; j > 0; j--) ptr[j] = ptr[j - 1];
  ptr[0] = 0;
  transposed->rows = m->cols;
  transposed->cols = m->rows;
  transposed->height = m->width;
  transposed->width = m->height;
  transposed->blocks = m->blocks;
  return BISAI_OK;
}

typedef struct transpose_job {
  const bsi_block_matrix *m;
  const int32_t *position;
  bsi_block_matrix *transposed;
} transpose_job;

static void transpose_part(void *job, bsi_part part) {
  const transpose_job *t = job;
  const int h = t->m->height, w = t->m->width;
  const bsi_range range = bsi_range_of(t->m->blocks, part);
  for (int64_t q = range.begin; q < range.end; q++) {
    const double *from = t->m->values + bsi_block_matrix_offset(t->m, t->position[q]);
    double *to = t->transposed->values + bsi_block_matrix_offset(t->m, q);
    for (int r = 0; r < h; r++)
      for (int c = 0; c < w; c++) to[r * w + c] = from[c * h + r];
  }
}

static bisai_status transpose_values(bisai_context *context, const bsi_block_matrix *m,
                                     const int32_t *position, bsi_block_matrix *transposed) {
  bsi_run(context, threads_for(context, m), BSI_SOME_PARTS, transpose_part,
          &(transpose_job){m, position, transposed});
  return BISAI_OK;
}

/* --- near-null-space vectors --- */

typedef struct orthonormal_job {
  const bsi_block_matrix *members;
  const double *vectors;
  double tolerance;
  bsi_block_matrix *t;
  double *coarse;
} orthonormal_job;

/* The members of an aggregate: its block rows of T. */
typedef struct aggregate_rows {
  const bsi_block_matrix *t;
  const int32_t *rows;
  int32_t count;
} aggregate_rows;

/* Returns column c of the block of member k. */
static double *column_of(const aggregate_rows *g, int32_t k, int c) {
  const bsi_block_matrix *t = g->t;
  return t->values + bsi_block_matrix_offset(t, t->row_ptr[g->rows[k]]) + c * t->height;
}

/* Returns the product of columns a and b. */
static double dot(const aggregate_rows *g, int a, int b) {
  double sum = 0.0;
  for (int32_t k = 0; k < g->count; k++) {
    const double *x = column_of(g, k, a), *y = column_of(g, k, b);
    for (int r = 0; r < g->t->height; r++) sum += x[r] * y[r];
  }
  return sum;
}

/* Column b ← column b − factor·column a */
static void subtract(const aggregate_rows *g, int a, double factor, int b) {
  for (int32_t k = 0; k < g->count; k++) {
    const double *x = column_of(g, k, a);
    double *y = column_of(g, k, b);
    for (int r = 0; r < g->t->height; r++) y[r] -= factor * x[r];
  }
}

/* Column c ← factor·column c. It becomes 0 for the factor 0, even if it has infinite values. */
static void scale(const aggregate_rows *g, double factor, int c) {
  for (int32_t k = 0; k < g->count; k++) {
    double *x = column_of(g, k, c);
    for (int r = 0; r < g->t->height; r++) x[r] = factor == 0.0 ? 0.0 : factor * x[r];
  }
}

/* Returns the value of vector c in scalar row r of member k. */
static double value_of(const orthonormal_job *job, const aggregate_rows *g, int32_t k, int r,
                       int c) {
  const int64_t row = (int64_t)g->rows[k] * g->t->height + r;
  return job->vectors[row * g->t->width + c];
}

/* Copies the rows of vector c into column c of the blocks of T, divided by a power of two that
 * brings the largest magnitude between 1 and 2, so that squares neither overflow nor vanish.
 * Returns the exponent of the power. */
static int load_column(const orthonormal_job *job, const aggregate_rows *g, int c) {
  const int h = g->t->height;
  double largest = 0.0;
  for (int32_t k = 0; k < g->count; k++)
    for (int r = 0; r < h; r++) largest = fmax(largest, fabs(value_of(job, g, k, r, c)));
  const int exponent = largest > 0.0 ? ilogb(largest) : 0;
  for (int32_t k = 0; k < g->count; k++) {
    double *x = column_of(g, k, c);
    for (int r = 0; r < h; r++) x[r] = scalbn(value_of(job, g, k, r, c), -exponent);
  }
  return exponent;
}

/* Orthonormalises one aggregate. Column c of R is `factors` + c, with a stride of w. */
static void orthonormalise_aggregate(const orthonormal_job *job, const aggregate_rows *g,
                                     double *factors) {
  const int w = g->t->width;
  int64_t left = (int64_t)g->count * g->t->height;
  for (int c = 0; c < w; c++) {
    const int exponent = load_column(job, g, c);
    const double before = sqrt(dot(g, c, c));
    for (int k = 0; k < w; k++) factors[k * w + c] = 0.0;
    for (int pass = 0; pass < 2; pass++)
      for (int k = 0; k < c; k++) {
        const double factor = dot(g, k, c);
        subtract(g, k, factor, c);
        factors[k * w + c] += factor;
      }
    const double norm = sqrt(dot(g, c, c));
    const bool independent = left > 0 && norm > job->tolerance * before;
    left -= independent;
    scale(g, independent ? 1.0 / norm : 0.0, c);
    if (independent) factors[c * w + c] = norm;
    for (int k = 0; k <= c; k++) factors[k * w + c] = scalbn(factors[k * w + c], exponent);
  }
}

static void orthonormalise_part(void *data, bsi_part part) {
  const orthonormal_job *job = data;
  const bsi_block_matrix *members = job->members;
  const size_t w = (size_t)job->t->width;
  const bsi_rows rows = bsi_rows_of(members->rows, members->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++) {
    const int32_t begin = members->row_ptr[i];
    const aggregate_rows g = {job->t, members->col_idx + begin, members->row_ptr[i + 1] - begin};
    orthonormalise_aggregate(job, &g, job->coarse + (size_t)i * w * w);
  }
}

static bisai_status orthonormalise(bisai_context *context, const bsi_block_matrix *members,
                                   const double *vectors, double tolerance, bsi_block_matrix *t,
                                   double *coarse) {
  bsi_run(context, threads_for(context, t), BSI_SOME_PARTS, orthonormalise_part,
          &(orthonormal_job){members, vectors, tolerance, t, coarse});
  return BISAI_OK;
}

/* --- rows without values --- */

/* Returns true if scalar row r of block row i has no nonzero value. */
static bool row_is_zero(const bisai_bcsr *a, int32_t i, int r) {
  const int bs = a->block_size;
  const double *row = (const double *)a->values + r;
  for (size_t k = bsi_block_offset(a, a->row_ptr[i]); k < bsi_block_offset(a, a->row_ptr[i + 1]);
       k += (size_t)bs)
    if (row[k] != 0.0) return false;
  return true;
}

static void complete_part(void *job, bsi_part part) {
  bisai_bcsr *a = job;
  const bsi_rows rows = bsi_rows_of(a->block_rows, a->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++)
    for (int r = 0; r < a->block_size; r++) {
      if (!row_is_zero(a, i, r)) continue;
      const int32_t diagonal = bsi_find_diagonal(a->row_ptr, a->col_idx, i);
      double *block = (double *)a->values + bsi_block_offset(a, diagonal);
      block[r * a->block_size + r] = 1.0;
    }
}

static bisai_status complete(bisai_context *context, bisai_bcsr *a) {
  bsi_run(
      context,
      bsi_threads_for(context->threads, (int64_t)bsi_block_offset(a, a->blocks), VALUES_PER_THREAD),
      BSI_SOME_PARTS, complete_part, a);
  return BISAI_OK;
}

const bsi_transfer_ops bsi_transfer_host = {.list = list,
                                            .transpose = transpose,
                                            .transpose_values = transpose_values,
                                            .orthonormalise = orthonormalise,
                                            .complete = complete,
                                            .scale_rows = bsi_scale_rows_host};
