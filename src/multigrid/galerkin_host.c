/* SPDX-License-Identifier: BSD-3-Clause */
/* The coarse matrix C = R A P of scalar matrices on the host, without an array for A P. Row i of C
 * is the sum of (R A)_ik times row k of P. Row i of R A is added up on the stack. If it has more
 * values than there is room, those so far are multiplied by P, and the room is emptied for the next
 * ones. What is added to a value, and in which order, depends on the structures alone, so that an
 * update gives the bits of a creation.
 *
 * Creation does not know the structure of C. It computes each row with its columns in the order of
 * their first terms, and sorts them then. Rows are kept beside C until the lengths of all rows are
 * known. A part of the rows that has no room for more of them computes the others again. */
#include <string.h>

#include "core/parallel.h"
#include "core/sort.h"
#include "multigrid/products_host.h"

enum {
  /* the least number of values of R for which a thread is woken */
  VALUES_PER_THREAD = 512,
  /* the places of columns of a row of R A by a hash, and the most values in the room */
  SLOT_BITS = 12,
  SLOTS = 1 << SLOT_BITS,
  ROOM = 1024,
  /* rows are prefetched that many rows ahead: they are scattered */
  AHEAD = 12
};

/* Values of a row of R A, in the order of their first terms. */
typedef struct row_room {
  /* the place of a column in the next two arrays, by a hash; ROOM: none */
  uint16_t slot[SLOTS];
  int32_t column[ROOM + 1];
  double sum[ROOM + 1];
  /* where `slot` has each place */
  uint16_t slot_of[ROOM + 1];
} row_room;

/* A row of C that is being made. The arrays belong to the thread, and have a place for each column
 * of C and one more. */
typedef struct new_row {
  int32_t *column;
  double *sum;
  /* the place of each column in the other two arrays; NONE */
  int32_t *place;
} new_row;

enum { NONE = -1 };

typedef struct galerkin_job {
  bisai_context *context;
  const bsi_sparse *r, *a, *p;
  bsi_sparse *c;

  /* creation: the most values of C, what the threads need for a new row, and the first rows of each
   * part, `kept` values in all */
  int64_t most;
  new_row rows;
  int64_t kept;
  int32_t *columns;
  double *values;
} galerkin_job;

static void room_open(row_room *room) {
  for (int s = 0; s < SLOTS; s++) room->slot[s] = ROOM;
}

static void room_empty(row_room *room, int32_t count) {
  for (int32_t k = 0; k < count; k++) room->slot[room->slot_of[k]] = ROOM;
}

/* Returns `then` if `condition` is true, otherwise `other`. No processor foresees these conditions:
 * compilers would make branches of the usual operator. */
BSI_INLINE int32_t choose(bool condition, int32_t then, int32_t other) {
  const int32_t mask = -(int32_t)condition;
  return (then & mask) | (other & ~mask);
}

/* *at ← the place of a column in the room, which has `count` columns and takes a new one. Returns
 * the new count. */
BSI_INLINE int32_t room_find(row_room *room, int32_t count, int32_t column, int32_t *at) {
  uint32_t slot = bsi_hash_of(column, SLOT_BITS);
  room->sum[count] = 0.0;
  room->column[ROOM] = column;
  while (room->column[room->slot[slot]] != column) slot = (slot + 1) % SLOTS;
  const bool is_new = room->slot[slot] == ROOM;
  *at = choose(is_new, count, room->slot[slot]);
  room->slot[slot] = (uint16_t)*at;
  room->slot_of[*at] = (uint16_t)slot;
  room->column[*at] = column;
  return count + is_new;
}

/* The same for a new row. */
BSI_INLINE int32_t row_find(const new_row *row, int32_t count, int32_t column, int32_t *at) {
  row->sum[count] = 0.0;
  const bool is_new = row->place[column] == NONE;
  *at = choose(is_new, count, row->place[column]);
  row->place[column] = *at;
  row->column[*at] = column;
  return count + is_new;
}

/* Prefetches row i of m, if it is short. */
BSI_INLINE void prefetch_row(const bsi_sparse *m, int32_t i) {
  const int32_t begin = m->row_ptr[i], last = m->row_ptr[i + 1] - 1;
  __builtin_prefetch(m->col_idx + begin);
  if (!m->values) return;
  __builtin_prefetch(m->values + begin);
  __builtin_prefetch(m->values + last);
}

/* Where the products of a row go: to row i of C, or to a new row, which has `length` columns. */
typedef struct target {
  const bsi_sparse *c;
  int32_t i;
  const int32_t *places;
  const new_row *row;
  int32_t length;
} target;

/* Adds the `count` values in the room times rows of P, and empties the room. Creation and update
 * multiply and add in the same statements, which compilers make the same instructions of. */
BSI_INLINE void multiply_room(const bool has_values, const bsi_sparse *p, row_room *room,
                              int32_t count, target *t) {
  const int32_t begin = t->row ? 0 : t->c->row_ptr[t->i],
                end = t->row ? 0 : t->c->row_ptr[t->i + 1], *columns = t->c->col_idx;
  double *values = t->row ? t->row->sum : t->c->values;
  int32_t length = t->length;
  for (int32_t k = 0; k < count; k++) {
    const int32_t from = room->column[k], after = p->row_ptr[from + 1];
    const double left = room->sum[k];
    if (k + AHEAD < count) prefetch_row(p, room->column[k + AHEAD]);
    for (int32_t q = p->row_ptr[from]; q < after; q++) {
      int32_t at;
      if (t->row)
        length = row_find(t->row, length, p->col_idx[q], &at);
      else
        at = bsi_place_of(columns, begin, end, p->col_idx[q], t->places);
      values[at] += has_values ? left * p->values[q] : left;
    }
  }
  t->length = length;
  room_empty(room, count);
}

/* Adds row i of R A P to a target. */
BSI_INLINE void multiply_row_with(const bool has_values, const galerkin_job *g, int32_t i,
                                  row_room *room, target *t) {
  /* copies, because the compiler would read the fields again after each value that it stores */
  const bsi_sparse r = *g->r, a = *g->a, p = *g->p;
  int32_t count = 0;
  for (int32_t s = r.row_ptr[i]; s < r.row_ptr[i + 1]; s++) {
    const int32_t from = r.col_idx[s], end = a.row_ptr[from + 1];
    const double left = r.values ? r.values[s] : 1.0;
    if (s + AHEAD < r.blocks) prefetch_row(&a, r.col_idx[s + AHEAD]);
    for (int32_t q = a.row_ptr[from]; q < end; q++) {
      int32_t at;
      if (count == ROOM) {
        multiply_room(has_values, &p, room, count, t);
        count = 0;
      }
      count = room_find(room, count, a.col_idx[q], &at);
      room->sum[at] += left * a.values[q];
    }
  }
  multiply_room(has_values, &p, room, count, t);
}

BSI_INLINE void multiply_row(const galerkin_job *g, int32_t i, row_room *room, target *t) {
  if (g->p->values)
    multiply_row_with(true, g, i, room, t);
  else
    multiply_row_with(false, g, i, room, t);
}

/* --- creation --- */

/* What a thread knows while it counts. */
typedef struct counting {
  /* its places have been initialised */
  bool ready;
  /* its part of C alone has too many values */
  bool too_large;
} counting;

/* Returns the new row of a thread. Its places become NONE at its first part. */
static new_row row_of(const galerkin_job *g, int thread) {
  const size_t length = (size_t)g->p->cols + 1, before = (size_t)thread * length;
  counting *partial = bsi_partial(g->context, thread);
  const new_row row = {g->rows.column + before, g->rows.sum + before, g->rows.place + before};
  for (size_t j = 0; j < length && !partial->ready; j++) row.place[j] = NONE;
  partial->ready = true;
  return row;
}

/* Makes row i, with ascending columns in row->column. Returns its length. */
static int32_t make_row(const galerkin_job *g, int32_t i, row_room *room, const new_row *row) {
  target t = {.c = g->c, .row = row};
  multiply_row(g, i, room, &t);
  bsi_sort_distinct(row->column, t.length);
  return t.length;
}

/* Writes a row that make_row() has made, if there is room for it. The row is empty then. */
static void take_row(const new_row *row, int32_t length, bool fits, int32_t *columns,
                     double *values) {
  if (fits) memcpy(columns, row->column, (size_t)length * sizeof *columns);
  for (int32_t k = 0; k < length; k++) {
    if (fits) values[k] = row->sum[row->place[row->column[k]]];
    row->place[row->column[k]] = NONE;
  }
}

/* The first pass: row_ptr[i + 1] ← the length of row i. Keeps the rows while there is room. */
static void count_part(void *job, bsi_part part) {
  const galerkin_job *g = job;
  const new_row row = row_of(g, part.thread);
  counting *partial = bsi_partial(g->context, part.thread);
  const bsi_rows rows = bsi_rows_of(g->r->rows, g->r->row_ptr, part);
  const bsi_range kept = bsi_range_of(g->kept, part);
  int64_t count = 0;
  row_room room;
  room_open(&room);
  for (int32_t i = rows.begin; i < rows.end && !partial->too_large; i++) {
    const int32_t length = make_row(g, i, &room, &row);
    const int64_t at = kept.begin + count;
    take_row(&row, length, at + length <= kept.end, g->columns + at, g->values + at);
    g->c->row_ptr[i + 1] = length;
    count += length;
    partial->too_large = count > g->most;
  }
}

/* The second pass: the columns and the values. */
static void fill_part(void *job, bsi_part part) {
  const galerkin_job *g = job;
  const bsi_sparse *c = g->c;
  const new_row row = row_of(g, part.thread);
  const bsi_rows rows = bsi_rows_of(g->r->rows, g->r->row_ptr, part);
  const bsi_range kept = bsi_range_of(g->kept, part);
  row_room room;
  room_open(&room);
  for (int32_t i = rows.begin; i < rows.end; i++) {
    const int32_t begin = c->row_ptr[i], length = c->row_ptr[i + 1] - begin;
    const int64_t at = kept.begin + begin - c->row_ptr[rows.begin];
    if (at + length <= kept.end) {
      memcpy(c->col_idx + begin, g->columns + at, (size_t)length * sizeof *c->col_idx);
      memcpy(c->values + begin, g->values + at, (size_t)length * sizeof *c->values);
    } else {
      make_row(g, i, &room, &row);
      take_row(&row, length, true, c->col_idx + begin, c->values + begin);
    }
  }
}

static int threads_for(const bisai_context *context, const bsi_sparse *r) {
  return bsi_threads_for(context->threads, r->blocks, VALUES_PER_THREAD);
}

/* Returns the most values that are kept. */
static int64_t kept_of(const bsi_sparse *a, int64_t most) {
  return a->blocks < most ? a->blocks : most;
}

/* Counts the values of the rows. Returns true if there are more than `most`. */
static bool count_rows(galerkin_job *g, int threads) {
  int64_t total = 0;
  bool too_large = false;
  for (int t = 0; t < threads; t++) *(counting *)bsi_partial(g->context, t) = (counting){0};
  bsi_run(g->context, threads, BSI_MANY_PARTS, count_part, g);
  for (int t = 0; t < threads; t++)
    too_large |= ((counting *)bsi_partial(g->context, t))->too_large;
  for (int32_t i = 0; i < g->c->rows && !too_large; i++) total += g->c->row_ptr[i + 1];
  return too_large || total > g->most;
}

/* After count_rows(). */
static bisai_status fill_rows(galerkin_job *g, int threads) {
  bsi_sparse *c = g->c;
  BSI_TRY(bsi_lengths_add(g->context, "a product", c->rows, c->row_ptr, &c->blocks));
  c->col_idx = bsi_allocate(g->context, (size_t)c->blocks, sizeof *c->col_idx);
  if (!c->col_idx) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(bsi_sparse_reserve_values(g->context, c));
  bsi_run(g->context, threads, BSI_MANY_PARTS, fill_part, g);
  return BISAI_OK;
}

static bisai_status create(bisai_context *context, const bsi_sparse *r, const bsi_sparse *a,
                           const bsi_sparse *p, int64_t most, bsi_sparse *c) {
  const int threads = threads_for(context, r);
  const size_t length = (size_t)threads * ((size_t)p->cols + 1);
  *c = (bsi_sparse){.rows = r->rows, .cols = p->cols, .height = 1, .width = 1};
  galerkin_job g = {.context = context, .r = r, .a = a, .p = p, .c = c, .most = most};
  g.kept = kept_of(a, most);
  c->row_ptr = bsi_allocate(context, (size_t)r->rows + 1, sizeof *c->row_ptr);
  if (c->row_ptr) g.rows.column = bsi_allocate(context, length, sizeof *g.rows.column);
  if (g.rows.column) g.rows.sum = bsi_allocate(context, length, sizeof *g.rows.sum);
  if (g.rows.sum) g.rows.place = bsi_allocate(context, length, sizeof *g.rows.place);
  if (g.rows.place) g.columns = bsi_allocate(context, (size_t)g.kept, sizeof *g.columns);
  if (g.columns) g.values = bsi_allocate(context, (size_t)g.kept, sizeof *g.values);
  bisai_status status = g.values ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  if (!status && count_rows(&g, threads)) {
    bsi_release(context, c->row_ptr);
    c->row_ptr = NULL;
  } else if (!status) {
    status = fill_rows(&g, threads);
  }
  bsi_release(context, g.rows.column);
  bsi_release(context, g.rows.sum);
  bsi_release(context, g.rows.place);
  bsi_release(context, g.columns);
  bsi_release(context, g.values);
  return status;
}

/* --- numbers --- */

static int64_t terms(const bisai_context *context, const bsi_sparse *a, const bsi_sparse *p) {
  (void)context;
  int64_t count = 0;
  for (int32_t q = 0; q < a->blocks; q++)
    count += p->row_ptr[a->col_idx[q] + 1] - p->row_ptr[a->col_idx[q]];
  return count;
}

static int64_t room_of(const bisai_context *context, const bsi_sparse *r, const bsi_sparse *a,
                       const bsi_sparse *p, int64_t most) {
  enum { VALUE = sizeof(int32_t) + sizeof(double), NEW = VALUE + sizeof(int32_t) };
  const int64_t of_rows = threads_for(context, r) * ((int64_t)p->cols + 1);
  return VALUE * kept_of(a, most) + NEW * of_rows;
}

/* --- updates --- */

static void update_part(void *job, bsi_part part) {
  const galerkin_job *g = job;
  const bsi_sparse *c = g->c;
  const bsi_rows rows = bsi_rows_of(g->r->rows, g->r->row_ptr, part);
  int32_t places[BSI_PLACES];
  row_room room;
  room_open(&room);
  for (int32_t i = rows.begin; i < rows.end; i++) {
    const int32_t begin = c->row_ptr[i], end = c->row_ptr[i + 1];
    bsi_places_set(c->col_idx, begin, end, places);
    memset(c->values + begin, 0, (size_t)(end - begin) * sizeof *c->values);
    multiply_row(g, i, &room, &(target){.c = c, .i = i, .places = places});
  }
}

static bisai_status update(bisai_context *context, const bsi_sparse *r, const bsi_sparse *a,
                           const bsi_sparse *p, bsi_sparse *c) {
  bsi_run(context, threads_for(context, r), BSI_MANY_PARTS, update_part,
          &(galerkin_job){.context = context, .r = r, .a = a, .p = p, .c = c});
  return BISAI_OK;
}

const bsi_galerkin_ops bsi_galerkin_host = {
    .terms = terms, .create = create, .room = room_of, .update = update};
