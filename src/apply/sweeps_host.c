/* SPDX-License-Identifier: BSD-3-Clause */
/* G ← D⁻¹ T_off on the host. */
#include <string.h>

#include "core/backend_host.h"
#include "core/triangular.h"

static bool scale_row(const bsi_triangular *t, int32_t i, bisai_bcsr *scaled) {
  const bisai_bcsr *a = t->matrix;
  const int bs = a->block_size;
  const size_t values = (size_t)(bs * bs);
  double *to = (double *)scaled->values + (size_t)scaled->row_ptr[i] * values;
  bool finite = true;
  for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
    if (a->col_idx[p] == i) continue;
    const double *from = (const double *)a->values + (size_t)p * values;
    if (t->inverse_diagonal)
      bsi_block_multiply(bs, t->inverse_diagonal + (size_t)i * values, from, to);
    else
      memcpy(to, from, values * sizeof *to);
    finite &= bsi_all_finite(values, to);
    to += values;
  }
  return finite;
}

bisai_status bsi_scale_off_diagonal_host(bisai_context *context, const bsi_triangular *t, bisai_bcsr *scaled,
                                         int32_t *infinite_row) {
  (void)context; /* without OpenMP */
  int32_t first = INT32_MAX;
#pragma omp parallel for num_threads(context->threads) schedule(static) reduction(min : first)
  for (int32_t i = 0; i < t->matrix->block_rows; i++)
    if (!scale_row(t, i, scaled) && i < first) first = i;
  *infinite_row = first == INT32_MAX ? -1 : first;
  return BISAI_OK;
}
