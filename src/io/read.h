/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions bisai_read_matrix(), bisai_read_system(), bisai_read_vector(), bisai_read_vectors()
 * and bisai_read_rhs() for bytes in memory. */
#ifndef BSI_READ_H
#define BSI_READ_H

#include <bisai/io.h>

bisai_status bsi_read_matrix_memory(bisai_context *context, const void *data, size_t bytes,
                                    const bisai_read_options *options, bisai_bcsr **matrix);
bisai_status bsi_read_system_memory(bisai_context *context, const void *data, size_t bytes,
                                    const bisai_read_options *options, bisai_system *system);
bisai_status bsi_read_vector_memory(bisai_context *context, const void *data, size_t bytes,
                                    int64_t n, double *values);
bisai_status bsi_read_vectors_memory(bisai_context *context, const void *data, size_t bytes,
                                     int64_t n, int32_t most, double **values, int32_t *count);
bisai_status bsi_read_rhs_memory(bisai_context *context, const void *data, size_t bytes, int64_t n,
                                 double *values, int64_t *columns);

#endif
