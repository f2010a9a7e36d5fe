/* SPDX-License-Identifier: BSD-3-Clause */
/* Host copies of the integers of a structure in backend memory, for the work that the host does on
 * every backend: symbolic factorisation, levels, orderings, writing. A copy is fetched when it is
 * first needed, and kept. If backend memory is host memory, there are no copies. */
#ifndef BSI_MIRROR_H
#define BSI_MIRROR_H

#include <stdint.h>

#include "core/context/context_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bsi_mirror {
  /* NULL: not fetched yet */
  int32_t *row_ptr, *col_idx;
} bsi_mirror;

/* A structure, in host memory unless a comment says otherwise. */
typedef struct bsi_structure {
  const int32_t *row_ptr, *col_idx;
} bsi_structure;

/* *structure ← the structure of n rows in host memory. If the arrays are not in host memory, it is
 * read through `mirror`, which may be NULL otherwise. The structure lives as long as the arrays and
 * the mirror. */
bisai_status bsi_mirror_read(bisai_context *context, int32_t n, const int32_t *row_ptr,
                             const int32_t *col_idx, bsi_mirror *mirror, bsi_structure *structure);

/* Copies a structure in host memory to row_ptr and col_idx, which are reserved backend memory. If
 * they are not in host memory, the mirror keeps a copy too. */
bisai_status bsi_mirror_write(bisai_context *context, int32_t n, const bsi_structure *structure,
                              bsi_mirror *mirror, int32_t *row_ptr, int32_t *col_idx);

void bsi_mirror_release(bisai_context *context, bsi_mirror *mirror);

#ifdef __cplusplus
}
#endif

#endif
