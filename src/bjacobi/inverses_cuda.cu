/* Inverses of many blocks on a device, by size classes: 4, 8, 12, 16, 20, 24, 28, 32 rows at most. */
#include "bjacobi/numbers_cuda.cuh"

/* plain_inverses_cuda.cu is the same with other constants, so that they compile side by side. */
#ifndef BSI_ENQUEUE
#define BSI_ENQUEUE bsi_enqueue_inverses
#define BSI_PLAIN false
#endif

/* Blocks that lie side by side and are of one size have two rows a lane. Others are waited for, or have too few lanes then: a row a lane. */
template <bool PLAIN> static int enqueue(cudaStream_t stream, int most, const bsi_numbers &p) {
  constexpr bisai_form FORM = BISAI_FORM_INVERSE;
  if constexpr (PLAIN)
    if (p.source == BSI_FROM_BLOCKS) switch (p.per_group == BSI_WARP / p.uniform ? p.uniform : 0) {
#define CASE(M)                                                                                                        \
  case M: return bsi_enqueue_numbers<M, 2, M / 2, FORM, true, true>(stream, p);
        CASE(12)
        CASE(16)
        CASE(20)
        CASE(24)
        CASE(28)
        CASE(32)
#undef CASE
            default : break;
      }
  if (most > 28) return bsi_enqueue_numbers<32, 1, 32, FORM, PLAIN>(stream, p);
  if (most > 24) return bsi_enqueue_numbers<28, 1, 32, FORM, PLAIN>(stream, p);
  if (most > 20) return bsi_enqueue_numbers<24, 1, 32, FORM, PLAIN>(stream, p);
  if (most > 16) return bsi_enqueue_numbers<20, 1, 32, FORM, PLAIN>(stream, p);
  if (most == 16 && p.largest == 16) return bsi_enqueue_numbers<16, 1, 16, FORM, PLAIN>(stream, p);
  if (most > 12) return bsi_enqueue_numbers<16, 1, 0, FORM, PLAIN>(stream, p);
  if (most > 8) return bsi_enqueue_numbers<12, 1, 0, FORM, PLAIN>(stream, p);
  if (most == 8 && p.largest == 8) return bsi_enqueue_numbers<8, 1, 8, FORM, PLAIN>(stream, p);
  if (most > 4) return bsi_enqueue_numbers<8, 1, 0, FORM, PLAIN>(stream, p);
  return bsi_enqueue_numbers<4, 1, 0, FORM, PLAIN>(stream, p);
}

int BSI_ENQUEUE(cudaStream_t stream, int most, const bsi_numbers &p) { return enqueue<BSI_PLAIN>(stream, most, p); }
