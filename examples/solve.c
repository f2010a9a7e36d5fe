/* SPDX-License-Identifier: BSD-3-Clause */
#include <bisai/bisai.h>
#include <stdio.h>

/* A has 2 × 2 blocks of size 2, stored column by column; A (1, 1, 1, 1)ᵀ = b */
int main(void) {
  const int32_t row_ptr[] = {0, 2, 4}, col_idx[] = {0, 1, 0, 1};
  const double values[] = {4, 1, 1, 4, -1, 0, 0, -1, -1, 0, 0, -1, 4, 1, 1, 4}, b[] = {4, 4, 4, 4};
  double x[4] = {0};
  bisai_context *context = NULL;
  bisai_bcsr *matrix = NULL;
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = desc.block_size = 2;
  desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = values;
  bisai_status status = bisai_context_create(NULL, &context);
  if (!status) status = bisai_bcsr_create(context, &desc, &matrix);
  /* chooses the preconditioner and the solver; a relative residual of 1e-8 */
  if (!status) status = bisai_solve(context, matrix, b, x, NULL, NULL);
  printf("%s: x = %g %g %g %g\n", bisai_status_string(status), x[0], x[1], x[2], x[3]);
  bisai_bcsr_destroy(&matrix), bisai_context_destroy(&context);
  return (int)status;
}
