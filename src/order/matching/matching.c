/* SPDX-License-Identifier: BSD-3-Clause */
/* Maximum product matching with scaling (Duff and Koster 2001, job 5).
 *
 * With c_ij = log₂(max_k w_ik) − log₂ w_ij, the product of the weights on the diagonal is largest
 * where the sum of the c_ij on it is smallest. That is an assignment problem, with duals r and s:
 *
 *   c_ij − r_i − s_j ≥ 0, and = 0 on the matching.
 *
 * Most rows are matched by entries that are tight at first. Each other row takes the shortest
 * augmenting path in the reduced costs, by Dijkstra's method with a heap: it ends where a free
 * column is nearer than all columns that are left, so that it looks at few columns as a rule. Rows
 * are taken in their order, so that the result is the same in every run.
 *
 * 2^(s_j) and 2^(r_i) / max_k w_ik scale A such that weights are 1 on the matching, and at most 1
 * elsewhere. */
#include "order/matching/matching.h"

#include <math.h>

#include "core/context/context_impl.h"
#include "core/context/words.h"

BSI_DEFINE_WORDS(matching, BISAI_MATCHING_LIST, "unknown matching")

/* places of columns that are not in the heap */
enum { OUTSIDE = -1, DONE = -2 };

static bool reserve_results(bisai_context *context, bsi_matching *m) {
  const size_t n = (size_t)m->n;
  bsi_matching_work *w = &m->work;
  int32_t *integers = bsi_allocate(context, 8 * n, sizeof *integers);
  double *numbers = integers ? bsi_allocate(context, 4 * n, sizeof *numbers) : NULL;
  m->row_of = integers;
  if (!numbers) return false;
  m->work.column_of = integers + n;
  m->work.entry = integers + 2 * n;
  w->parent = integers + 3 * n;
  w->via = integers + 4 * n;
  w->heap = integers + 5 * n;
  w->place = integers + 6 * n;
  w->reached = integers + 7 * n;
  m->row_log = numbers;
  m->col_log = numbers + n;
  m->work.row_max = numbers + 2 * n;
  w->distance = numbers + 3 * n;
  return true;
}

/* *values ← the values of A in host memory. */
static bisai_status fetch(const bsi_matching *m, const bisai_bcsr *a, const double **values) {
  *values = m->fetched ? m->fetched : a->values;
  if (!m->fetched) return BISAI_OK;
  return m->context->backend->memory->fetch(m->context, m->fetched, a->values,
                                            bsi_block_offset(a, a->blocks) * sizeof *m->fetched);
}

bisai_status bsi_matching_create(bisai_context *context, const bisai_bcsr *a, bisai_matching unit,
                                 bsi_matching *matching) {
  bsi_matching made = {.context = context, .unit = unit};
  const double *values = NULL;
  bisai_status status = BISAI_OK;
  if (!context->backend->memory->is_host) {
    made.fetched = bsi_allocate(context, bsi_block_offset(a, a->blocks), sizeof *made.fetched);
    if (!made.fetched) status = BISAI_OUT_OF_MEMORY;
  }
  if (!status) status = fetch(&made, a, &values);
  if (!status) status = bsi_matching_list(&made, a, values);
  if (!status && !reserve_results(context, &made)) status = BISAI_OUT_OF_MEMORY;
  if (status)
    bsi_matching_destroy(&made);
  else
    *matching = made;
  return status;
}

/* --- rows that are matched without a search --- */

static void match(bsi_matching *m, int32_t row, int32_t entry) {
  const int32_t column = m->columns[entry];
  m->row_of[column] = row;
  m->work.column_of[row] = column;
  m->work.entry[row] = entry;
}

/* The first duals: s_j is the smallest cost of a column, and r_i the smallest that is left of a
 * row. */
static void set_duals(bsi_matching *m) {
  for (int32_t j = 0; j < m->n; j++) {
    m->row_of[j] = m->work.column_of[j] = -1;
    m->col_log[j] = m->work.distance[j] = INFINITY;
    m->work.place[j] = OUTSIDE;
  }
  for (int32_t p = 0; p < m->ptr[m->n]; p++)
    m->col_log[m->columns[p]] = fmin(m->col_log[m->columns[p]], m->cost[p]);
  for (int32_t j = 0; j < m->n; j++)
    if (isinf(m->col_log[j])) m->col_log[j] = 0.0;
  for (int32_t i = 0; i < m->n; i++) {
    double least = INFINITY;
    for (int32_t p = m->ptr[i]; p < m->ptr[i + 1]; p++)
      least = fmin(least, m->cost[p] - m->col_log[m->columns[p]]);
    m->row_log[i] = isinf(least) ? 0.0 : least;
  }
}

/* r_i is computed by the same subtraction, so that a tight entry compares equal. */
static bool is_tight(const bsi_matching *m, int32_t row, int32_t entry) {
  return isfinite(m->cost[entry]) &&
         m->cost[entry] - m->col_log[m->columns[entry]] <= m->row_log[row];
}

/* Returns a tight entry of the row in a free column, or -1. */
static int32_t find_free(const bsi_matching *m, int32_t row) {
  for (int32_t p = m->ptr[row]; p < m->ptr[row + 1]; p++)
    if (m->row_of[m->columns[p]] < 0 && is_tight(m, row, p)) return p;
  return -1;
}

/* Matches a row by a tight entry, be it that the row which has its column moves to a free one. */
static void match_tight(bsi_matching *m, int32_t row) {
  const int32_t free_entry = find_free(m, row);
  if (free_entry >= 0) {
    match(m, row, free_entry);
    return;
  }
  for (int32_t p = m->ptr[row]; p < m->ptr[row + 1]; p++) {
    if (!is_tight(m, row, p)) continue;
    const int32_t other = m->row_of[m->columns[p]], moved = find_free(m, other);
    if (moved < 0) continue;
    match(m, other, moved);
    match(m, row, p);
    return;
  }
}

/* --- shortest augmenting paths --- */

static void put(bsi_matching_work *w, int32_t place, int32_t column) {
  w->heap[place] = column;
  w->place[column] = place;
}

static void rise(bsi_matching_work *w, int32_t place) {
  const int32_t column = w->heap[place];
  while (place > 0 && w->distance[column] < w->distance[w->heap[(place - 1) / 2]]) {
    put(w, place, w->heap[(place - 1) / 2]);
    place = (place - 1) / 2;
  }
  put(w, place, column);
}

/* Takes the nearest column from a heap of `count`. */
static int32_t take_nearest(bsi_matching_work *w, int32_t count) {
  const int32_t nearest = w->heap[0], column = w->heap[count - 1];
  int32_t place = 0;
  w->place[nearest] = DONE;
  if (count == 1) return nearest;
  for (;;) {
    int32_t child = 2 * place + 1;
    if (child >= count - 1) break;
    if (child + 1 < count - 1 && w->distance[w->heap[child + 1]] < w->distance[w->heap[child]])
      child++;
    if (w->distance[w->heap[child]] >= w->distance[column]) break;
    put(w, place, w->heap[child]);
    place = child;
  }
  put(w, place, column);
  return nearest;
}

/* A search for the shortest path from a row to a free column. */
typedef struct path {
  /* columns in the heap, and columns that have been reached */
  int32_t waiting, reached;
  /* the nearest free column and its distance; -1 and INFINITY: none yet */
  int32_t end;
  double length;
} path;

/* Reaches the columns of a row that itself is at a distance. */
static void scan(bsi_matching *m, int32_t row, double from, path *found) {
  bsi_matching_work *w = &m->work;
  for (int32_t p = m->ptr[row]; p < m->ptr[row + 1]; p++) {
    const int32_t j = m->columns[p];
    if (w->place[j] == DONE || isinf(m->cost[p])) continue;
    /* rounding must not make a reduced cost negative */
    const double distance = fmax(from, from + (m->cost[p] - m->col_log[j] - m->row_log[row]));
    if (distance >= found->length || distance >= w->distance[j]) continue;
    if (isinf(w->distance[j])) w->reached[found->reached++] = j;
    w->distance[j] = distance;
    w->parent[j] = row;
    w->via[j] = p;
    if (m->row_of[j] < 0) {
      found->end = j;
      found->length = distance;
      continue;
    }
    if (w->place[j] == OUTSIDE) put(w, found->waiting++, j);
    rise(w, w->place[j]);
  }
}

/* Swaps the entries along the path that ends in a free column. */
static void augment(bsi_matching *m, int32_t first_row, int32_t end) {
  for (int32_t column = end;;) {
    const int32_t row = m->work.parent[column], next = m->work.column_of[row];
    match(m, row, m->work.via[column]);
    if (row == first_row) return;
    column = next;
  }
}

static void renew_row_dual(bsi_matching *m, int32_t row) {
  m->row_log[row] = m->cost[m->work.entry[row]] - m->col_log[m->work.column_of[row]];
}

/* Changes the duals of the columns to which the shortest paths are known, and of their rows. */
static void change_duals(bsi_matching *m, int32_t first_row, const path *found) {
  const bsi_matching_work *w = &m->work;
  for (int32_t k = 0; k < found->reached; k++) {
    const int32_t j = w->reached[k];
    if (w->place[j] != DONE) continue;
    m->col_log[j] += w->distance[j] - found->length;
    renew_row_dual(m, m->row_of[j]);
  }
  renew_row_dual(m, first_row);
  renew_row_dual(m, m->row_of[found->end]);
}

/* Returns the number of columns of the rows that compete with `row`, whose search has failed. */
static int32_t count_done(const bsi_matching *m, const path *found) {
  int32_t done = 0;
  for (int32_t k = 0; k < found->reached; k++) done += m->work.place[m->work.reached[k]] == DONE;
  return done;
}

static bisai_status refuse(const bsi_matching *m, int32_t row, int32_t columns) {
  const bool blocks = m->unit == BISAI_MATCHING_BLOCKS;
  const char *what = blocks ? "block row" : "row",
             *entries = blocks ? "regular blocks" : "nonzeros";
  if (columns == 0)
    return bsi_fail(m->context, BISAI_SINGULAR_BLOCK, "%s %d has no %s: it cannot be matched", what,
                    row, entries);
  return bsi_fail(m->context, BISAI_SINGULAR_BLOCK,
                  "%s %d cannot be matched: it and %d other%s have %s in only %d column%s", what,
                  row, columns, columns == 1 ? "" : "s", entries, columns, columns == 1 ? "" : "s");
}

static bisai_status search_path(bsi_matching *m, int32_t first_row) {
  bsi_matching_work *w = &m->work;
  path found = {.end = -1, .length = INFINITY};
  scan(m, first_row, 0.0, &found);
  while (found.waiting > 0 && w->distance[w->heap[0]] < found.length) {
    const int32_t j = take_nearest(w, found.waiting--);
    scan(m, m->row_of[j], w->distance[j], &found);
  }
  const int32_t done = count_done(m, &found);
  if (found.end >= 0) {
    augment(m, first_row, found.end);
    change_duals(m, first_row, &found);
  }
  for (int32_t k = 0; k < found.reached; k++) {
    w->distance[w->reached[k]] = INFINITY;
    w->place[w->reached[k]] = OUTSIDE;
  }
  return found.end >= 0 ? BISAI_OK : refuse(m, first_row, done);
}

/* Makes the duals of the costs those of the weights, with rows and columns in ranges of the same
 * middle. */
static void finish_duals(const bsi_matching *m) {
  double least[2] = {INFINITY, INFINITY}, most[2] = {-INFINITY, -INFINITY};
  for (int32_t i = 0; i < m->n; i++) {
    m->row_log[i] -= m->work.row_max[i];
    least[0] = fmin(least[0], m->row_log[i]);
    most[0] = fmax(most[0], m->row_log[i]);
    least[1] = fmin(least[1], m->col_log[i]);
    most[1] = fmax(most[1], m->col_log[i]);
  }
  const double shift = m->n > 0 ? (least[1] + most[1] - least[0] - most[0]) / 4.0 : 0.0;
  for (int32_t i = 0; i < m->n; i++) {
    m->row_log[i] += shift;
    m->col_log[i] -= shift;
  }
}

bisai_status bsi_matching_solve(bsi_matching *m, const bisai_bcsr *a) {
  const double *values;
  BSI_TRY(fetch(m, a, &values));
  bsi_matching_weigh(m, a, values);
  set_duals(m);
  for (int32_t i = 0; i < m->n; i++) match_tight(m, i);
  for (int32_t i = 0; i < m->n; i++)
    if (m->work.column_of[i] < 0) BSI_TRY(search_path(m, i));
  finish_duals(m);
  return BISAI_OK;
}

void bsi_matching_destroy(bsi_matching *m) {
  bisai_context *context = m->context;
  bsi_release(context, m->ptr);
  bsi_release(context, m->columns);
  bsi_release(context, m->source);
  bsi_release(context, m->zeros);
  bsi_release(context, m->cost);
  bsi_release(context, m->fetched);
  bsi_release(context, m->row_of);
  bsi_release(context, m->row_log);
  *m = (bsi_matching){0};
}

static bisai_status check(bisai_context *context, const bisai_bcsr *a, bisai_matching unit,
                          const int32_t *row_of) {
  if (!a || !row_of)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_order_match: %s is NULL",
                    a ? "row_of" : "matrix");
  if (a->block_rows != a->block_cols)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "the matrix is not square: %d × %d blocks",
                    a->block_rows, a->block_cols);
  if (unit != BISAI_MATCHING_ENTRIES && unit != BISAI_MATCHING_BLOCKS)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "matching %d is not one to compute",
                    (int)unit);
  if (a->type != BISAI_FP64 || a->unit_diagonal)
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "a matching needs fp64 values and stored diagonal blocks");
  return bsi_bcsr_check_finite(context, a);
}

bisai_status bisai_order_match(bisai_context *context, const bisai_bcsr *matrix,
                               bisai_matching matching, int32_t *row_of, double *row_log,
                               double *col_log) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  bsi_matching m;
  bisai_status status = check(context, matrix, matching, row_of);
  if (!status) status = bsi_matching_create(context, matrix, matching, &m);
  if (status) return status;
  status = bsi_matching_solve(&m, matrix);
  for (int32_t i = 0; i < m.n && !status; i++) {
    row_of[i] = m.row_of[i];
    if (row_log) row_log[i] = m.row_log[i];
    if (col_log) col_log[i] = m.col_log[i];
  }
  bsi_matching_destroy(&m);
  return status;
}
