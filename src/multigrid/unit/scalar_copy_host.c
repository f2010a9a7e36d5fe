/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies in blocks of one value on the host. */
#include "core/threads/parallel.h"
#include "multigrid/spgemm/row_lengths_host.h"
#include "multigrid/unit/scalar_copy.h"

enum { BLOCKS_PER_THREAD = 4096, VALUES_PER_THREAD = 16384 };

/* COUNT: row_ptr[i + 1] ← the length of row i. FILL: columns and values. REFILL: values alone, of
 * columns that are there. */
typedef enum copy_step { COUNT, FILL, REFILL } copy_step;

typedef struct copy_job {
  bisai_context *context;
  const bisai_bcsr *a;
  bsi_block_matrix *c;
  copy_step step;
} copy_job;

/* Does the diagonal entry of a scalar row whose diagonal block A does not store. Returns the place
 * behind it. */
static int32_t place_zero(bsi_block_matrix *c, int32_t row, int32_t at, int32_t end,
                          copy_step step) {
  if (step == REFILL && (at == end || c->col_idx[at] != row)) return at;
  if (step == FILL) c->col_idx[at] = row;
  if (step != COUNT) c->values[at] = 0.0;
  return at + 1;
}

/* Does scalar row r of block row i. Returns false if a value has no place. */
static bool copy_row(const bisai_bcsr *a, int32_t i, int r, bsi_block_matrix *c, copy_step step) {
  const int bs = a->block_size;
  const int32_t row = i * bs + r;
  const int32_t end = step != COUNT ? c->row_ptr[row + 1] : 0;
  int32_t at = step != COUNT ? c->row_ptr[row] : 0;
  bool complete = true, diagonal = false;
  for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
    if (!diagonal && a->col_idx[p] > i) at = place_zero(c, row, at, end, step);
    diagonal = diagonal || a->col_idx[p] >= i;
    const double *block = (const double *)a->values + bsi_block_offset(a, p);
    for (int k = 0; k < bs; k++) {
      const int32_t column = a->col_idx[p] * bs + k;
      const double value = block[k * bs + r];
      if (step == REFILL) {
        if (at < end && c->col_idx[at] == column)
          c->values[at++] = value;
        else
          complete = complete && value == 0.0;
      } else if (value != 0.0 || column == row) {
        if (step == FILL) c->col_idx[at] = column;
        if (step == FILL) c->values[at] = value;
        at++;
      }
    }
  }
  if (!diagonal) at = place_zero(c, row, at, end, step);
  if (step == COUNT) c->row_ptr[row + 1] = at;
  return complete;
}

static void copy_part(void *job, bsi_part part) {
  const copy_job *s = job;
  const bisai_bcsr *a = s->a;
  const bsi_rows rows = bsi_rows_of(a->block_rows, a->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++)
    for (int r = 0; r < a->block_size; r++)
      if (!copy_row(a, i, r, s->c, s->step))
        bsi_min_index(bsi_partial(s->context, part.thread), i * a->block_size + r);
}

static int threads_for_values(const bisai_context *context, const bisai_bcsr *a) {
  return bsi_threads_for(context->threads, (int64_t)bsi_block_offset(a, a->blocks),
                         VALUES_PER_THREAD);
}

static bisai_status copy_rows(bisai_context *context, const bisai_bcsr *a, bsi_block_matrix *c) {
  const int64_t rows = (int64_t)a->block_rows * a->block_size;
  if (rows > INT32_MAX)
    return bsi_fail(context, BISAI_INDEX_OVERFLOW, "%lld scalar rows: at most %d are possible",
                    (long long)rows, INT32_MAX);
  c->rows = c->cols = (int32_t)rows;
  c->height = c->width = 1;
  c->row_ptr = bsi_allocate(context, (size_t)rows + 1, sizeof *c->row_ptr);
  if (!c->row_ptr) return BISAI_OUT_OF_MEMORY;
  bsi_run(context, threads_for_values(context, a), BSI_SOME_PARTS, copy_part,
          &(copy_job){context, a, c, COUNT});
  BSI_TRY(bsi_add_lengths(context, "a matrix of single values", c->rows, c->row_ptr, &c->blocks));
  c->col_idx = bsi_allocate(context, (size_t)c->blocks, sizeof *c->col_idx);
  return c->col_idx ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

static bisai_status copy_fill(bisai_context *context, const bisai_bcsr *a, bsi_block_matrix *c) {
  bsi_run(context, threads_for_values(context, a), BSI_SOME_PARTS, copy_part,
          &(copy_job){context, a, c, FILL});
  return BISAI_OK;
}

static bisai_status copy_values(bisai_context *context, const bisai_bcsr *a, bsi_block_matrix *c,
                                int32_t *lost) {
  *lost = bsi_find_first(context, threads_for_values(context, a), copy_part,
                         &(copy_job){context, a, c, REFILL});
  return BISAI_OK;
}

typedef struct equal_job {
  bisai_context *context;
  const bisai_bcsr *a, *s;
} equal_job;

static void equal_part(void *work, bsi_part part) {
  const equal_job *job = work;
  const bisai_bcsr *a = job->a;
  const bsi_scalar_pair pair = bsi_scalar_pair_of(a, job->s);
  const bsi_rows rows = bsi_rows_of(a->block_rows, a->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++)
    for (int r = 0; r < a->block_size; r++)
      if (!bsi_scalar_row_is_equal(&pair, i, r))
        bsi_min_index(bsi_partial(job->context, part.thread), i);
}

static bisai_status equal(bisai_context *context, const bisai_bcsr *a, const bisai_bcsr *s,
                          bool *equal) {
  const int threads = bsi_threads_for(context->threads, a->blocks, BLOCKS_PER_THREAD);
  *equal = bsi_find_first(context, threads, equal_part, &(equal_job){context, a, s}) < 0;
  return BISAI_OK;
}

const bsi_scalar_copy_ops bsi_scalar_copy_host = {
    .rows = copy_rows, .fill = copy_fill, .values = copy_values, .equal = equal};
