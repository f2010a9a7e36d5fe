/* SPDX-License-Identifier: BSD-3-Clause */
/* The private struct of a BCSR matrix. */
#ifndef BSI_BCSR_IMPL_H
#define BSI_BCSR_IMPL_H

#include <bisai/bcsr.h>

#include "core/block/column.h"
#include "core/context/context_impl.h"
#include "core/matrix/entry_map.h"
#include "core/matrix/mirror.h"
#include "core/matrix/search.h"
#include "core/vector/places.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a matrix keeps beside its arrays. */
typedef struct bsi_bcsr_kept {
  /* the host copy of row_ptr and col_idx; NULL if they are in host memory */
  bsi_mirror *mirror;
  /* the map from the entries of CSR arrays, from which an update may take new values */
  bsi_entry_map map;
  /* the places of the caller's rows, if they are not numbered by node */
  bsi_places places;
  /* only the public updates change the values, so that measured results may be kept */
  bool updated_only;
  /* the results of core/matrix/asymmetry.h, kept until the next update */
  bool measured, mirrored;
  double asymmetry;
} bsi_bcsr_kept;

struct bisai_bcsr {
  bisai_context *context;
  int32_t block_rows, block_cols, block_size;
  int32_t blocks;
  /* the scalar rows without padding */
  int32_t rows;
  bisai_value_type type;
  /* identity diagonal blocks are implied and not stored */
  bool unit_diagonal;
  bool owns_structure, owns_values;
  /* backend memory, like values */
  int32_t *row_ptr, *col_idx;
  void *values;
  bsi_bcsr_kept kept;
  /* the number of block row i in messages and reports, borrowed; NULL: i */
  const int32_t *row_names;
};

/* Returns the number of values before block `block`. */
static inline size_t bsi_block_offset(const bisai_bcsr *matrix, int64_t block) {
  return (size_t)block * (size_t)matrix->block_size * (size_t)matrix->block_size;
}

/* Returns the rows of the blocks before the padding at the end. Padding inside the blocks counts as
 * rows. */
static inline int32_t bsi_bcsr_span(const bisai_bcsr *matrix) {
  return matrix->kept.places.host ? matrix->block_rows * matrix->block_size : matrix->rows;
}

static inline int32_t bsi_row_name(const bisai_bcsr *matrix, int32_t i) {
  return matrix->row_names && i >= 0 ? matrix->row_names[i] : i;
}

/* The blocks of a square matrix by columns, in backend memory. The blocks of block column j are in
 * the rows row_idx[col_ptr[j]] …, ascending, and at position[…] among the matrix's blocks. */
typedef struct bsi_columns {
  const int32_t *col_ptr, *row_idx, *position;
} bsi_columns;

/* The numbers of a matrix that is to be made. */
typedef struct bsi_bcsr_sizes {
  int32_t block_rows, block_cols, block_size, blocks;
  bisai_value_type type;
} bsi_bcsr_sizes;

/* Does bisai_bcsr_create() for arrays that count from 0. */
bisai_status bsi_bcsr_create(bisai_context *context, const bisai_bcsr_desc *desc,
                             bisai_bcsr **matrix);

/* Makes a matrix with reserved, unset arrays. row_ptr and col_idx are borrowed if they are
 * given. */
bisai_status bsi_bcsr_reserve(bisai_context *context, const bsi_bcsr_sizes *sizes, int32_t *row_ptr,
                              int32_t *col_idx, bisai_bcsr **matrix);

/* *structure ← the structure in host memory. It lives as long as the matrix. Waits the first
 * time. */
bisai_status bsi_bcsr_structure(const bisai_bcsr *a, bsi_structure *structure);

/* Refuses a matrix with NaN or infinity (BISAI_NOT_FINITE), which may come in if its values are
 * borrowed. The message names the block. Allocates nothing. Waits. */
bisai_status bsi_bcsr_check_finite(bisai_context *context, const bisai_bcsr *a);

/* Refuses a matrix whose structure is not that of creation, `before`. Allocates nothing. Waits. */
bisai_status bsi_bcsr_check_pattern(bisai_context *context, const bisai_bcsr *now,
                                    const bisai_bcsr *before);

/* Copies a structure in host memory into the reserved arrays. */
bisai_status bsi_bcsr_set_structure(bisai_bcsr *a, const int32_t *row_ptr, const int32_t *col_idx);

/* Checks that row_ptr begins with 0 and never decreases. Messages call a row `row`. */
bisai_status bsi_check_row_ptr(bisai_context *context, const char *row, int32_t n,
                               const int32_t *row_ptr);

/* A block of a row that is to be sorted: its column and its former position. */
typedef struct bsi_moved_block {
  int32_t column, source;
} bsi_moved_block;

/* Makes the column form of a square structure, with ascending rows. Unless position is NULL,
 * position[q] is the position in the row form of entry q of the column form. */
bisai_status bsi_structure_transpose(bisai_context *context, int32_t n, const int32_t *row_ptr,
                                     const int32_t *col_idx, int32_t **col_ptr, int32_t **row_idx,
                                     int32_t *position);

/* *transposed ← Aᵀ of a square matrix. An implied identity stays implied. Waits. */
bisai_status bsi_bcsr_transpose(const bisai_bcsr *a, bisai_bcsr **transposed);

/* Returns the bytes of the struct and of the arrays that it owns. */
int64_t bsi_bcsr_memory(const bisai_bcsr *matrix);

/* Returns the minimum of bytes that y ← A x moves. */
int64_t bsi_bcsr_product_bytes(const bisai_bcsr *matrix);

#ifdef __cplusplus
}
#endif

#endif
