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

/* `of` has one vector or VECTORS_AT_ONCE. */
typedef struct product {
  const bisai_bcsr *a;
  bsi_columns columns;
  bsi_product of;
} product;

BSI_INLINE void product_column(const int bs, const bisai_value_type type, const int vectors,
                               const product *job, const int32_t j) {
  const bisai_bcsr *a = job->a;
  const bsi_columns *columns = &job->columns;
  const bsi_product *p = &job->of;
  const int values = bs * bs;
  double sum[VECTORS_AT_ONCE][BISAI_MAX_BLOCK_SIZE];
  for (int v = 0; v < vectors; v++)
    for (int c = 0; c < bs; c++)
      sum[v][c] = a->unit_diagonal ? p->x[v * p->ldx + (int64_t)j * bs + c] : 0.0;
  for (int32_t s = columns->col_ptr[j]; s < columns->col_ptr[j + 1]; s++) {
    double buffer[BSI_MAX_BLOCK_VALUES];
    const size_t first = (size_t)columns->position[s] * (size_t)values;
    const double *block = bsi_values_widen(type, a->values, first, values, buffer);
    for (int v = 0; v < vectors; v++) {
      const double *x = p->x + v * p->ldx + (int64_t)columns->row_idx[s] * bs;
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

typedef void columns_function(const product *, int32_t begin, int32_t end);

static void product_columns_any(const product *p, int32_t begin, int32_t end) {
  product_columns(p->a->block_size, p->of.count, p, begin, end);
}
#define STAMP(BS)                                                                                  \
  static void product_columns_##BS(const product *p, int32_t begin, int32_t end) {                 \
    if (p->of.count == 1)                                                                          \
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

static void product_part(void *job, bsi_part part) {
  const product *p = job;
  const bisai_bcsr *a = p->a;
  const bsi_rows columns = bsi_rows_of(a->block_cols, p->columns.col_ptr, part);
  columns_functions[a->block_size <= BSI_SPECIAL_SIZES ? a->block_size : 0](p, columns.begin,
                                                                            columns.end);
}

bisai_status bsi_multiply_transposed_host(bisai_context *context, const bisai_bcsr *a,
                                          const bsi_columns *columns, const bsi_product *all) {
  const int threads =
      bsi_threads_for(context->threads, bsi_bcsr_product_bytes(a), BYTES_PER_THREAD);
  product p = {a, *columns, *all};
  for (int32_t v = 0; v < all->count; v += p.of.count) {
    p.of = bsi_product_part(all, v, VECTORS_AT_ONCE);
    bsi_run(context, threads, BSI_SOME_PARTS, product_part, &p);
  }
  return BISAI_OK;
}
