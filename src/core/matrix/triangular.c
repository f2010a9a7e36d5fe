/* SPDX-License-Identifier: BSD-3-Clause */
/* Level schedules: level(i) = 1 + max over the blocks (i, j), j ≠ i, of level(j). Source: Saad,
 * Iterative Methods, 11.6. */
#include "core/matrix/triangular.h"

#include "core/context/context_impl.h"
#include "core/threads/parallel.h"

static int32_t assign_levels(bisai_triangle triangle, int32_t n, const int32_t *row_ptr,
                             const int32_t *col_idx, int32_t *level) {
  int32_t count = 0;
  for (int32_t step = 0; step < n; step++) {
    const int32_t i = triangle == BISAI_LOWER ? step : n - 1 - step;
    int32_t mine = 0;
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++) {
      const int32_t j = col_idx[p];
      const bool earlier = triangle == BISAI_LOWER ? j < i : j > i;
      if (earlier && level[j] + 1 > mine) mine = level[j] + 1;
    }
    level[i] = mine;
    if (mine + 1 > count) count = mine + 1;
  }
  return count;
}

bisai_status bsi_levels_count(bisai_context *context, bisai_triangle triangle, int32_t n,
                              const int32_t *row_ptr, const int32_t *col_idx, int32_t *count) {
  int32_t *level = bsi_allocate(context, (size_t)n, sizeof *level);
  if (!level) return BISAI_OUT_OF_MEMORY;
  *count = assign_levels(triangle, n, row_ptr, col_idx, level);
  bsi_release(context, level);
  return BISAI_OK;
}

/* ptr and rows, both in host memory, ← the levels, from the level of each row. */
static void list_levels(int32_t n, const int32_t *level, int32_t count, int32_t *ptr,
                        int32_t *rows) {
  for (int32_t l = 0; l <= count; l++) ptr[l] = 0;
  for (int32_t i = 0; i < n; i++) ptr[level[i] + 1]++;
  for (int32_t l = 0; l < count; l++) ptr[l + 1] += ptr[l];
  for (int32_t i = 0; i < n; i++) rows[ptr[level[i]]++] = i;
  for (int32_t l = count; l > 0; l--) ptr[l] = ptr[l - 1];
  ptr[0] = 0;
}

/* *moved ← rows in backend memory. Takes over `rows`, which is in host memory. */
static bisai_status move_rows(bisai_context *context, int32_t n, int32_t *rows, int32_t **moved) {
  const bsi_backend *backend = context->backend;
  if (backend->memory->is_host) {
    *moved = rows;
    return BISAI_OK;
  }
  *moved = backend->memory->allocate(context, (size_t)n, sizeof **moved);
  const bisai_status status =
      *moved ? backend->memory->upload(context, *moved, rows, (size_t)n * sizeof **moved)
             : BISAI_OUT_OF_MEMORY;
  bsi_release(context, rows);
  return status;
}

bisai_status bsi_levels_create(bisai_context *context, bisai_triangle triangle, int32_t n,
                               const int32_t *row_ptr, const int32_t *col_idx, bsi_levels *levels) {
  bsi_levels made = {0};
  int32_t *level = bsi_allocate(context, (size_t)n, sizeof *level);
  int32_t *rows = level ? bsi_allocate(context, (size_t)n, sizeof *rows) : NULL;
  if (rows) {
    made.count = assign_levels(triangle, n, row_ptr, col_idx, level);
    made.ptr = bsi_allocate(context, (size_t)made.count + 1, sizeof *made.ptr);
  }
  if (made.ptr) list_levels(n, level, made.count, made.ptr, rows);
  bsi_release(context, level);
  if (!made.ptr) {
    bsi_release(context, rows);
    return BISAI_OUT_OF_MEMORY;
  }
  const bisai_status status = move_rows(context, n, rows, &made.rows);
  if (status)
    bsi_levels_destroy(context, &made);
  else
    *levels = made;
  return status;
}

void bsi_levels_destroy(bisai_context *context, bsi_levels *levels) {
  bsi_release(context, levels->ptr);
  context->backend->memory->release(context, levels->rows);
  *levels = (bsi_levels){0};
}

bool bsi_levels_pay(const bsi_levels *levels, int threads, bisai_schedule schedule, int64_t bytes) {
  enum { MIN_THREADS = 4, MIN_LEVEL_BYTES = 1 << 17 };
  if (schedule != BISAI_SCHEDULE_AUTO) return schedule == BISAI_SCHEDULE_LEVELS;
  return threads >= MIN_THREADS && levels->count > 0 && bytes / levels->count >= MIN_LEVEL_BYTES;
}

int bsi_level_threads(const bsi_levels *levels, int32_t level, int threads, int64_t bytes) {
  enum { BYTES_PER_THREAD = 1 << 14 };
  const int32_t rows = levels->ptr[level + 1] - levels->ptr[level];
  return bsi_threads_for(threads, bytes / levels->ptr[levels->count] * rows, BYTES_PER_THREAD);
}

void bsi_invert_stats_merge(bsi_invert_stats *into, const bsi_invert_stats *from) {
  bsi_min_index(&into->singular_row, from->singular_row);
  bsi_min_index(&into->infinite_row, from->infinite_row);
  bsi_min_index(&into->first_repair_row, from->first_repair_row);
  into->fallbacks += from->fallbacks;
  into->repairs += from->repairs;
  if (from->largest_condition > into->largest_condition ||
      (from->largest_condition == into->largest_condition &&
       from->largest_condition_row < into->largest_condition_row)) {
    into->largest_condition = from->largest_condition;
    into->largest_condition_row = from->largest_condition_row;
  }
}

_Static_assert(sizeof(bsi_invert_stats) <= BSI_PARTIAL_BYTES,
               "the statistics are a thread's partial result");

void bsi_invert_stats_clear_partials(bisai_context *context, int threads) {
  for (int t = 0; t < threads; t++)
    *(bsi_invert_stats *)bsi_partial(context, t) = BSI_INVERT_STATS_NONE;
}

void bsi_invert_stats_merge_partials(bisai_context *context, int threads, bsi_invert_stats *into) {
  for (int t = 0; t < threads; t++) bsi_invert_stats_merge(into, bsi_partial(context, t));
}

bisai_status bsi_invert_stats_judge(bisai_context *context, const char *where,
                                    const bisai_bcsr *matrix, const bsi_invert_stats *stats) {
  if (stats->infinite_row >= 0 &&
      (stats->singular_row < 0 || stats->infinite_row < stats->singular_row))
    return bsi_fail(context, BISAI_NOT_FINITE, "%sblock row %d: the factors overflow", where,
                    bsi_row_name(matrix, stats->infinite_row));
  if (stats->singular_row < 0) return BISAI_OK;
  return bsi_fail(context, BISAI_SINGULAR_BLOCK, "%sblock row %d: the diagonal block is singular",
                  where, bsi_row_name(matrix, stats->singular_row));
}
