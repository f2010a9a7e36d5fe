/* SPDX-License-Identifier: BSD-3-Clause */
/* PETSc's binary files, as MatView() and VecView() write them to a PetscViewerBinary. */
#ifndef BSI_PETSC_BINARY_H
#define BSI_PETSC_BINARY_H

#include "io/formats/csr_arrays.h"
#include "io/formats/scalar_rows.h"
#include "io/output/output.h"
#include "io/streams/source.h"

enum { BSI_PETSC_VECTOR = 1211214, BSI_PETSC_MATRIX = 1211216, BSI_PETSC_INDEX_SET = 1211218 };

/* *found ← true if an object of PETSc follows in the source. */
bisai_status bsi_petsc_detect(bsi_source *source, bool *found);

/* Reads the square sparse matrix at the beginning of the source. *csr must have no arrays. The
 * caller frees its arrays, after a failure too. */
bisai_status bsi_petsc_read_matrix(bsi_source *source, bsi_csr *csr);

/* Goes to the vector at the beginning of the source or behind its matrix. A matrix that has not
 * been read is skipped. *found ← false if there is no vector. */
bisai_status bsi_petsc_find_vector(bsi_source *source, bool *found);

/* Reads that vector, which must have n values. */
bisai_status bsi_petsc_read_vector(bsi_source *source, int64_t n, double *values);

/* *block_size ← the N > 1 of "-matload_block_size N" in the file FILE.info that PETSc writes beside
 * FILE, or beside FILE.gz, and 0 if there is none. PETSc writes 1 for every matrix whose block size
 * is unknown. */
bisai_status bsi_petsc_block_size(bisai_context *context, const char *path, int32_t *block_size);

/* Write with integers of 4 bytes. Larger numbers are BISAI_INDEX_OVERFLOW. */
bisai_status bsi_petsc_write_matrix(bsi_output *output, const bsi_scalar_rows *rows);
bisai_status bsi_petsc_write_vector(bsi_output *output, bisai_context *context, int64_t n,
                                    const double *values);

/* Writes the block size of a matrix, and of a vector behind it, to the file FILE.info. */
bisai_status bsi_petsc_write_info(bisai_context *context, const char *path, int32_t block_size,
                                  bool vector);

#endif
