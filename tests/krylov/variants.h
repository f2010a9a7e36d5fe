/* SPDX-License-Identifier: BSD-3-Clause */
/* CG, BiCGSTAB and IDR(s), and a system for each. */
#ifndef BISAI_TEST_VARIANTS_H
#define BISAI_TEST_VARIANTS_H

#include "systems.h"

enum { SIDE = 16, POINTS = SIDE * SIDE };

static const struct variant {
  bisai_method method;
  int s;
  bool flexible;
} variants[] = {{.method = BISAI_CG, .s = 4},   {.method = BISAI_BICGSTAB, .s = 4},
                {.method = BISAI_IDR, .s = 1},  {.method = BISAI_IDR, .s = 4},
                {.method = BISAI_IDR, .s = 12}, {.method = BISAI_CG, .s = 4, .flexible = true}};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

static inline bisai_solver_options options_of(int v) {
  bisai_solver_options options = bisai_solver_options_default();
  options.method = variants[v].method;
  options.idr.shadow_dimension = variants[v].s;
  options.cg.flexible = variants[v].flexible;
  return options;
}

/* The five-point Laplacian where the method is CG. */
static inline bisai_bcsr *system_for(bisai_context *context, int v) {
  bisai_bcsr *matrix = test_convdiff(context, SIDE);
  if (variants[v].method != BISAI_CG) return matrix;
  double *values = malloc((size_t)bisai_bcsr_blocks(matrix) * sizeof *values);
  const int32_t *row_ptr, *col_idx;
  const void *old;
  bisai_bcsr_arrays(matrix, &row_ptr, &col_idx, &old);
  for (int32_t row = 0; row < POINTS; row++)
    for (int32_t p = row_ptr[row]; p < row_ptr[row + 1]; p++)
      values[p] = col_idx[p] == row ? 4 : -1;
  EXPECT_OK(context, bisai_bcsr_update(matrix, values, BISAI_COLUMN_MAJOR));
  free(values);
  return matrix;
}

#endif
