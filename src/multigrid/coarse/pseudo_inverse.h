/* SPDX-License-Identifier: BSD-3-Clause */
/* The pseudo-inverse of a small matrix on the host. */
#ifndef BSI_PSEUDO_INVERSE_H
#define BSI_PSEUDO_INVERSE_H

#include "core/context/context_impl.h"

/* Returns the doubles that bsi_pseudo_invert() needs. */
static inline int64_t bsi_pseudo_room(int64_t n) { return 4 * n * n + 3 * n; }

/* *inverse ← C (R A C)⁺ R, where diagonal R and C bring the values of R A C to a magnitude near 1.
 * For a regular A it is the inverse. `room` has bsi_pseudo_room(n) doubles. The first n² are A,
 * column by column. They are overwritten, and *inverse is a place in `room`, stored in the same
 * way. Pivots of a few `errors` ε times the largest are taken for rounding errors. *nullity ← n
 * minus the rank. Returns NULL, or the name of the matrix that overflows: A or the result has NaN
 * or infinity. Takes about 2 n³ operations, as an inverse does. */
const char *bsi_pseudo_invert(bisai_context *context, int64_t n, double errors, double *room,
                              double **inverse, int32_t *nullity);

#endif
