/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of a BCSR matrix. */
#ifndef BSI_BCSR_IMPL_H
#define BSI_BCSR_IMPL_H

#include <bisai/bcsr.h>

#include "core/column.h"
#include "core/context_impl.h"
#include "core/entry_map.h"
#include "core/mirror.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bisai_bcsr {
  bisai_context *context;
  int32_t block_rows, block_cols, block_size;
  int32_t blocks;
  /* scalar rows without padding */
  int32_t rows;
  bisai_value_type type;
  /* identity diagonal blocks are implied and not stored */
  bool unit_diagonal;
  bool owns_structure, owns_values;
  /* backend memory, like values */
  int32_t *row_ptr, *col_idx;
  void *values;
  /* of row_ptr and col_idx, where host memory is something else */
  bsi_mirror *mirror;
  /* of the entries of CSR arrays, where an update may bring new ones */
  bsi_entry_map map;
  /* nothing but the public updates change the values, so that what was measured may be kept */
  bool updated_only;
  /* core/asymmetry.h: kept until the next update */
  bool measured, mirrored;
  double asymmetry;
  /* borrowed: what messages and reports call block row i; NULL: i */
  const int32_t *row_names;
};

/* Values that start at block `block`. */
static inline size_t bsi_block_offset(const bisai_bcsr *matrix, int64_t block) {
  return (size_t)block * (size_t)matrix->block_size * (size_t)matrix->block_size;
}

static inline int32_t bsi_row_name(const bisai_bcsr *matrix, int32_t i) {
  return matrix->row_names && i >= 0 ? matrix->row_names[i] : i;
}

/* The blocks of a square matrix by columns, backend memory: those of block column j lie in rows
 * row_idx[col_ptr[j]] …, ascending, and at position[…] among the matrix's blocks. */
typedef struct bsi_columns {
  const int32_t *col_ptr, *row_idx, *position;
} bsi_columns;

/* The first of the ascending col_idx[low … high − 1] that is not less than `column`; high: none. */
BSI_INLINE int32_t bsi_lower_bound(const int32_t *col_idx, int32_t low, int32_t high,
                                   int32_t column) {
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (col_idx[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Where `column` stands among them, -1: it does not. */
BSI_INLINE int32_t bsi_find_column(const int32_t *col_idx, int32_t low, int32_t high,
                                   int32_t column) {
  const int32_t at = bsi_lower_bound(col_idx, low, high, column);
  return at < high && col_idx[at] == column ? at : -1;
}

/* Where the diagonal block of row i is among the blocks of a structure, -1: it has none. */
BSI_INLINE int32_t bsi_find_diagonal(const int32_t *row_ptr, const int32_t *col_idx, int32_t i) {
  const int32_t end = row_ptr[i + 1];
  return bsi_find_column(col_idx, row_ptr[i], end, i);
}

/* A matrix with reserved, unset arrays; row_ptr and col_idx are borrowed where given. */
bisai_status bsi_bcsr_reserve(bisai_context *context, int32_t block_rows, int32_t block_cols,
                              int32_t block_size, int32_t blocks, bisai_value_type type,
                              int32_t *row_ptr, int32_t *col_idx, bisai_bcsr **matrix);

/* The structure in host memory; alive as long as the matrix. Waits the first time. */
bisai_status bsi_bcsr_structure(const bisai_bcsr *a, bsi_structure *structure);

/* Copies a structure in host memory into the reserved arrays. */
bisai_status bsi_bcsr_set_structure(bisai_bcsr *a, const int32_t *row_ptr, const int32_t *col_idx);

/* row_ptr[0] = 0, never decreasing; `row` is what messages call a row. */
bisai_status bsi_check_row_ptr(bisai_context *context, const char *row, int32_t n,
                               const int32_t *row_ptr);

/* A block of a row whose blocks are to be sorted: its column, and where it was. */
typedef struct bsi_moved_block {
  int32_t column, source;
} bsi_moved_block;

/* For qsort: by column. */
int bsi_compare_columns(const void *a, const void *b);

/* The column form of a square structure, rows ascending; unless NULL, position[q] is where its
 * entry q lies in the row form. */
bisai_status bsi_structure_transpose(bisai_context *context, int32_t n, const int32_t *row_ptr,
                                     const int32_t *col_idx, int32_t **col_ptr, int32_t **row_idx,
                                     int32_t *position);

/* Bytes of the arrays that the matrix owns. */
int64_t bsi_bcsr_memory(const bisai_bcsr *matrix);

/* The least bytes that y ← A x must move. */
int64_t bsi_bcsr_product_bytes(const bisai_bcsr *matrix);

#ifdef __cplusplus
}
#endif

#endif
