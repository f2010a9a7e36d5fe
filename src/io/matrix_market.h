/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix Market files: Boisvert, Pozo, Remington, The Matrix Market Exchange Formats, NISTIR 5935,
 * 1996. */
#ifndef BSI_MATRIX_MARKET_H
#define BSI_MATRIX_MARKET_H

#include <bisai/io.h>

#include "io/csr_arrays.h"
#include "io/entries.h"
#include "io/output.h"
#include "io/scalar_rows.h"
#include "io/stream.h"

/* The rows of *csr, and the entries of a square sparse matrix, those of symmetric storage mirrored,
 * within csr->limit. *entries starts as zero; what it holds is the caller's to free, after a
 * failure too. */
bisai_status bsi_market_read_matrix(bisai_context *context, bsi_stream *stream, bsi_csr *csr,
                                    bsi_entries *entries);

/* A vector of n values; where `columns` is given it may also be the first of several columns, whose
 * number that is then. */
bisai_status bsi_market_read_vector(bisai_context *context, bsi_stream *stream, int64_t n,
                                    double *values, int64_t *columns);

/* coordinate real general, and an n × 1 array, with 17 digits, which are enough for every bit. */
void bsi_market_write_matrix(bsi_output *output, const bsi_scalar_rows *rows);
void bsi_market_write_vector(bsi_output *output, int64_t n, const double *values);

#endif
