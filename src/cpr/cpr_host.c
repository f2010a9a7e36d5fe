/* SPDX-License-Identifier: BSD-3-Clause */
/* Weights, the pressure matrix, and the steps between vectors and pressures on the host. Rows are
 * shared out over the threads. */
#include <math.h>

#include "core/block/block_sizes.h"
#include "core/threads/parallel.h"
#include "cpr/cpr_ops.h"
#include "cpr/ellipticity.h"
#include "cpr/weights.h"

enum { ROWS_PER_THREAD = 1024, VALUES_PER_THREAD = 1 << 15 };

/* --- weights --- */

typedef struct weigh_job {
  bisai_context *context;
  const bsi_weighing *weighing;
  double *weights;
} weigh_job;

BSI_INLINE void weigh_rows(const int bs, const void *work, bsi_rows rows, int thread) {
  const weigh_job *job = work;
  bsi_weight_stats *stats = bsi_partial(job->context, thread);
  const double *values = (const double *)job->weighing->a->values;
  double inverse[BSI_MAX_BLOCK_VALUES];
  for (int32_t i = rows.begin; i < rows.end; i++) {
    const int rules =
        bsi_weigh_row(bs, job->weighing, values, i, inverse, job->weights + (int64_t)i * bs);
    if (rules) bsi_weight_stats_count(stats, rules, i);
  }
}

/* --- the pressure matrix --- */

typedef struct reduce_job {
  const bisai_bcsr *a;
  const double *weights;
  int32_t pressure;
  double *values, *columns;
} reduce_job;

BSI_INLINE void reduce_row(const int bs, const reduce_job *job, int32_t i) {
  const bisai_bcsr *a = job->a;
  const double *w = job->weights + (int64_t)i * bs;
  bool excluded = true;
  for (int k = 0; k < bs; k++) excluded = excluded && w[k] == 0.0;
  for (int32_t q = a->row_ptr[i]; q < a->row_ptr[i + 1]; q++) {
    const double *column = (const double *)a->values + bsi_block_offset(a, q) + job->pressure * bs;
    double value = excluded && a->col_idx[q] == i ? 1.0 : 0.0;
    for (int k = 0; k < bs && !excluded; k++) value += w[k] * column[k];
    if (job->values) job->values[q] = value;
    for (int k = 0; k < bs && job->columns; k++) job->columns[(int64_t)q * bs + k] = column[k];
  }
}

BSI_INLINE void reduce_rows(const int bs, const void *work, bsi_rows rows, int thread) {
  (void)thread;
  for (int32_t i = rows.begin; i < rows.end; i++) reduce_row(bs, work, i);
}

/* --- vectors --- */

typedef struct vector_job {
  const bisai_bcsr *p;
  const double *weights, *columns, *z, *v;
  double *r;
} vector_job;

BSI_INLINE void gather_rows(const int bs, const void *work, bsi_rows rows, int thread) {
  const vector_job *job = work;
  (void)thread;
  for (int32_t i = rows.begin; i < rows.end; i++) {
    double sum = 0.0;
    for (int k = 0; k < bs; k++)
      sum += job->weights[(int64_t)i * bs + k] * job->v[(int64_t)i * bs + k];
    job->r[i] = sum;
  }
}

BSI_INLINE void subtract_rows(const int bs, const void *work, bsi_rows rows, int thread) {
  const vector_job *job = work;
  const bisai_bcsr *p = job->p;
  (void)thread;
  for (int32_t i = rows.begin; i < rows.end; i++) {
    bsi_column sum;
    bsi_column_load(bs, &sum, job->v + (int64_t)i * bs);
    for (int32_t q = p->row_ptr[i]; q < p->row_ptr[i + 1]; q++)
      bsi_column_subtract(bs, &sum, job->columns + (int64_t)q * bs, job->z[p->col_idx[q]]);
    bsi_column_store(bs, &sum, job->r + (int64_t)i * bs);
  }
}

/* --- block sizes and threads --- */

typedef void rows_function(const void *work, int bs, bsi_rows rows, int thread);

typedef struct size_functions {
  rows_function *weigh, *reduce, *gather, *subtract;
} size_functions;

#define FUNCTION(name, suffix, BS)                                                                 \
  static void name##_rows_##suffix(const void *work, int bs, bsi_rows rows, int thread) {          \
    (void)bs;                                                                                      \
    name##_rows(BS, work, rows, thread);                                                           \
  }
#define FUNCTIONS(suffix, BS)                                                                      \
  FUNCTION(weigh, suffix, BS)                                                                      \
  FUNCTION(reduce, suffix, BS) FUNCTION(gather, suffix, BS) FUNCTION(subtract, suffix, BS)
#define STAMP(BS) FUNCTIONS(BS, BS)
FUNCTIONS(any, bs)
BSI_BLOCK_SIZES(STAMP)
#undef STAMP
#undef FUNCTIONS
#undef FUNCTION
#define ENTRY(BS) [BS] = {weigh_rows_##BS, reduce_rows_##BS, gather_rows_##BS, subtract_rows_##BS},
static const size_functions functions[BSI_SPECIAL_SIZES + 1] = {
    {weigh_rows_any, reduce_rows_any, gather_rows_any, subtract_rows_any}, BSI_BLOCK_SIZES(ENTRY)};
#undef ENTRY

static const size_functions *functions_of(int bs) {
  return &functions[bs <= BSI_SPECIAL_SIZES ? bs : 0];
}

typedef struct rows_job {
  rows_function *function;
  const void *work;
  int32_t rows;
  int bs;
  /* weighs the rows by their blocks; NULL: all the same */
  const int32_t *row_ptr;
} rows_job;

static void rows_part(void *work, bsi_part part) {
  const rows_job *job = work;
  const bsi_range range = bsi_range_of(job->rows, part);
  job->function(job->work, job->bs,
                job->row_ptr ? bsi_rows_of(job->rows, job->row_ptr, part)
                             : (bsi_rows){(int32_t)range.begin, (int32_t)range.end},
                part.thread);
}

/* --- operations --- */

static bisai_status weigh(bisai_context *context, const bsi_weighing *weighing, double *weights,
                          bsi_weight_stats *stats) {
  const bisai_bcsr *a = weighing->a;
  const int threads = bsi_threads_for(context->threads, a->block_rows, ROWS_PER_THREAD);
  const weigh_job job = {context, weighing, weights};
  for (int t = 0; t < threads; t++)
    *(bsi_weight_stats *)bsi_partial(context, t) = BSI_WEIGHT_STATS_NONE;
  bsi_run(
      context, threads, BSI_SOME_PARTS, rows_part,
      &(rows_job){functions_of(a->block_size)->weigh, &job, a->block_rows, a->block_size, NULL});
  if (!stats) return BISAI_OK;
  *stats = BSI_WEIGHT_STATS_NONE;
  for (int t = 0; t < threads; t++) {
    const bsi_weight_stats *part = bsi_partial(context, t);
    stats->singular += part->singular;
    stats->reversed += part->reversed;
    stats->excluded += part->excluded;
    bsi_min_index(&stats->first_singular, part->first_singular);
    bsi_min_index(&stats->first_excluded, part->first_excluded);
  }
  return BISAI_OK;
}

static bisai_status reduce(bisai_context *context, const bisai_bcsr *a, const double *weights,
                           int32_t pressure, double *values, double *columns) {
  const int bs = a->block_size;
  const reduce_job job = {a, weights, pressure, values, columns};
  bsi_run(context, bsi_threads_for(context->threads, (int64_t)a->blocks * bs, VALUES_PER_THREAD),
          BSI_SOME_PARTS, rows_part,
          &(rows_job){functions_of(bs)->reduce, &job, a->block_rows, bs, a->row_ptr});
  return BISAI_OK;
}

typedef struct measure_job {
  bisai_context *context;
  const bisai_bcsr *matrix;
  const int32_t *diagonal;
  int32_t pressure;
} measure_job;

static void couple_part(void *work, bsi_part part) {
  const measure_job *job = work;
  const bisai_bcsr *p = job->matrix;
  const bsi_rows rows = bsi_rows_of(p->block_rows, p->row_ptr, part);
  int64_t *sum = bsi_partial(job->context, part.thread);
  for (int32_t i = rows.begin; i < rows.end; i++)
    *sum += bsi_coupling_of_row(p->row_ptr, p->col_idx, p->values, job->diagonal, i);
}

static void reach_part(void *work, bsi_part part) {
  const measure_job *job = work;
  const bisai_bcsr *a = job->matrix;
  const bsi_rows rows = bsi_rows_of(a->block_rows, a->row_ptr, part);
  int64_t *sum = bsi_partial(job->context, part.thread);
  for (int32_t i = rows.begin; i < rows.end; i++)
    for (int l = 0; l < a->block_size; l++)
      *sum += bsi_reach_of_equation(a->block_size, a->row_ptr, a->values, job->diagonal,
                                    job->pressure, i, l);
}

/* *sum ← the sum of the threads' sums. */
static bisai_status measure(const measure_job *job, void (*part)(void *, bsi_part), int64_t *sum) {
  bisai_context *context = job->context;
  const int64_t values = (int64_t)job->matrix->blocks * job->matrix->block_size;
  const int threads = bsi_threads_for(context->threads, values, VALUES_PER_THREAD);
  for (int t = 0; t < threads; t++) *(int64_t *)bsi_partial(context, t) = 0;
  bsi_run(context, threads, BSI_SOME_PARTS, part, (void *)(uintptr_t)job);
  *sum = 0;
  for (int t = 0; t < threads; t++) *sum += *(const int64_t *)bsi_partial(context, t);
  return BISAI_OK;
}

static bisai_status couple(bisai_context *context, const bisai_bcsr *p, const int32_t *diagonal,
                           int64_t *sum) {
  return measure(&(measure_job){context, p, diagonal, 0}, couple_part, sum);
}

static bisai_status reach(bisai_context *context, const bisai_bcsr *a, const int32_t *diagonal,
                          int32_t pressure, int64_t *sum) {
  return measure(&(measure_job){context, a, diagonal, pressure}, reach_part, sum);
}

static bisai_status gather(bisai_context *context, int32_t n, int bs, const double *weights,
                           const double *v, double *r) {
  const vector_job job = {.weights = weights, .v = v, .r = r};
  bsi_run(context, bsi_threads_for(context->threads, (int64_t)n * bs, VALUES_PER_THREAD),
          BSI_SOME_PARTS, rows_part, &(rows_job){functions_of(bs)->gather, &job, n, bs, NULL});
  return BISAI_OK;
}

static bisai_status subtract(bisai_context *context, const bisai_bcsr *p, int bs,
                             const double *columns, const double *z, const double *v, double *r) {
  const vector_job job = {.p = p, .columns = columns, .z = z, .v = v, .r = r};
  bsi_run(context, bsi_threads_for(context->threads, (int64_t)p->blocks * bs, VALUES_PER_THREAD),
          BSI_SOME_PARTS, rows_part,
          &(rows_job){functions_of(bs)->subtract, &job, p->block_rows, bs, p->row_ptr});
  return BISAI_OK;
}

typedef struct add_job {
  int32_t n;
  int bs;
  int32_t pressure;
  const double *z;
  double *x;
} add_job;

static void add_part(void *work, bsi_part part) {
  const add_job *job = work;
  const bsi_range range = bsi_range_of(job->n, part);
  for (int64_t i = range.begin; i < range.end; i++)
    job->x[i * job->bs + job->pressure] += job->z[i];
}

static bisai_status add(bisai_context *context, int32_t n, int bs, int32_t pressure,
                        const double *z, double *x) {
  bsi_run(context, bsi_threads_for(context->threads, (int64_t)n * bs, VALUES_PER_THREAD),
          BSI_SOME_PARTS, add_part, &(add_job){n, bs, pressure, z, x});
  return BISAI_OK;
}

const bsi_cpr_ops bsi_cpr_host = {.weigh = weigh,
                                  .reduce = reduce,
                                  .couple = couple,
                                  .reach = reach,
                                  .gather = gather,
                                  .subtract = subtract,
                                  .add = add,
                                  .scales = &bsi_scales_host};
