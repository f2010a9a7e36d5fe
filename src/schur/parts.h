/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrices of a saddle point, made once on the host: which values of A each of them takes, and
 * the structure of the Schur complement. */
#ifndef BSI_PARTS_H
#define BSI_PARTS_H

#include "schur/split.h"

/* A part of A in host memory. Value k of the part is value map[k] of A; −1: zero. */
typedef struct bsi_part_of {
  int32_t block_rows, block_cols, block_size;
  int32_t *row_ptr, *col_idx;
  int64_t *map;
} bsi_part_of;

typedef struct bsi_saddle_parts {
  /* K has the blocks of A without the pressures, or single values (bsi_split::velocity_size) */
  bsi_part_of k, g, d;
  /* the Schur complement, with all diagonal entries; its map takes −C */
  bsi_part_of e;
  /* the values of A that are zero and of which no part has a place */
  int64_t *dropped;
  int64_t dropped_count;
  /* where the diagonal entries of K are in A, and those of E in E */
  int64_t *k_diagonal, *e_diagonal;
  /* the scalar rows of the velocities and of the pressures */
  int32_t *velocities, *pressures;
  /* −C has a value that is not zero */
  bool stabilised;
} bsi_saddle_parts;

/* Makes the parts. The caller owns them, also after a failure. */
bisai_status bsi_saddle_parts_make(bisai_context *context, const bsi_saddle *a,
                                   const bsi_split *split, bsi_saddle_parts *parts);
/* Accepts a struct of zeros. */
void bsi_saddle_parts_release(bisai_context *context, bsi_saddle_parts *parts);

/* Returns the number of values of a part. */
static inline int64_t bsi_part_values(const bsi_part_of *p) {
  return (int64_t)p->row_ptr[p->block_rows] * p->block_size * p->block_size;
}

#endif
