/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rows of a saddle point A = [K G; D −C] are velocities, and which are pressures. */
#ifndef BSI_SPLIT_H
#define BSI_SPLIT_H

#include "core/context/context_impl.h"

/* A matrix of blocks in host memory, whose blocks are stored column by column. */
typedef struct bsi_saddle {
  int32_t block_rows, block_size;
  /* the scalar rows without padding */
  int32_t rows;
  const int32_t *row_ptr, *col_idx;
  const double *values;
} bsi_saddle;

/* How the caller names the pressures: by one of three ways, or by none. */
typedef struct bsi_split_choice {
  /* the place in each block; −1: not named so */
  int32_t component;
  /* the first and the last scalar row; from = −1: not named so; to = −1: the last one */
  int32_t from, to;
  /* `count` ascending scalar rows; NULL: not named so */
  const int32_t *rows;
  int32_t count;
} bsi_split_choice;

typedef struct bsi_split {
  int32_t velocities, pressures;
  /* the velocities of a block, if every block has them at the same places and couples them;
   * otherwise 1 */
  int32_t velocity_size;
  /* for each scalar row: its number among the velocities, or bsi_pressure_place() of its number
   * among the pressures. In host memory */
  int32_t *place;
  /* the pressures were found, not named */
  bool found;
} bsi_split;

static inline bool bsi_is_pressure(int32_t place) { return place < 0; }
/* Turns the number of a pressure into its place, and back. */
static inline int32_t bsi_pressure_place(int32_t number) { return -1 - number; }

/* Returns the index of value (r, c) of block p. */
static inline int64_t bsi_saddle_index(const bsi_saddle *a, int32_t p, int r, int c) {
  const int64_t bs = a->block_size;
  return (p * bs + c) * bs + r;
}

/* Splits the rows. If the caller does not name the pressures, they are
 *   the rows with a zero on the diagonal, but for those that couple with an earlier one, or
 *   if there is no zero, the rows whose diagonal entry has the sign that fewer rows have.
 * Refuses a matrix without pressures or without velocities. The caller owns split->place. */
bisai_status bsi_split_rows(bisai_context *context, const bsi_saddle *a,
                            const bsi_split_choice *choice, bsi_split *split);

#endif
