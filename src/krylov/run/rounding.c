/* SPDX-License-Identifier: BSD-3-Clause */
#include "krylov/run/rounding.h"

#include "core/context/context_impl.h"

/* With c = 2²⁷ + 1 the first digits of x are c x − (c x − x). */
bisai_status bsi_lost_digits(bisai_context *context, int64_t n, const double *x, double *lost,
                             double *rest) {
  const double splitter = 0x1p27 + 1;
  const bsi_vector_ops *vectors = context->backend->vectors;
  BSI_TRY(vectors->combine(context, n, splitter, x, 0, lost));
  BSI_TRY(vectors->copy(context, n, lost, rest));
  BSI_TRY(vectors->combine(context, n, -1, x, 1, rest));
  BSI_TRY(vectors->combine(context, n, -1, rest, 1, lost));
  return vectors->combine(context, n, 1, x, -1, lost);
}
