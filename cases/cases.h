/* SPDX-License-Identifier: BSD-3-Clause */
/* The cases that the command-line program and the tests solve: systems from a formula, and matrices
 * that are known by name.
 *
 * A system from a formula is a BCSR matrix and its right-hand side. The right-hand side has
 * block_rows·bs values on the host, which are zero in padding rows. The caller frees it with
 * free(). block_size = 0 means the block size of the case. Any other size cuts the same scalar
 * system into other blocks. If that size does not divide the number of rows, an identity pads the
 * system. */
#ifndef BISAI_CASES_H
#define BISAI_CASES_H

#include <stdint.h>

#include <bisai/bcsr.h>

enum { CASE_CAVITY_BLOCK_SIZE = 3, CASE_CONVDIFF_BLOCK_SIZE = 4 };

/* Returns why a case of this size cannot be made, or NULL. */
const char *case_cavity_refusal(int32_t n);
const char *case_convdiff_refusal(int32_t nx, int32_t ny, int32_t nz);

/* Makes the lid-driven cavity on n × n nodes. Returns BISAI_INVALID_ARGUMENT if
 * case_cavity_refusal() gives a reason. */
bisai_status case_cavity(bisai_context *context, int32_t n, int32_t block_size, bisai_bcsr **matrix,
                         double **rhs);

/* Makes convection-diffusion on nx × ny × nz points. Returns BISAI_INVALID_ARGUMENT if
 * case_convdiff_refusal() gives a reason. */
bisai_status case_convdiff(bisai_context *context, int32_t nx, int32_t ny, int32_t nz,
                           int32_t block_size, bisai_bcsr **matrix, double **rhs);

/* Makes the same square fp64 matrix in blocks of another size. The given matrix has no padding. 0:
 * the size of bisai_block_size_choose(). */
bisai_status case_reblock(bisai_context *context, const bisai_bcsr *matrix, int32_t block_size,
                          bisai_bcsr **result);

/* The paper's parameters for a matrix of the SuiteSparse collection (https://sparse.tamu.edu). */
typedef struct case_suitesparse {
  const char *name;
  const char *group;
  int32_t block_size;
  double tolerance;
  /* address of the archive that holds <name>/<name>.mtx */
  const char *address;
} case_suitesparse;

/* Returns the matrix with this file name, or NULL. Folders and the extensions .mtx and .tar,
 * compressed or not, are ignored. */
const case_suitesparse *case_suitesparse_find(const char *path);

#endif
