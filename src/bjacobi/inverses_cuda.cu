/* SPDX-License-Identifier: BSD-3-Clause */
/* Inverses of many blocks on a device, by size classes: 4, 8, 12, 16, 20, 24, 28, 32 rows at
 * most. */
#include "bjacobi/values_cuda.cuh"

/* plain_inverses_cuda.cu is the same with other constants, so that they compile side by side. */
#ifndef BSI_ENQUEUE
#define BSI_ENQUEUE bsi_enqueue_inverses
#define BSI_PLAIN false
#endif

/* Blocks that fill sub-warps of 8 or 16 lanes have kernels that know that; in the others lanes are
 * counted when they run. */
template <bool PLAIN>
static bool enqueue(const bisai_context *context, int most, const bsi_numbers &p) {
  constexpr bisai_form FORM = BISAI_FORM_INVERSE;
  if (most > 28) return bsi_enqueue_numbers<32, 1, 32, FORM, PLAIN>(context, p);
  if (most > 24) return bsi_enqueue_numbers<28, 1, 32, FORM, PLAIN>(context, p);
  if (most > 20) return bsi_enqueue_numbers<24, 1, 32, FORM, PLAIN>(context, p);
  if (most > 16) return bsi_enqueue_numbers<20, 1, 32, FORM, PLAIN>(context, p);
  if (most == 16 && p.largest == 16) return bsi_enqueue_numbers<16, 1, 16, FORM, PLAIN>(context, p);
  if (most > 12) return bsi_enqueue_numbers<16, 1, 0, FORM, PLAIN>(context, p);
  if (most > 8) return bsi_enqueue_numbers<12, 1, 0, FORM, PLAIN>(context, p);
  if (most == 8 && p.largest == 8) return bsi_enqueue_numbers<8, 1, 8, FORM, PLAIN>(context, p);
  if (most > 4) return bsi_enqueue_numbers<8, 1, 0, FORM, PLAIN>(context, p);
  return bsi_enqueue_numbers<4, 1, 0, FORM, PLAIN>(context, p);
}

void BSI_ENQUEUE(const bisai_context *context, int most, const bsi_numbers &p) {
  enqueue<BSI_PLAIN>(context, most, p);
}
