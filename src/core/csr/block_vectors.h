/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors between the numbering of the caller's rows and that of the blocks. */
#ifndef BSI_BLOCK_VECTORS_H
#define BSI_BLOCK_VECTORS_H

#include <bisai/bcsr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Does what bisai_bcsr_to_blocks() does with arrays in backend memory, by the threads or the stream
 * of `context`, which need not be the matrix's. */
bisai_status bsi_bcsr_to_blocks(bisai_context *context, const bisai_bcsr *matrix, int32_t width,
                                const double *x, double *blocks);

#ifdef __cplusplus
}
#endif

#endif
