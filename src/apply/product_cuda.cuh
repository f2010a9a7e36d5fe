/* SPDX-License-Identifier: BSD-3-Clause */
/* The launches of products with A and with its transpose on the device. */
#ifndef BSI_PRODUCT_CUDA_CUH
#define BSI_PRODUCT_CUDA_CUH

#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "gpu/load.cuh"

namespace {

/* Vectors of one launch. */
enum { VECTORS_AT_ONCE = 4 };

/* Launches a product of A with `count` vectors, VECTORS_AT_ONCE or one at a time.
 *   F: launch(stored, v, vectors) is for `vectors` vectors from v on; the type of `stored` is
 *      bsi_stored of A's value type */
template <typename F>
bisai_status for_vectors(const bisai_bcsr *a, int32_t count, const F &launch) {
  for (int32_t v = 0; v < count;) {
    const int vectors = count - v >= VECTORS_AT_ONCE ? VECTORS_AT_ONCE : 1;
    switch (a->type) {
#define LAUNCH(enumerator, word, bytes, mantissa)                                                  \
  case enumerator: BSI_TRY(launch(bsi_stored<enumerator>(), v, vectors)); break;
      BISAI_MATRIX_TYPE_LIST(LAUNCH)
#undef LAUNCH
    default: break; /* matrices have no other */
    }
    v += vectors;
  }
  return BISAI_OK;
}

} // namespace

#endif
