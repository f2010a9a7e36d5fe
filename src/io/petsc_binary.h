/* SPDX-License-Identifier: BSD-3-Clause */
/* PETSc's binary files: what MatView() and VecView() write to a PetscViewerBinary. */
#ifndef BSI_PETSC_BINARY_H
#define BSI_PETSC_BINARY_H

#include "io/csr_arrays.h"
#include "io/output.h"
#include "io/scalar_rows.h"
#include "io/source.h"

enum { BSI_PETSC_VECTOR = 1211214, BSI_PETSC_MATRIX = 1211216, BSI_PETSC_INDEX_SET = 1211218 };

/* Whether the source goes on with an object of PETSc. */
bisai_status bsi_petsc_detect(bsi_source *source, bool *found);

/* The square sparse matrix at the beginning of the source. *csr starts without arrays; what it
 * holds is the caller's to free, after a failure too. */
bisai_status bsi_petsc_read_matrix(bsi_source *source, bsi_csr *csr);

/* Goes to the vector at the beginning of the source or behind its matrix, past the matrix where
 * that has not been read; *found is false where there is none. */
bisai_status bsi_petsc_find_vector(bsi_source *source, bool *found);

/* That vector, of n values. */
bisai_status bsi_petsc_read_vector(bsi_source *source, int64_t n, double *values);

/* The N > 1 of "-matload_block_size N" in the file FILE.info that PETSc writes beside FILE, or
 * FILE.gz; 0 where there is none. PETSc writes 1 for every matrix whose blocks it does not know. */
bisai_status bsi_petsc_block_size(bisai_context *context, const char *path, int32_t *block_size);

/* With integers of 4 bytes; what is beyond them is BISAI_INDEX_OVERFLOW. */
bisai_status bsi_petsc_write_matrix(bsi_output *output, const bsi_scalar_rows *rows);
bisai_status bsi_petsc_write_vector(bsi_output *output, bisai_context *context, int64_t n,
                                    const double *values);

/* Writes that block size, for a matrix and perhaps a vector behind it, to the file FILE.info. */
bisai_status bsi_petsc_write_info(bisai_context *context, const char *path, int32_t block_size,
                                  bool vector);

#endif
