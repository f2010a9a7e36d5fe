/* SPDX-License-Identifier: BSD-3-Clause */
/* LU and Gauss–Huard decompositions of many blocks on a device, by size classes: 8, 16, 24, 32. */
#include "bjacobi/values_cuda.cuh"

template <bisai_form FORM>
static bool enqueue(const bisai_context *context, int most, const bsi_values_job &p) {
  if (most <= 8) return bsi_enqueue_values<8, 1, 0, FORM, false>(context, p);
  if (most <= 16) return bsi_enqueue_values<16, 1, 0, FORM, false>(context, p);
  if (most <= 24) return bsi_enqueue_values<24, 1, 32, FORM, false>(context, p);
  return bsi_enqueue_values<32, 1, 32, FORM, false>(context, p);
}

void bsi_enqueue_decompositions(const bisai_context *context, int most, const bsi_values_job &p) {
  if (p.form == BISAI_FORM_LU)
    enqueue<BISAI_FORM_LU>(context, most, p);
  else
    enqueue<BISAI_FORM_GAUSS_HUARD>(context, most, p);
}
