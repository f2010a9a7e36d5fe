/* SPDX-License-Identifier: BSD-3-Clause */
/* The transfers of a level of a rank, and the matrix of the next one. */
#ifndef BSI_COARSE_MATRIX_H
#define BSI_COARSE_MATRIX_H

#include "multigrid/aggregation/coarsening.h"
#include "multigrid/ranks/rank_level.h"

/* Makes T, P, R and A P of level l with `c`, and *coarse ← R A P without its values, whose columns
 * are numbered in `columns`. It stays NULL if it is too large. All ranks call it. */
bisai_status bsi_rank_coarse_create(bsi_rank_hierarchy *r, int l, bsi_coarsening *c,
                                    bsi_numbering *columns, bisai_bcsr **coarse);
/* Computes the values of P and R, unless they are kept, and of the next matrix. All ranks call
 * it. */
bisai_status bsi_rank_coarse_update(bsi_rank_hierarchy *r, int l, bool keep);

#endif
