/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors between the numbering of the caller's rows and that of the blocks. */
#ifndef BSI_BLOCK_VECTORS_H
#define BSI_BLOCK_VECTORS_H

#include <stdbool.h>

#include <bisai/bcsr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Does what bisai_bcsr_to_blocks() does with arrays in backend memory, by the threads or the stream
 * of `context`, which need not be the matrix's. */
bisai_status bsi_bcsr_to_blocks(bisai_context *context, const bisai_bcsr *matrix, int32_t width,
                                const double *x, double *blocks);

/* Returns true if some blocks, not only the last one, have padding. */
bool bsi_has_inner_padding(const bisai_bcsr *matrix);

/* Makes a vector for each component that has rows: 1 in its rows, and 0 in other rows and in the
 * padding, for a matrix whose rows have places. They are in host memory, row by row `count` values,
 * and the caller releases them by bsi_release(). */
bisai_status bsi_component_vectors(const bisai_bcsr *matrix, double **vectors, int32_t *count);

#ifdef __cplusplus
}
#endif

#endif
