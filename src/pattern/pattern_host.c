/* SPDX-License-Identifier: BSD-3-Clause */
/* S(|T|^k) on the host: a breadth-first search of k steps from every block row, first to count and
 * then to write. */
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "core/matrix/sort.h"
#include "core/threads/parallel.h"
#include "pattern/pattern_impl.h"
#include "pattern/pattern_ops.h"

#include <string.h>

enum { ROWS_PER_THREAD = 1024 };

typedef struct search {
  const bisai_bcsr *a;
  bisai_triangle triangle;
  int power;
  /* the maximum length of a row; 0: no limit */
  int32_t limit;
} search;

/* The workspace of a thread: `seen[j]` is the mark of the row that reached j last, `found` holds
 * the block columns of the present row. */
typedef struct scratch {
  int32_t *seen, *found;
} scratch;

/* The diagonal block is in each triangle. */
static bool in_triangle(const search *s, int32_t row, int32_t column) {
  return s->triangle == BISAI_WHOLE || (s->triangle == BISAI_LOWER ? column <= row : column >= row);
}

/* Finds the block columns that are reached from row i and returns their number. They are in
 * own->found by ascending distance, unsorted within a distance. If they exceed the limit,
 * found[*boundary_begin … *boundary_end) have the distance at which they exceed it. */
static int32_t reach(const search *s, const scratch *own, int32_t i, int32_t mark,
                     int32_t *boundary_begin, int32_t *boundary_end) {
  const bisai_bcsr *a = s->a;
  int32_t count = 1, frontier = 0;
  *boundary_begin = *boundary_end = 0;
  own->found[0] = i;
  own->seen[i] = mark;
  for (int step = 0; step < s->power && frontier < count; step++) {
    const int32_t end = count;
    for (; frontier < end; frontier++) {
      const int32_t from = own->found[frontier];
      for (int32_t q = a->row_ptr[from]; q < a->row_ptr[from + 1]; q++) {
        const int32_t j = a->col_idx[q];
        if (!in_triangle(s, from, j) || own->seen[j] == mark) continue;
        own->seen[j] = mark;
        own->found[count++] = j;
      }
    }
    if (count > s->limit && end <= s->limit) *boundary_begin = end, *boundary_end = count;
  }
  return count;
}

/* Finds the block columns of row i for one step: the row itself, which is sorted. */
static int32_t reach_neighbours(const search *s, const scratch *own, int32_t i) {
  const bisai_bcsr *a = s->a;
  int32_t q = a->row_ptr[i], end = a->row_ptr[i + 1], count = 0;
  for (; q < end && a->col_idx[q] < i; q++)
    if (s->triangle != BISAI_UPPER) own->found[count++] = a->col_idx[q];
  own->found[count++] = i;
  if (q < end && a->col_idx[q] == i) q++;
  for (; q < end && s->triangle != BISAI_LOWER; q++) own->found[count++] = a->col_idx[q];
  return count;
}

/* Shortens the columns that reach() found to s->limit: keeps all before the boundary, and those of
 * the boundary that are nearest to the diagonal. */
static void shorten(const search *s, const scratch *own, int32_t boundary_begin,
                    int32_t boundary_end) {
  int32_t *boundary = own->found + boundary_begin;
  const int32_t kept = s->limit - boundary_begin;
  bsi_sort(boundary, boundary_end - boundary_begin);
  if (s->triangle == BISAI_LOWER)
    memmove(boundary, own->found + boundary_end - kept, (size_t)kept * sizeof *boundary);
}

/* The search of all rows. With `lengths` it counts; otherwise it writes the sorted rows of
 * `found`. */
typedef struct search_job {
  bisai_context *context;
  const search *s;
  /* the workspace of each thread, 2n elements */
  int32_t *room;
  int32_t *lengths;
  const bisai_pattern *found;
} search_job;

/* A thread's partial result. */
typedef struct search_partial {
  bsi_cut cut;
  /* its marks are initialised */
  bool ready;
} search_partial;

static void search_part(void *job, bsi_part part) {
  const search_job *o = job;
  const search *s = o->s;
  const int32_t n = s->a->block_rows;
  int32_t *room = o->room + (size_t)part.thread * 2 * (size_t)n;
  const scratch own = {room, room + n};
  const bool neighbours = s->power == 1 && s->limit == 0;
  search_partial *partial = bsi_partial(o->context, part.thread);
  if (!neighbours && !partial->ready) {
    for (int32_t j = 0; j < n; j++) own.seen[j] = -1;
    partial->ready = true;
  }
  const bsi_rows rows = bsi_rows_of(n, s->a->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++) {
    int32_t boundary_begin = 0, boundary_end = 0;
    const int32_t mark = o->lengths ? i : -2 - i; /* the two searches use different marks */
    int32_t count = neighbours ? reach_neighbours(s, &own, i)
                               : reach(s, &own, i, mark, &boundary_begin, &boundary_end);
    if (s->limit > 0 && count > s->limit) {
      if (o->lengths) {
        partial->cut.shortened++;
        partial->cut.blocks += count - s->limit;
      }
      shorten(s, &own, boundary_begin, boundary_end);
      count = s->limit;
    }
    if (o->lengths) {
      o->lengths[i] = count;
      continue;
    }
    if (!neighbours) bsi_sort(own.found, count);
    for (int32_t q = 0; q < count; q++) o->found->col_idx[o->found->row_ptr[i] + q] = own.found[q];
  }
}

static bisai_status pattern_power(bisai_context *context, const bisai_bcsr *matrix, int power,
                                  int32_t row_limit, bisai_pattern *p) {
  const int32_t n = matrix->block_rows;
  const int threads = bsi_threads_for(context->threads, n, ROWS_PER_THREAD);
  const search s = {matrix, p->triangle, power, row_limit};
  p->row_ptr = bsi_allocate(context, (size_t)n + 1, sizeof *p->row_ptr);
  int32_t *room =
      p->row_ptr ? bsi_allocate(context, (size_t)threads * 2 * (size_t)n, sizeof *room) : NULL;
  if (!room) return BISAI_OUT_OF_MEMORY;

  bisai_status status = BISAI_OK;
  for (int t = 0; t < threads; t++)
    *(search_partial *)bsi_partial(context, t) = (search_partial){0};
  bsi_run(context, threads, BSI_SOME_PARTS, search_part,
          &(search_job){context, &s, room, p->row_ptr + 1, NULL});
  for (int t = 0; t < threads; t++) {
    const search_partial *partial = bsi_partial(context, t);
    p->cut =
        (bsi_cut){p->cut.shortened + partial->cut.shortened, p->cut.blocks + partial->cut.blocks};
  }
  int64_t blocks = 0;
  p->row_ptr[0] = 0;
  for (int32_t i = 0; i < n && !status; i++) {
    blocks += p->row_ptr[i + 1];
    if (blocks > INT32_MAX)
      status =
          bsi_fail(context, BISAI_INDEX_OVERFLOW, "block row %d: S(|T|^%d) has more than %d blocks",
                   bsi_row_name(matrix, i), power, INT32_MAX);
    else
      p->row_ptr[i + 1] = (int32_t)blocks;
  }
  if (!status) {
    p->blocks = (int32_t)blocks;
    p->col_idx = bsi_allocate(context, (size_t)blocks, sizeof *p->col_idx);
    if (p->col_idx)
      bsi_run(context, threads, BSI_SOME_PARTS, search_part,
              &(search_job){context, &s, room, NULL, p});
    else
      status = BISAI_OUT_OF_MEMORY;
  }
  bsi_release(context, room);
  return status;
}

static bisai_status pattern_columns(bisai_context *context, bisai_pattern *p) {
  p->position = bsi_allocate(context, (size_t)p->blocks, sizeof *p->position);
  if (!p->position) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(bsi_structure_transpose(context, p->block_rows, p->row_ptr, p->col_idx, &p->col_ptr,
                                  &p->row_idx, p->position));
  for (int32_t j = 0; j < p->block_rows; j++) {
    const int32_t length = p->col_ptr[j + 1] - p->col_ptr[j];
    if (length > p->longest_column) p->longest_column = length;
  }
  return BISAI_OK;
}

const bsi_pattern_ops bsi_pattern_host = {.power = pattern_power, .columns = pattern_columns};
