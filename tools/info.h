/* SPDX-License-Identifier: BSD-3-Clause */
/* `bisai info`: what a matrix is like, before anything is solved. It is collected once (info.c) and
 * told as text (info_text.c) or as JSON (info_json.c). */
#ifndef TOOL_INFO_H
#define TOOL_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include <bisai/bcsr.h>

#include "options.h"

enum { INFO_POWERS = 3, INFO_BOUNDS = 5, INFO_METHODS = 6 + INFO_POWERS, INFO_LABEL = 32 };

/* What a block size would make of the matrix. */
typedef struct info_size {
  int32_t block_size, block_rows;
  int64_t blocks, bytes;
  /* the share of the blocks' values that are entries */
  double filled;
  /* of a size over BISAI_CHOSEN_SIZES they are not */
  bool diagonals_known;
  int32_t missing_diagonals, singular_diagonals;
  bool chosen;
} info_size;

/* S(|T|^k) for k = 1 … INFO_POWERS. */
typedef struct info_triangle {
  /* a pattern that could not be made has been said */
  bool known[INFO_POWERS];
  int64_t blocks[INFO_POWERS];
  /* blocks of a column */
  int32_t longest[INFO_POWERS];
  /* of exact solves, where known[0] */
  int32_t levels;
} info_triangle;

/* What bjacobi:max=N finds. */
typedef struct info_diagonal {
  bool known;
  /* N, and rows of the largest block */
  int32_t bound, blocks, largest;
  double mean_rows;
  int64_t bytes;
} info_diagonal;

/* Rows and columns without anything in them: how many, and the first. */
typedef struct info_empties {
  int32_t rows, first_row, columns, first_column;
} info_empties;

/* Bytes that an iteration of GMRES(30) moves at least. */
typedef struct info_method {
  char label[INFO_LABEL];
  double matrix, preconditioner, vectors;
} info_method;

/* Where the block size is from. */
typedef enum info_origin { INFO_GIVEN, INFO_CASE, INFO_FILE, INFO_PAPER, INFO_PATTERN } info_origin;

typedef struct info {
  const char *name;
  int64_t rows;
  int32_t entries, padding;
  int32_t block_size, block_rows, blocks, longest_row, missing_diagonals;
  info_origin origin;
  bool asymmetry_known;
  double asymmetry;
  /* block rows and columns without a block; rows and columns without a value other than 0 */
  info_empties empty_blocks, zeros;
  int sizes;
  info_size size[BISAI_CHOSEN_SIZES + 1];
  /* L and U */
  info_triangle triangles[2];
  /* without, a block row or column is empty, so that there are no preconditioners */
  bool has_diagonals;
  info_diagonal diagonals[INFO_BOUNDS];
  int methods;
  info_method method[INFO_METHODS];
} info;

int info_run(bisai_context *context, const options *o); /* an exit status */

void info_print(const info *i); /* to standard output */

/* the schema of bisai(1); free with free(). NULL where it could not be made */
char *info_json(const info *i);

#endif
