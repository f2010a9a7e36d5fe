/* SPDX-License-Identifier: BSD-3-Clause */
/* Inverses of many blocks that lie side by side and stay in fp64. */
#include "bjacobi/factorize/classes_cuda.cuh"

void bsi_enqueue_plain_inverses(bisai_context *context, int max_rows, const bsi_values_job &p) {
  bsi_enqueue_class<BSI_INVERSE_CLASSES, BISAI_FORM_INVERSE, true>(context, max_rows, p);
}
