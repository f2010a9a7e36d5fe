/* SPDX-License-Identifier: BSD-3-Clause */
/* LU and Gauss–Huard decompositions of many blocks. */
#include "bjacobi/factorize/classes_cuda.cuh"

void bsi_enqueue_decompositions(bisai_context *context, int max_rows, const bsi_values_job &p) {
  if (p.form == BISAI_FORM_LU)
    bsi_enqueue_class<BSI_DECOMPOSITION_CLASSES, BISAI_FORM_LU, false>(context, max_rows, p);
  else
    bsi_enqueue_class<BSI_DECOMPOSITION_CLASSES, BISAI_FORM_GAUSS_HUARD, false>(context, max_rows,
                                                                                p);
}
