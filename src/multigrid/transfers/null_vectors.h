/* SPDX-License-Identifier: BSD-3-Clause */
/* The near-null-space vectors of level 0. */
#ifndef BSI_NULL_VECTORS_H
#define BSI_NULL_VECTORS_H

#include "multigrid/level/hierarchy_impl.h"

/* Refuses vectors of n rows that are not finite, and vectors of zeros, which would be dropped in
 * every aggregate. */
bisai_status bsi_null_vectors_check_values(bisai_context *context, const bisai_multigrid_options *o,
                                           int64_t n);
/* *vectors ← the near-null-space vectors of the options in backend memory: bsi_level_rows() rows of
 * `null_count` values, row by row. Extreme vectors are scaled. NULL if the options have none. The
 * caller releases *vectors, also after a failure. */
bisai_status bsi_null_vectors_take(const bsi_hierarchy *h, double **vectors);

#endif
