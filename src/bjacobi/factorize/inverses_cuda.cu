/* SPDX-License-Identifier: BSD-3-Clause */
/* Inverses of many blocks from any source, with repairs and in every format. */
#include "bjacobi/factorize/classes_cuda.cuh"

void bsi_enqueue_inverses(bisai_context *context, int max_rows, const bsi_values_job &p) {
  bsi_enqueue_class<BSI_INVERSE_CLASSES, BISAI_FORM_INVERSE, false>(context, max_rows, p);
}
