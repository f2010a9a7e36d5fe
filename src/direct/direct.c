/* SPDX-License-Identifier: BSD-3-Clause */
/* UMFPACK takes scalar columns. It is given the rows of A as columns, and solves with the transpose
 * of what it has. It does not refine solutions: a solver does that. */
#include "direct/direct.h"

#include "core/matrix/bcsr_impl.h"

#ifdef BISAI_HAVE_UMFPACK

#include <umfpack.h>

#include <string.h>

struct bsi_direct {
  bisai_context *context;
  int64_t n;
  int bs;
  /* the rows of A as UMFPACK's columns: n + 1 pointers, and an index and a value for each entry */
  SuiteSparse_long *row_ptr, *columns;
  double *values;
  void *symbolic, *numeric;
  /* workspace of a solve, n each, and what is asked after a failure */
  SuiteSparse_long *integers;
  double *doubles;
  /* on a device: the values of the blocks and two vectors, in host memory */
  double *blocks, *b, *x;
  double control[UMFPACK_CONTROL];
  bsi_direct_figures figures;
};

static bisai_status reserve(bsi_direct *d, const bisai_bcsr *a) {
  bisai_context *context = d->context;
  const size_t n = (size_t)d->n, entries = bsi_block_offset(a, a->blocks);
  d->row_ptr = bsi_allocate(context, n + 1, sizeof *d->row_ptr);
  if (d->row_ptr) d->columns = bsi_allocate(context, entries, sizeof *d->columns);
  if (d->columns) d->values = bsi_allocate(context, entries, sizeof *d->values);
  if (d->values) d->integers = bsi_allocate(context, n, sizeof *d->integers);
  if (d->integers) d->doubles = bsi_allocate(context, n, sizeof *d->doubles);
  if (!d->doubles) return BISAI_OUT_OF_MEMORY;
  if (context->backend->memory->is_host) return BISAI_OK;
  d->blocks = bsi_allocate(context, entries, sizeof *d->blocks);
  if (d->blocks) d->b = bsi_allocate(context, n, sizeof *d->b);
  if (d->b) d->x = bsi_allocate(context, n, sizeof *d->x);
  return d->x ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

static void list_columns(bsi_direct *d, const bsi_structure *s) {
  SuiteSparse_long entry = 0;
  for (int64_t row = 0; row < d->n; row++) {
    const int64_t i = row / d->bs;
    d->row_ptr[row] = entry;
    for (int32_t p = s->row_ptr[i]; p < s->row_ptr[i + 1]; p++)
      for (int c = 0; c < d->bs; c++)
        d->columns[entry++] = (SuiteSparse_long)s->col_idx[p] * d->bs + c;
  }
  d->row_ptr[d->n] = entry;
}

static void list_values(bsi_direct *d, const bsi_structure *s, const double *blocks) {
  const int64_t bs = d->bs;
  double *value = d->values;
  for (int64_t row = 0; row < d->n; row++) {
    const int64_t i = row / bs, r = row % bs;
    for (int32_t p = s->row_ptr[i]; p < s->row_ptr[i + 1]; p++)
      for (int64_t c = 0; c < bs; c++) *value++ = blocks[(p * bs + c) * bs + r];
  }
}

static bisai_status judge(bsi_direct *d, SuiteSparse_long result) {
  if (result == UMFPACK_OK) return BISAI_OK;
  if (result == UMFPACK_ERROR_out_of_memory)
    return bsi_fail(d->context, BISAI_OUT_OF_MEMORY, "UMFPACK ran out of memory");
  return bsi_fail(d->context, BISAI_EXTERNAL_ERROR, "UMFPACK failed (its code %d)", (int)result);
}

/* A matrix without rows is none to UMFPACK. */
static bisai_status analyse(bsi_direct *d) {
  if (d->n == 0) return BISAI_OK;
  return judge(d, umfpack_dl_symbolic(d->n, d->n, d->row_ptr, d->columns, NULL, &d->symbolic,
                                      d->control, NULL));
}

bisai_status bsi_direct_create(bisai_context *context, const bisai_bcsr *matrix,
                               bsi_direct **direct) {
  bsi_structure structure;
  bisai_status status = bsi_bcsr_structure(matrix, &structure);
  if (status) return status;
  bsi_direct *d = bsi_allocate(context, 1, sizeof *d);
  if (!d) return BISAI_OUT_OF_MEMORY;
  *d = (bsi_direct){.context = context,
                    .n = (int64_t)matrix->block_rows * matrix->block_size,
                    .bs = matrix->block_size};
  umfpack_dl_defaults(d->control);
  d->control[UMFPACK_IRSTEP] = 0.0;
  status = reserve(d, matrix);
  if (!status) {
    list_columns(d, &structure);
    status = analyse(d);
  }
  if (status)
    bsi_direct_destroy(&d);
  else
    *direct = d;
  return status;
}

void bsi_direct_destroy(bsi_direct **direct) {
  bsi_direct *d = *direct;
  *direct = NULL;
  if (!d) return;
  bisai_context *context = d->context;
  if (d->numeric) umfpack_dl_free_numeric(&d->numeric);
  if (d->symbolic) umfpack_dl_free_symbolic(&d->symbolic);
  bsi_release(context, d->row_ptr);
  bsi_release(context, d->columns);
  bsi_release(context, d->values);
  bsi_release(context, d->integers);
  bsi_release(context, d->doubles);
  bsi_release(context, d->blocks);
  bsi_release(context, d->b);
  bsi_release(context, d->x);
  bsi_release(context, d);
}

static bool same_row(const bsi_direct *d, const bsi_structure *s, int32_t i) {
  const SuiteSparse_long begin = d->row_ptr[(int64_t)i * d->bs],
                         count = d->row_ptr[(int64_t)i * d->bs + 1] - begin;
  if (count != (SuiteSparse_long)(s->row_ptr[i + 1] - s->row_ptr[i]) * d->bs) return false;
  for (int32_t p = s->row_ptr[i]; p < s->row_ptr[i + 1]; p++)
    if (d->columns[begin + (SuiteSparse_long)(p - s->row_ptr[i]) * d->bs] !=
        (SuiteSparse_long)s->col_idx[p] * d->bs)
      return false;
  return true;
}

bisai_status bsi_direct_check(const bsi_direct *d, const bisai_bcsr *matrix) {
  bsi_structure s;
  BSI_TRY(bsi_bcsr_structure(matrix, &s));
  for (int32_t i = 0; i < matrix->block_rows; i++)
    if (!same_row(d, &s, i))
      return bsi_fail(d->context, BISAI_INVALID_ARGUMENT,
                      "the pattern changed: other blocks than at creation, in block row %d", i);
  return BISAI_OK;
}

/* Finds a row whose pivot is zero: UMFPACK's columns are rows of A. */
static bisai_status name_singular_row(bsi_direct *d, const bisai_bcsr *matrix) {
  SuiteSparse_long scaled;
  int32_t row = -1;
  if (umfpack_dl_get_numeric(NULL, NULL, NULL, NULL, NULL, NULL, NULL, d->integers, d->doubles,
                             &scaled, NULL, d->numeric) == UMFPACK_OK)
    for (int64_t k = 0; k < d->n && row < 0; k++)
      if (!(d->doubles[k] < 0.0 || d->doubles[k] > 0.0)) row = (int32_t)(d->integers[k] / d->bs);
  umfpack_dl_free_numeric(&d->numeric);
  return bsi_fail(d->context, BISAI_SINGULAR_BLOCK, "block row %d: a pivot is zero",
                  bsi_row_name(matrix, row));
}

static bisai_status factorise(bsi_direct *d, const bisai_bcsr *matrix) {
  double info[UMFPACK_INFO];
  if (d->numeric) umfpack_dl_free_numeric(&d->numeric);
  const SuiteSparse_long result = umfpack_dl_numeric(d->row_ptr, d->columns, d->values, d->symbolic,
                                                     &d->numeric, d->control, info);
  if (result == UMFPACK_WARNING_singular_matrix) return name_singular_row(d, matrix);
  BSI_TRY(judge(d, result));
  const double unit = info[UMFPACK_SIZE_OF_UNIT];
  d->figures = (bsi_direct_figures){.lower = (int64_t)info[UMFPACK_LNZ],
                                    .upper = (int64_t)info[UMFPACK_UNZ],
                                    .flops = info[UMFPACK_FLOPS],
                                    .condition = info[UMFPACK_RCOND],
                                    .bytes = (int64_t)(info[UMFPACK_NUMERIC_SIZE] * unit),
                                    .peak_bytes = (int64_t)(info[UMFPACK_PEAK_MEMORY] * unit)};
  return BISAI_OK;
}

bisai_status bsi_direct_factorise(bsi_direct *d, const bisai_bcsr *matrix) {
  bsi_structure s;
  const double *blocks = matrix->values;
  if (d->n == 0) return BISAI_OK;
  BSI_TRY(bsi_bcsr_structure(matrix, &s));
  if (d->blocks) {
    BSI_TRY(d->context->backend->memory->fetch(
        d->context, d->blocks, blocks, bsi_block_offset(matrix, matrix->blocks) * sizeof *blocks));
    blocks = d->blocks;
  }
  list_values(d, &s, blocks);
  return factorise(d, matrix);
}

static bisai_status solve(bsi_direct *d, bool transposed, const double *b, double *x) {
  return judge(d, umfpack_dl_wsolve(transposed ? UMFPACK_A : UMFPACK_Aat, d->row_ptr, d->columns,
                                    d->values, x, b, d->numeric, d->control, NULL, d->integers,
                                    d->doubles));
}

bisai_status bsi_direct_solve(bsi_direct *d, bool transposed, int32_t count, const double *b,
                              int64_t ldb, double *x, int64_t ldx) {
  const bsi_memory_ops *memory = d->context->backend->memory;
  const size_t bytes = (size_t)d->n * sizeof *x;
  for (int32_t v = 0; v < count && d->n > 0; v++) {
    if (!d->b) {
      BSI_TRY(solve(d, transposed, b + v * ldb, x + v * ldx));
      continue;
    }
    BSI_TRY(memory->fetch(d->context, d->b, b + v * ldb, bytes));
    BSI_TRY(solve(d, transposed, d->b, d->x));
    BSI_TRY(memory->upload(d->context, x + v * ldx, d->x, bytes));
  }
  return BISAI_OK;
}

const bsi_direct_figures *bsi_direct_found(const bsi_direct *d) { return &d->figures; }

int64_t bsi_direct_memory(const bsi_direct *d) {
  const int64_t entries = d->row_ptr[d->n];
  return (int64_t)sizeof *d + 24 * d->n + 16 * entries + d->figures.bytes +
         (d->b ? 8 * entries + 16 * d->n : 0);
}

#else

bisai_status bsi_direct_create(bisai_context *context, const bisai_bcsr *matrix,
                               bsi_direct **direct) {
  (void)matrix, (void)direct;
  return bsi_fail(context, BISAI_UNAVAILABLE,
                  "direct needs UMFPACK, which this build does not have; lu needs nothing");
}

/* Without UMFPACK there is nothing to work with. */
void bsi_direct_destroy(bsi_direct **direct) { *direct = NULL; }
bisai_status bsi_direct_check(const bsi_direct *direct, const bisai_bcsr *matrix) {
  (void)direct, (void)matrix;
  return BISAI_UNAVAILABLE;
}
bisai_status bsi_direct_factorise(bsi_direct *direct, const bisai_bcsr *matrix) {
  (void)direct, (void)matrix;
  return BISAI_UNAVAILABLE;
}
bisai_status bsi_direct_solve(bsi_direct *direct, bool transposed, int32_t count, const double *b,
                              int64_t ldb, double *x, int64_t ldx) {
  (void)direct, (void)transposed, (void)count, (void)b, (void)ldb, (void)x, (void)ldx;
  return BISAI_UNAVAILABLE;
}
const bsi_direct_figures *bsi_direct_found(const bsi_direct *direct) {
  (void)direct;
  return NULL;
}
int64_t bsi_direct_memory(const bsi_direct *direct) {
  (void)direct;
  return 0;
}

#endif
