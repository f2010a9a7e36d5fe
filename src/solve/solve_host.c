/* SPDX-License-Identifier: BSD-3-Clause */
/* The small systems on the host, one block column at a time. Columns are shared out over the
 * threads.
 *
 * A triangular system is never stored. `slots` maps a block row of T to its position in J, so that
 * a row of T is read once and the blocks whose columns are in J are used. A lower system is solved
 * from its top, an upper one from its bottom. Both begin at row j itself, whose right-hand side is
 * I. */
#include "core/block/block_sizes.h"
#include "core/context/context_impl.h"
#include "core/threads/parallel.h"
#include "core/threads/prefetch.h"
#include "solve/column_host.h"
#include "solve/solve_ops.h"

enum {
  COLUMNS_PER_THREAD = 512,
  /* prefetch distance, in columns */
  COLUMNS_AHEAD = 8,
  /* the longest column that is prefetched, so that the cache holds the columns of the distance */
  MAX_PREFETCHED = 8
};

/* x ← the block of N in row `row` of column j. The blocks of the column on which it depends are in
 * own->blocks. */
BSI_INLINE void solve_block(const int bs, const bsi_triangular *t, const int32_t row,
                            const int32_t j, const bsi_isai_scratch *own, double *x) {
  const bisai_bcsr *a = t->matrix;
  const size_t values = (size_t)(bs * bs);
  if (row == j) { /* the first block of the column, which depends on no other */
    if (t->inverse_diagonal)
      bsi_block_copy(bs, t->inverse_diagonal + (size_t)row * values, x);
    else
      bsi_block_identity(bs, x);
    return;
  }
  double rest[BSI_MAX_BLOCK_VALUES];
  for (int v = 0; v < bs * bs; v++) rest[v] = 0.0;
  for (int32_t q = a->row_ptr[row]; q < a->row_ptr[row + 1]; q++) {
    const int32_t column = a->col_idx[q], slot = own->slots[column];
    if (slot < 0 || column == row) continue;
    bsi_block_multiply_subtract(bs, (const double *)a->values + (size_t)q * values,
                                own->blocks + (size_t)slot * values, rest);
  }
  if (t->inverse_diagonal)
    bsi_block_multiply(bs, t->inverse_diagonal + (size_t)row * values, rest, x);
  else
    bsi_block_copy(bs, rest, x);
}

/* Prefetches the data that column j reads and writes: the rows of T and the blocks of N, which are
 * scattered. */
BSI_INLINE void prefetch_column(const int bs, const bsi_triangular *t, const bsi_isai *isai,
                                const int32_t j) {
  const bisai_pattern *p = isai->pattern;
  const bisai_bcsr *a = t->matrix, *n = isai->inverse;
  const size_t bytes = (size_t)(bs * bs) * sizeof(double),
               stored = (size_t)(bs * bs) * bsi_value_bytes(n->type);
  for (int32_t s = p->col_ptr[j]; s < p->col_ptr[j + 1]; s++) {
    const size_t row = (size_t)p->row_idx[s], position = (size_t)p->position[s];
    bsi_prefetch(a->values, (size_t)a->row_ptr[row] * bytes, (size_t)a->row_ptr[row + 1] * bytes);
    bsi_prefetch(n->values, position * stored, (position + 1) * stored);
  }
}

BSI_INLINE void solve_column(const int bs, const bsi_triangular *t, const bsi_isai *isai,
                             const int32_t j, bsi_isai_scratch *own) {
  const bisai_pattern *p = isai->pattern;
  const size_t values = (size_t)(bs * bs);
  const int32_t begin = p->col_ptr[j], length = p->col_ptr[j + 1] - begin;
  const int32_t *rows = p->row_idx + begin, *positions = p->position + begin;
  const bool in_place = isai->inverse->type == BISAI_FP64, lower = t->triangle == BISAI_LOWER;
  if (length <= MAX_PREFETCHED && j + COLUMNS_AHEAD < p->block_rows)
    prefetch_column(bs, t, isai, j + COLUMNS_AHEAD);
  for (int32_t s = 0; s < length; s++) own->slots[rows[s]] = in_place ? positions[s] : s;
  for (int32_t step = 0; step < length; step++) {
    const int32_t row = rows[lower ? step : length - 1 - step];
    solve_block(bs, t, row, j, own, own->blocks + (size_t)own->slots[row] * values);
  }
  for (int32_t step = 0; step < length; step++) {
    const int32_t s = lower ? step : length - 1 - step, row = rows[s];
    bsi_isai_store_block(bs, own->blocks + (size_t)own->slots[row] * values, isai->inverse,
                         positions[s], row, j, row == j, own);
    own->slots[row] = -1;
  }
}

typedef void column_function(const bsi_triangular *, const bsi_isai *, int32_t, bsi_isai_scratch *);

static void solve_column_any(const bsi_triangular *t, const bsi_isai *isai, int32_t j,
                             bsi_isai_scratch *own) {
  solve_column(t->matrix->block_size, t, isai, j, own);
}
#define STAMP(BS)                                                                                  \
  static void solve_column_##BS(const bsi_triangular *t, const bsi_isai *isai, int32_t j,          \
                                bsi_isai_scratch *own) {                                           \
    solve_column(BS, t, isai, j, own);                                                             \
  }
BSI_BLOCK_SIZES(STAMP)
#undef STAMP
#define ENTRY(BS) [BS] = solve_column_##BS,
static column_function *const column_functions[BSI_SPECIAL_SIZES + 1] = {solve_column_any,
                                                                         BSI_BLOCK_SIZES(ENTRY)};
#undef ENTRY

/* The values that a thread needs for a column, and for its system if that is dense. */
static size_t room_of(const bisai_bcsr *a, const bsi_isai *isai) {
  const size_t column = bsi_block_offset(a, isai->pattern->longest_column);
  const size_t rows = (size_t)isai->pattern->longest_column * (size_t)a->block_size;
  return isai->systems == BSI_SYSTEMS_TRIANGULAR ? column : column + rows * rows;
}

static bisai_status isai_reserve(bisai_context *context, const bsi_triangular *t, bsi_isai *isai) {
  const bisai_bcsr *a = t->matrix;
  isai->threads = bsi_threads_for(context->threads, a->block_rows, COLUMNS_PER_THREAD);
  const size_t threads = (size_t)isai->threads, n = (size_t)a->block_rows;
  isai->slots = bsi_allocate(context, threads * n, sizeof *isai->slots);
  if (!isai->slots) return BISAI_OUT_OF_MEMORY;
  for (size_t i = 0; i < threads * n; i++) isai->slots[i] = -1;
  isai->room = room_of(a, isai);
  isai->columns = bsi_allocate(context, threads * isai->room, sizeof *isai->columns);
  return isai->columns ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

typedef struct columns_job {
  bisai_context *context;
  const bsi_triangular *t;
  const bsi_isai *isai;
} columns_job;

/* The partial result of a thread is the first fault among its columns. */
static void columns_part(void *job, bsi_part part) {
  const columns_job *c = job;
  const bisai_bcsr *a = c->t->matrix;
  const bsi_isai *isai = c->isai;
  const size_t thread = (size_t)part.thread;
  const bool dense = isai->systems != BSI_SYSTEMS_TRIANGULAR;
  column_function *column =
      dense ? bsi_isai_solve_dense_column
            : column_functions[a->block_size <= BSI_SPECIAL_SIZES ? a->block_size : 0];
  bsi_isai_fault *fault = bsi_partial(c->context, part.thread);
  bsi_isai_scratch own = {.slots = isai->slots + thread * (size_t)a->block_rows,
                          .blocks = isai->inverse->type == BISAI_FP64 && !dense
                                        ? (double *)isai->inverse->values
                                        : isai->columns + thread * isai->room,
                          .fault = *fault};
  const bsi_range range = bsi_range_of(a->block_rows, part);
  for (int32_t j = (int32_t)range.begin; j < range.end; j++) column(c->t, isai, j, &own);
  *fault = own.fault;
}

static bisai_status isai_values(bisai_context *context, const bsi_triangular *t, bsi_isai *isai,
                                bsi_isai_fault *fault) {
  const int threads = isai->threads;
  for (int k = 0; k < threads; k++)
    *(bsi_isai_fault *)bsi_partial(context, k) = (bsi_isai_fault){.column = -1};
  bsi_run(context, threads, BSI_MANY_PARTS, columns_part, &(columns_job){context, t, isai});
  for (int k = 0; k < threads; k++) {
    const bsi_isai_fault *found = bsi_partial(context, k);
    if (found->column >= 0 && (fault->column < 0 || found->column < fault->column)) *fault = *found;
  }
  return BISAI_OK;
}

const bsi_solve_ops bsi_solve_host = {.reserve = isai_reserve, .values = isai_values};
