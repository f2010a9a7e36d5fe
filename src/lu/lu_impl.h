/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of complete factors.
 *
 * Supernode s has w scalar columns and r scalar rows below them. Its panel has w columns of w + 2r
 * values: a square, with L below its diagonal and U from it on, then r rows of L, then r rows of
 * Uᵀ. Rows of the square are permuted by pivots. Block rows are numbered by the elimination
 * tree. A front is the list of a supernode's columns and of its rows below them. */
#ifndef BSI_LU_IMPL_H
#define BSI_LU_IMPL_H

#include "core/matrix/bcsr_impl.h"
#include "lu/kernel.h"
#include "lu/lu_types.h"
#include "lu/tree.h"

/* A product of two parts of a supernode's panel that is subtracted from a later panel: its rows
 * first … last − 1 below the columns are columns of the later supernode. */
typedef struct bsi_lu_update {
  int32_t source, first, last;
} bsi_lu_update;

/* The structure of the factors. */
typedef struct bsi_lu_structure {
  bsi_lu_tree tree;
  bsi_supernodes nodes;
  /* the supernode of each column */
  int32_t *of;
  /* where the rows of each supernode begin in the two lists; count + 1 */
  int64_t *row_ptr;
  /* the rows below the columns, ascending, and their places in the front of the parent */
  int32_t *rows, *place;
  /* the updates of each supernode, in the order of their sources */
  int64_t *update_ptr;
  bsi_lu_update *updates;
  /* where the panels begin; count + 1 */
  int64_t *value_ptr;
  /* the supernodes by levels, each of which depends on earlier ones alone */
  int32_t levels, *level_ptr, *level_nodes;
  /* the children of each supernode, ascending; count + 1 pointers */
  int32_t *child_ptr, *children;
} bsi_lu_structure;

/* The workspace of a thread. */
typedef struct bsi_lu_scratch {
  /* where in a front each block row is */
  int32_t *place;
  /* where in a panel the scalar rows of a product are */
  int32_t *row_at;
  /* which block columns of the changed supernode the columns of a product are */
  int32_t *column_places;
  /* packed operands: rows of eight, and columns of four */
  double *rows, *columns;
  /* the square of a panel, and its two triangles, packed as columns; the inverse pivots and ones */
  double *square, *lower, *upper, *inverse_pivots, *ones;
} bsi_lu_scratch;

/* What a thread has found in the squares of panels. Columns are scalar columns of the tree's
 * order; −1: none. */
typedef struct bsi_lu_found {
  int64_t singular, infinite, first_raised, raised;
  double smallest, largest;
} bsi_lu_found;

/* All workspace. */
typedef struct bsi_lu_work {
  /* on a device: copies in host memory of the matrix's values and of a vector */
  double *matrix, *vector;
  /* of a solve: the solution in the tree's order, and what each supernode adds to its parent */
  double *solution, *added;
  /* for each thread, in the two arrays behind it */
  bsi_lu_scratch *threads;
  int32_t *integers;
  double *doubles;
  int64_t bytes;
} bsi_lu_work;

typedef struct bsi_lu {
  bisai_context *context;
  bsi_lu_options options;
  int32_t n;
  int bs;
  bsi_lu_structure structure;
  bsi_lu_prediction predicted;
  bsi_lu_pivots pivots;
  /* the panels in host memory, fp64 or fp32 */
  void *values;
  /* the value of the panels at which each block of the matrix begins */
  int64_t *targets;
  /* of each scalar row: row k of a permuted square is row pivot[k] of it, counted in the square */
  int32_t *pivot;
  bsi_lu_work work;
  bsi_tile_product *product;
} bsi_lu;

/* The numbers of a supernode. */
typedef struct bsi_lu_node {
  /* block columns begin … end − 1 */
  int32_t begin, end;
  /* block rows below */
  int32_t below;
  const int32_t *rows;
  /* scalar columns, rows below, and the leading dimension of the panel */
  int width, depth;
  int32_t ld;
  /* the first value of the panel */
  int64_t at;
} bsi_lu_node;

static inline bsi_lu_node bsi_lu_node_of(const bsi_lu *lu, int32_t s) {
  const bsi_lu_structure *t = &lu->structure;
  const int32_t begin = t->nodes.begin[s], end = t->nodes.begin[s + 1], below = t->nodes.below[s];
  return (bsi_lu_node){.begin = begin,
                       .end = end,
                       .below = below,
                       .rows = t->rows + t->row_ptr[s],
                       .width = (end - begin) * lu->bs,
                       .depth = below * lu->bs,
                       .ld = (end - begin + 2 * below) * lu->bs,
                       .at = t->value_ptr[s]};
}

/* structure.c: makes the lists from a tree and supernodes that are there. */
bisai_status bsi_lu_structure_create(bisai_context *context, const bsi_graph *graph, int block_size,
                                     bsi_lu_structure *t);
void bsi_lu_structure_destroy(bisai_context *context, bsi_lu_structure *t);

/* numeric.c: finds where the blocks of the matrix are in the panels. */
void bsi_lu_find_targets(bsi_lu *lu, const bsi_structure *matrix);

/* numeric.c: what bsi_lu_factorise() does. */
bisai_status bsi_lu_compute(bsi_lu *lu, const bisai_bcsr *matrix);

/* solve_host.c: does bsi_lu_solve() for a vector in host memory. */
void bsi_lu_solve_vector(bsi_lu *lu, bool transposed, const double *b, double *x);

/* panel.c */

/* Factorises the square of a panel, with pivots inside it. `scratch` has its triangles then. */
void bsi_lu_factor_square(const bsi_lu *lu, int32_t s, double threshold, bsi_lu_scratch *scratch,
                          bsi_lu_found *found);
/* Solves with the triangles for the rows of L and Uᵀ at the places first … last − 1 below the
 * columns. `tile` has room for eight rows. */
void bsi_lu_solve_rows(const bsi_lu *lu, int32_t s, const bsi_lu_scratch *triangles, int32_t first,
                       int32_t last, double *tile);
/* Stores the triangles of a square in its panel. */
void bsi_lu_store_square(const bsi_lu *lu, int32_t s, const bsi_lu_scratch *triangles);
/* Subtracts an update from the rows of a panel whose numbers are low … high − 1. `place` has the
 * places of all rows in its front. */
void bsi_lu_subtract(const bsi_lu *lu, const bsi_lu_node *to, const bsi_lu_update *update,
                     int32_t low, int32_t high, const int32_t *place, bsi_lu_scratch *scratch);

#endif
