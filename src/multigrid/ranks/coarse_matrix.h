/* SPDX-License-Identifier: BSD-3-Clause */
/* The transfers of a level of a rank, and the matrix of the next one. */
#ifndef BSI_COARSE_MATRIX_H
#define BSI_COARSE_MATRIX_H

#include "multigrid/aggregation/coarsening.h"
#include "multigrid/ranks/rank_level.h"

/* The matrix of the next level, without its values. */
typedef struct bsi_rank_coarse {
  bisai_bcsr *matrix;
  /* all ranks say the same: it is not too large, and P is smoothed */
  bool fits, smoothed;
} bsi_rank_coarse;

/* Makes T, P, R and A P of level l with `c`, and R A P, whose columns are numbered in `columns`.
 * All ranks call it. Returns a failure of all; *own ← that of the last steps, which a rank did
 * alone. */
bisai_status bsi_rank_coarse_create(bsi_rank_hierarchy *r, int l, bsi_coarsening *c,
                                    bsi_numbering *columns, bsi_rank_coarse *coarse,
                                    bisai_status *own);
/* Releases what the attempt to make a next level has left. */
void bsi_rank_coarse_drop(bsi_rank_hierarchy *r, int l);
/* Computes the values of P and R, unless they are kept, and of the next matrix. All ranks call it.
 * *own is the status of what this rank did alone before, and that of the last steps after it. */
bisai_status bsi_rank_coarse_update(bsi_rank_hierarchy *r, int l, bool keep, bisai_status *own);

#endif
