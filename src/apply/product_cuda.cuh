/* SPDX-License-Identifier: BSD-3-Clause */
/* The launches of products with A and with its transpose on the device. */
#ifndef BSI_PRODUCT_CUDA_CUH
#define BSI_PRODUCT_CUDA_CUH

#include "apply/apply_ops.h"
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "gpu/load.cuh"

namespace {

/* Vectors of one launch. */
enum { VECTORS_AT_ONCE = 4 };

/* Launches a product of A with VECTORS_AT_ONCE vectors, or with one, at a time.
 *   F: launch(stored, part) is for the vectors of `part`; the type of `stored` is bsi_stored of A's
 *      value type */
template <typename F>
bisai_status for_vectors(const bisai_bcsr *a, const bsi_product *all, const F &launch) {
  bsi_product part;
  for (int32_t v = 0; v < all->count; v += part.count) {
    part = bsi_product_part(all, v, VECTORS_AT_ONCE);
    switch (a->type) {
#define LAUNCH(enumerator, word, bytes, mantissa)                                                  \
  case enumerator: BSI_TRY(launch(bsi_stored<enumerator>(), part)); break;
      BISAI_MATRIX_TYPE_LIST(LAUNCH)
#undef LAUNCH
    default: break; /* matrices have no other */
    }
  }
  return BISAI_OK;
}

} // namespace

#endif
