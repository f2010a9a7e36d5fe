/* SPDX-License-Identifier: BSD-3-Clause */
/* Block-Jacobi: z_b = D_b⁻¹ v_b for diagonal blocks D_b of 1 … 32 scalar rows that follow each
 * other and cover the matrix.
 *
 * A scalar CSR matrix is a BCSR matrix of block size 1, so that there is one kind of source. Blocks
 * of the partition need not respect the blocks of the matrix.
 *
 * Storage. Block b of m rows is a dense m × m array E_b of values, whose meaning is the form's:
 *   INVERSE  E = D⁻¹.
 *   LU       E = L∖U of P D = L U: the unit diagonal of L is implied, U's diagonal is stored as its
 *            reciprocals. pivots[r] of scalar row r = start + k is the row of the block, 0 … m−1,
 *            that elimination took as row k: (P D)(k, :) = D(pivots[start + k], :). Solve: y_k =
 *            v(pivots[k]), then L, then U in place.
 *   GH       the Gauss–Huard decomposition of D Q, (D Q)(:, k) = D(:, pivots[start + k]). For k = 0
 *            … m−1, with A = D Q on entry: A(k, k:m) −= A(k, 0:k) A(0:k, k:m);  pivot = the largest
 *            |A(k, j)|, j ≥ k, the first of equals;  columns change places; A(k, k+1:m) /= A(k, k);
 *            A(0:k, k+1:m) −= A(0:k, k) A(k, k+1:m).
 *            E is what remains of A, the diagonal as reciprocals. Solve: y = v; for k: y_k −= E(k,
 *            0:k) y(0:k); y_k *= E(k, k); y(0:k) −= E(0:k, k) y_k; then z(pivots[k]) = y_k.
 *   GHT      GH with what is below the diagonal transposed about the anti-diagonal: the (k, j) of
 *            GH, j < k, is at (m−1−j, m−1−k), so that row k of GH is read in the column m−1−k.
 *
 * Groups. Group g holds the per_group blocks from block g·per_group on (the last group may have
 * fewer): a warp's worth on a device, one on the host. It is an array of `height` = Σ m scalar rows
 * (consecutive ones of the matrix, starting at the start of its first block) by `width` = max m
 * columns, column-major: value (r, c) of block b is at
 *   first_value(g) + c·height + (start_b − start of the group) + r
 * so that lane l of a warp has scalar row l of the group, and column c of all its blocks lies side
 * by side. Values with c ≥ m of their block do not exist (their places are unset and never read);
 * there are none where all blocks have one size. first_value(g) = Σ over earlier groups of
 * height·width; where the partition is uniform that is g·per_group·uniform², and the array is NULL.
 * Group g starts at byte slot_bytes·first_value(g) of `data`, its value i at (char *)data +
 * slot_bytes·first_value(g) + i·bytes of its format. slot_bytes is the format's own width, and 8
 * where formats are adaptive: narrow groups leave the rest of their slot unread. */
#ifndef BSI_BJACOBI_H
#define BSI_BJACOBI_H

#include <bisai/precond.h>

#include "core/triangular.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BSI_BJACOBI_MAX_ROWS = 32, BSI_FORMATS = 6, BSI_BJACOBI_CLASSES = 8 };

/* The scalar rows cut into blocks. */
typedef struct bsi_partition {
  int32_t rows, blocks;
  /* rows of the largest block; 0 where there are none */
  int32_t largest;
  /* size of all blocks but the last, which has at most as many; 0 where they differ, not where
   * there are none */
  int32_t uniform;
  /* blocks + 1 scalar rows, backend memory; NULL where uniform: block b starts at b·uniform */
  int32_t *start;
  /* blocks of each size */
  int32_t count[BSI_BJACOBI_MAX_ROWS + 1];
} bsi_partition;

/* What the numbers met. Indices are blocks of the partition, the first of their kind, -1: none. */
typedef struct bsi_bjacobi_stats {
  /* rows are blocks; conditions of the INVERSE form alone */
  bsi_invert_stats inversion;
  /* blocks with no digit left, see bsi_near_singular() */
  int64_t near_singular;
  int32_t near_singular_block;
  /* a value is too large for the storage, or all of a row or a column vanish in it */
  int32_t overflow_block;
  /* blocks by bisai_value_type */
  int64_t formats[BSI_FORMATS];
  /* of the values that an application reads, holes excluded */
  int64_t value_bytes;
} bsi_bjacobi_stats;

#define BSI_BJACOBI_STATS_NONE                                                                     \
  ((bsi_bjacobi_stats){                                                                            \
      .inversion = BSI_INVERT_STATS_NONE, .near_singular_block = -1, .overflow_block = -1})

typedef struct bsi_bjacobi_options {
  /* 0: none */
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
  bisai_extraction extraction;
  /* see the backend's bjacobi_group_rows; 0: that */
  int32_t group_rows;
} bsi_bjacobi_options;

typedef struct bsi_bjacobi {
  /* of the matrix: block rows, block size, stored blocks */
  int32_t block_rows, block_size, stored;
  /* the partition is the matrix's own blocks, one for each block row */
  bool natural;
  /* given_start is NULL after creation */
  bsi_bjacobi_options options;
  bsi_partition partition;
  int32_t per_group, groups;
  /* height·width of all groups: data has slot_bytes·values bytes */
  int64_t values;
  int slot_bytes;
  /* groups, backend memory; NULL where uniform */
  int64_t *first_value;
  /* groups, backend memory: bisai_value_type of each; NULL unless ADAPTIVE */
  uint8_t *format;
  /* backend memory */
  void *data;
  /* rows, backend memory; NULL for INVERSE */
  uint8_t *pivots;
  /* whatever the backend's bjacobi_reserve took with its allocate; released with the rest */
  void *workspace;
  /* of it, for the report */
  int64_t workspace_bytes;
  /* a device: groups whose largest block has at most 4, 8, …, 32 rows */
  int32_t class_groups[BSI_BJACOBI_CLASSES];
  /* a device: 0 and 1 in turn, which half of some workspace is in use */
  int turn;
  /* natural: of each diagonal block among the matrix's blocks, -1 where there is none; otherwise
   * NULL */
  int32_t *position;
  bsi_bjacobi_stats stats;
} bsi_bjacobi;

/* The first scalar row of block b ≤ blocks. */
BSI_INLINE int32_t bsi_partition_start(const bsi_partition *p, const int32_t b) {
  if (!p->uniform) return p->start[b];
  const int64_t start = (int64_t)b * p->uniform;
  return start < p->rows ? (int32_t)start : p->rows;
}

/* The index of group g's first value. */
BSI_INLINE int64_t bsi_bjacobi_first_value(const bsi_bjacobi *jacobi, const int32_t g) {
  if (jacobi->first_value) return jacobi->first_value[g];
  return (int64_t)g * jacobi->per_group * jacobi->partition.uniform * jacobi->partition.uniform;
}

/* Group g: its blocks and its scalar rows. */
typedef struct bsi_group {
  /* blocks */
  int32_t begin, end;
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

/* A partition from its starts, checked, in host memory: blocks + 1, or NULL without blocks. */
bisai_status bsi_partition_set(bisai_context *context, int32_t rows, int32_t blocks,
                               const int32_t *start, bsi_partition *partition);

/* Finds the blocks and reserves what they need; values are unset. With shift_amount > 0 singular
 * blocks will be repaired, missing ones counting as zero. The options' enums and ranges are checked
 * by the caller. */
bisai_status bsi_bjacobi_create(bisai_context *context, const bisai_bcsr *matrix,
                                const bsi_bjacobi_options *options, bsi_bjacobi *jacobi);

/* Whether `matrix` is one that the blocks were made for: fp64, as many blocks as at creation, and
 * natural diagonal blocks where they were. */
bisai_status bsi_bjacobi_check(bisai_context *context, const bisai_bcsr *matrix,
                               const bsi_bjacobi *jacobi);

/* The numbers of a matrix that passed the check; allocates nothing. */
bisai_status bsi_bjacobi_update(bisai_context *context, const bisai_bcsr *matrix,
                                bsi_bjacobi *jacobi);

void bsi_bjacobi_destroy(bisai_context *context, bsi_bjacobi *jacobi);

/* What an application reads beside the values, and everything that is held. */
int64_t bsi_bjacobi_index_bytes(const bsi_bjacobi *jacobi);
int64_t bsi_bjacobi_memory(const bsi_bjacobi *jacobi);

#ifdef __cplusplus
}
#endif

#endif
