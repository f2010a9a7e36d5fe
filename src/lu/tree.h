/* SPDX-License-Identifier: BSD-3-Clause */
/* The elimination tree of A + Aᵀ, and supernodes: what is known of L and U before their
 * structure. */
#ifndef BSI_LU_TREE_H
#define BSI_LU_TREE_H

#include "order/graph.h"

/* The elimination tree in postorder. Columns are numbered by it: column j of L is row order[j] of
 * the graph. */
typedef struct bsi_lu_tree {
  int32_t n;
  /* from the postorder to the rows of the graph, and back */
  int32_t *order, *place;
  /* the first row below the diagonal of column j, −1: none */
  int32_t *parent;
  /* the blocks of column j of L, with its diagonal block */
  int32_t *count;
} bsi_lu_tree;

/* Makes the tree of a graph whose rows are eliminated in the order of `permutation`, from the new
 * to the old order; NULL: in natural order. */
bisai_status bsi_lu_tree_create(bisai_context *context, const bsi_graph *graph,
                                const int32_t *permutation, bsi_lu_tree *tree);
void bsi_lu_tree_destroy(bisai_context *context, bsi_lu_tree *tree);

/* Scalar columns: a supernode has at most so many, so that its square stays in the cache of a
 * core. */
enum { BSI_WIDEST_SUPERNODE = 128 };

/* Successive columns whose rows below them are stored as the same ones. */
typedef struct bsi_supernodes {
  int32_t count;
  /* count + 1: the first column of each */
  int32_t *begin;
  /* the block rows below the columns */
  int32_t *below;
  /* the supernode that has the first of these rows, −1: none */
  int32_t *parent;
} bsi_supernodes;

/* Finds the supernodes of a tree. `block_size` decides how wide they are. */
bisai_status bsi_supernodes_create(bisai_context *context, const bsi_lu_tree *tree, int block_size,
                                   bsi_supernodes *nodes);
void bsi_supernodes_destroy(bisai_context *context, bsi_supernodes *nodes);

/* Returns the values of a supernode of `width` columns and `below` rows: a square, and as many
 * values below it in L as right of it in U. */
static inline int64_t bsi_supernode_values(int64_t width, int64_t below, int bs) {
  return width * bs * ((width + 2 * below) * bs);
}

#endif
