/* SPDX-License-Identifier: BSD-3-Clause */
/* Inverses of natural blocks of one size, 9 … 32 rows, that stay in fp64, on a device: two or three
 * rows a lane, so that so much less has to be told to other lanes. */
#include "bjacobi/values_cuda.cuh"

/* R rows a lane and LANES lanes a block, which leave few lanes idle; 2ⁿ of them find norms without
 * the tile. */
template <int M> struct lanes_of {
  static constexpr int R = M >= 13 && M <= 16 || M > 24 || M == 10 ? 2 : 3;
  static constexpr int LANES = M == 9 ? 3 : M == 10 ? 5 : M <= 12 ? 4 : M <= 24 ? 8 : 16;
  static_assert(R * LANES >= M, "lanes for all rows");
};

template <int M> static bool enqueue(const bisai_context *context, const bsi_values_job &p) {
  return bsi_enqueue_values<M, lanes_of<M>::R, lanes_of<M>::LANES, BISAI_FORM_INVERSE, true, true>(
      context, p);
}

bool bsi_enqueue_uniform_inverses(const bisai_context *context, const bsi_values_job &p) {
  switch (p.uniform) {
#define CASE(M)                                                                                    \
  case M: return enqueue<M>(context, p);
    CASE(9)
    CASE(10)
    CASE(11)
    CASE(12)
    CASE(13)
    CASE(14)
    CASE(15)
    CASE(16)
    CASE(17)
    CASE(18)
    CASE(19)
    CASE(20)
    CASE(21)
    CASE(22)
    CASE(23)
    CASE(24)
    CASE(25)
    CASE(26)
    CASE(27)
    CASE(28)
    CASE(29)
    CASE(30)
    CASE(31)
#undef CASE
  default: return enqueue<32>(context, p);
  }
}
