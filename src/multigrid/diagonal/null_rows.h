/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of coarse matrices that consist of rounding errors. */
#ifndef BSI_NULL_ROWS_H
#define BSI_NULL_ROWS_H

#include "multigrid/level/hierarchy_impl.h"

/* marks[r] ← 1 for each scalar row r of a level that consists of rounding errors, otherwise 0.
 * `marks` has bsi_level_rows() values in host memory. *rows ← the number of these rows. Overwrites
 * work vectors of this level and of the finer one. Waits. */
bisai_status bsi_null_rows_mark(const bsi_hierarchy *h, const bsi_level *level, double *marks,
                                int64_t *rows);
/* Looks for such rows if D⁻¹ of a new level is suspiciously large, and gives them the inverse 0.
 * level->diagonal.largest is that of D⁻¹ before and after. */
bisai_status bsi_null_rows_create(bsi_hierarchy *h, bsi_level *level);
/* The same after an update. Allocates nothing. It therefore refuses a D⁻¹ that is suspiciously
 * large for the first time. */
bisai_status bsi_null_rows_update(bsi_hierarchy *h, bsi_level *level);
/* Gives the rows that were found the inverse 0 in other inverses of the level's diagonal blocks. */
bisai_status bsi_null_rows_drop(const bsi_hierarchy *h, const bsi_level *level, double *inverse);

#endif
