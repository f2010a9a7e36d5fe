/* SPDX-License-Identifier: BSD-3-Clause */
/* Block products on the host: y_i ← alpha·Σ_j A_ij x_j + beta·z_i, with rows shared out by their
 * blocks. The order of the terms does not depend on the number of threads. */
#include "apply/apply_ops.h"
#include "core/block/block_sizes.h"
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "core/matrix/block_row.h"
#include "core/threads/parallel.h"
#include "core/vector/row_runs.h"

enum { BYTES_PER_THREAD = 1 << 18 };

/* `of` has one vector or BSI_ROW_VECTORS. */
typedef struct product {
  const bisai_bcsr *a;
  bsi_product of;
} product;

/* The fields of the job are copied, because the compiler would read them again after each value
 * that it stores. For the same reason the end of a row is kept as the begin of the next one. */
BSI_INLINE void product_rows(const int bs, const bisai_value_type type, const int columns,
                             const product *job, const int32_t begin, const int32_t end) {
  const bisai_bcsr matrix = *job->a, *a = &matrix;
  const bsi_product copy = job->of, *p = &copy;
  const int32_t ahead = bsi_rows_ahead(a);
  int64_t q = a->row_ptr[begin];
  for (int32_t first = begin; first < end; first += ahead) {
    const int32_t last = end - first < ahead ? end : first + ahead;
    bsi_prefetch_rows(bs, type, a, first, last);
    for (int32_t i = first; i < last; i++) {
      const int64_t next = a->row_ptr[i + 1];
      bsi_column sum[BSI_ROW_VECTORS];
      bsi_row_multiply(bs, type, columns, a, (bsi_range){q, next}, p->x, p->ldx, sum);
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

typedef void rows_function(const product *, int32_t begin, int32_t end);

static void product_rows_any(const product *p, int32_t begin, int32_t end) {
  if (p->of.count == 1)
    product_rows_of(p->a->block_size, 1, p, begin, end);
  else
    product_rows_of(p->a->block_size, BSI_ROW_VECTORS, p, begin, end);
}
#define STAMP(BS)                                                                                  \
  static void product_rows_##BS(const product *p, int32_t begin, int32_t end) {                    \
    if (p->of.count == 1)                                                                          \
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

static void product_part(void *job, bsi_part part) {
  const product *p = job;
  const bisai_bcsr *a = p->a;
  rows_function *function = rows_functions[a->block_size <= BSI_SPECIAL_SIZES ? a->block_size : 0];
  bsi_row_runs runs = bsi_row_runs_of(p->of.rows, a->block_rows, a->row_ptr, part);
  while (bsi_next_run(&runs)) function(p, runs.rows.begin, runs.rows.end);
}

static bisai_status multiply(bisai_context *context, const bisai_bcsr *a, const bsi_product *all) {
  const int threads =
      bsi_threads_for(context->threads, bsi_bcsr_product_bytes(a), BYTES_PER_THREAD);
  product p = {a, *all};
  for (int32_t v = 0; v < all->count; v += p.of.count) {
    p.of = bsi_product_part(all, v, BSI_ROW_VECTORS);
    bsi_run(context, threads, BSI_SOME_PARTS, product_part, &p);
  }
  return BISAI_OK;
}

typedef struct diagonal_job {
  int32_t n;
  int bs;
  const double *blocks;
  const bsi_product *of;
} diagonal_job;

static void diagonal_part(void *job, bsi_part part) {
  const diagonal_job *d = job;
  const int bs = d->bs;
  const bsi_range range = bsi_range_of(d->n, part);
  for (int64_t i = range.begin; i < range.end; i++) {
    const double *block = d->blocks + i * (bs * bs);
    for (int32_t v = 0; v < d->of->count; v++) {
      const double *in = d->of->x + v * d->of->ldx + i * bs;
      double sum[BISAI_MAX_BLOCK_SIZE] = {0};
      for (int c = 0; c < bs; c++)
        for (int r = 0; r < bs; r++) sum[r] += block[c * bs + r] * in[c];
      for (int r = 0; r < bs; r++) d->of->y[v * d->of->ldy + i * bs + r] = sum[r];
    }
  }
}

static bisai_status multiply_diagonal(bisai_context *context, int32_t n, int bs,
                                      const double *blocks, const bsi_product *of) {
  const int threads = bsi_threads_for(context->threads, (int64_t)n * bs * bs * 8, BYTES_PER_THREAD);
  bsi_run(context, threads, BSI_SOME_PARTS, diagonal_part, &(diagonal_job){n, bs, blocks, of});
  return BISAI_OK;
}

const bsi_product_ops bsi_products_host = {.multiply = multiply,
                                           .multiply_diagonal = multiply_diagonal};
