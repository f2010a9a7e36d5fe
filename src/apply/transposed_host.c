/* SPDX-License-Identifier: BSD-3-Clause */
/* Products with transposes on the host: y_j ← alpha·Σ_i A_ijᵀ x_i + beta·z_j, with block columns
 * shared out by their blocks. Values are gathered in the order of the column form, so that bits do
 * not depend on the number of threads. */
#include "apply/apply.h"
#include "apply/apply_ops.h"
#include "core/block/block_sizes.h"
#include "core/block/values.h"
#include "core/context/context_impl.h"
#include "core/threads/parallel.h"

enum {
  /* the vectors that share one read of a block */
  VECTORS_AT_ONCE = 4,
  BYTES_PER_THREAD = 1 << 18
};

typedef struct product {
  const bisai_bcsr *a;
  bsi_columns columns;
  double alpha, beta;
  const double *x, *z;
  double *y;
  int64_t ldx, ldz, ldy;
} product;

BSI_INLINE void product_column(const int bs, const bisai_value_type type, const int vectors,
                               const product *p, const int32_t j) {
  const int values = bs * bs;
  double sum[VECTORS_AT_ONCE][BISAI_MAX_BLOCK_SIZE];
  for (int v = 0; v < vectors; v++)
    for (int c = 0; c < bs; c++)
      sum[v][c] = p->a->unit_diagonal ? p->x[v * p->ldx + (int64_t)j * bs + c] : 0.0;
  for (int32_t s = p->columns.col_ptr[j]; s < p->columns.col_ptr[j + 1]; s++) {
    double buffer[BSI_MAX_BLOCK_VALUES];
    const size_t first = (size_t)p->columns.position[s] * (size_t)values;
    const double *block = bsi_values_widen(type, p->a->values, first, values, buffer);
    for (int v = 0; v < vectors; v++) {
      const double *x = p->x + v * p->ldx + (int64_t)p->columns.row_idx[s] * bs;
      for (int c = 0; c < bs; c++)
        for (int r = 0; r < bs; r++) sum[v][c] += block[c * bs + r] * x[r];
    }
  }
  for (int v = 0; v < vectors; v++)
    for (int c = 0; c < bs; c++) {
      const int64_t at = (int64_t)j * bs + c;
      const double scaled = p->alpha * sum[v][c];
      p->y[v * p->ldy + at] = p->beta == 0.0 ? scaled : scaled + p->beta * p->z[v * p->ldz + at];
    }
}

/* There is one function for each block size, and in it one loop for each value type and for one and
 * four vectors. */
BSI_INLINE void product_columns(const int bs, const int vectors, const product *p, int32_t begin,
                                int32_t end) {
  switch (p->a->type) {
#define COLUMNS(enumerator, word, bytes, mantissa)                                                 \
  case enumerator:                                                                                 \
    for (int32_t j = begin; j < end; j++) product_column(bs, enumerator, vectors, p, j);           \
    break;
    BISAI_MATRIX_TYPE_LIST(COLUMNS)
#undef COLUMNS
  default: break; /* matrices have no other types */
  }
}

typedef void columns_function(int vectors, const product *, int32_t begin, int32_t end);

static void product_columns_any(int vectors, const product *p, int32_t begin, int32_t end) {
  product_columns(p->a->block_size, vectors, p, begin, end);
}
#define STAMP(BS)                                                                                  \
  static void product_columns_##BS(int vectors, const product *p, int32_t begin, int32_t end) {    \
    if (vectors == 1)                                                                              \
      product_columns(BS, 1, p, begin, end);                                                       \
    else                                                                                           \
      product_columns(BS, VECTORS_AT_ONCE, p, begin, end);                                         \
  }
BSI_BLOCK_SIZES(STAMP)
#undef STAMP
#define ENTRY(BS) [BS] = product_columns_##BS,
static columns_function *const columns_functions[BSI_SPECIAL_SIZES + 1] = {product_columns_any,
                                                                           BSI_BLOCK_SIZES(ENTRY)};
#undef ENTRY

typedef struct product_job {
  const product *p;
  int vectors;
} product_job;

static void product_part(void *job, bsi_part part) {
  const product_job *j = job;
  const bisai_bcsr *a = j->p->a;
  const bsi_rows columns = bsi_rows_of(a->block_cols, j->p->columns.col_ptr, part);
  columns_functions[a->block_size <= BSI_SPECIAL_SIZES ? a->block_size : 0](
      j->vectors, j->p, columns.begin, columns.end);
}

static bisai_status transposed_product(bisai_context *context, const bisai_bcsr *a,
                                       const bsi_columns *columns, int32_t count, double alpha,
                                       const double *x, int64_t ldx, double beta, const double *z,
                                       int64_t ldz, double *y, int64_t ldy, int64_t cached_bytes) {
  (void)cached_bytes;
  const int threads =
      bsi_threads_for(context->threads, bsi_bcsr_product_bytes(a), BYTES_PER_THREAD);
  for (int32_t v = 0; v < count;) {
    const int vectors = count - v >= VECTORS_AT_ONCE ? VECTORS_AT_ONCE : 1;
    const product p = {a,           *columns, alpha, beta, x + v * ldx, z ? z + v * ldz : NULL,
                       y + v * ldy, ldx,      ldz,   ldy};
    bsi_run(context, threads, BSI_SOME_PARTS, product_part, &(product_job){&p, vectors});
    v += vectors;
  }
  return BISAI_OK;
}

const bsi_transposed_ops bsi_transposed_host = {.multiply = transposed_product};
