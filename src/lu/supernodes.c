/* SPDX-License-Identifier: BSD-3-Clause */
/* Supernodes: successive columns j, j + 1, … of which each is the parent of the one before. Columns
 * with the same rows below them always share a supernode. Others do where few zeros are stored for
 * that, because wide supernodes run faster (Ashcraft and Grimes 1989, The influence of relaxed
 * supernode partitions on the multifrontal method). Very wide ones are cut. */
#include "lu/tree.h"

#include "core/context/context_impl.h"

/* Scalar columns. */
enum {
  /* Supernodes up to this width are joined whatever zeros it takes. */
  NARROW = 8,
  /* Up to this width half of a supernode may be zeros, and beyond it a twentieth. */
  MEDIUM = 32
};

/* A supernode under construction. */
typedef struct draft {
  int32_t begin, end, below;
  /* the blocks of L in its columns, without zeros */
  int64_t blocks;
} draft;

static int64_t stored_blocks(const draft *d) {
  const int64_t width = d->end - d->begin;
  return width * (width + 1) / 2 + width * d->below;
}

/* Returns true if `a` and the supernode `b` behind it, which has its parent, should be one. */
static bool should_join(const draft *a, const draft *b, int block_size) {
  const draft both = {a->begin, b->end, b->below, a->blocks + b->blocks};
  const int64_t width = (int64_t)(both.end - both.begin) * block_size,
                stored = stored_blocks(&both), zeros = stored - both.blocks;
  if (zeros == 0 || width <= NARROW) return true;
  return width <= MEDIUM ? 2 * zeros <= stored : 20 * zeros <= stored;
}

/* Joins supernodes from the leaves up. `drafts` has room for each column. Returns the number. */
static int32_t join(const bsi_lu_tree *tree, int block_size, draft *drafts) {
  int32_t count = 0;
  for (int32_t j = 0; j < tree->n; j++) {
    draft last = {j, j + 1, tree->count[j] - 1, tree->count[j]};
    while (count > 0 && tree->parent[last.begin - 1] == last.begin &&
           should_join(&drafts[count - 1], &last, block_size)) {
      count--;
      last.begin = drafts[count].begin;
      last.blocks += drafts[count].blocks;
    }
    drafts[count++] = last;
  }
  return count;
}

/* Returns into how many supernodes a draft is cut. */
static int32_t pieces_of(const draft *d, int block_size) {
  const int64_t most = BSI_WIDEST_SUPERNODE / block_size, columns = d->end - d->begin;
  return (int32_t)((columns + most - 1) / most);
}

/* Rows below a piece are those below its last column, which has all those of the columns before. */
static bisai_status write_nodes(bisai_context *context, const bsi_lu_tree *tree, int32_t drafted,
                                const draft *drafts, int block_size, bsi_supernodes *nodes) {
  for (int32_t d = 0; d < drafted; d++) nodes->count += pieces_of(&drafts[d], block_size);
  const size_t count = (size_t)nodes->count;
  nodes->begin = bsi_allocate(context, count + 1, sizeof *nodes->begin);
  if (nodes->begin) nodes->below = bsi_allocate(context, count, sizeof *nodes->below);
  if (nodes->below) nodes->parent = bsi_allocate(context, count, sizeof *nodes->parent);
  if (!nodes->parent) return BISAI_OUT_OF_MEMORY;
  int32_t s = 0;
  nodes->begin[0] = 0;
  for (int32_t d = 0; d < drafted; d++) {
    const int32_t pieces = pieces_of(&drafts[d], block_size);
    const int64_t width = drafts[d].end - drafts[d].begin;
    for (int32_t piece = 0; piece < pieces; piece++, s++) {
      const int32_t end = drafts[d].begin + (int32_t)(width * (piece + 1) / pieces);
      nodes->begin[s + 1] = end;
      nodes->below[s] = tree->count[end - 1] - 1;
    }
  }
  return BISAI_OK;
}

/* The last column of a supernode has the parent of the supernode, because its rows are exact. */
static bisai_status find_parents(bisai_context *context, const bsi_lu_tree *tree,
                                 bsi_supernodes *nodes) {
  int32_t *of = bsi_allocate(context, (size_t)tree->n, sizeof *of);
  if (!of) return BISAI_OUT_OF_MEMORY;
  for (int32_t s = 0; s < nodes->count; s++)
    for (int32_t j = nodes->begin[s]; j < nodes->begin[s + 1]; j++) of[j] = s;
  for (int32_t s = 0; s < nodes->count; s++) {
    const int32_t parent = tree->parent[nodes->begin[s + 1] - 1];
    nodes->parent[s] = parent < 0 ? -1 : of[parent];
  }
  bsi_release(context, of);
  return BISAI_OK;
}

bisai_status bsi_supernodes_create(bisai_context *context, const bsi_lu_tree *tree, int block_size,
                                   bsi_supernodes *nodes) {
  bsi_supernodes made = {0};
  draft *drafts = bsi_allocate(context, (size_t)tree->n, sizeof *drafts);
  bisai_status status = BISAI_OUT_OF_MEMORY;
  if (drafts) {
    const int32_t drafted = join(tree, block_size, drafts);
    status = write_nodes(context, tree, drafted, drafts, block_size, &made);
  }
  if (!status) status = find_parents(context, tree, &made);
  bsi_release(context, drafts);
  if (status)
    bsi_supernodes_destroy(context, &made);
  else
    *nodes = made;
  return status;
}

void bsi_supernodes_destroy(bisai_context *context, bsi_supernodes *nodes) {
  bsi_release(context, nodes->begin);
  bsi_release(context, nodes->below);
  bsi_release(context, nodes->parent);
  *nodes = (bsi_supernodes){0};
}
