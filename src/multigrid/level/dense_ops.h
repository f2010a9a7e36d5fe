/* SPDX-License-Identifier: BSD-3-Clause */
/* A backend's operations for the dense inverse of the coarsest matrix. Arrays are in backend
 * memory. */
#ifndef BSI_DENSE_OPS_H
#define BSI_DENSE_OPS_H

#include "core/context/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The dense inverse of the coarsest matrix. */
typedef struct bsi_dense_ops {
  /* An inverse costs so little that a matrix of preconditioners is inverted if it is small enough,
   * even if the inverse takes longer than a hierarchy */
  bool cheap;
  /* inverse ← A⁻¹, of n = block_rows·bs rows, stored column by column, by blocked Gauss–Jordan
   * elimination. Pivots are the largest of their columns, or of a part of these if the inverse then
   * passes a test. `work` has n² doubles. *smallest and *largest ← the smallest and the largest
   * magnitude of the pivots. *smallest is 0 if a pivot is zero or not finite, or if a value of the
   * inverse is not finite. The inverse is of no use then. Waits. */
  bisai_status (*invert)(bisai_context *, const bisai_bcsr *a, double *work, double *inverse,
                         double *smallest, double *largest);
  /* y ← inverse·x */
  bisai_status (*multiply)(bisai_context *, int32_t n, const double *inverse, const double *x,
                           double *y);
} bsi_dense_ops;

extern const bsi_dense_ops bsi_dense_host, bsi_dense_cuda;

#ifdef __cplusplus
}
#endif

#endif
