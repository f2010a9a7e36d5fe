/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of a row of blocks with vectors on the host. */
#ifndef BSI_BLOCK_ROW_H
#define BSI_BLOCK_ROW_H

#include "core/block/column.h"
#include "core/block/value_quads.h"
#include "core/matrix/bcsr_impl.h"
#include "core/threads/parallel.h"
#include "core/threads/prefetch.h"

enum {
  /* the most vectors that share one read of a block */
  BSI_ROW_VECTORS = 4,
  /* the bytes of a matrix that are prefetched at a time, at least a row */
  BSI_PREFETCH_BYTES = 1024
};

/* Returns the number of rows whose blocks are prefetched at a time. */
static inline int32_t bsi_rows_ahead(const bisai_bcsr *a) {
  const size_t row_bytes = bsi_block_offset(a, a->blocks) * bsi_value_bytes(a->type) /
                           (size_t)(a->block_rows > 0 ? a->block_rows : 1);
  return row_bytes < BSI_PREFETCH_BYTES ? (int32_t)(BSI_PREFETCH_BYTES / (row_bytes + 1)) : 1;
}

/* Prefetches ahead of the blocks of rows begin … end − 1. */
BSI_INLINE void bsi_prefetch_rows(const int bs, const bisai_value_type type, const bisai_bcsr *a,
                                  const int32_t begin, const int32_t end) {
  const size_t bytes = (size_t)(bs * bs) * bsi_value_bytes(type);
  bsi_prefetch_far_ahead(a->values, (size_t)a->row_ptr[begin] * bytes,
                         (size_t)a->row_ptr[end] * bytes);
  bsi_prefetch_far_ahead(a->col_idx, (size_t)a->row_ptr[begin] * sizeof *a->col_idx,
                         (size_t)a->row_ptr[end] * sizeof *a->col_idx);
}

/* Blocks of two rows: both columns side by side take one multiplication. */
#define BSI_ROW_PAIRS(bs) (BSI_COLUMN_VECTORS(bs) && (bs) == 2)
/* Each value of a pair twice. GCC takes more instructions for the initialiser. */
#define BSI_TWICE(pair) ((bsi_quad){(pair)[0], (pair)[0], (pair)[1], (pair)[1]})
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#undef BSI_TWICE
#define BSI_TWICE(pair) __builtin_shufflevector(pair, pair, 0, 0, 1, 1)
#endif
#endif

/* sum[v] ← sum[v] + A_q x_v, column by column. Each column is widened once. */
BSI_INLINE void bsi_row_add_block(const int bs, const bisai_value_type type, const int columns,
                                  const bisai_bcsr *a, const int64_t q, const double *x,
                                  const int64_t ldx, bsi_column *sum) {
  const size_t first = (size_t)q * (size_t)(bs * bs);
  const double *at = x + (int64_t)a->col_idx[q] * bs;
  if (BSI_ROW_PAIRS(bs)) {
    bsi_quad block;
    bsi_quad_load(type, a->values, first, &block);
    for (int v = 0; v < columns; v++) {
      const bsi_pair pair = *(const bsi_pair *)(at + v * ldx);
      sum[v].quad[0] += block * BSI_TWICE(pair);
    }
    return;
  }
  for (int c = 0; c < bs; c++) {
    bsi_column column;
    bsi_column_widen(bs, type, &column, a->values, first + (size_t)(c * bs));
    for (int v = 0; v < columns; v++) bsi_column_add_scaled(bs, &sum[v], &column, at[v * ldx + c]);
  }
}

/* sum[v] ← Σ_q A_q x_v for the blocks q of a row. Even and odd blocks have a sum each, because the
 * additions of a single sum would wait for each other. */
BSI_INLINE void bsi_row_multiply(const int bs, const bisai_value_type type, const int columns,
                                 const bisai_bcsr *a, const bsi_range blocks, const double *x,
                                 const int64_t ldx, bsi_column *sum) {
  const int width = BSI_ROW_PAIRS(bs) ? 4 : bs;
  bsi_column odd[BSI_ROW_VECTORS];
  for (int v = 0; v < columns; v++) {
    bsi_column_clear(width, &sum[v]);
    bsi_column_clear(width, &odd[v]);
  }
  int64_t q = blocks.begin;
  for (; q + 1 < blocks.end; q += 2) {
    bsi_row_add_block(bs, type, columns, a, q, x, ldx, sum);
    bsi_row_add_block(bs, type, columns, a, q + 1, x, ldx, odd);
  }
  if (q < blocks.end) bsi_row_add_block(bs, type, columns, a, q, x, ldx, sum);
  for (int v = 0; v < columns; v++) {
    bsi_column_sum(width, &sum[v], &odd[v]);
    if (BSI_ROW_PAIRS(bs)) {
      const bsi_quad both = sum[v].quad[0];
      sum[v].pair = (bsi_pair){both[0], both[1]} + (bsi_pair){both[2], both[3]};
    }
  }
}

#endif
