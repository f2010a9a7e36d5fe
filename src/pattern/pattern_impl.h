/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of a pattern: by rows, as products want it, and by columns, as the small systems do. */
#ifndef BSI_PATTERN_IMPL_H
#define BSI_PATTERN_IMPL_H

#include <bisai/pattern.h>

#include "core/bcsr_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a limit on the length of rows (of columns, in a transposed pattern) left out. */
typedef struct bsi_cut {
  /* rows */
  int32_t shortened;
  int64_t blocks;
} bsi_cut;

struct bisai_pattern {
  bisai_context *context;
  bisai_triangle triangle;
  int32_t block_rows, blocks, longest_column;
  /* -1: not counted yet */
  int32_t levels;
  /* Backend memory: */
  /* BCSR, columns ascending */
  int32_t *row_ptr, *col_idx;
  /* block column j: rows row_idx[col_ptr[j]] … ascending */
  int32_t *col_ptr, *row_idx;
  /* where the entry of the column form lies in the row form */
  int32_t *position;
  bsi_cut cut;
  /* of row_ptr and col_idx */
  bsi_mirror mirror;
};

/* What a pattern lacks of S(|T|^k). */
typedef struct bsi_pattern_losses {
  /* blocks of T that were left out before powering */
  int64_t dropped;
  bsi_cut cut;
} bsi_pattern_losses;

/* S(|T|^power) of a triangular matrix without the blocks i ≠ j whose ‖T_ij‖_F <
 * drop_tolerance·‖T_ii‖_F and, with column_limit > 0, with columns that keep at most that many
 * blocks: nearest in the graph of T first, then nearest to the diagonal. */
bisai_status bsi_pattern_reduced(bisai_context *context, const bisai_bcsr *t,
                                 bisai_triangle triangle, int power, double drop_tolerance,
                                 int32_t column_limit, bisai_pattern **pattern,
                                 bsi_pattern_losses *losses);

/* A pattern without rows. */
bisai_pattern *bsi_pattern_reserve(bisai_context *context, bisai_triangle triangle, int32_t n);

/* Its rows from a structure in host memory. */
bisai_status bsi_pattern_set_rows(bisai_pattern *p, const int32_t *row_ptr, const int32_t *col_idx);

/* The rows in host memory; alive as long as the pattern. Waits the first time. */
bisai_status bsi_pattern_structure(const bisai_pattern *p, bsi_structure *structure);

/* A copy of a sound pattern. */
bisai_status bsi_pattern_copy(bisai_context *context, const bisai_pattern *from,
                              bisai_pattern **pattern);

/* Completes a pattern whose rows are there, and publishes it; frees it where `status` or this
 * fails. */
bisai_status bsi_pattern_finish(bisai_pattern *p, bisai_status status, bisai_pattern **pattern);

int64_t bsi_pattern_memory(const bisai_pattern *pattern);

#ifdef __cplusplus
}
#endif

#endif
