/* SPDX-License-Identifier: BSD-3-Clause */
/* The system to solve: a case that is made, or a file, with its right-hand side. */
#ifndef TOOL_PROBLEM_H
#define TOOL_PROBLEM_H

#include <stdint.h>

#include <bisai/bcsr.h>

#include "options.h"

/* Where the right-hand side is from: RHS_OWN stands with the matrix in its file, RHS_BESIDE in
 * another one beside it. */
typedef enum problem_rhs {
  RHS_NONE,
  RHS_ONES,
  RHS_CASE,
  RHS_FILE,
  RHS_OWN,
  RHS_BESIDE
} problem_rhs;

typedef struct problem {
  /* "cavity", or the file's name without folders and extensions */
  char *name;
  bisai_bcsr *matrix;
  /* without padding */
  int64_t rows;
  /* block_rows·bs */
  int64_t unknowns;
  /* `unknowns` values, zero in padding rows */
  double *rhs;
  problem_rhs rhs_from;
  /* RHS_FILE, RHS_BESIDE: the file, of the options; otherwise NULL */
  const char *rhs_file;
  /* of the file's own, which is the first of them */
  int64_t rhs_columns;
  double tolerance;
} problem;

/* All three say what is wrong and return false. */
bool problem_load(bisai_context *context, const options *o, problem *p);

/* The matrix alone, in blocks of the given size (0: the case's own, else the best); fills name,
 * matrix, rows, unknowns. */
bool problem_load_matrix(bisai_context *context, const options *o, int block_size, problem *p);

/* The matrix and the right-hand side as asked for: none where there is no other than ones and these
 * are not asked for. A file is opened once. */
bool problem_load_system(bisai_context *context, const options *o, problem *p);

/* "ones", "case", "file", "own" or "beside". */
const char *problem_rhs_name(problem_rhs from);

/* The block size that `o` means: the one given, the case's, the paper's for a file that it knows
 * unless auto is asked for, or 0: bisai_block_size_choose(). */
int problem_block_size(const options *o);

void problem_free(problem *p);

#endif
