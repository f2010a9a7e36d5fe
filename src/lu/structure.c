/* SPDX-License-Identifier: BSD-3-Clause */
/* The structure of complete factors: rows of supernodes, where they are in their parents, and which
 * supernodes change which.
 *
 * Row i is in the supernodes on the paths of the tree from each j < i with A_ij ≠ 0 or A_ji ≠ 0 up
 * to i (Liu 1990, The role of elimination trees in sparse factorization, theorem 3.4). */
#include "lu/lu_impl.h"

/* Calls for each row i and each supernode that has it below its columns, rows ascending: adds 1 to
 * next[s], and writes i to rows[next[s]] if rows are given. */
static void visit_rows(const bsi_graph *graph, const bsi_lu_structure *t, const int32_t *of,
                       int32_t *seen, int64_t *next, int32_t *rows) {
  for (int32_t s = 0; s < t->nodes.count; s++) seen[s] = -1;
  for (int32_t i = 0; i < graph->n; i++) {
    const int32_t row = t->tree.order[i], own = of[i];
    seen[own] = i;
    for (int32_t p = graph->ptr[row]; p < graph->ptr[row + 1]; p++) {
      const int32_t j = t->tree.place[graph->neighbours[p]];
      if (j > i) continue;
      for (int32_t s = of[j]; seen[s] != i; s = t->nodes.parent[s]) {
        seen[s] = i;
        if (rows) rows[next[s]] = i;
        next[s]++;
      }
    }
  }
}

static void find_rows(const bsi_graph *graph, bsi_lu_structure *t, const int32_t *of, int32_t *seen,
                      int64_t *next) {
  for (int32_t s = 0; s < t->nodes.count; s++) next[s] = t->row_ptr[s];
  visit_rows(graph, t, of, seen, next, t->rows);
}

/* Lists the children of each supernode. */
static void find_children(bsi_lu_structure *t) {
  const int32_t count = t->nodes.count, *parent = t->nodes.parent;
  for (int32_t s = 0; s <= count; s++) t->child_ptr[s] = 0;
  for (int32_t s = 0; s < count; s++)
    if (parent[s] >= 0) t->child_ptr[parent[s]]++;
  for (int32_t s = 0, sum = 0; s <= count; s++) {
    sum += t->child_ptr[s];
    t->child_ptr[s] = sum;
  }
  for (int32_t s = count; s-- > 0;)
    if (parent[s] >= 0) t->children[--t->child_ptr[parent[s]]] = s;
}

/* Finds where the rows of children are in the fronts of their parents. `where` is workspace for
 * each row. */
static void find_places(bsi_lu_structure *t, int32_t *where) {
  for (int32_t s = 0; s < t->nodes.count; s++) {
    const int32_t begin = t->nodes.begin[s], width = t->nodes.begin[s + 1] - begin;
    if (t->child_ptr[s] == t->child_ptr[s + 1]) continue;
    for (int32_t c = 0; c < width; c++) where[begin + c] = c;
    for (int32_t r = 0; r < t->nodes.below[s]; r++) where[t->rows[t->row_ptr[s] + r]] = width + r;
    for (int32_t c = t->child_ptr[s]; c < t->child_ptr[s + 1]; c++)
      for (int64_t p = t->row_ptr[t->children[c]]; p < t->row_ptr[t->children[c] + 1]; p++)
        t->place[p] = where[t->rows[p]];
  }
}

/* Calls for each update, sources ascending: adds 1 to next[s] of the supernode that it changes, and
 * writes it to updates[next[s]] if they are given. */
static void visit_updates(const bsi_lu_structure *t, const int32_t *of, int64_t *next,
                          bsi_lu_update *updates) {
  for (int32_t s = 0; s < t->nodes.count; s++) {
    const int32_t *rows = t->rows + t->row_ptr[s], below = t->nodes.below[s];
    for (int32_t first = 0, last; first < below; first = last) {
      const int32_t to = of[rows[first]];
      for (last = first + 1; last < below && of[rows[last]] == to;) last++;
      if (updates) updates[next[to]] = (bsi_lu_update){s, first, last};
      next[to]++;
    }
  }
}

static bisai_status find_updates(bisai_context *context, bsi_lu_structure *t, const int32_t *of,
                                 int64_t *next) {
  const int32_t count = t->nodes.count;
  for (int32_t s = 0; s < count; s++) next[s] = 0;
  visit_updates(t, of, next, NULL);
  int64_t sum = 0;
  for (int32_t s = 0; s < count; s++) {
    t->update_ptr[s] = sum;
    sum += next[s];
    next[s] = t->update_ptr[s];
  }
  t->update_ptr[count] = sum;
  t->updates = bsi_allocate(context, (size_t)sum, sizeof *t->updates);
  if (!t->updates) return BISAI_OUT_OF_MEMORY;
  visit_updates(t, of, next, t->updates);
  return BISAI_OK;
}

/* The level of a supernode is one more than that of its highest child. */
static void find_levels(bsi_lu_structure *t, int32_t *level) {
  const int32_t count = t->nodes.count, *parent = t->nodes.parent;
  for (int32_t s = 0; s < count; s++) level[s] = 0;
  for (int32_t s = 0; s < count; s++) {
    if (parent[s] >= 0 && level[parent[s]] <= level[s]) level[parent[s]] = level[s] + 1;
    if (level[s] >= t->levels) t->levels = level[s] + 1;
  }
  for (int32_t l = 0; l <= t->levels; l++) t->level_ptr[l] = 0;
  for (int32_t s = 0; s < count; s++) t->level_ptr[level[s]]++;
  for (int32_t l = 0, sum = 0; l <= t->levels; l++) {
    sum += t->level_ptr[l];
    t->level_ptr[l] = sum;
  }
  for (int32_t s = count; s-- > 0;) t->level_nodes[--t->level_ptr[level[s]]] = s;
}

static void find_pointers(bsi_lu_structure *t, int block_size) {
  t->row_ptr[0] = t->value_ptr[0] = 0;
  for (int32_t s = 0; s < t->nodes.count; s++) {
    const int32_t width = t->nodes.begin[s + 1] - t->nodes.begin[s], below = t->nodes.below[s];
    t->row_ptr[s + 1] = t->row_ptr[s] + below;
    t->value_ptr[s + 1] = t->value_ptr[s] + bsi_supernode_values(width, below, block_size);
  }
}

static bisai_status reserve(bisai_context *context, bsi_lu_structure *t) {
  const size_t count = (size_t)t->nodes.count;
  int64_t rows = 0;
  for (size_t s = 0; s < count; s++) rows += t->nodes.below[s];
  t->row_ptr = bsi_allocate(context, count + 1, sizeof *t->row_ptr);
  if (t->row_ptr) t->value_ptr = bsi_allocate(context, count + 1, sizeof *t->value_ptr);
  if (t->value_ptr) t->update_ptr = bsi_allocate(context, count + 1, sizeof *t->update_ptr);
  if (t->update_ptr) t->rows = bsi_allocate(context, (size_t)rows, sizeof *t->rows);
  if (t->rows) t->place = bsi_allocate(context, (size_t)rows, sizeof *t->place);
  if (t->place) t->of = bsi_allocate(context, (size_t)t->tree.n, sizeof *t->of);
  if (t->of) t->level_ptr = bsi_allocate(context, count + 1, sizeof *t->level_ptr);
  if (t->level_ptr) t->level_nodes = bsi_allocate(context, count, sizeof *t->level_nodes);
  if (t->level_nodes) t->child_ptr = bsi_allocate(context, count + 1, sizeof *t->child_ptr);
  if (t->child_ptr) t->children = bsi_allocate(context, count, sizeof *t->children);
  return t->children ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

bisai_status bsi_lu_structure_create(bisai_context *context, const bsi_graph *graph, int block_size,
                                     bsi_lu_structure *t) {
  const size_t n = (size_t)graph->n, count = (size_t)t->nodes.count;
  bisai_status status = reserve(context, t);
  int64_t *next = status ? NULL : bsi_allocate(context, count, sizeof *next);
  int32_t *of = next ? t->of : NULL;
  int32_t *work = of ? bsi_allocate(context, n, sizeof *work) : NULL;
  if (!work) status = BISAI_OUT_OF_MEMORY;
  if (!status) {
    for (int32_t s = 0; s < t->nodes.count; s++)
      for (int32_t j = t->nodes.begin[s]; j < t->nodes.begin[s + 1]; j++) of[j] = s;
    find_pointers(t, block_size);
    find_rows(graph, t, of, work, next);
    find_children(t);
    find_places(t, work);
    find_levels(t, work);
    status = find_updates(context, t, of, next);
  }
  bsi_release(context, work);
  bsi_release(context, next);
  return status;
}

void bsi_lu_structure_destroy(bisai_context *context, bsi_lu_structure *t) {
  bsi_lu_tree_destroy(context, &t->tree);
  bsi_supernodes_destroy(context, &t->nodes);
  bsi_release(context, t->row_ptr);
  bsi_release(context, t->value_ptr);
  bsi_release(context, t->update_ptr);
  bsi_release(context, t->updates);
  bsi_release(context, t->rows);
  bsi_release(context, t->place);
  bsi_release(context, t->of);
  bsi_release(context, t->level_ptr);
  bsi_release(context, t->level_nodes);
  bsi_release(context, t->child_ptr);
  bsi_release(context, t->children);
}
