/* SPDX-License-Identifier: BSD-3-Clause */
/* Block ILU on the host: rows in order, or level by level with the rows of a level shared out. Both
 * compute each row in the same way, so that the bits agree. */
#include "core/block/block_sizes.h"
#include "core/context/context_impl.h"
#include "core/threads/parallel.h"
#include "factor/factor_impl.h"
#include "factor/factor_ops.h"

#include <string.h>

enum {
  /* the time per byte over that of a product */
  WORK_A_BYTE = 4,
  /* the least bytes of the matrix for which a thread is woken to copy */
  BYTES_PER_THREAD = 1 << 18
};

/* What a row meets: U and the inverses of its diagonal blocks. */
typedef struct met {
  const int32_t *col_idx;
  const double *upper, *inverse;
} met;

/* row_ij ← row_ij − l · pivot_j for every block of `target` whose column is in the pivot row q …
 * q_end − 1 of U. Both rows ascend. */
BSI_INLINE void subtract_row(const int bs, const double *l, const met *u, int32_t q,
                             const int32_t q_end, const bisai_bcsr *target, int32_t p,
                             const int32_t p_end) {
  const int values = bs * bs;
  while (q < q_end && p < p_end) {
    const int32_t from = u->col_idx[q], to = target->col_idx[p];
    if (from == to)
      bsi_block_multiply_subtract(bs, l, u->upper + (size_t)q * (size_t)values,
                                  (double *)target->values + (size_t)p * (size_t)values);
    if (from <= to) q++;
    if (to <= from) p++;
  }
}

BSI_INLINE void factor_row(const int bs, const bisai_bcsr *a, bisai_factors *f, const met *m,
                           int32_t i, bsi_invert_stats *stats) {
  const size_t values = (size_t)(bs * bs);
  const bisai_bcsr *l = f->lower, *u = f->upper;
  const int32_t l_begin = l->row_ptr[i], l_end = l->row_ptr[i + 1], u_begin = u->row_ptr[i],
                u_end = u->row_ptr[i + 1];
  double *lower = (double *)l->values, *upper = (double *)u->values;
  const double *const row = (const double *)a->values + (size_t)a->row_ptr[i] * values;

  for (int32_t p = l_begin; p < l_end; p++) {
    const int32_t k = l->col_idx[p];
    double scaled[BSI_MAX_BLOCK_VALUES];
    bsi_block_multiply(bs, lower + (size_t)p * values, m->inverse + (size_t)k * values, scaled);
    bsi_block_copy(bs, scaled, lower + (size_t)p * values);
    subtract_row(bs, scaled, m, u->row_ptr[k] + 1, u->row_ptr[k + 1], l, p + 1, l_end);
    subtract_row(bs, scaled, m, u->row_ptr[k] + 1, u->row_ptr[k + 1], u, u_begin, u_end);
  }
  const bool finite =
      bsi_all_finite((size_t)(l_end - l_begin) * values, lower + (size_t)l_begin * values) &&
      bsi_all_finite((size_t)(u_end - u_begin) * values, upper + (size_t)u_begin * values);
  if (!finite && (stats->infinite_row < 0 || i < stats->infinite_row)) stats->infinite_row = i;

  double condition;
  double *inverse = f->upper_inverse + (size_t)i * values;
  const bsi_block_result result =
      bsi_block_invert_repaired(bs, upper + (size_t)u_begin * values, f->repair, row,
                                a->row_ptr[i + 1] - a->row_ptr[i], inverse, &condition);
  bsi_invert_stats_count(stats, result, condition, i);
}

typedef void row_function(const bisai_bcsr *, bisai_factors *, const met *, int32_t,
                          bsi_invert_stats *);

static void factor_row_any(const bisai_bcsr *a, bisai_factors *f, const met *m, int32_t i,
                           bsi_invert_stats *stats) {
  factor_row(a->block_size, a, f, m, i, stats);
}
#define STAMP(BS)                                                                                  \
  static void factor_row_##BS(const bisai_bcsr *a, bisai_factors *f, const met *m, int32_t i,      \
                              bsi_invert_stats *stats) {                                           \
    factor_row(BS, a, f, m, i, stats);                                                             \
  }
BSI_BLOCK_SIZES(STAMP)
#undef STAMP
#define ENTRY(BS) [BS] = factor_row_##BS,
static row_function *const factor_rows[BSI_SPECIAL_SIZES + 1] = {factor_row_any,
                                                                 BSI_BLOCK_SIZES(ENTRY)};
#undef ENTRY

typedef struct load_job {
  const bisai_bcsr *matrix;
  const bisai_factors *factors;
} load_job;

/* Loads row i of one factor: the matrix's blocks, of which *from is the next, and zeros for the
 * fill. */
static void load_row(const bisai_bcsr *t, const uint8_t *fill, int32_t i, const double **from) {
  const size_t values = bsi_block_offset(t, 1);
  const int32_t begin = t->row_ptr[i], end = t->row_ptr[i + 1];
  double *to = (double *)t->values + (size_t)begin * values;
  if (!fill) {
    const size_t count = (size_t)(end - begin) * values;
    memcpy(to, *from, count * sizeof *to);
    *from += count;
    return;
  }
  for (int32_t p = begin; p < end; p++, to += values) {
    if (bsi_is_fill(fill, p)) {
      memset(to, 0, values * sizeof *to);
    } else {
      memcpy(to, *from, values * sizeof *to);
      *from += values;
    }
  }
}

static void load_part(void *job, bsi_part part) {
  const load_job *l = job;
  const bisai_bcsr *a = l->matrix;
  const bisai_factors *f = l->factors;
  const bsi_rows rows = bsi_rows_of(a->block_rows, a->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++) {
    const double *from = (const double *)a->values + bsi_block_offset(a, a->row_ptr[i]);
    load_row(f->lower, f->ilu.lower_fill, i, &from);
    load_row(f->upper, f->ilu.upper_fill, i, &from);
  }
}

/* The rows that are computed. */
typedef struct rows_job {
  bisai_context *context;
  const bisai_bcsr *matrix;
  bisai_factors *factors;
  row_function *row;
  met met;
  /* of a level: the rows; NULL: all */
  const int32_t *rows;
  int32_t count;
} rows_job;

static rows_job job_of(bisai_context *context, const bisai_bcsr *matrix, bisai_factors *f,
                       const double *upper, const double *inverse) {
  return (rows_job){
      .context = context,
      .matrix = matrix,
      .factors = f,
      .row = factor_rows[matrix->block_size <= BSI_SPECIAL_SIZES ? matrix->block_size : 0],
      .met = {f->upper->col_idx, upper, inverse},
      .count = matrix->block_rows};
}

static void factor_part(void *job, bsi_part part) {
  const rows_job *j = job;
  bsi_invert_stats *stats = bsi_partial(j->context, part.thread);
  bsi_range range = bsi_range_of(j->count, part);
  if (!j->rows) {
    const bsi_rows rows = bsi_rows_of(j->count, j->matrix->row_ptr, part);
    range = (bsi_range){rows.begin, rows.end};
  }
  for (int64_t p = range.begin; p < range.end; p++)
    j->row(j->matrix, j->factors, &j->met, j->rows ? j->rows[p] : (int32_t)p, stats);
}

static void load(bisai_context *context, const bisai_bcsr *matrix, const bisai_factors *f) {
  bsi_run(context,
          bsi_threads_for(context->threads, bsi_bcsr_product_bytes(matrix), BYTES_PER_THREAD),
          BSI_SOME_PARTS, load_part, &(load_job){matrix, f});
}

static bisai_status factor_ilu(bisai_context *context, const bisai_bcsr *matrix, bisai_factors *f,
                               bsi_invert_stats *stats) {
  const bsi_levels *levels = &f->lower_levels;
  const int64_t work = WORK_A_BYTE * bsi_bcsr_product_bytes(matrix);
  rows_job job = job_of(context, matrix, f, (const double *)f->upper->values, f->upper_inverse);
  load(context, matrix, f);
  if (!bsi_levels_pay(levels, context->threads, BISAI_SCHEDULE_AUTO, work)) {
    for (int32_t i = 0; i < matrix->block_rows; i++) job.row(matrix, f, &job.met, i, stats);
    return BISAI_OK;
  }
  bsi_invert_stats_clear_partials(context, context->threads);
  for (int32_t level = 0; level < levels->count; level++) {
    const int32_t begin = levels->ptr[level];
    job.rows = levels->rows + begin, job.count = levels->ptr[level + 1] - begin;
    bsi_run(context, bsi_level_threads(levels, level, context->threads, work), BSI_ONE_PART,
            factor_part, &job);
  }
  bsi_invert_stats_merge_partials(context, context->threads, stats);
  return BISAI_OK;
}

static bisai_status sweep_ilu(bisai_context *context, const bisai_bcsr *matrix, bisai_factors *f,
                              bsi_invert_stats *stats) {
  const int64_t bytes = bsi_bcsr_product_bytes(matrix);
  rows_job job = job_of(context, matrix, f, f->sweep.upper, f->sweep.inverse);
  load(context, matrix, f);
  bsi_invert_stats_clear_partials(context, context->threads);
  bsi_run(context, bsi_threads_for(context->threads, bytes, BYTES_PER_THREAD / WORK_A_BYTE),
          BSI_SOME_PARTS, factor_part, &job);
  bsi_invert_stats_merge_partials(context, context->threads, stats);
  return BISAI_OK;
}

const bsi_ilu_ops bsi_ilu_host = {.factorise = factor_ilu, .sweep = sweep_ilu};
