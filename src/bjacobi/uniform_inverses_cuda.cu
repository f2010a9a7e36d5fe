/* Inverses of natural blocks of one size, 9 … 32 rows, that stay in fp64, on a device: two rows a lane, so that half as much has to be told to
 * other lanes. */
#include "bjacobi/numbers_cuda.cuh"

int bsi_enqueue_uniform_inverses(cudaStream_t stream, const bsi_numbers &p) {
  switch (p.uniform) {
#define CASE(M)                                                                                                        \
  case M: return bsi_enqueue_numbers<M, 2, (M + 1) / 2, BISAI_FORM_INVERSE, true, true>(stream, p);
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
  default: return bsi_enqueue_numbers<32, 2, 16, BISAI_FORM_INVERSE, true, true>(stream, p);
  }
}
