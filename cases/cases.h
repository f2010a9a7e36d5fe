/* SPDX-License-Identifier: BSD-3-Clause */
/* The cases that the command-line program and the tests solve: systems made by a formula, and
 * matrices known by name.
 *
 * A made system comes back as a BCSR matrix and its right-hand side, block_rows·bs values on the
 * host (zero in padding rows), freed with free(). Where block_size is 0 the case's own is taken;
 * any other size cuts the same scalar system into other blocks and pads it with an identity where
 * the size does not divide it. */
#ifndef BISAI_CASES_H
#define BISAI_CASES_H

#include <stdint.h>

#include <bisai/bcsr.h>

enum { CASE_CAVITY_BLOCK_SIZE = 3, CASE_CONVDIFF_BLOCK_SIZE = 4 };

/* NULL, or why a case of this size cannot be made. */
const char *case_cavity_refusal(int32_t n);
const char *case_convdiff_refusal(int32_t nx, int32_t ny, int32_t nz);

/* The lid-driven cavity on n × n nodes; BISAI_INVALID_ARGUMENT where case_cavity_refusal() names a
 * reason. */
bisai_status case_cavity(bisai_context *context, int32_t n, int32_t block_size, bisai_bcsr **matrix,
                         double **rhs);

/* Convection-diffusion on nx × ny × nz points; BISAI_INVALID_ARGUMENT where case_convdiff_refusal()
 * names a reason. */
bisai_status case_convdiff(bisai_context *context, int32_t nx, int32_t ny, int32_t nz,
                           int32_t block_size, bisai_bcsr **matrix, double **rhs);

/* The same square fp64 matrix (without padding of its own) in blocks of another size, 0:
 * bisai_block_size_choose(). */
bisai_status case_reblock(bisai_context *context, const bisai_bcsr *matrix, int32_t block_size,
                          bisai_bcsr **result);

/* What the paper says of a matrix of the SuiteSparse collection (https://sparse.tamu.edu). */
typedef struct case_suitesparse {
  const char *name;
  const char *group;
  int32_t block_size;
  double tolerance;
  /* of the archive that holds <name>/<name>.mtx */
  const char *address;
} case_suitesparse;

/* The matrix of this file name, extensions .mtx, .mtx.gz and .mtx.xz and folders aside, or NULL. */
const case_suitesparse *case_suitesparse_find(const char *path);

#endif
