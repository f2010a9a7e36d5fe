/* SPDX-License-Identifier: BSD-3-Clause */
#include "schur/parts.h"

#include <stdlib.h>
#include <string.h>

#include "core/matrix/search.h"

/* What is extracted: the rows and the columns of one kind. */
typedef struct extraction {
  const bsi_saddle *a;
  const bsi_split *split;
  bool pressure_rows, pressure_columns;
  /* zeros are taken too */
  bool zeros;
} extraction;

static bool takes(const extraction *x, int32_t row, int32_t column, double value) {
  return bsi_is_pressure(x->split->place[row]) == x->pressure_rows &&
         bsi_is_pressure(x->split->place[column]) == x->pressure_columns &&
         (x->zeros || value != 0.0);
}

static int32_t number_of(int32_t place) {
  return bsi_is_pressure(place) ? bsi_pressure_place(place) : place;
}

/* Visits the values of scalar row r of block row i that are taken. Writes their columns and places
 * behind `at`, unless there is no part yet. Returns the new end. */
static int64_t visit_row(const extraction *x, int32_t i, int r, bsi_part_of *part, int64_t at) {
  const bsi_saddle *a = x->a;
  const int32_t bs = a->block_size;
  for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
    for (int c = 0; c < bs; c++) {
      const int64_t index = bsi_saddle_index(a, p, r, c);
      const int32_t column = a->col_idx[p] * bs + c;
      if (!takes(x, i * bs + r, column, a->values[index])) continue;
      if (part) {
        part->col_idx[at] = number_of(x->split->place[column]);
        part->map[at] = index;
      }
      at++;
    }
  return at;
}

static bisai_status reserve(bisai_context *context, int64_t blocks, bsi_part_of *part) {
  const int64_t values = blocks * part->block_size * part->block_size;
  if (blocks > INT32_MAX)
    return bsi_fail(context, BISAI_INDEX_OVERFLOW,
                    "a matrix of the saddle point has more than %d blocks", INT32_MAX);
  part->col_idx = bsi_allocate(context, (size_t)blocks, sizeof *part->col_idx);
  part->map = bsi_allocate(context, (size_t)values, sizeof *part->map);
  return part->col_idx && part->map ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

static bisai_status reserve_rows(bisai_context *context, int32_t rows, int32_t cols, int32_t size,
                                 bsi_part_of *part) {
  part->block_rows = rows;
  part->block_cols = cols;
  part->block_size = size;
  part->row_ptr = bsi_allocate(context, (size_t)rows + 1, sizeof *part->row_ptr);
  if (!part->row_ptr) return BISAI_OUT_OF_MEMORY;
  part->row_ptr[0] = 0;
  return BISAI_OK;
}

/* Makes a part of single values. */
static bisai_status extract(bisai_context *context, const extraction *x, bsi_part_of *part) {
  const bsi_saddle *a = x->a;
  const int32_t rows = x->pressure_rows ? x->split->pressures : x->split->velocities,
                cols = x->pressure_columns ? x->split->pressures : x->split->velocities;
  int64_t end = 0;
  BSI_TRY(reserve_rows(context, rows, cols, 1, part));
  for (int32_t i = 0; i < a->block_rows; i++)
    for (int r = 0; r < a->block_size; r++) end = visit_row(x, i, r, NULL, end);
  BSI_TRY(reserve(context, end, part));
  end = 0;
  for (int32_t i = 0; i < a->block_rows; i++)
    for (int r = 0; r < a->block_size; r++) {
      const int32_t place = x->split->place[i * a->block_size + r];
      if (bsi_is_pressure(place) != x->pressure_rows) continue;
      end = visit_row(x, i, r, part, end);
      part->row_ptr[number_of(place) + 1] = (int32_t)end;
    }
  return BISAI_OK;
}

/* K with the blocks of A. */
static bisai_status extract_blocks(bisai_context *context, const bsi_saddle *a,
                                   const bsi_split *split, bsi_part_of *part) {
  const int32_t n = a->block_rows, blocks = a->row_ptr[n];
  int places[BISAI_MAX_BLOCK_SIZE], size = 0;
  for (int r = 0; r < a->block_size; r++)
    if (!bsi_is_pressure(split->place[r])) places[size++] = r;
  BSI_TRY(reserve_rows(context, n, n, size, part));
  BSI_TRY(reserve(context, blocks, part));
  memcpy(part->row_ptr, a->row_ptr, ((size_t)n + 1) * sizeof *part->row_ptr);
  memcpy(part->col_idx, a->col_idx, (size_t)blocks * sizeof *part->col_idx);
  int64_t *to = part->map;
  for (int32_t p = 0; p < blocks; p++)
    for (int c = 0; c < size; c++)
      for (int r = 0; r < size; r++) *to++ = bsi_saddle_index(a, p, places[r], places[c]);
  return BISAI_OK;
}

/* --- what has no place --- */

/* Returns true if no part takes a zero there. */
static bool drops(const bsi_split *split, bool k_has_zeros, int32_t row, int32_t column) {
  return !k_has_zeros || bsi_is_pressure(split->place[row]) ||
         bsi_is_pressure(split->place[column]);
}

static int64_t visit_dropped(const bsi_saddle *a, const bsi_split *split, bool k_has_zeros,
                             int64_t *dropped) {
  const int32_t bs = a->block_size;
  int64_t count = 0;
  for (int32_t i = 0; i < a->block_rows; i++)
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
      for (int c = 0; c < bs; c++)
        for (int r = 0; r < bs; r++) {
          const int64_t index = bsi_saddle_index(a, p, r, c);
          if (a->values[index] != 0.0 ||
              !drops(split, k_has_zeros, i * bs + r, a->col_idx[p] * bs + c))
            continue;
          if (dropped) dropped[count] = index;
          count++;
        }
  return count;
}

static bisai_status list_dropped(bisai_context *context, const bsi_saddle *a,
                                 const bsi_split *split, bool k_has_zeros,
                                 bsi_saddle_parts *parts) {
  parts->dropped_count = visit_dropped(a, split, k_has_zeros, NULL);
  parts->dropped = bsi_allocate(context, (size_t)parts->dropped_count, sizeof *parts->dropped);
  if (!parts->dropped) return BISAI_OUT_OF_MEMORY;
  visit_dropped(a, split, k_has_zeros, parts->dropped);
  return BISAI_OK;
}

/* --- the Schur complement --- */

/* What its rows are made of. */
typedef struct complement_rows {
  const bsi_part_of *c, *d, *g;
  /* for each column: the last row that has it, from 1 */
  int32_t *seen;
} complement_rows;

static int64_t add_column(int32_t column, int32_t row, int32_t *seen, int32_t *col_idx,
                          int64_t end) {
  if (seen[column] == row + 1) return end;
  seen[column] = row + 1;
  if (col_idx) col_idx[end] = column;
  return end + 1;
}

/* Visits the columns of row i in any order. Writes them behind `end`, unless col_idx is NULL. */
static int64_t visit_complement(const complement_rows *x, int32_t i, int32_t *col_idx,
                                int64_t end) {
  end = add_column(i, i, x->seen, col_idx, end);
  for (int32_t q = x->c->row_ptr[i]; q < x->c->row_ptr[i + 1]; q++)
    end = add_column(x->c->col_idx[q], i, x->seen, col_idx, end);
  for (int32_t p = x->d->row_ptr[i]; p < x->d->row_ptr[i + 1]; p++) {
    const int32_t k = x->d->col_idx[p];
    for (int32_t q = x->g->row_ptr[k]; q < x->g->row_ptr[k + 1]; q++)
      end = add_column(x->g->col_idx[q], i, x->seen, col_idx, end);
  }
  return end;
}

static int compare_columns(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* Fills row i, whose columns end at row_ptr[i + 1]. */
static void fill_complement_row(const complement_rows *x, int32_t i, bsi_part_of *e,
                                int64_t *e_diagonal) {
  const int32_t begin = e->row_ptr[i], end = e->row_ptr[i + 1];
  visit_complement(x, i, e->col_idx, begin);
  qsort(e->col_idx + begin, (size_t)(end - begin), sizeof *e->col_idx, compare_columns);
  for (int32_t q = begin; q < end; q++) e->map[q] = -1;
  for (int32_t q = x->c->row_ptr[i]; q < x->c->row_ptr[i + 1]; q++)
    e->map[bsi_find_column(e->col_idx, begin, end, x->c->col_idx[q])] = x->c->map[q];
  e_diagonal[i] = bsi_find_column(e->col_idx, begin, end, i);
}

static bisai_status make_complement(bisai_context *context, complement_rows *x, bsi_part_of *e,
                                    int64_t *e_diagonal) {
  const int32_t n = x->d->block_rows;
  int64_t end = 0;
  BSI_TRY(reserve_rows(context, n, n, 1, e));
  memset(x->seen, 0, (size_t)n * sizeof *x->seen);
  for (int32_t i = 0; i < n && end <= INT32_MAX; i++) {
    end = visit_complement(x, i, NULL, end);
    e->row_ptr[i + 1] = (int32_t)end;
  }
  BSI_TRY(reserve(context, end, e));
  memset(x->seen, 0, (size_t)n * sizeof *x->seen);
  for (int32_t i = 0; i < n; i++) fill_complement_row(x, i, e, e_diagonal);
  return BISAI_OK;
}

/* --- all of them --- */

static void list_rows(const bsi_split *split, int32_t rows, bsi_saddle_parts *parts) {
  for (int32_t k = 0; k < rows; k++) {
    const int32_t place = split->place[k];
    (bsi_is_pressure(place) ? parts->pressures : parts->velocities)[number_of(place)] = k;
  }
}

static void find_diagonal(const bsi_saddle *a, const bsi_saddle_parts *parts, int32_t velocities,
                          int64_t *diagonal) {
  const int32_t bs = a->block_size;
  for (int32_t k = 0; k < velocities; k++) {
    const int32_t row = parts->velocities[k], i = row / bs;
    const int32_t p = bsi_find_diagonal(a->row_ptr, a->col_idx, i);
    diagonal[k] = p < 0 ? -1 : bsi_saddle_index(a, p, row % bs, row % bs);
  }
}

static void release_part(bisai_context *context, bsi_part_of *part) {
  bsi_release(context, part->row_ptr);
  bsi_release(context, part->col_idx);
  bsi_release(context, part->map);
  *part = (bsi_part_of){0};
}

static bisai_status make_rest(bisai_context *context, const bsi_saddle *a, const bsi_split *split,
                              const bsi_part_of *c, bsi_saddle_parts *parts) {
  const int32_t rows = a->block_rows * a->block_size;
  const size_t velocities = (size_t)split->velocities, pressures = (size_t)split->pressures;
  parts->stabilised = c->row_ptr[c->block_rows] > 0;
  parts->velocities = bsi_allocate(context, velocities, sizeof *parts->velocities);
  parts->pressures = bsi_allocate(context, pressures, sizeof *parts->pressures);
  parts->k_diagonal = bsi_allocate(context, velocities, sizeof *parts->k_diagonal);
  parts->e_diagonal = bsi_allocate(context, pressures, sizeof *parts->e_diagonal);
  int32_t *seen = bsi_allocate(context, pressures, sizeof *seen);
  bisai_status status = BISAI_OUT_OF_MEMORY;
  if (parts->velocities && parts->pressures && parts->k_diagonal && parts->e_diagonal && seen) {
    complement_rows x = {c, &parts->d, &parts->g, seen};
    list_rows(split, rows, parts);
    find_diagonal(a, parts, split->velocities, parts->k_diagonal);
    status = make_complement(context, &x, &parts->e, parts->e_diagonal);
  }
  bsi_release(context, seen);
  return status;
}

bisai_status bsi_saddle_parts_make(bisai_context *context, const bsi_saddle *a,
                                   const bsi_split *split, bsi_saddle_parts *parts) {
  const bool blocks = split->velocity_size > 1, zeros = blocks || a->block_size == 1;
  const extraction k = {a, split, false, false, zeros}, g = {a, split, false, true, false},
                   d = {a, split, true, false, false}, of_c = {a, split, true, true, false};
  bsi_part_of c = {0};
  bisai_status status =
      blocks ? extract_blocks(context, a, split, &parts->k) : extract(context, &k, &parts->k);
  if (!status) status = extract(context, &g, &parts->g);
  if (!status) status = extract(context, &d, &parts->d);
  if (!status) status = extract(context, &of_c, &c);
  if (!status) status = make_rest(context, a, split, &c, parts);
  if (!status) status = list_dropped(context, a, split, zeros, parts);
  release_part(context, &c);
  return status;
}

void bsi_saddle_parts_release(bisai_context *context, bsi_saddle_parts *parts) {
  release_part(context, &parts->k);
  release_part(context, &parts->g);
  release_part(context, &parts->d);
  release_part(context, &parts->e);
  bsi_release(context, parts->dropped);
  bsi_release(context, parts->k_diagonal);
  bsi_release(context, parts->e_diagonal);
  bsi_release(context, parts->velocities);
  bsi_release(context, parts->pressures);
  *parts = (bsi_saddle_parts){0};
}
