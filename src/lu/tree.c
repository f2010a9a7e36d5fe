/* SPDX-License-Identifier: BSD-3-Clause */
/* The elimination tree of A + Aᵀ and the lengths of the columns of L.
 *
 * parent(j) = min {i > j : L_ij ≠ 0}. Sources: Liu 1990, The role of elimination trees in sparse
 * factorization, 4.2 (paths are compressed); Gilbert, Ng, Peyton 1994, An efficient algorithm to
 * compute row and column counts for sparse Cholesky factorization, figure 3. Both take a time
 * nearly proportional to the blocks of A. */
#include "lu/tree.h"

#include "core/context/context_impl.h"

#include <string.h>

/* Finds the parents in the order of elimination. `place` is the inverse of the permutation. */
static void find_parents(const bsi_graph *graph, const int32_t *permutation, const int32_t *place,
                         int32_t *parent, int32_t *ancestor) {
  for (int32_t i = 0; i < graph->n; i++) {
    const int32_t row = permutation ? permutation[i] : i;
    parent[i] = ancestor[i] = -1;
    for (int32_t p = graph->ptr[row]; p < graph->ptr[row + 1]; p++) {
      int32_t j = place[graph->neighbours[p]];
      while (j >= 0 && j < i) {
        const int32_t next = ancestor[j];
        ancestor[j] = i;
        if (next < 0) parent[j] = i;
        j = next;
      }
    }
  }
}

/* Lists the nodes so that each comes after its children, and these together. post[k] is the k-th
 * node. `child` and `sibling` are workspace. */
static void list_in_postorder(int32_t n, const int32_t *parent, int32_t *child, int32_t *sibling,
                              int32_t *post) {
  int32_t roots = -1, k = 0;
  for (int32_t j = 0; j < n; j++) child[j] = -1;
  for (int32_t j = n - 1; j >= 0; j--) {
    int32_t *first = parent[j] < 0 ? &roots : &child[parent[j]];
    sibling[j] = *first;
    *first = j;
  }
  for (int32_t j = roots; j >= 0;) {
    while (child[j] >= 0) { /* descends, and takes each edge away */
      const int32_t next = child[j];
      child[j] = -1;
      j = next;
    }
    post[k++] = j;
    j = sibling[j] >= 0 ? sibling[j] : parent[j];
  }
}

/* Numbers the columns in postorder. */
static void renumber(const int32_t *permutation, const int32_t *post, const int32_t *parent,
                     int32_t *inverse, bsi_lu_tree *tree) {
  for (int32_t k = 0; k < tree->n; k++) inverse[post[k]] = k;
  for (int32_t k = 0; k < tree->n; k++) {
    const int32_t j = post[k];
    tree->order[k] = permutation ? permutation[j] : j;
    tree->parent[k] = parent[j] < 0 ? -1 : inverse[parent[j]];
  }
  for (int32_t k = 0; k < tree->n; k++) tree->place[tree->order[k]] = k;
}

static bisai_status make_order(bisai_context *context, const bsi_graph *graph,
                               const int32_t *permutation, bsi_lu_tree *tree) {
  const size_t n = (size_t)graph->n;
  int32_t *work = bsi_allocate(context, 4 * n, sizeof *work);
  if (!work) return BISAI_OUT_OF_MEMORY;
  int32_t *parent = work, *ancestor = work + n, *sibling = work + 2 * n, *post = work + 3 * n;
  for (int32_t i = 0; i < graph->n; i++) tree->place[permutation ? permutation[i] : i] = i;
  find_parents(graph, permutation, tree->place, parent, ancestor);
  list_in_postorder(graph->n, parent, ancestor, sibling, post);
  renumber(permutation, post, parent, ancestor, tree);
  bsi_release(context, work);
  return BISAI_OK;
}

/* Returns the root of the tree of j among the nodes that are done, and compresses the path. */
static int32_t find_root(int32_t *ancestor, int32_t j) {
  int32_t root = j;
  while (ancestor[root] != root) root = ancestor[root];
  while (ancestor[j] != root) {
    const int32_t next = ancestor[j];
    ancestor[j] = root;
    j = next;
  }
  return root;
}

/* The workspace of the counts. A row subtree of row i has the columns j with L_ij ≠ 0. */
typedef struct count_work {
  /* the first descendant of a column */
  int32_t *first;
  /* the largest of these among the leaves of row i's subtree so far, and its last leaf */
  int32_t *furthest, *leaf;
  int32_t *ancestor;
} count_work;

/* Adds the leaf j of the subtree of row i, if it is one. */
static void count_leaf(const count_work *w, int32_t i, int32_t j, int32_t *count) {
  if (w->first[j] <= w->furthest[i]) return;
  w->furthest[i] = w->first[j];
  count[j]++;
  if (w->leaf[i] >= 0) count[find_root(w->ancestor, w->leaf[i])]--;
  w->leaf[i] = j;
}

static void count_columns(const bsi_graph *graph, const count_work *w, bsi_lu_tree *tree) {
  const int32_t n = tree->n, *parent = tree->parent;
  for (int32_t j = 0; j < n; j++) {
    w->first[j] = w->ancestor[j] = j;
    w->furthest[j] = w->leaf[j] = -1;
  }
  for (int32_t j = 0; j < n; j++)
    if (parent[j] >= 0 && w->first[j] < w->first[parent[j]]) w->first[parent[j]] = w->first[j];
  for (int32_t j = 0; j < n; j++) tree->count[j] = w->first[j] == j;
  for (int32_t j = 0; j < n; j++) {
    const int32_t row = tree->order[j];
    if (parent[j] >= 0) tree->count[parent[j]]--;
    for (int32_t p = graph->ptr[row]; p < graph->ptr[row + 1]; p++) {
      const int32_t i = tree->place[graph->neighbours[p]];
      if (i > j) count_leaf(w, i, j, tree->count);
    }
    if (parent[j] >= 0) w->ancestor[j] = parent[j];
  }
  for (int32_t j = 0; j < n; j++)
    if (parent[j] >= 0) tree->count[parent[j]] += tree->count[j];
}

static bisai_status make_counts(bisai_context *context, const bsi_graph *graph, bsi_lu_tree *tree) {
  const size_t n = (size_t)tree->n;
  int32_t *work = bsi_allocate(context, 4 * n, sizeof *work);
  if (!work) return BISAI_OUT_OF_MEMORY;
  count_columns(graph, &(count_work){work, work + n, work + 2 * n, work + 3 * n}, tree);
  bsi_release(context, work);
  return BISAI_OK;
}

bisai_status bsi_lu_tree_create(bisai_context *context, const bsi_graph *graph,
                                const int32_t *permutation, bsi_lu_tree *tree) {
  const size_t n = (size_t)graph->n;
  bsi_lu_tree made = {.n = graph->n, .order = bsi_allocate(context, n, sizeof *made.order)};
  if (made.order) made.place = bsi_allocate(context, n, sizeof *made.place);
  if (made.place) made.parent = bsi_allocate(context, n, sizeof *made.parent);
  if (made.parent) made.count = bsi_allocate(context, n, sizeof *made.count);
  bisai_status status = made.count ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  if (!status) status = make_order(context, graph, permutation, &made);
  if (!status) status = make_counts(context, graph, &made);
  if (status)
    bsi_lu_tree_destroy(context, &made);
  else
    *tree = made;
  return status;
}

void bsi_lu_tree_destroy(bisai_context *context, bsi_lu_tree *tree) {
  bsi_release(context, tree->order);
  bsi_release(context, tree->place);
  bsi_release(context, tree->parent);
  bsi_release(context, tree->count);
  *tree = (bsi_lu_tree){0};
}
