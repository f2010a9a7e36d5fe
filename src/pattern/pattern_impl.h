/* SPDX-License-Identifier: BSD-3-Clause */
/* The private struct of a pattern: by rows for products, by columns for the small systems. */
#ifndef BSI_PATTERN_IMPL_H
#define BSI_PATTERN_IMPL_H

#include <bisai/pattern.h>

#include "core/matrix/bcsr_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The blocks that a limit on the length of rows left out. In a transposed pattern it limits
 * columns. */
typedef struct bsi_cut {
  /* the number of shortened rows */
  int32_t shortened;
  int64_t blocks;
} bsi_cut;

struct bisai_pattern {
  bisai_context *context;
  bisai_triangle triangle;
  int32_t block_rows, blocks, longest_column;
  /* the number of levels; -1: not yet counted */
  int32_t levels;
  /* Backend memory: */
  /* BCSR, columns ascending */
  int32_t *row_ptr, *col_idx;
  /* block column j has the rows row_idx[col_ptr[j]] …, ascending */
  int32_t *col_ptr, *row_idx;
  /* the position in the row form of each entry of the column form */
  int32_t *position;
  bsi_cut cut;
  /* the host copy of row_ptr and col_idx */
  bsi_mirror mirror;
};

/* The blocks of S(|T|^k) that a pattern lacks. */
typedef struct bsi_pattern_losses {
  /* the blocks of T that were dropped before powering */
  int64_t dropped;
  bsi_cut cut;
} bsi_pattern_losses;

/* Makes S(|T|^power) of a triangular matrix. Blocks i ≠ j with ‖T_ij‖_F < drop_tolerance·‖T_ii‖_F
 * are dropped first. With column_limit > 0 each column keeps at most that many blocks: the nearest
 * in the graph of T, and of equally near ones the nearest to the diagonal. */
bisai_status bsi_pattern_reduced(bisai_context *context, const bisai_bcsr *t,
                                 bisai_triangle triangle, int power, double drop_tolerance,
                                 int32_t column_limit, bisai_pattern **pattern,
                                 bsi_pattern_losses *losses);

/* Makes a pattern without rows. */
bisai_pattern *bsi_pattern_reserve(bisai_context *context, bisai_triangle triangle, int32_t n);

/* Sets the rows of a pattern from a structure in host memory. */
bisai_status bsi_pattern_set_rows(bisai_pattern *p, const int32_t *row_ptr, const int32_t *col_idx);

/* Copies a valid pattern. */
bisai_status bsi_pattern_copy(bisai_context *context, const bisai_pattern *from,
                              bisai_pattern **pattern);

/* Completes a pattern that has its rows, and publishes it. If `status` is a failure or this fails,
 * the pattern is destroyed. */
bisai_status bsi_pattern_finish(bisai_pattern *p, bisai_status status, bisai_pattern **pattern);

int64_t bsi_pattern_memory(const bisai_pattern *pattern);

#ifdef __cplusplus
}
#endif

#endif
