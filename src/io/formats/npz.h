/* SPDX-License-Identifier: BSD-3-Clause */
/* Sparse matrices of SciPy (scipy.sparse.save_npz): a zip archive with an array for each member of
 * the matrix. A right-hand side is one more array, `b`. */
#ifndef BSI_NPZ_H
#define BSI_NPZ_H

#include "io/formats/csr_arrays.h"
#include "io/formats/npy.h"
#include "io/formats/scalar_rows.h"

/* Reads a matrix from a source that is a zip archive, in the formats csr, csc, bsr and coo. The
 * size of square blocks becomes the block size, unless one is given. */
bisai_status bsi_npz_read_matrix(bsi_source *source, bsi_csr *csr);

/* Goes to the right-hand side. */
bisai_status bsi_npz_find_rhs(bsi_source *source, bool *found);

/* Writes a matrix as bsr, or as csr if its blocks have size 1, are padded or have an implied
 * diagonal. rhs may be NULL. */
bisai_status bsi_npz_write(bsi_output *output, const bsi_scalar_rows *rows, const double *rhs);

#endif
