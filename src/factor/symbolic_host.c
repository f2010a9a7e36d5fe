/* SPDX-License-Identifier: BSD-3-Clause */
/* The structure of ILU(0) on the host, and the check that a matrix still has the pattern from which
 * factors were made. Rows are shared out over the threads. */
#include <string.h>

#include "core/context/context_impl.h"
#include "core/threads/parallel.h"
#include "factor/factor_impl.h"
#include "factor/factor_ops.h"

/* The least number of blocks for which a thread is woken. */
enum { GRAIN = 8192 };

typedef struct split_job {
  bisai_context *context;
  const bisai_bcsr *a;
  /* lower[row + 1] holds the blocks of each row of L, then their sums */
  int32_t *lower;
  const bisai_bcsr *l, *u;
} split_job;

/* A thread's partial result. */
typedef struct split_partial {
  /* the first of its rows without a diagonal block; -1: none */
  int32_t missing;
  /* the blocks of its longest row */
  int32_t longest;
} split_partial;

static void count_part(void *job, bsi_part part) {
  const split_job *s = job;
  const bisai_bcsr *a = s->a;
  split_partial *partial = bsi_partial(s->context, part.thread);
  const bsi_rows rows = bsi_rows_of(a->block_rows, a->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++) {
    const int32_t begin = a->row_ptr[i], length = a->row_ptr[i + 1] - begin;
    const int32_t diagonal = bsi_find_diagonal(a->row_ptr, a->col_idx, i);
    if (diagonal < 0) {
      bsi_min_index(&partial->missing, i);
      return;
    }
    s->lower[i + 1] = diagonal - begin;
    if (length > partial->longest) partial->longest = length;
  }
}

/* Copies the rows of L and U, which are the two halves of the matrix's sorted rows. */
static void split_part(void *job, bsi_part part) {
  const split_job *s = job;
  const bisai_bcsr *a = s->a;
  const bsi_rows rows = bsi_rows_of(a->block_rows, a->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++) {
    const int32_t *columns = a->col_idx + a->row_ptr[i];
    const int32_t l_begin = s->lower[i], l_length = s->lower[i + 1] - l_begin;
    const int32_t u_begin = a->row_ptr[i] - l_begin, u_end = a->row_ptr[i + 1] - s->lower[i + 1];
    for (int32_t q = 0; q < l_length; q++) s->l->col_idx[l_begin + q] = columns[q];
    for (int32_t q = u_begin; q < u_end; q++) s->u->col_idx[q] = columns[l_length + q - u_begin];
    s->l->row_ptr[i + 1] = s->lower[i + 1];
    s->u->row_ptr[i + 1] = u_end;
  }
}

/* Makes L and U with the two halves of the matrix's pattern. */
static bisai_status split(split_job *s, int threads, bisai_factors *f) {
  const bisai_bcsr *a = s->a;
  const int32_t n = a->block_rows;
  s->lower[0] = 0;
  for (int32_t i = 0; i < n; i++) s->lower[i + 1] += s->lower[i];
  BSI_TRY(bsi_bcsr_reserve(s->context,
                           &(bsi_bcsr_sizes){n, n, a->block_size, s->lower[n], BISAI_FP64}, NULL,
                           NULL, &f->lower));
  BSI_TRY(bsi_bcsr_reserve(
      s->context, &(bsi_bcsr_sizes){n, n, a->block_size, a->blocks - s->lower[n], BISAI_FP64}, NULL,
      NULL, &f->upper));
  s->l = f->lower;
  s->u = f->upper;
  s->l->row_ptr[0] = s->u->row_ptr[0] = 0;
  bsi_run(s->context, threads, BSI_SOME_PARTS, split_part, s);
  return BISAI_OK;
}

static bisai_status split_triangles(bisai_context *context, const bisai_bcsr *a, bisai_factors *f,
                                    int32_t *missing) {
  const int threads = bsi_threads_for(context->threads, a->blocks, GRAIN);
  split_job s = {.context = context, .a = a};
  s.lower = bsi_allocate(context, (size_t)a->block_rows + 1, sizeof *s.lower);
  if (!s.lower) return BISAI_OUT_OF_MEMORY;
  for (int t = 0; t < threads; t++)
    *(split_partial *)bsi_partial(context, t) = (split_partial){.missing = -1};
  bsi_run(context, threads, BSI_SOME_PARTS, count_part, &s);
  *missing = -1;
  for (int t = 0; t < threads; t++) {
    const split_partial *partial = bsi_partial(context, t);
    bsi_min_index(missing, partial->missing);
    if (partial->longest > f->ilu.longest_row) f->ilu.longest_row = partial->longest;
  }
  const bisai_status status = *missing < 0 ? split(&s, threads, f) : BISAI_OK;
  bsi_release(context, s.lower);
  return status;
}

/* Compares row i of one factor, without its fill, with the columns of A's row from *p on, and moves
 * *p past them. Returns false if A has another block or none. */
static bool row_fits(const bsi_structure *t, const uint8_t *marks, const bsi_structure *a,
                     int32_t i, int32_t *p) {
  for (int32_t q = t->row_ptr[i]; q < t->row_ptr[i + 1]; q++) {
    if (bsi_is_fill(marks, q)) continue;
    if (*p == a->row_ptr[i + 1] || a->col_idx[*p] != t->col_idx[q]) return false;
    ++*p;
  }
  return true;
}

typedef struct fit_job {
  bisai_context *context;
  const bisai_factors *factors;
  const bisai_bcsr *matrix;
} fit_job;

/* The partial result of a thread is the first of its rows that does not fit. */
static void fit_part(void *job, bsi_part part) {
  const fit_job *j = job;
  const bisai_factors *f = j->factors;
  const bsi_structure a = {j->matrix->row_ptr, j->matrix->col_idx},
                      lower = {f->lower->row_ptr, f->lower->col_idx},
                      upper = {f->upper->row_ptr, f->upper->col_idx};
  const bsi_rows rows = bsi_rows_of(j->matrix->block_rows, a.row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++) {
    int32_t p = a.row_ptr[i];
    if (row_fits(&lower, f->ilu.lower_fill, &a, i, &p) &&
        row_fits(&upper, f->ilu.upper_fill, &a, i, &p) && p == a.row_ptr[i + 1])
      continue;
    bsi_min_index(bsi_partial(j->context, part.thread), i);
    return;
  }
}

static bisai_status factors_fit(bisai_context *context, const bisai_factors *f,
                                const bisai_bcsr *matrix, bool *fit) {
  const int threads = bsi_threads_for(context->threads, matrix->blocks, GRAIN);
  *fit = bsi_find_first(context, threads, fit_part, &(fit_job){context, f, matrix}) < 0;
  return BISAI_OK;
}

static bisai_status find_levels(bisai_context *context, bisai_triangle triangle,
                                const bisai_bcsr *t, bsi_levels *levels) {
  return bsi_levels_create(context, triangle, t->block_rows, t->row_ptr, t->col_idx, levels);
}

const bsi_symbolic_ops bsi_symbolic_host = {
    .split_triangles = split_triangles, .fit = factors_fit, .find_levels = find_levels};
