/* SPDX-License-Identifier: BSD-3-Clause */
/* Block-Jacobi: z_b = D_b⁻¹ v_b for consecutive diagonal blocks D_b of 1 … 32 scalar rows that
 * cover the matrix.
 *
 * Blocks of the partition need not respect the blocks of the matrix. A scalar CSR matrix is a BCSR
 * matrix of block size 1.
 *
 * Storage. Block b of m rows is a dense m × m array E_b. The form says what it contains:
 *   INVERSE  E = D⁻¹.
 *   LU       E = L∖U of P D = L U. The unit diagonal of L is implied. The diagonal of U is stored
 *            as its reciprocals. pivots[start + k] is the row of the block, 0 … m−1, that
 *            elimination took as row k: (P D)(k, :) = D(pivots[start + k], :). Solve: y_k =
 *            v(pivots[k]), then L, then U in place.
 *   GH       the Gauss–Huard decomposition of D Q, (D Q)(:, k) = D(:, pivots[start + k]). For k = 0
 *            … m−1, with A = D Q on entry: A(k, k:m) −= A(k, 0:k) A(0:k, k:m);  pivot = the largest
 *            |A(k, j)|, j ≥ k, the first of equals;  columns change places; A(k, k+1:m) /= A(k, k);
 *            A(0:k, k+1:m) −= A(0:k, k) A(k, k+1:m). E is the final A with the reciprocals of its
 *            diagonal. Solve: y = v; for k: y_k −= E(k, 0:k) y(0:k); y_k *= E(k, k); y(0:k) −=
 *            E(0:k, k) y_k; then z(pivots[k]) = y_k.
 *   GHT      GH with its strictly lower triangle transposed about the anti-diagonal: value (k, j)
 *            of GH, j < k, is at (m−1−j, m−1−k). Row k of GH is then read in column m−1−k.
 *
 * Groups. Group g holds the per_group blocks from block g·per_group on (the last group may have
 * fewer): a warp's worth on a device, one on the host. It is an array of `height` = Σ m scalar rows
 * (consecutive ones of the matrix, starting at the start of its first block) by `width` = max m
 * columns, column-major: value (r, c) of block b is at
 *   first_value(g) + c·height + (start_b − start of the group) + r
 * so that lane l of a warp has scalar row l of the group, and column c of all its blocks lies side
 * by side. The places of columns c ≥ m of a block are unset and never read; if all blocks have one
 * size there are none. first_value(g) is the sum of height·width over the earlier groups. If the
 * partition is uniform it is g·per_group·uniform², and the array is NULL. Value i of group g is at
 * (char *)data + slot_bytes·first_value(g) + i·bytes of the group's format. slot_bytes is the width
 * of the format, or 8 if formats are adaptive: narrow groups then leave the rest of their slots
 * unread. */
#ifndef BSI_BJACOBI_H
#define BSI_BJACOBI_H

#include <bisai/precond.h>

#include "core/matrix/triangular.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BSI_BJACOBI_MAX_ROWS = 32, BSI_FORMATS = BISAI_VALUE_TYPES, BSI_BJACOBI_CLASSES = 8 };

/* A partition of the scalar rows into blocks. */
typedef struct bsi_partition {
  int32_t rows, blocks;
  /* rows of the largest block; 0 if there are no blocks */
  int32_t largest;
  /* rows of every block but the last one, which has at most as many; 0 if sizes differ. Without
   * blocks it is not 0. */
  int32_t uniform;
  /* blocks + 1 scalar rows, backend memory; NULL if uniform: block b then starts at b·uniform */
  int32_t *start;
  /* the number of blocks of each size */
  int32_t count[BSI_BJACOBI_MAX_ROWS + 1];
} bsi_partition;

/* Statistics of a set-up. An index is that of the first such block of the partition; -1: none. */
typedef struct bsi_bjacobi_stats {
  /* its rows are blocks; only the INVERSE form has conditions */
  bsi_invert_stats inversion;
  /* nearly singular blocks: bsi_near_singular() */
  int64_t near_singular;
  int32_t near_singular_block;
  /* the block has a value that is too large for its format, or a row or column that vanishes in
   * it */
  int32_t overflow_block;
  /* the number of blocks of each bisai_value_type */
  int64_t formats[BSI_FORMATS];
  /* bytes of the values that an application reads; unset places do not count */
  int64_t value_bytes;
} bsi_bjacobi_stats;

#define BSI_BJACOBI_STATS_NONE                                                                     \
  ((bsi_bjacobi_stats){                                                                            \
      .inversion = BSI_INVERT_STATS_NONE, .near_singular_block = -1, .overflow_block = -1})

typedef struct bsi_bjacobi_options {
  /* the first shift of a singular block over the largest row sum; 0: no shifts */
  double shift_amount;
  /* the largest block of an agglomeration, 1 … 32; 0: natural blocks, or given ones */
  int32_t max_rows;
  /* blocks given in given_start (given_blocks + 1 checked entries, host memory), NULL: none */
  int32_t given_blocks;
  const int32_t *given_start;
  bisai_form form;
  /* ADAPTIVE with INVERSE alone */
  bisai_value_type storage;
  /* ADAPTIVE: ‖I − D Ẽ‖₁ ≤ 10^−digits, 1 … 15 */
  int digits;
  /* ADAPTIVE: the formats to choose from */
  bisai_formats formats;
  bisai_extraction extraction;
  /* scalar rows of a group: bsi_bjacobi_ops; 0: the backend's */
  int32_t group_rows;
} bsi_bjacobi_options;

/* What is known of the matrix. */
typedef struct bsi_bjacobi_matrix {
  /* block rows, block size and stored blocks */
  int32_t block_rows, block_size, stored;
  /* natural: the index of each diagonal block among the matrix's blocks, -1: there is none;
   * otherwise NULL */
  int32_t *position;
} bsi_bjacobi_matrix;

/* What updates and applications need beside the blocks. */
typedef struct bsi_bjacobi_workspace {
  /* what the backend's operation `reserve` allocates, and its bytes for the report */
  void *memory;
  int64_t bytes;
  /* device: the number of groups of each class: bsi_bjacobi_class() of their largest block */
  int32_t class_groups[BSI_BJACOBI_CLASSES];
  /* device: the groups by class, ascending in each, in the memory; NULL if uniform */
  int32_t *order;
  /* device: the record of the memory that is in use, 0 and 1 in turn */
  int turn;
} bsi_bjacobi_workspace;

typedef struct bsi_bjacobi {
  bsi_bjacobi_matrix matrix;
  /* true if the blocks are the matrix's own diagonal blocks */
  bool natural;
  /* given_start is NULL after creation */
  bsi_bjacobi_options options;
  bsi_partition partition;
  int32_t per_group, groups;
  /* the sum of height·width over the groups, which data has slots for */
  int64_t values;
  int slot_bytes;
  /* groups, backend memory; NULL if uniform */
  int64_t *first_value;
  /* groups, backend memory: the bisai_value_type of each; NULL unless ADAPTIVE */
  uint8_t *format;
  /* backend memory */
  void *data;
  /* rows, backend memory; NULL for INVERSE */
  uint8_t *pivots;
  bsi_bjacobi_workspace workspace;
  bsi_bjacobi_stats stats;
} bsi_bjacobi;

/* Returns the first scalar row of block b ≤ blocks. */
BSI_INLINE int32_t bsi_partition_start(const bsi_partition *p, const int32_t b) {
  if (!p->uniform) return p->start[b];
  const int64_t start = (int64_t)b * p->uniform;
  return start < p->rows ? (int32_t)start : p->rows;
}

/* Returns the index of group g's first value. */
BSI_INLINE int64_t bsi_bjacobi_first_value(const bsi_bjacobi *jacobi, const int32_t g) {
  if (jacobi->first_value) return jacobi->first_value[g];
  return (int64_t)g * jacobi->per_group * jacobi->partition.uniform * jacobi->partition.uniform;
}

/* Returns the class of blocks of 1 … 4, 5 … 8, …, 29 … 32 rows. */
BSI_INLINE int bsi_bjacobi_class(const int rows) { return rows <= 4 ? 0 : (rows - 1) / 4; }

/* A group. */
typedef struct bsi_group {
  /* its blocks are begin … end − 1 */
  int32_t begin, end;
  /* its first scalar row, and the number of its rows */
  int32_t row, height;
} bsi_group;

BSI_INLINE bsi_group bsi_bjacobi_group(const bsi_bjacobi *jacobi, const int32_t g) {
  const bsi_partition *p = &jacobi->partition;
  bsi_group group = {g * jacobi->per_group, p->blocks, 0, 0};
  if (p->blocks - group.begin > jacobi->per_group) group.end = group.begin + jacobi->per_group;
  group.row = bsi_partition_start(p, group.begin);
  group.height = bsi_partition_start(p, group.end) - group.row;
  return group;
}

/* Makes a partition from its starts: blocks + 1 checked values in host memory, or NULL without
 * blocks. */
bisai_status bsi_partition_set(bisai_context *context, int32_t rows, int32_t blocks,
                               const int32_t *start, bsi_partition *partition);

/* Copies the starts of all blocks, and the number of rows behind them, into host memory. */
bisai_status bsi_partition_fetch(bisai_context *context, const bsi_partition *partition,
                                 int32_t *block_ptr);

/* Finds the blocks and reserves their memory. Values are unset. With shift_amount > 0 updates
 * repair singular blocks, and missing blocks count as zero. The caller has checked the options. */
bisai_status bsi_bjacobi_create(bisai_context *context, const bisai_bcsr *matrix,
                                const bsi_bjacobi_options *options, bsi_bjacobi *jacobi);

/* Checks that `matrix` has the structure of creation: fp64 values, as many blocks, and natural
 * diagonal blocks at the same places. */
bisai_status bsi_bjacobi_check(bisai_context *context, const bisai_bcsr *matrix,
                               const bsi_bjacobi *jacobi);

/* Computes the values from a matrix that passed the check. Allocates nothing. */
bisai_status bsi_bjacobi_update(bisai_context *context, const bisai_bcsr *matrix,
                                bsi_bjacobi *jacobi);

/* *inverse ← D⁻ᵀ of the present values, a matrix of scalars. It takes 12 bytes for each entry of
 * the blocks, whatever their form and their formats. */
bisai_status bsi_bjacobi_transpose(bisai_context *context, const bsi_bjacobi *jacobi,
                                   bisai_bcsr **inverse);

void bsi_bjacobi_destroy(bisai_context *context, bsi_bjacobi *jacobi);

/* The bytes that an application reads besides the values. */
int64_t bsi_bjacobi_index_bytes(const bsi_bjacobi *jacobi);
/* The bytes of all memory. */
int64_t bsi_bjacobi_memory(const bsi_bjacobi *jacobi);

#ifdef __cplusplus
}
#endif

#endif
