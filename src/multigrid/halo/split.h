/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of a rank's matrix in two groups: the inner rows, which have no ghosts among their
 * columns, and the border rows. Products do the inner rows while the ghosts are on their way. A row
 * has the same bits in a group as among all rows. */
#ifndef BSI_HALO_SPLIT_H
#define BSI_HALO_SPLIT_H

#include "core/context/context_impl.h"
#include "core/vector/row_list.h"
#include "multigrid/spgemm/block_matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of zeros: there are no groups, and a product waits for the ghosts. */
typedef struct bsi_split {
  int32_t rows, inner;
  /* in backend memory: the inner rows ascending, and then the border rows ascending */
  int32_t *order;
} bsi_split;

/* The groups of A, R and P of a level. */
typedef struct bsi_splits {
  bsi_split matrix, restriction, prolongation;
} bsi_splits;

/* Groups the rows of a matrix whose columns are `own` own ones and then ghosts. Leaves *split empty
 * if one of the groups would be empty, or if the inner rows have fewer than `least` bytes. After a
 * failure the caller destroys it. */
bisai_status bsi_split_create(bisai_context *context, const bsi_block_matrix *m, int32_t own,
                              int64_t least, bsi_split *split);
int64_t bsi_split_memory(const bsi_split *split);
/* Accepts a struct of zeros. */
void bsi_split_destroy(bisai_context *context, bsi_split *split);

static inline bsi_row_list bsi_inner_rows(const bsi_split *split) {
  return (bsi_row_list){split->inner, split->order};
}
static inline bsi_row_list bsi_border_rows(const bsi_split *split) {
  return (bsi_row_list){split->rows - split->inner, split->order + split->inner};
}

/* order ← the inner rows, and then the border rows. The blocks of ghosts are the last ones of a
 * row. Waits. */
typedef bisai_status bsi_order_rows(bisai_context *, int32_t rows, const int32_t *row_ptr,
                                    const int32_t *col_idx, int32_t own, int32_t *order,
                                    int32_t *inner);
bsi_order_rows bsi_order_rows_host, bsi_order_rows_cuda;

#ifdef __cplusplus
}
#endif

#endif
