/* SPDX-License-Identifier: BSD-3-Clause */
/* Block products on the host: y_i ← alpha·Σ_j A_ij x_j + beta·z_i, with rows shared out by their
 * blocks. The order of the terms does not depend on the number of threads. */
#include "apply/apply_ops.h"
#include "core/block/block_row.h"
#include "core/block/block_sizes.h"
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "core/threads/parallel.h"

enum { BYTES_PER_THREAD = 1 << 18 };

typedef struct product {
  const bisai_bcsr *a;
  double alpha, beta;
  const double *x, *z;
  double *y;
  int64_t ldx, ldz, ldy;
} product;

/* The fields of the job are copied, because the compiler would read them again after each value
 * that it stores. For the same reason the end of a row is kept as the begin of the next one. */
BSI_INLINE void product_rows(const int bs, const bisai_value_type type, const int columns,
                             const product *job, const int32_t begin, const int32_t end) {
  const bisai_bcsr matrix = *job->a, *a = &matrix;
  const product copy = *job, *p = &copy;
  const int32_t ahead = bsi_rows_ahead(a);
  int64_t q = a->row_ptr[begin];
  for (int32_t first = begin; first < end; first += ahead) {
    const int32_t last = end - first < ahead ? end : first + ahead;
    bsi_prefetch_rows(bs, type, a, first, last);
    for (int32_t i = first; i < last; i++) {
      const int64_t next = a->row_ptr[i + 1];
      bsi_column sum[BSI_ROW_VECTORS];
      bsi_row_multiply(bs, type, columns, a, q, next, p->x, p->ldx, sum);
      q = next;
      for (int v = 0; v < columns; v++) {
        const int64_t row = (int64_t)i * bs;
        if (a->unit_diagonal) bsi_column_add(bs, &sum[v], p->x + v * p->ldx + row, 1.0);
        bsi_column_scale(bs, &sum[v], p->alpha);
        if (p->beta != 0.0) bsi_column_add(bs, &sum[v], p->z + v * p->ldz + row, p->beta);
        bsi_column_store(bs, &sum[v], p->y + v * p->ldy + row);
      }
    }
  }
}

/* There is one function for each block size, and in it one loop for each value type and for one and
 * four vectors. */
BSI_INLINE void product_rows_of(const int bs, const int columns, const product *p,
                                const int32_t begin, const int32_t end) {
  switch (p->a->type) {
#define ROWS(enumerator, word, bytes, mantissa)                                                    \
  case enumerator: product_rows(bs, enumerator, columns, p, begin, end); break;
    BISAI_MATRIX_TYPE_LIST(ROWS)
#undef ROWS
  default: break; /* matrices have no other types */
  }
}

typedef void rows_function(int columns, const product *, int32_t begin, int32_t end);

static void product_rows_any(int columns, const product *p, int32_t begin, int32_t end) {
  if (columns == 1)
    product_rows_of(p->a->block_size, 1, p, begin, end);
  else
    product_rows_of(p->a->block_size, BSI_ROW_VECTORS, p, begin, end);
}
#define STAMP(BS)                                                                                  \
  static void product_rows_##BS(int columns, const product *p, int32_t begin, int32_t end) {       \
    if (columns == 1)                                                                              \
      product_rows_of(BS, 1, p, begin, end);                                                       \
    else                                                                                           \
      product_rows_of(BS, BSI_ROW_VECTORS, p, begin, end);                                         \
  }
BSI_BLOCK_SIZES(STAMP)
#undef STAMP
#define ENTRY(BS) [BS] = product_rows_##BS,
static rows_function *const rows_functions[BSI_SPECIAL_SIZES + 1] = {product_rows_any,
                                                                     BSI_BLOCK_SIZES(ENTRY)};
#undef ENTRY

typedef struct product_job {
  const product *p;
  int columns;
} product_job;

static void product_part(void *job, bsi_part part) {
  const product_job *j = job;
  const bisai_bcsr *a = j->p->a;
  const bsi_rows rows = bsi_rows_of(a->block_rows, a->row_ptr, part);
  rows_functions[a->block_size <= BSI_SPECIAL_SIZES ? a->block_size : 0](j->columns, j->p,
                                                                         rows.begin, rows.end);
}

static bisai_status multiply(bisai_context *context, const bisai_bcsr *a, int32_t count,
                             double alpha, const double *x, int64_t ldx, double beta,
                             const double *z, int64_t ldz, double *y, int64_t ldy,
                             int64_t cached_bytes) {
  (void)cached_bytes;
  const int threads =
      bsi_threads_for(context->threads, bsi_bcsr_product_bytes(a), BYTES_PER_THREAD);
  for (int32_t v = 0; v < count;) {
    const int columns = count - v >= BSI_ROW_VECTORS ? BSI_ROW_VECTORS : 1;
    const product p = {a,           alpha, beta, x + v * ldx, z ? z + v * ldz : NULL,
                       y + v * ldy, ldx,   ldz,  ldy};
    bsi_run(context, threads, BSI_SOME_PARTS, product_part, &(product_job){&p, columns});
    v += columns;
  }
  return BISAI_OK;
}

typedef struct diagonal_job {
  int32_t n, count;
  int bs;
  const double *blocks, *x;
  double *y;
  int64_t ldx, ldy;
} diagonal_job;

static void diagonal_part(void *job, bsi_part part) {
  const diagonal_job *d = job;
  const int bs = d->bs;
  const bsi_range range = bsi_range_of(d->n, part);
  for (int64_t i = range.begin; i < range.end; i++) {
    const double *block = d->blocks + i * (bs * bs);
    for (int32_t v = 0; v < d->count; v++) {
      const double *in = d->x + v * d->ldx + i * bs;
      double sum[BISAI_MAX_BLOCK_SIZE] = {0};
      for (int c = 0; c < bs; c++)
        for (int r = 0; r < bs; r++) sum[r] += block[c * bs + r] * in[c];
      for (int r = 0; r < bs; r++) d->y[v * d->ldy + i * bs + r] = sum[r];
    }
  }
}

static bisai_status multiply_diagonal(bisai_context *context, int32_t n, int bs,
                                      const double *blocks, int32_t count, const double *x,
                                      int64_t ldx, double *y, int64_t ldy) {
  const int threads = bsi_threads_for(context->threads, (int64_t)n * bs * bs * 8, BYTES_PER_THREAD);
  bsi_run(context, threads, BSI_SOME_PARTS, diagonal_part,
          &(diagonal_job){n, count, bs, blocks, x, y, ldx, ldy});
  return BISAI_OK;
}

const bsi_product_ops bsi_products_host = {.multiply = multiply,
                                           .multiply_diagonal = multiply_diagonal};
