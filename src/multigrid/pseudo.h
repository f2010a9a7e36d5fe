/* SPDX-License-Identifier: BSD-3-Clause */
/* The pseudo-inverse of a small matrix on the host. */
#ifndef BSI_PSEUDO_H
#define BSI_PSEUDO_H

#include "core/context_impl.h"

/* Returns the doubles that bsi_pseudo_invert() needs. */
static inline int64_t bsi_pseudo_room(int64_t n) { return 4 * n * n + 3 * n; }

/* Computes C (R A C)⁺ R, where R A C has values of magnitude 1: for a regular A its inverse. The
 * first n² doubles of `room` are A, column by column; they are overwritten. Pivots of a few
 * `errors` ε times the largest are taken for rounding errors. *inverse is a place in `room`.
 * *nullity ← n minus the rank. Refuses NaN and infinity, also in the result (BISAI_NOT_FINITE).
 * Takes about 2 n³ operations, as an inverse does. */
bisai_status bsi_pseudo_invert(bisai_context *context, int64_t n, double errors, double *room,
                               double **inverse, int32_t *nullity);

#endif
