/* SPDX-License-Identifier: BSD-3-Clause */
/* The system to solve, with its right-hand side: a case that the program makes, or a file. */
#ifndef TOOL_PROBLEM_H
#define TOOL_PROBLEM_H

#include <stdint.h>

#include <bisai/bcsr.h>

#include "facts.h"
#include "options.h"

/* The source of the right-hand side. RHS_OWN: the file of the matrix. RHS_BESIDE: a file beside
 * it. RHS_CONSISTENT: A x̂ with a known x̂, so that there is a solution, and x can be compared. */
typedef enum problem_rhs {
  RHS_NONE,
  RHS_ONES,
  RHS_CASE,
  RHS_FILE,
  RHS_OWN,
  RHS_BESIDE,
  RHS_CONSISTENT
} problem_rhs;

/* SOLUTION_ONES: x̂ = 1. SOLUTION_SQUARES: x̂_i = (i/n)², i = 1 … n, for a matrix that maps a
 * constant to zero, because A·1 may be zero then. */
typedef enum problem_solution {
  SOLUTION_UNKNOWN,
  SOLUTION_ONES,
  SOLUTION_SQUARES
} problem_solution;

/* A solution of A x = b. */
typedef struct known_solution {
  problem_solution what;
  /* `unknowns` values, zero in padding rows; NULL if SOLUTION_UNKNOWN */
  double *x;
} known_solution;

/* Vectors v with A v = 0 or Aᵀ v = 0: columns of `span` values. */
typedef struct null_vectors {
  int32_t count;
  double *values;
} null_vectors;

/* What --project takes out of x (right) and of b (left). */
typedef struct null_projection {
  /* "constants" or a file, owned by the options; NULL: nothing */
  const char *from;
  null_vectors right, left;
  /* the norm of what was taken out of b, over that of b; NaN: b is as it was */
  double removed;
} null_projection;

typedef struct problem {
  /* the case as given, for example "cavity", or the file's name without folders and extensions */
  char *name;
  bisai_bcsr *matrix;
  /* without padding. Vectors of `unknowns` or `span` values are in the numbering of the blocks */
  int64_t rows;
  /* block_rows·bs */
  int64_t unknowns;
  /* the rows before the padding at the end: `rows`, or `unknowns` with `by_node` */
  int64_t span;
  /* the file's rows are not those of the blocks, which may have padding inside */
  bool by_node;
  /* `unknowns` values, zero in padding rows */
  double *rhs;
  problem_rhs rhs_from;
  /* RHS_FILE, RHS_BESIDE: the file, owned by the options; otherwise NULL */
  const char *rhs_file;
  /* RHS_OWN: the columns in the file, of which the first is taken */
  int64_t rhs_columns;
  known_solution known;
  null_projection project;
  double tolerance;
  /* found when they are needed: problem_facts() */
  facts facts;
} problem;

/* All three print a message and return false on failure. This one also looks for nodes where the
 * options do not say which rows make a block. */
bool problem_load(bisai_context *context, const options *o, problem *p);

/* Loads the matrix only, in blocks of the given size and in the numbering of the file. 0: the block
 * size of the case, or the best one for a file. Fills name, matrix, rows, unknowns. */
bool problem_load_matrix(bisai_context *context, const options *o, int block_size, problem *p);

/* Loads the matrix and the right-hand side of the options. Ones are taken only on request, so that
 * there may be no right-hand side. A file is opened once. */
bool problem_load_system(bisai_context *context, const options *o, problem *p);

/* Moves vectors of a file, row by row `width` values, to the rows of the blocks. Prints a message
 * and returns false on failure. */
bool problem_to_blocks(bisai_context *context, const problem *p, int32_t width, const double *file,
                       double *blocks);

/* Returns the facts of the matrix. They are not known if there is not enough memory. */
const facts *problem_facts(bisai_context *context, problem *p);

/* Returns "none", "ones", "case", "file", "own", "beside" or "consistent". */
const char *problem_rhs_name(problem_rhs from);

/* Returns "ones" or "squares", or NULL if no solution is known. */
const char *problem_solution_name(problem_solution what);

/* Returns the block size of the options: the given one, that of the case, or that of the paper for
 * a known file unless the option is auto. Otherwise 0: bisai_block_size_choose() decides. */
int problem_block_size(const options *o);

void problem_free(problem *p);

#endif
