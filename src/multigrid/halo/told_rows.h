/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of other ranks that have blocks in own columns. Each rank tells the owner of a column
 * which of its rows have blocks there. */
#ifndef BSI_TOLD_ROWS_H
#define BSI_TOLD_ROWS_H

#include "core/matrix/mirror.h"
#include "multigrid/halo/halo.h"
#include "multigrid/halo/numbering.h"

/* The own rows of a matrix: how many, which one is the first among all, and the structure. Its
 * columns are n own ones and then ghosts. */
typedef struct bsi_told_rows {
  int32_t rows;
  int64_t first;
  bsi_structure structure;
} bsi_told_rows;

/* numbering ← with the rows of other ranks that have blocks in own columns. `halo` is that of the
 * columns, and `before` the status of what this rank did alone before. All ranks call it. */
bisai_status bsi_told_rows_find(bsi_halo *halo, bisai_status before, const bsi_told_rows *rows,
                                bsi_numbering *numbering);

#endif
