/* SPDX-License-Identifier: BSD-3-Clause */
/* The near-null-space vectors of level 0. */
#ifndef BSI_NULL_VECTORS_H
#define BSI_NULL_VECTORS_H

#include "multigrid/level/hierarchy_impl.h"

/* *vectors ← the near-null-space vectors of the options in backend memory: bsi_level_rows() rows of
 * `null_count` values, row by row. Extreme vectors are scaled. NULL if the options have none. The
 * caller releases *vectors, also after a failure. */
bisai_status bsi_null_vectors_upload(const bsi_hierarchy *h, double **vectors);

#endif
