/* SPDX-License-Identifier: BSD-3-Clause */
/* Block products on the host: y_i ← alpha·Σ_j A_ij x_j + beta·z_i, with rows shared out by their
 * blocks. Each row has two sums, of its even and of its odd blocks, because the additions of a
 * single sum would wait for each other. Their order does not depend on the number of threads. */
#include "apply/apply_ops.h"
#include "core/bcsr_impl.h"
#include "core/block_sizes.h"
#include "core/column.h"
#include "core/context_impl.h"
#include "core/parallel.h"
#include "core/prefetch.h"
#include "core/values.h"

enum {
  /* the vectors that share one read of a block */
  COLUMNS_AT_ONCE = 4,
  BYTES_PER_THREAD = 1 << 18
};

typedef struct product {
  const bisai_bcsr *a;
  double alpha, beta;
  const double *x, *z;
  double *y;
  int64_t ldx, ldz, ldy;
} product;

/* sum[v] ← sum[v] + A_q x_v */
BSI_INLINE void add_block(const int bs, const bisai_value_type type, const int columns,
                          const product *p, const int32_t q, bsi_column *sum) {
  const int values = bs * bs;
  double buffer[BSI_MAX_BLOCK_VALUES];
  const double *block =
      bsi_values_widen(type, p->a->values, (size_t)q * (size_t)values, values, buffer);
  for (int v = 0; v < columns; v++)
    bsi_column_add_product(bs, &sum[v], block, p->x + v * p->ldx + (int64_t)p->a->col_idx[q] * bs);
}

/* The fields of the job are copied, because the compiler would read them again after each value
 * that it stores. */
BSI_INLINE void product_rows(const int bs, const bisai_value_type type, const int columns,
                             const product *job, const int32_t begin, const int32_t end) {
  const bisai_bcsr matrix = *job->a, *a = &matrix;
  product copy = *job;
  copy.a = a;
  const product *p = &copy;
  const size_t bytes = (size_t)(bs * bs) * bsi_value_bytes(type);
  for (int32_t i = begin; i < end; i++) {
    bsi_prefetch_ahead(a->values, (size_t)a->row_ptr[i] * bytes, (size_t)a->row_ptr[i + 1] * bytes,
                       1);
    bsi_column sum[COLUMNS_AT_ONCE], odd[COLUMNS_AT_ONCE];
    for (int v = 0; v < columns; v++) {
      bsi_column_clear(bs, &odd[v]);
      if (a->unit_diagonal)
        bsi_column_load(bs, &sum[v], p->x + v * p->ldx + (int64_t)i * bs);
      else
        bsi_column_clear(bs, &sum[v]);
    }
    const int32_t row_end = a->row_ptr[i + 1];
    int32_t q = a->row_ptr[i];
    for (; q + 1 < row_end; q += 2) {
      add_block(bs, type, columns, p, q, sum);
      add_block(bs, type, columns, p, q + 1, odd);
    }
    if (q < row_end) add_block(bs, type, columns, p, q, sum);
    for (int v = 0; v < columns; v++) {
      double *y = p->y + v * p->ldy + (int64_t)i * bs;
      bsi_column_sum(bs, &sum[v], &odd[v]);
      bsi_column_scale(bs, &sum[v], p->alpha);
      if (p->beta != 0.0) bsi_column_add(bs, &sum[v], p->z + v * p->ldz + (int64_t)i * bs, p->beta);
      bsi_column_store(bs, &sum[v], y);
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
  product_rows_of(p->a->block_size, columns, p, begin, end);
}
#define STAMP(BS)                                                                                  \
  static void product_rows_##BS(int columns, const product *p, int32_t begin, int32_t end) {       \
    if (columns == 1)                                                                              \
      product_rows_of(BS, 1, p, begin, end);                                                       \
    else                                                                                           \
      product_rows_of(BS, COLUMNS_AT_ONCE, p, begin, end);                                         \
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
    const int columns = count - v >= COLUMNS_AT_ONCE ? COLUMNS_AT_ONCE : 1;
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
