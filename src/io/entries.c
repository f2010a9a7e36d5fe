#include "io/entries.h"

#include <string.h>

#include "core/context.h"

enum { FIRST_CAPACITY = 1 << 16 };

/* Moves an array of `count` elements to a larger place. */
static void *larger(bisai_context *context, void *array, int32_t count, int32_t capacity, size_t size) {
  void *moved = bsi_allocate(context, (size_t)capacity, size);
  if (!moved) return NULL;
  if (count > 0) memcpy(moved, array, (size_t)count * size);
  bsi_release(context, array);
  return moved;
}

static bisai_status resize(bisai_context *context, bsi_entries *e, int32_t capacity) {
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

bisai_status bsi_entries_grow(bisai_context *context, bsi_entries *e, int32_t total) {
  int32_t capacity = total;
  while (capacity > FIRST_CAPACITY && capacity - capacity / 2 > e->capacity) capacity -= capacity / 2;
  return resize(context, e, capacity);
}

bisai_status bsi_entries_mirror(bisai_context *context, bsi_entries *e, double sign) {
  int64_t total = e->count;
  for (int32_t k = 0; k < e->count; k++) total += e->row[k] != e->col[k];
  if (total > INT32_MAX)
    return bsi_fail(context, BISAI_INDEX_OVERFLOW, "more than %d entries with the mirrored ones", INT32_MAX);
  if (total == e->count) return BISAI_OK;
  const bisai_status status = resize(context, e, (int32_t)total);
  if (status) return status;
  for (int32_t k = 0, stored = e->count; k < stored; k++)
    if (e->row[k] != e->col[k]) bsi_entries_append(e, e->col[k], e->row[k], sign * e->value[k]);
  return BISAI_OK;
}

/* Row starts by counting; returns whether the entries are in the order of their rows already. */
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

/* Takes an entry that is out of place, puts it where its row's next one goes, goes on with the entry found there, until the
 * gap is closed. next[i]: the first place of row i that has not been filled. */
static void permute(bsi_entries *e, int32_t rows, const int32_t *row_ptr, int32_t *next) {
  memcpy(next, row_ptr, (size_t)rows * sizeof *next);
  for (int32_t i = 0; i < rows; i++)
    for (; next[i] < row_ptr[i + 1]; next[i]++) {
      const int32_t gap = next[i];
      if (e->row[gap] == i) continue;
      int32_t row = e->row[gap], col = e->col[gap];
      double value = e->value[gap];
      while (row != i) {
        const int32_t k = next[row]++;
        const int32_t found_row = e->row[k], found_col = e->col[k];
        const double found_value = e->value[k];
        e->row[k] = row;
        e->col[k] = col;
        e->value[k] = value;
        row = found_row;
        col = found_col;
        value = found_value;
      }
      e->row[gap] = row;
      e->col[gap] = col;
      e->value[gap] = value;
    }
}

bisai_status bsi_entries_group(bisai_context *context, bsi_entries *e, int32_t rows, int32_t **row_ptr) {
  int32_t *starts = bsi_allocate(context, (size_t)rows + 1, sizeof *starts);
  if (!starts) return BISAI_OUT_OF_MEMORY;
  if (!count_rows(e, rows, starts)) {
    int32_t *next = bsi_allocate(context, (size_t)rows, sizeof *next);
    if (!next) {
      bsi_release(context, starts);
      return BISAI_OUT_OF_MEMORY;
    }
    permute(e, rows, starts, next);
    bsi_release(context, next);
  }
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
