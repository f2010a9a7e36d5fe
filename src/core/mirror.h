/* SPDX-License-Identifier: BSD-3-Clause */
/* Host copies of the integers of a structure in backend memory, for what is done by the host on
 * every backend: symbolic factorisation, levels, orderings, writing. Fetched when they are first
 * asked for, and kept; where backend memory is host memory there are none. */
#ifndef BSI_MIRROR_H
#define BSI_MIRROR_H

#include <stdint.h>

#include "core/context_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bsi_mirror {
  /* NULL: not fetched yet */
  int32_t *row_ptr, *col_idx;
} bsi_mirror;

/* A structure in host memory. */
typedef struct bsi_structure {
  const int32_t *row_ptr, *col_idx;
} bsi_structure;

/* The structure of n rows in host memory, through `mirror` (of which the host has no need) where it
 * is elsewhere; it lives as long as both. */
bisai_status bsi_mirror_read(bisai_context *context, int32_t n, const int32_t *row_ptr,
                             const int32_t *col_idx, bsi_mirror *mirror, bsi_structure *structure);

/* row_ptr and col_idx, reserved backend memory, ← a structure in host memory; where they are
 * elsewhere the mirror gets it too. */
bisai_status bsi_mirror_write(bisai_context *context, int32_t n, const bsi_structure *structure,
                              bsi_mirror *mirror, int32_t *row_ptr, int32_t *col_idx);

void bsi_mirror_release(bisai_context *context, bsi_mirror *mirror);

#ifdef __cplusplus
}
#endif

#endif
