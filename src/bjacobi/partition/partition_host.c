/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks by supervariable agglomeration on the host, in parallel.
 *
 * In the greedy rule the start of a block depends on all blocks before it. But a block that begins
 * before row b ends at most max_rows rows later: a segment of rows is entered at one of its first
 * max_rows rows. Each thread follows all these entries through its segment; their paths soon meet.
 * Then the segments are chained, and cut into blocks. The result is that of the sequential rule. */
#include "core/threads/parallel.h"

#include "bjacobi/bjacobi.h"
#include "bjacobi/bjacobi_ops.h"
#include "core/context/context_impl.h"

#include <string.h>

enum { ROWS_PER_THREAD = 4096, MAX_SEGMENTS = 1024 };

typedef struct finder {
  const bisai_bcsr *matrix;
  int32_t rows, max_rows;
  int segments;
  /* block_rows: 1 if a block row has another pattern than the one before */
  uint8_t *differs;
  /* rows + 1: 1 if a piece of a supervariable begins at the row */
  uint8_t *piece;
  /* rows: 1 + the first entry whose path meets the row; 0: no path does */
  uint8_t *path;
  /* segments + 1: the blocks before each segment */
  int32_t *blocks;
  /* segments: the row at which the partition enters each */
  int32_t *entry;
  /* segments·max_rows: the row at which the path from each entry leaves the segment; behind `entry`
   * in one array */
  int32_t *exits;
  /* blocks + 1 */
  int32_t *start;
} finder;

/* Returns the first row of a segment, a multiple of the block size. */
static int32_t segment_row(const finder *f, int segment) {
  return (int32_t)bsi_share(f->matrix->block_rows, segment, f->segments) * f->matrix->block_size;
}

static void compare_rows(const finder *f, int segment) {
  const bisai_bcsr *a = f->matrix;
  const int32_t end = segment_row(f, segment + 1) / a->block_size;
  for (int32_t i = segment_row(f, segment) / a->block_size; i < end; i++) {
    const int32_t length = a->row_ptr[i + 1] - a->row_ptr[i];
    f->differs[i] = i == 0 || length != a->row_ptr[i] - a->row_ptr[i - 1] ||
                    memcmp(a->col_idx + a->row_ptr[i], a->col_idx + a->row_ptr[i - 1],
                           (size_t)length * sizeof *a->col_idx) != 0;
  }
}

static void cut_supervariables(const finder *f, int segment) {
  const int32_t bs = f->matrix->block_size, begin = segment_row(f, segment),
                end = segment_row(f, segment + 1);
  if (begin == end) return;
  int32_t first = begin / bs; /* block row of the supervariable */
  while (!f->differs[first]) first--;
  int32_t phase = (int32_t)((begin - (int64_t)first * bs) % f->max_rows);
  for (int32_t row = begin; row < end; row++) {
    if (row % bs == 0 && f->differs[row / bs]) phase = 0;
    f->piece[row] = phase == 0;
    phase = phase + 1 == f->max_rows ? 0 : phase + 1;
  }
}

/* Returns the end of the block that begins at `row`. */
static int32_t next_start(const finder *f, int32_t row) {
  int32_t next = f->rows - row > f->max_rows ? row + f->max_rows : f->rows;
  while (!f->piece[next]) next--;
  return next;
}

/* exits[e] of the segment ← the row at which a path that enters at row e leaves it. */
static void follow_entries(const finder *f, int segment) {
  int32_t *exits = f->exits + (size_t)segment * (size_t)f->max_rows;
  const int32_t begin = segment_row(f, segment), end = segment_row(f, segment + 1);
  for (int32_t e = 0; e < f->max_rows && begin + e < end; e++) {
    if (!f->piece[begin + e]) continue;
    int32_t row = begin + e;
    while (row < end && !f->path[row]) {
      f->path[row] = (uint8_t)(e + 1);
      row = next_start(f, row);
    }
    exits[e] = row < end ? exits[f->path[row] - 1] : row;
  }
}

/* Counts the blocks of a segment, or lists their starts. */
static int32_t walk(const finder *f, int segment, int32_t *start) {
  const int32_t end = segment_row(f, segment + 1);
  int32_t count = 0;
  for (int32_t row = f->entry[segment]; row < end; row = next_start(f, row), count++)
    if (start) start[count] = row;
  return count;
}

static void count_blocks(const finder *f, int segment) {
  f->blocks[segment + 1] = walk(f, segment, NULL);
}

static void list_blocks(const finder *f, int segment) {
  walk(f, segment, f->start + f->blocks[segment]);
}

typedef void segment_function(const finder *, int segment);

typedef struct segments_job {
  const finder *f;
  segment_function *function;
} segments_job;

static void segments_part(void *job, bsi_part part) {
  const segments_job *j = job;
  const bsi_range range = bsi_range_of(j->f->segments, part);
  for (int64_t s = range.begin; s < range.end; s++) j->function(j->f, (int)s);
}

static void for_segments(bisai_context *context, const finder *f, segment_function *function) {
  bsi_run(context, f->segments, BSI_ONE_PART, segments_part, &(segments_job){f, function});
}

static void find(bisai_context *context, finder *f) {
  for_segments(context, f, compare_rows);
  for_segments(context, f, cut_supervariables);
  f->piece[f->rows] = 1;
  for_segments(context, f, follow_entries);
  int32_t row = 0;
  for (int s = 0; s < f->segments; s++) {
    f->entry[s] = row;
    const int32_t begin = segment_row(f, s);
    if (row < segment_row(f, s + 1))
      row = f->exits[(size_t)s * (size_t)f->max_rows + (size_t)(row - begin)];
  }
  for_segments(context, f, count_blocks);
  f->blocks[0] = 0;
  for (int s = 0; s < f->segments; s++) f->blocks[s + 1] += f->blocks[s];
}

static void release(bisai_context *context, finder *f) {
  bsi_release(context, f->differs);
  bsi_release(context, f->piece);
  bsi_release(context, f->path);
  bsi_release(context, f->blocks);
  bsi_release(context, f->entry);
  bsi_release(context, f->start);
}

static bool reserve(bisai_context *context, finder *f) {
  const size_t rows = (size_t)f->rows, segments = (size_t)f->segments;
  f->differs = bsi_allocate(context, (size_t)f->matrix->block_rows, 1);
  if (f->differs) f->piece = bsi_allocate(context, rows + 1, 1);
  if (f->piece) f->path = bsi_allocate(context, rows, 1);
  if (f->path) f->blocks = bsi_allocate(context, segments + 1, sizeof *f->blocks);
  if (f->blocks)
    f->entry = bsi_allocate(context, segments * (size_t)(1 + f->max_rows), sizeof *f->entry);
  if (!f->entry) return false;
  f->exits = f->entry + segments;
  memset(f->path, 0, rows);
  return true;
}

static bisai_status bjacobi_find(bisai_context *context, const bisai_bcsr *matrix, int32_t max_rows,
                                 bsi_partition *partition) {
  finder f = {
      .matrix = matrix, .rows = matrix->block_rows * matrix->block_size, .max_rows = max_rows};
  if (f.rows == 0) return bsi_partition_set(context, 0, 0, NULL, partition);
  const int threads = context->threads < MAX_SEGMENTS ? context->threads : MAX_SEGMENTS;
  f.segments = bsi_threads_for(threads, f.rows, ROWS_PER_THREAD);
  bisai_status status = reserve(context, &f) ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  if (!status) {
    find(context, &f);
    const int32_t blocks = f.blocks[f.segments];
    f.start = bsi_allocate(context, (size_t)blocks + 1, sizeof *f.start);
    if (!f.start) {
      status = BISAI_OUT_OF_MEMORY;
    } else {
      for_segments(context, &f, list_blocks);
      f.start[blocks] = f.rows;
      status = bsi_partition_set(context, f.rows, blocks, f.start, partition);
    }
  }
  release(context, &f);
  return status;
}

static bisai_status bjacobi_layout(bisai_context *context, bsi_bjacobi *jacobi) {
  (void)context;
  const bsi_partition *p = &jacobi->partition;
  int64_t values = 0;
  for (int32_t g = 0; g < jacobi->groups; g++) {
    const bsi_group group = bsi_bjacobi_group(jacobi, g);
    int32_t width = 0;
    for (int32_t b = group.begin; b < group.end; b++)
      if (p->start[b + 1] - p->start[b] > width) width = p->start[b + 1] - p->start[b];
    jacobi->first_value[g] = values;
    values += (int64_t)group.height * width;
  }
  jacobi->values = values;
  return BISAI_OK;
}

const bsi_partition_ops bsi_partition_host = {.find = bjacobi_find, .layout = bjacobi_layout};
