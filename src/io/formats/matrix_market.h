/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix Market files: Boisvert, Pozo, Remington, The Matrix Market Exchange Formats, NISTIR 5935,
 * 1996. */
#ifndef BSI_MATRIX_MARKET_H
#define BSI_MATRIX_MARKET_H

#include <bisai/io.h>

#include "io/formats/csr_arrays.h"
#include "io/formats/entries.h"
#include "io/formats/scalar_rows.h"
#include "io/output/output.h"
#include "io/streams/stream.h"

/* Sets the rows of *csr and reads the entries of a square sparse matrix within csr->limit. Entries
 * of symmetric storage are mirrored. *entries must be zero at first. The caller frees its arrays,
 * after a failure too. */
bisai_status bsi_market_read_matrix(bisai_context *context, bsi_stream *stream, bsi_csr *csr,
                                    bsi_entries *entries);

/* Reads a vector of n values. If `columns` is given, the file may have several columns: the first
 * one is read, and *columns is their number. */
bisai_status bsi_market_read_vector(bisai_context *context, bsi_stream *stream, int64_t n,
                                    double *values, int64_t *columns);

/* Reads 1 … `most` vectors of n values. They are stored row by row: value i of vector j is
 * (*values)[i·*count + j]. On success the caller releases *values with bsi_release(). */
bisai_status bsi_market_read_vectors(bisai_context *context, bsi_stream *stream, int64_t n,
                                     int32_t most, double **values, int32_t *count);

/* Write "coordinate real general" and an n × 1 array, with 17 digits, which preserve every bit. */
void bsi_market_write_matrix(bsi_output *output, const bsi_scalar_rows *rows);
void bsi_market_write_vector(bsi_output *output, int64_t n, const double *values);

#endif
