/* SPDX-License-Identifier: BSD-3-Clause */
/* A backend's operations on the values of matrices. */
#ifndef BSI_MATRIX_OPS_H
#define BSI_MATRIX_OPS_H

#include "core/context/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bsi_asymmetry; /* core/matrix/asymmetry.h */

typedef struct bsi_matrix_ops {
  /* Block p of `to` ← block order[p] of `from` (NULL: p), transposed if `from` is row-major.
   * Without an order, `to` may be `from`. */
  bisai_status (*copy_blocks)(bisai_context *, bisai_value_type, int bs, int32_t blocks,
                              bisai_layout, const int32_t *order, const void *from, void *to);
  /* to[map(p)] ← from[p] for p < count; the map is one-to-one (core/matrix/entry_map.h). */
  bisai_status (*scatter_values)(bisai_context *, int64_t count, bool wide, const void *map,
                                 const double *from, double *to);
  /* *index ← the first of `count` values that is NaN or infinite, or −1. Waits. */
  bisai_status (*find_not_finite)(bisai_context *, bisai_value_type, int64_t count,
                                  const void *values, int64_t *index);
  /* *index ← the first block row, or block column, that stores no block, or −1. `marks` has a
   * double for each block row or column. Waits. */
  bisai_status (*find_empty)(bisai_context *, const bisai_bcsr *, bool columns, double *marks,
                             int64_t *index);
} bsi_matrix_ops;

typedef struct bsi_asymmetry_ops {
  /* Compares a square matrix with its transpose: core/matrix/asymmetry.h. If the asymmetry is more
   * than `enough`, the measurement may end early, with any value above `enough`. Waits. */
  bisai_status (*measure)(bisai_context *, const bisai_bcsr *, double enough,
                          struct bsi_asymmetry *);
} bsi_asymmetry_ops;

extern const bsi_matrix_ops bsi_matrix_host, bsi_matrix_cuda;
extern const bsi_asymmetry_ops bsi_asymmetry_host, bsi_asymmetry_cuda;

#ifdef __cplusplus
}
#endif

#endif
