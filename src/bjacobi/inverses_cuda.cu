/* Inverses of many blocks on a device, by size classes: 4, 8, 12, 16, 20, 24, 28, 32 rows at most. */
#include "bjacobi/numbers_cuda.cuh"

/* plain_inverses_cuda.cu is the same with other constants, so that they compile side by side. */
#ifndef BSI_ENQUEUE
#define BSI_ENQUEUE bsi_enqueue_inverses
#define BSI_PLAIN false
#endif

/* In sub-warps of as many lanes as rows up to 8, and 16, there is a kernel of its own; others may have fewer lanes than the class has rows. */
template <bool PLAIN> static int enqueue(cudaStream_t stream, int most, const bsi_numbers &p) {
  constexpr bisai_form FORM = BISAI_FORM_INVERSE;
  if constexpr (PLAIN)
    if (p.source == BSI_FROM_BLOCKS) switch (p.per_group == BSI_WARP / p.uniform ? p.uniform : 0) {
#define CASE(M, LANES)                                                                                                 \
  case M: return bsi_enqueue_numbers<M, LANES, FORM, true, true>(stream, p);
        CASE(12, 12)
        CASE(16, 16)
        CASE(20, 32)
        CASE(24, 32)
        CASE(28, 32) CASE(32, 32)
#undef CASE
            default : break;
      }
  if (most > 28) return bsi_enqueue_numbers<32, 32, FORM, PLAIN>(stream, p);
  if (most > 24) return bsi_enqueue_numbers<28, 32, FORM, PLAIN>(stream, p);
  if (most > 20) return bsi_enqueue_numbers<24, 32, FORM, PLAIN>(stream, p);
  if (most > 16) return bsi_enqueue_numbers<20, 32, FORM, PLAIN>(stream, p);
  if (most == 16 && p.lanes == 16) return bsi_enqueue_numbers<16, 16, FORM, PLAIN>(stream, p);
  if (most > 12) return bsi_enqueue_numbers<16, 0, FORM, PLAIN>(stream, p);
  if (most > 8) return bsi_enqueue_numbers<12, 0, FORM, PLAIN>(stream, p);
  if (most == 8 && p.lanes == 8) return bsi_enqueue_numbers<8, 8, FORM, PLAIN>(stream, p);
  if (most > 4) return bsi_enqueue_numbers<8, 0, FORM, PLAIN>(stream, p);
  return bsi_enqueue_numbers<4, 0, FORM, PLAIN>(stream, p);
}

int BSI_ENQUEUE(cudaStream_t stream, int most, const bsi_numbers &p) { return enqueue<BSI_PLAIN>(stream, most, p); }
