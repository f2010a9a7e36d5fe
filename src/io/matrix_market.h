/* Matrix Market files: Boisvert, Pozo, Remington, The Matrix Market Exchange Formats, NISTIR 5935, 1996. */
#ifndef BSI_MATRIX_MARKET_H
#define BSI_MATRIX_MARKET_H

#include <bisai/io.h>

#include "io/entries.h"
#include "io/stream.h"

/* The entries of a square sparse matrix, those of symmetric storage mirrored. *entries starts as zero; what it holds is the caller's
 * to free, after a failure too. */
bisai_status bsi_market_read_matrix(bisai_context *context, bsi_stream *stream, int32_t *rows, bsi_entries *entries);

bisai_status bsi_market_read_vector(bisai_context *context, bsi_stream *stream, int64_t n, double *values);

/* bisai_read_matrix() and bisai_read_vector() from text in memory, plain or compressed. Without progress. */
bisai_status bsi_read_matrix_memory(bisai_context *context, const void *data, size_t bytes,
                                    const bisai_read_options *options, bisai_bcsr **matrix);
bisai_status bsi_read_vector_memory(bisai_context *context, const void *data, size_t bytes, int64_t n, double *values);

#endif
