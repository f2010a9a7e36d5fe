/* SPDX-License-Identifier: BSD-3-Clause */
/* G ← D⁻¹ T_off on the host. */
#include <string.h>

#include "apply/apply_ops.h"
#include "core/context/context_impl.h"
#include "core/matrix/triangular.h"
#include "core/threads/parallel.h"

enum { BYTES_PER_THREAD = 1 << 17 };

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

typedef struct scale_job {
  bisai_context *context;
  const bsi_triangular *t;
  bisai_bcsr *scaled;
} scale_job;

/* The partial result of a thread is the first of its rows that is not finite. */
static void scale_part(void *job, bsi_part part) {
  const scale_job *s = job;
  const bisai_bcsr *a = s->t->matrix;
  const bsi_rows rows = bsi_rows_of(a->block_rows, a->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++)
    if (!scale_row(s->t, i, s->scaled)) bsi_min_index(bsi_partial(s->context, part.thread), i);
}

bisai_status bsi_scale_off_diagonal_host(bisai_context *context, const bsi_triangular *t,
                                         bisai_bcsr *scaled, int32_t *infinite_row) {
  const int threads =
      bsi_threads_for(context->threads, bsi_bcsr_product_bytes(t->matrix), BYTES_PER_THREAD);
  *infinite_row = bsi_find_first(context, threads, scale_part, &(scale_job){context, t, scaled});
  return BISAI_OK;
}
