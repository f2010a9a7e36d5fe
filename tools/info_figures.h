/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures of a matrix that `bisai info` collects. */
#ifndef TOOL_INFO_FIGURES_H
#define TOOL_INFO_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include <bisai/bcsr.h>
#include <bisai/precond.h>
#include <bisai/study.h>

#include "empties.h"

enum { INFO_POWERS = 3, INFO_BOUNDS = 5, INFO_METHODS = 8 + INFO_POWERS, INFO_LABEL = 32 };

/* The matrix in blocks of one size. */
typedef struct info_size {
  int32_t block_size, block_rows;
  int64_t blocks, bytes;
  /* the share of the blocks' values that are entries */
  double filled;
  /* false for sizes over BISAI_CHOSEN_SIZES */
  bool diagonals_known;
  int32_t missing_diagonals, singular_diagonals;
  bool chosen;
} info_size;

/* S(|T|^k) for k = 1 … INFO_POWERS. */
typedef struct info_triangle {
  /* false if the pattern could not be made; a message has been printed */
  bool known[INFO_POWERS];
  int64_t blocks[INFO_POWERS];
  /* blocks of the longest column */
  int32_t longest[INFO_POWERS];
  /* levels of exact solves, if known[0] */
  int32_t levels;
} info_triangle;

/* The blocks that bjacobi:max=N finds. */
typedef struct info_diagonal {
  bool known;
  /* N, and the number of rows of the largest block */
  int32_t bound, blocks, largest;
  double mean_rows;
  int64_t bytes;
} info_diagonal;

/* The diagonal blocks that a method repairs. */
typedef struct info_repairs {
  /* 0: the method needs no shift */
  double shift;
  int64_t count;
  int32_t first_row;
} info_repairs;

/* What info finds out about a method beside its report. */
typedef struct info_trial {
  info_repairs repairs;
  /* a GPU: the bytes that the set-up held at most; 0 on the host */
  int64_t device_peak;
  /* bisai_precond_error_factor(), if known */
  bool factor_known;
  double error_factor;
} info_trial;

/* A lower bound on the bytes that an iteration of GMRES(30) moves. */
typedef struct info_method {
  char label[INFO_LABEL];
  double matrix, preconditioner, vectors;
} info_method;

/* The source of the block size. */
typedef enum info_origin {
  INFO_GIVEN,
  INFO_CASE,
  INFO_FILE,
  INFO_PAPER,
  INFO_PATTERN,
  INFO_NODES
} info_origin;

/* The matrix in blocks of the chosen size. */
typedef struct info_matrix {
  const char *name;
  int64_t rows;
  int32_t entries, padding;
  int32_t block_size, block_rows, blocks, longest_row, missing_diagonals;
  info_origin origin;
  bool asymmetry_known;
  double asymmetry;
  /* block rows and columns without a block; scalar rows and columns without a value other than 0 */
  empties empty_blocks, zeros;
} info_matrix;

typedef struct info {
  info_matrix matrix;
  int sizes;
  info_size size[BISAI_CHOSEN_SIZES + 1];
  /* L and U */
  info_triangle triangles[2];
  /* false if a block row or column is empty; there are no preconditioners then */
  bool has_diagonals;
  info_diagonal diagonals[INFO_BOUNDS];
  /* no levels if mg could not be made; a message has been printed */
  bisai_multigrid_report hierarchy;
  /* the text has the account of its memory */
  bool tells_memory;
  info_trial mg, cpr;
  /* false for scalar matrices, and if a diagonal block is missing */
  bool pressure_known;
  bisai_cpr_report pressure;
  /* the matrix, and the fields of the scalar matrix */
  bisai_matrix_study_report study;
  int methods;
  info_method method[INFO_METHODS];
} info;

#endif
