/* SPDX-License-Identifier: BSD-3-Clause */
/* The places of a caller's rows among the rows of a matrix's blocks, where the two are numbered
 * differently. Rows of the blocks that are the place of no row are padding. */
#ifndef BSI_PLACES_H
#define BSI_PLACES_H

#include "core/context/context_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bsi_places {
  int32_t rows;
  /* of each row: its place, one-to-one; NULL: row i is at place i */
  int32_t *host;
  /* the same in backend memory; on the host, the same array */
  int32_t *backend;
} bsi_places;

/* Copies places that have been set to backend memory. Waits. */
bisai_status bsi_places_upload(bisai_context *context, bsi_places *places);
void bsi_places_release(bisai_context *context, bsi_places *places);

/* Moves rows of `width` values, in backend memory: row place(i) of `to` ← row i of `from`, or with
 * `back` row i of `to` ← row place(i) of `from`. */
typedef bisai_status bsi_move_rows(bisai_context *, const bsi_places *, int32_t width, bool back,
                                   const double *from, double *to);
bsi_move_rows bsi_move_rows_host, bsi_move_rows_cuda;

#ifdef __cplusplus
}
#endif

#endif
