/* SPDX-License-Identifier: BSD-3-Clause */
/* Exact block triangular solves on the host: x_i ← D_i⁻¹ (b_i − Σ_j T_ij x_j) over the off-diagonal
 * blocks of row i, with rows in order or level by level (Saad, Iterative Methods, 11.6). Both give
 * the same bits. */
#include "apply/apply_ops.h"
#include "core/block/block_sizes.h"
#include "core/block/column.h"
#include "core/context/context_impl.h"
#include "core/matrix/triangular.h"
#include "core/threads/parallel.h"
#include "core/threads/prefetch.h"

enum { ROWS_AHEAD = 8 /* prefetch distance within a level, whose rows are scattered */ };

typedef struct solve {
  const bsi_triangular *t;
  const double *b;
  double *x;
} solve;

BSI_INLINE void solve_row(const int bs, const solve *s, const int32_t i) {
  const bisai_bcsr *a = s->t->matrix;
  const size_t values = (size_t)(bs * bs);
  bsi_column rest;
  bsi_column_load(bs, &rest, s->b + (int64_t)i * bs);
  for (int32_t q = a->row_ptr[i]; q < a->row_ptr[i + 1]; q++) {
    const int32_t j = a->col_idx[q];
    if (j == i) continue;
    bsi_column_subtract_product(bs, &rest, (const double *)a->values + (size_t)q * values,
                                s->x + (int64_t)j * bs);
  }
  double *x = s->x + (int64_t)i * bs;
  bsi_column_store(bs, &rest, x);
  if (!s->t->inverse_diagonal) return;
  bsi_column sum;
  bsi_column_clear(bs, &sum);
  bsi_column_add_product(bs, &sum, s->t->inverse_diagonal + (size_t)i * values, x);
  bsi_column_store(bs, &sum, x);
}

/* Prefetches the data of the rows after row i, if rows are taken in the triangle's order. */
BSI_INLINE void prefetch_in_order(const int bs, const bsi_triangular *t, const int32_t i,
                                  const int step) {
  const bisai_bcsr *a = t->matrix;
  const size_t bytes = (size_t)(bs * bs) * sizeof(double), row = (size_t)i;
  bsi_prefetch_ahead(a->values, (size_t)a->row_ptr[i] * bytes, (size_t)a->row_ptr[i + 1] * bytes,
                     step);
  if (t->inverse_diagonal)
    bsi_prefetch_ahead(t->inverse_diagonal, row * bytes, (row + 1) * bytes, step);
}

/* Prefetches the data of row i itself, if rows are taken in another order. */
BSI_INLINE void prefetch_row(const int bs, const bsi_triangular *t, const int32_t i) {
  const bisai_bcsr *a = t->matrix;
  const size_t bytes = (size_t)(bs * bs) * sizeof(double), row = (size_t)i;
  bsi_prefetch(a->values, (size_t)a->row_ptr[i] * bytes, (size_t)a->row_ptr[i + 1] * bytes);
  if (t->inverse_diagonal) bsi_prefetch(t->inverse_diagonal, row * bytes, (row + 1) * bytes);
}

/* Solves rows[begin] … rows[end − 1], or without a list the rows begin … end − 1 in the triangle's
 * order. */
BSI_INLINE void solve_rows(const int bs, const solve *s, const int32_t *rows, int32_t begin,
                           int32_t end) {
  const int32_t n = s->t->matrix->block_rows;
  if (rows) {
    for (int32_t p = begin; p < end; p++) {
      if (p + ROWS_AHEAD < end) prefetch_row(bs, s->t, rows[p + ROWS_AHEAD]);
      if (p + 3 * ROWS_AHEAD < end)
        __builtin_prefetch(s->t->matrix->row_ptr + rows[p + 3 * ROWS_AHEAD]);
      solve_row(bs, s, rows[p]);
    }
  } else if (s->t->triangle == BISAI_LOWER) {
    for (int32_t i = begin; i < end; i++) {
      prefetch_in_order(bs, s->t, i, 1);
      solve_row(bs, s, i);
    }
  } else {
    for (int32_t i = n - 1 - begin; i > n - 1 - end; i--) {
      prefetch_in_order(bs, s->t, i, -1);
      solve_row(bs, s, i);
    }
  }
}

typedef void rows_function(const solve *, const int32_t *rows, int32_t begin, int32_t end);

static void solve_rows_any(const solve *s, const int32_t *rows, int32_t begin, int32_t end) {
  solve_rows(s->t->matrix->block_size, s, rows, begin, end);
}
#define STAMP(BS)                                                                                  \
  static void solve_rows_##BS(const solve *s, const int32_t *rows, int32_t begin, int32_t end) {   \
    solve_rows(BS, s, rows, begin, end);                                                           \
  }
BSI_BLOCK_SIZES(STAMP)
#undef STAMP
#define ENTRY(BS) [BS] = solve_rows_##BS,
static rows_function *const rows_functions[BSI_SPECIAL_SIZES + 1] = {solve_rows_any,
                                                                     BSI_BLOCK_SIZES(ENTRY)};
#undef ENTRY

/* The rows of one level. */
typedef struct level_job {
  const solve *s;
  rows_function *rows;
  int32_t begin, count;
} level_job;

static void solve_level_part(void *job, bsi_part part) {
  const level_job *l = job;
  const bsi_range range = bsi_range_of(l->count, part);
  l->rows(l->s, l->s->t->levels->rows, l->begin + (int32_t)range.begin,
          l->begin + (int32_t)range.end);
}

static void solve_levels(bisai_context *context, int64_t bytes, rows_function *rows,
                         const solve *s) {
  const bsi_levels *levels = s->t->levels;
  for (int32_t level = 0; level < levels->count; level++) {
    const int32_t begin = levels->ptr[level];
    bsi_run(context, bsi_level_threads(levels, level, context->threads, bytes), BSI_ONE_PART,
            solve_level_part, &(level_job){s, rows, begin, levels->ptr[level + 1] - begin});
  }
}

bisai_status bsi_solve_triangle_host(bisai_context *context, const bsi_triangular *t,
                                     bisai_schedule schedule, int32_t count, const double *b,
                                     int64_t ldb, double *x, int64_t ldx) {
  const int bs = t->matrix->block_size;
  rows_function *rows = rows_functions[bs <= BSI_SPECIAL_SIZES ? bs : 0];
  const int64_t bytes = bsi_bcsr_product_bytes(t->matrix);
  const bool by_levels = bsi_levels_pay(t->levels, context->threads, schedule, bytes);
  for (int32_t v = 0; v < count; v++) {
    const solve s = {t, b + v * ldb, x + v * ldx};
    if (by_levels)
      solve_levels(context, bytes, rows, &s);
    else
      rows(&s, NULL, 0, t->matrix->block_rows);
  }
  return BISAI_OK;
}
