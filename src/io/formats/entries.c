/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/formats/entries.h"

#include <string.h>

#include "core/context/context_impl.h"
#include "io/formats/growth.h"

enum { GROUP_BITS = 9, GROUPS = 1 << GROUP_BITS };

/* Moves an array of `count` elements to a larger one. */
static void *larger(bisai_context *context, void *array, int32_t count, int32_t capacity,
                    size_t size) {
  void *moved = bsi_allocate(context, (size_t)capacity, size);
  if (!moved) return NULL;
  if (count > 0) memcpy(moved, array, (size_t)count * size);
  bsi_release(context, array);
  return moved;
}

enum { ENTRY_BYTES = sizeof(double) + 2 * sizeof(int32_t) };

static bisai_status resize(bisai_context *context, bsi_entries *e, int32_t capacity,
                           const bsi_limit *limit) {
  const int64_t old = e->capacity, first = ENTRY_BYTES * old + (int64_t)sizeof(double) * capacity;
  const int64_t last = ENTRY_BYTES * (int64_t)capacity + (int64_t)sizeof(int32_t) * old;
  BSI_TRY(bsi_limit_check(context, limit, first > last ? first : last));
  double *value = larger(context, e->value, e->count, capacity, sizeof *value);
  if (!value) return BISAI_OUT_OF_MEMORY;
  e->value = value;
  int32_t *col = larger(context, e->col, e->count, capacity, sizeof *col);
  if (!col) return BISAI_OUT_OF_MEMORY;
  e->col = col;
  int32_t *row = larger(context, e->row, e->count, capacity, sizeof *row);
  if (!row) return BISAI_OUT_OF_MEMORY;
  e->row = row;
  e->capacity = capacity;
  return BISAI_OK;
}

bisai_status bsi_entries_grow(bisai_context *context, bsi_entries *e, int32_t total,
                              const bsi_limit *limit) {
  return resize(context, e, (int32_t)bsi_next_capacity(e->capacity, total, 0), limit);
}

bisai_status bsi_entries_mirror(bisai_context *context, bsi_entries *e, double sign,
                                const bsi_limit *limit) {
  int64_t total = e->count;
  for (int32_t k = 0; k < e->count; k++) total += e->row[k] != e->col[k];
  if (total > INT32_MAX)
    return bsi_fail(context, BISAI_INDEX_OVERFLOW, "more than %d entries with the mirrored ones",
                    INT32_MAX);
  if (total == e->count) return BISAI_OK;
  BSI_TRY(resize(context, e, (int32_t)total, limit));
  for (int32_t k = 0, stored = e->count; k < stored; k++)
    if (e->row[k] != e->col[k]) bsi_entries_append(e, e->col[k], e->row[k], sign * e->value[k]);
  return BISAI_OK;
}

/* Counts the entries of each row into row_ptr. Returns true if the entries are already in the order
 * of their rows. */
static bool count_rows(const bsi_entries *e, int32_t rows, int32_t *row_ptr) {
  bool ordered = true;
  memset(row_ptr, 0, ((size_t)rows + 1) * sizeof *row_ptr);
  for (int32_t k = 0; k < e->count; k++) {
    row_ptr[e->row[k] + 1]++;
    ordered &= k == 0 || e->row[k - 1] <= e->row[k];
  }
  for (int32_t i = 0; i < rows; i++) row_ptr[i + 1] += row_ptr[i];
  return ordered;
}

/* Puts the entries of rows begin … end-1, which have their final range already, into groups of
 * 2^shift rows. Takes an entry from a wrong position, puts it at the next free position of its
 * group, goes on with the entry that was there, and so on until the first position is filled
 * again. */
static void permute(bsi_entries *e, int32_t begin, int32_t end, int shift, const int32_t *row_ptr) {
  int32_t next[GROUPS]; /* the first position of a group that has not been filled */
  const int32_t first = begin >> shift, groups = ((end - 1) >> shift) - first + 1;
  for (int32_t g = 0; g < groups; g++) next[g] = row_ptr[(first + g) << shift];
  for (int32_t g = 0; g < groups; g++) {
    const int32_t stop = g + 1 < groups ? row_ptr[(first + g + 1) << shift] : row_ptr[end];
    for (; next[g] < stop; next[g]++) {
      const int32_t gap = next[g];
      int32_t row = e->row[gap], col = e->col[gap], target = (row >> shift) - first;
      double value = e->value[gap];
      if (target == g) continue;
      while (target != g) {
        const int32_t k = next[target]++;
        const int32_t found_row = e->row[k], found_col = e->col[k];
        const double found_value = e->value[k];
        e->row[k] = row;
        e->col[k] = col;
        e->value[k] = value;
        row = found_row;
        col = found_col;
        value = found_value;
        target = (row >> shift) - first;
      }
      e->row[gap] = row;
      e->col[gap] = col;
      e->value[gap] = value;
    }
  }
}

/* Orders the entries by groups of rows, then by groups within them, down to single rows. Each step
 * has so few groups that the positions to which it writes stay in cache. */
static void order(bsi_entries *e, int32_t rows, const int32_t *row_ptr) {
  int bits = 0;
  while (bits < 31 && (rows - 1) >> bits > 0) bits++;
  const int levels = (bits + GROUP_BITS - 1) / GROUP_BITS;
  for (int level = levels; level > 0; level--) {
    const int wide = bits * level / levels, shift = bits * (level - 1) / levels;
    for (int32_t group = 0; group <= (rows - 1) >> wide; group++) {
      const int64_t begin = (int64_t)group << wide, end = begin + (INT64_C(1) << wide);
      permute(e, (int32_t)begin, end < rows ? (int32_t)end : rows, shift, row_ptr);
    }
  }
}

bisai_status bsi_entries_group(bisai_context *context, bsi_entries *e, int32_t rows,
                               const bsi_limit *limit, int32_t **row_ptr) {
  const int64_t bytes =
      ENTRY_BYTES * (int64_t)e->capacity + ((int64_t)rows + 1) * (int64_t)sizeof **row_ptr;
  const bisai_status status = bsi_limit_check(context, limit, bytes);
  if (status) return status;
  int32_t *starts = bsi_allocate(context, (size_t)rows + 1, sizeof *starts);
  if (!starts) return BISAI_OUT_OF_MEMORY;
  if (!count_rows(e, rows, starts)) order(e, rows, starts);
  bsi_release(context, e->row);
  e->row = NULL;
  *row_ptr = starts;
  return BISAI_OK;
}

void bsi_entries_free(bisai_context *context, bsi_entries *e) {
  bsi_release(context, e->row);
  bsi_release(context, e->col);
  bsi_release(context, e->value);
  *e = (bsi_entries){0};
}
