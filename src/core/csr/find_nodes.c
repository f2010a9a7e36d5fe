/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes are groups of rows that have the same columns, or nearly, themselves among them. The rule
 * is documented at bisai_csr_find_nodes() in bisai/bcsr.h. */
#include "core/csr/find_nodes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/block/block_sizes.h"
#include "core/context/context_impl.h"
#include "core/csr/csr_desc.h"

/* The thresholds of the rule: the part of the rows that are in nodes of the full size, the bytes of
 * padded blocks in those of the entries, and the common columns of two rows in those that one of
 * them has. Elasticity in tetrahedra, with and without planes of symmetry (tet_* of bench/auto),
 * has 0.78 to 0.98 and 0.7 to 0.8. There 99 % of the pairs of a node have at least 0.75 of their
 * columns in common, because zeros at the boundary are not stored, and rows of neighbouring nodes
 * have at most 0.49. At the boundary of a grid of hexahedra neighbours have 2/3. */
static const double least_full = 0.5, most_bytes = 1.5, least_common = 0.7;

/* A row and the hash of its columns. */
typedef struct hashed_row {
  uint64_t hash;
  int32_t row;
} hashed_row;

/* The rows that have the same columns as the first of them. */
typedef struct row_group {
  /* 0: the group is a part of that of row `last` */
  int32_t size, last;
  /* while the nodes are numbered: the rows that have got one, and the first of the numbers */
  int32_t numbered, first_node;
} row_group;

typedef struct search {
  const bisai_csr_desc *csr;
  hashed_row *rows;
  /* of each column: what found it last */
  int32_t *mark;
  /* of each row that is the first of a group */
  row_group *groups;
  /* of each row: the first row of its group, then its node */
  int32_t *node;
  /* of each row: its row in the block of its node */
  int32_t *component;
  int32_t nodes, block_size;
  /* at least */
  int64_t blocks;
} search;

/* The columns of a row come in any order, so that the hash is a sum. */
static uint64_t hash_row(const bisai_csr_desc *d, int32_t i) {
  uint64_t hash = (uint64_t)(d->row_ptr[i + 1] - d->row_ptr[i]);
  for (int32_t p = d->row_ptr[i]; p < d->row_ptr[i + 1]; p++) {
    uint64_t mixed = ((uint64_t)d->col_idx[p] + 1) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 29) * UINT64_C(0x94d049bb133111eb);
    hash += mixed ^ mixed >> 32;
  }
  return hash;
}

static int compare_rows(const void *a, const void *b) {
  const hashed_row *x = a, *y = b;
  if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
  return (x->row > y->row) - (x->row < y->row);
}

/* Marks the columns of a row with that row. */
static void mark_columns(const search *s, int32_t i) {
  for (int32_t p = s->csr->row_ptr[i]; p < s->csr->row_ptr[i + 1]; p++)
    s->mark[s->csr->col_idx[p]] = i;
}

/* Returns true if row i has the columns that row `first` has marked, and is one of them. */
static bool is_of_group(const search *s, int32_t first, int32_t i) {
  const bisai_csr_desc *d = s->csr;
  if (d->row_ptr[i + 1] - d->row_ptr[i] != d->row_ptr[first + 1] - d->row_ptr[first]) return false;
  bool same = s->mark[i] == first;
  for (int32_t p = d->row_ptr[i]; p < d->row_ptr[i + 1] && same; p++)
    same = s->mark[d->col_idx[p]] == first;
  return same;
}

/* Groups the rows of one hash. Rows that only have the same hash are groups of their own. */
static void group_rows(search *s, const hashed_row *rows, int32_t count) {
  const int32_t first = rows[0].row;
  mark_columns(s, first);
  for (int32_t k = 0; k < count; k++) {
    const int32_t i = rows[k].row;
    s->node[i] = k == 0 || is_of_group(s, first, i) ? first : i;
    s->groups[i] = (row_group){0};
    s->groups[s->node[i]].size++;
    s->groups[s->node[i]].last = i;
  }
}

static void find_groups(search *s) {
  const int32_t n = s->csr->rows;
  for (int32_t i = 0; i < n; i++) s->rows[i] = (hashed_row){hash_row(s->csr, i), i};
  qsort(s->rows, (size_t)n, sizeof *s->rows, compare_rows);
  memset(s->mark, 0xff, (size_t)n * sizeof *s->mark); /* -1 */
  for (int32_t begin = 0, end; begin < n; begin = end) {
    for (end = begin + 1; end < n && s->rows[end].hash == s->rows[begin].hash;) end++;
    group_rows(s, s->rows + begin, end - begin);
  }
}

/* Returns the size of groups that most rows are in, or 0 if these are not enough or not several. */
static int32_t most_frequent_size(const search *s) {
  int64_t rows[BSI_SPECIAL_SIZES + 1] = {0};
  int32_t best = 1;
  for (int32_t i = 0; i < s->csr->rows; i++)
    if (s->node[i] == i && s->groups[i].size <= BSI_SPECIAL_SIZES)
      rows[s->groups[i].size] += s->groups[i].size;
  for (int32_t size = 2; size <= BSI_SPECIAL_SIZES; size++)
    if (rows[size] >= rows[best]) best = size;
  return best > 1 && (double)rows[best] >= least_full * s->csr->rows ? best : 0;
}

/* Returns the common columns of row i, which has marked its own, and row j, divided by those that
 * one of them has. */
static double likeness(const search *s, int32_t i, int32_t j) {
  const int32_t *row_ptr = s->csr->row_ptr;
  int32_t common = 0;
  for (int32_t p = row_ptr[j]; p < row_ptr[j + 1]; p++) common += s->mark[s->csr->col_idx[p]] == i;
  const int64_t both = (int64_t)row_ptr[i + 1] - row_ptr[i] + row_ptr[j + 1] - row_ptr[j] - common;
  return both > 0 ? (double)common / (double)both : 0;
}

/* Returns true if row j is the first of a group that group i has room for. */
static bool fits(const search *s, int32_t i, int32_t j) {
  return j > i && s->node[j] == j && s->groups[j].size > 0 &&
         s->groups[i].size + s->groups[j].size <= s->block_size;
}

/* Returns the group that group i is coupled to and that is most like it, or -1. */
static int32_t most_alike(const search *s, int32_t i) {
  const bisai_csr_desc *d = s->csr;
  double most = least_common;
  int32_t best = -1;
  for (int32_t p = d->row_ptr[i]; p < d->row_ptr[i + 1]; p++) {
    const int32_t j = d->col_idx[p];
    if (!fits(s, i, j)) continue;
    const double like = likeness(s, i, j);
    if (like > most || (like == most && j < best)) most = like, best = j;
  }
  return best;
}

/* Joins small groups whose columns nearly agree: nodes of which some entries are not stored. */
static void join_groups(search *s) {
  memset(s->mark, 0xff, (size_t)s->csr->rows * sizeof *s->mark); /* -1 */
  for (int32_t i = 0; i < s->csr->rows; i++) {
    row_group *g = &s->groups[i];
    if (s->node[i] != i || g->size == 0 || g->size >= s->block_size) continue;
    mark_columns(s, i);
    for (int32_t j; g->size < s->block_size && (j = most_alike(s, i)) >= 0;) {
      row_group *other = &s->groups[j];
      g->size += other->size;
      if (other->last > g->last) g->last = other->last;
      other->size = 0;
      other->last = i;
    }
  }
  for (int32_t i = 0; i < s->csr->rows; i++)
    if (s->groups[s->node[i]].size == 0) s->node[i] = s->groups[s->node[i]].last;
}

/* Returns the part, counted from 0, of a group to which its k-th row belongs. Consecutive rows are
 * cut one after the other. Others are those of fields, whose parts alternate. */
static int32_t part_of(const row_group *g, int32_t first, int32_t k, int32_t block_size) {
  const bool consecutive = g->last - first == g->size - 1;
  if (consecutive || g->size % block_size != 0) return k / block_size;
  return k % (g->size / block_size);
}

/* node ← numbers in the order of the first rows of the groups. */
static void number_nodes(search *s) {
  s->nodes = 0;
  for (int32_t i = 0; i < s->csr->rows; i++) {
    const int32_t first = s->node[i];
    row_group *g = &s->groups[first];
    if (i == first) {
      g->first_node = s->nodes;
      s->nodes += (g->size + s->block_size - 1) / s->block_size;
    }
    s->node[i] = g->first_node + part_of(g, first, g->numbered++, s->block_size);
  }
}

/* component ← the ranks of the rows in their nodes. groups[k].size ← the rows of node k. */
static void rank_rows(const search *s) {
  for (int32_t k = 0; k < s->nodes; k++) s->groups[k] = (row_group){0};
  for (int32_t i = 0; i < s->csr->rows; i++) s->component[i] = s->groups[s->node[i]].size++;
}

/* Returns the component of nodes of at least `least` rows whose entries in a row sum up to most of
 * the diagonal entry, with the opposite sign. Those of other components nearly cancel, because A
 * maps constants of one component nearly to zero. */
static int32_t likely_component(const search *s, int32_t i, int32_t least) {
  const bisai_csr_desc *d = s->csr;
  double sum[BSI_SPECIAL_SIZES] = {0}, diagonal = 0;
  int32_t best = 0;
  for (int32_t p = d->row_ptr[i]; p < d->row_ptr[i + 1]; p++) {
    const int32_t j = d->col_idx[p];
    if (j == i)
      diagonal = d->values[p];
    else if (s->groups[s->node[j]].size >= least)
      sum[s->component[j]] -= d->values[p];
  }
  for (int32_t c = 1; c < s->block_size; c++)
    if (diagonal < 0 ? sum[c] < sum[best] : sum[c] > sum[best]) best = c;
  return best;
}

/* Gives the rows of nodes of `size` rows their likely components. Where two rows of a node want the
 * same one, they keep their ranks. groups[k].last ← the components taken, as bits. */
static void choose_components(const search *s, int32_t size, int32_t least) {
  for (int32_t k = 0; k < s->nodes; k++) s->groups[k].numbered = s->groups[k].last = 0;
  for (int32_t i = 0; i < s->csr->rows; i++) {
    row_group *g = &s->groups[s->node[i]];
    if (g->size != size) continue;
    s->component[i] = likely_component(s, i, least);
    if (g->last >> s->component[i] & 1) g->numbered = 1;
    g->last |= 1 << s->component[i];
  }
  for (int32_t k = 0; k < s->nodes; k++) s->groups[k].last = 0;
  for (int32_t i = 0; i < s->csr->rows; i++) {
    row_group *g = &s->groups[s->node[i]];
    if (g->size == size && g->numbered) s->component[i] = g->last++;
  }
}

/* Chooses the components of the rows of nodes that are not whole: first from larger nodes, then
 * from all. */
static void choose_all_components(const search *s) {
  enum { SWEEPS = 8 };
  for (int32_t size = s->block_size - 1; size > 0; size--) choose_components(s, size, size + 1);
  for (int sweep = 0; sweep < SWEEPS; sweep++)
    for (int32_t size = s->block_size - 1; size > 0; size--) choose_components(s, size, 1);
}

/* Returns true if blocks of the nodes, padded, do not take many more bytes than the entries. One
 * row speaks for all of its node. */
static bool is_worth_it(search *s) {
  const bisai_csr_desc *d = s->csr;
  s->blocks = 0;
  int32_t *mark = s->mark;
  memset(mark, 0xff, (size_t)d->rows * sizeof *mark); /* -1 */
  for (int32_t k = 0; k < s->nodes; k++) s->groups[k].numbered = 0;
  for (int32_t i = 0; i < d->rows; i++) {
    if (s->groups[s->node[i]].numbered++ > 0) continue;
    for (int32_t p = d->row_ptr[i]; p < d->row_ptr[i + 1]; p++) {
      int32_t *at = &mark[s->node[d->col_idx[p]]];
      s->blocks += *at != s->node[i];
      *at = s->node[i];
    }
  }
  const double of_block = 8.0 * s->block_size * s->block_size + 4, of_entry = 12.0;
  return (double)s->blocks * of_block <= most_bytes * of_entry * d->row_ptr[d->rows];
}

static void find_nodes(search *s) {
  find_groups(s);
  s->nodes = 0;
  s->block_size = most_frequent_size(s);
  if (s->block_size == 0) return;
  join_groups(s);
  number_nodes(s);
  if (!is_worth_it(s)) {
    s->nodes = 0;
    return;
  }
  rank_rows(s);
  if (s->csr->values) choose_all_components(s);
}

static bisai_status check(bisai_context *context, const bisai_csr_desc *desc, const int32_t *node,
                          const int32_t *component, const int32_t *nodes,
                          const int32_t *block_size) {
  if (!desc || !node || !component || !nodes || !block_size)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_csr_find_nodes: %s is NULL",
                    !desc        ? "desc"
                    : !node      ? "node"
                    : !component ? "component"
                    : !nodes     ? "nodes"
                                 : "block_size");
  return BISAI_OK;
}

static bisai_status check_square(bisai_context *context, const bisai_csr_desc *desc) {
  BSI_TRY(bsi_csr_check(context, desc));
  if (desc->rows == desc->cols) return BISAI_OK;
  return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                  "only square matrices have nodes, this one is %d × %d", desc->rows, desc->cols);
}

bisai_status bsi_find_nodes(bisai_context *context, const bisai_csr_desc *desc, int32_t *node,
                            int32_t *component, bsi_found_nodes *found) {
  const size_t rows = (size_t)desc->rows;
  bisai_status status = BISAI_OK;
  search s = {.csr = desc, .node = node, .component = component};
  s.rows = bsi_allocate(context, rows, sizeof *s.rows);
  if (s.rows) s.mark = bsi_allocate(context, rows, sizeof *s.mark);
  if (s.mark) s.groups = bsi_allocate(context, rows, sizeof *s.groups);
  if (s.groups) {
    find_nodes(&s);
    *found = (bsi_found_nodes){s.nodes, s.nodes > 0 ? s.block_size : 1, s.blocks};
  } else {
    status = BISAI_OUT_OF_MEMORY;
  }
  bsi_release(context, s.rows);
  bsi_release(context, s.mark);
  bsi_release(context, s.groups);
  return status;
}

int64_t bsi_find_nodes_bytes(const bisai_csr_desc *desc) {
  return desc->rows * (int64_t)(sizeof(hashed_row) + sizeof(int32_t) + sizeof(row_group));
}

bisai_status bisai_csr_find_nodes(bisai_context *context, const bisai_csr_desc *desc, int32_t *node,
                                  int32_t *component, int32_t *nodes, int32_t *block_size) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  bsi_found_nodes found;
  bisai_csr_desc zero;
  bsi_index_copies copies = {0};
  bisai_status status = check(context, desc, node, component, nodes, block_size);
  if (!status) status = bsi_csr_from_zero(context, desc, &zero, &copies);
  if (!status) status = check_square(context, &zero);
  if (!status) status = bsi_find_nodes(context, &zero, node, component, &found);
  bsi_index_copies_release(context, &copies);
  if (status) return status;
  *nodes = found.nodes;
  *block_size = found.block_size;
  return BISAI_OK;
}
