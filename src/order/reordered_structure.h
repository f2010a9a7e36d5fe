/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix from which a preconditioner is made: B = P Q Dr A Dc Pᵀ, so that
 * A⁻¹ = Dc Pᵀ B⁻¹ P Q Dr. P permutes rows and columns alike; Q, which a matching gives, only rows.
 * They permute whole blocks, or scalar rows if a matching of entries makes B scalar. Dr and Dc hold
 * one power of two for each scalar row and column, so that scaling does not round. */
#ifndef BSI_REORDERED_STRUCTURE_H
#define BSI_REORDERED_STRUCTURE_H

#include "order/graph.h"
#include "order/matching/entries.h"

#define BSI_EXPONENT_OF_ZERO INT16_MIN

/* keeps the product of two factors and its inverse in fp64's range */
enum { BSI_LARGEST_EXPONENT = 500 };

typedef struct bsi_equilibration {
  /* Dr and Dc in A's order, n each; NULL: not scaled */
  double *row_scale, *col_scale;
  /* their exponents; NULL: Dr and Dc are those of a matching */
  int32_t *row_exponent, *col_exponent;
  /* workspace, n each */
  int32_t *row_max, *col_max;
  /* workspace: the exponent of every value of A */
  int16_t *exponents;
  /* the first block row and block column of A without a nonzero value; -1: none */
  int32_t zero_row, zero_col;
  /* the smallest and largest factor */
  double smallest, largest;
  /* Dc is equal to Dr to the last bit */
  bool symmetric;
} bsi_equilibration;

/* How a matrix is reordered. */
typedef struct bsi_reordering {
  bisai_ordering ordering;
  /* the block rows of BISAI_ORDERING_GIVEN */
  const int32_t *permutation;
  bisai_matching matching;
  bool equilibrate;
} bsi_reordering;

/* Where rows, columns and blocks of B come from. */
typedef struct bsi_reordered_maps {
  /* row i of B is row rows[i] of A, and column j is column columns[j]; both may be one array. NULL:
   * natural order */
  int32_t *rows, *columns;
  /* block p of B is block source[p] of A, or value source[p] if B alone is scalar; NULL: p */
  int32_t *source;
} bsi_reordered_maps;

typedef struct bsi_reordered {
  /* B, with ascending block columns */
  bisai_bcsr *matrix;
  /* in backend memory, and in host memory, where they may be the same arrays */
  bsi_reordered_maps maps, host;
  /* A's block size over B's */
  int32_t unit;
  /* the number of rows that Q moves */
  int32_t moved_rows;
  /* the values of A that a scalar B leaves out, in backend memory: they are zero */
  int32_t *zeros;
  int32_t zero_count;
  /* the block rows of A that messages name, if B alone is scalar; otherwise NULL */
  int32_t *row_names;
  bsi_equilibration equilibration;
  /* computes Dr and Dc anew; empty if equilibration does, or if there is no matching */
  bsi_matching matching;
  /* the matching is that of the next update */
  bool matched;
  /* Dr and Dc of a matching in host memory, if backend memory is not */
  double *host_scale;
} bsi_reordered;

/* Makes B without values, and the maps, from a matching that is solved; an
 * empty one: there is none. */
bisai_status bsi_reordered_structure(bisai_context *context, const bisai_bcsr *a,
                                     const bsi_reordering *how, const bsi_matching *matching,
                                     bsi_reordered *r);
/* Returns true if A still has the pattern from which the maps were made. */
bool bsi_reordered_same_pattern(bisai_context *context, const bsi_reordered *r,
                                const bsi_structure *b, const bisai_bcsr *a,
                                const bsi_structure *of_a);

#endif
