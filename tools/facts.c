/* SPDX-License-Identifier: BSD-3-Clause */
#include "facts.h"

#include <math.h>
#include <stdlib.h>

/* A sum counts as zero if it is at most that part of the sum of the magnitudes. Rounding causes
 * less, also in files with eleven digits. */
static const double zero_sum = 1e-10;

/* The matrix in host memory. */
typedef struct view {
  int32_t block_rows, bs;
  int64_t rows;
  const int32_t *row_ptr, *col_idx;
  const double *values;
  /* copies of a device's arrays; NULL on the host */
  int32_t *own_row_ptr, *own_col_idx;
  double *own_values;
} view;

static void close_view(view *a) {
  free(a->own_row_ptr);
  free(a->own_col_idx);
  free(a->own_values);
}

static bool copy_arrays(const bisai_bcsr *matrix, view *a) {
  const size_t blocks = (size_t)bisai_bcsr_blocks(matrix), bs = (size_t)a->bs;
  a->own_row_ptr = malloc(((size_t)a->block_rows + 1) * sizeof *a->own_row_ptr);
  a->own_col_idx = malloc((blocks + 1) * sizeof *a->own_col_idx);
  a->own_values = malloc((blocks * bs * bs + 1) * sizeof *a->own_values);
  a->row_ptr = a->own_row_ptr, a->col_idx = a->own_col_idx, a->values = a->own_values;
  return a->own_row_ptr && a->own_col_idx && a->own_values &&
         !bisai_bcsr_fetch(matrix, a->own_row_ptr, a->own_col_idx, a->own_values);
}

static bool open_view(bisai_context *context, const bisai_bcsr *matrix, int64_t rows, view *a) {
  const void *values = NULL;
  *a = (view){.block_rows = bisai_bcsr_block_rows(matrix),
              .bs = bisai_bcsr_block_size(matrix),
              .rows = rows};
  if (bisai_bcsr_value_type(matrix) != BISAI_FP64) return false;
  if (bisai_context_backend(context) != BISAI_BACKEND_HOST) return copy_arrays(matrix, a);
  bisai_bcsr_arrays(matrix, &a->row_ptr, &a->col_idx, &values);
  a->values = values;
  return true;
}

static bool vanishes(double sum, double size) { return fabs(sum) <= zero_sum * size; }

/* Takes out the constants for which the sums of a row do not vanish. `sums` and `sizes` have, for
 * each component, the sum of the entries and of their magnitudes. `seen` gets the components with
 * entries. */
static void take_out(int bs, const double *sums, const double *sizes, constants *v,
                     uint32_t *seen) {
  double sum = 0, size = 0;
  for (int c = 0; c < bs; c++) {
    if (!vanishes(sums[c], sizes[c])) v->components &= ~(1U << c);
    if (sizes[c] > 0) *seen |= 1U << c;
    sum += sums[c];
    size += sizes[c];
  }
  if (!vanishes(sum, size)) v->ones = false;
}

/* A component without entries has columns of zeros, about which other messages speak. */
static constants left_over(constants v, uint32_t seen) {
  v.components &= seen;
  v.ones = v.ones && seen && !v.components;
  return v;
}

static constants all_constants(int bs) {
  return (constants){bs == BISAI_MAX_BLOCK_SIZE ? UINT32_MAX : (1U << bs) - 1, true};
}

/* Returns the diagonal entry of a row, and adds up the entries of each component. */
static double add_row(const view *a, int64_t row, double *sums, double *sizes) {
  const int32_t bs = a->bs;
  const int64_t i = row / bs, r = row % bs;
  double diagonal = 0;
  for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
    const double *block = a->values + (int64_t)p * bs * bs;
    const int64_t first = (int64_t)a->col_idx[p] * bs;
    for (int32_t c = 0; c < bs && first + c < a->rows; c++) {
      sums[c] += block[c * bs + r];
      sizes[c] += fabs(block[c * bs + r]);
    }
    if (a->col_idx[p] == i) diagonal = block[r * bs + r];
  }
  return diagonal;
}

static bool is_zero(int bs, const double *sizes) {
  for (int c = 0; c < bs; c++)
    if (sizes[c] > 0) return false;
  return true;
}

static void look_at_rows(const view *a, facts *f) {
  constants v = all_constants(a->bs);
  uint32_t seen = 0, positive = 0, negative = 0;
  for (int64_t row = 0; row < a->rows; row++) {
    double sums[BISAI_MAX_BLOCK_SIZE] = {0}, sizes[BISAI_MAX_BLOCK_SIZE] = {0};
    const double diagonal = add_row(a, row, sums, sizes);
    take_out(a->bs, sums, sizes, &v, &seen);
    if (diagonal == 0) {
      if (f->zero_diagonals == 0) f->first_zero = row;
      f->last_zero = row;
      f->zero_diagonals++;
    }
    f->negative_diagonals += diagonal < 0;
    f->zero_rows += is_zero(a->bs, sizes);
    positive |= (uint32_t)(diagonal > 0) << row % a->bs;
    negative |= (uint32_t)(diagonal < 0) << row % a->bs;
  }
  f->mixed_signs = (positive & negative) != 0;
  f->right = left_over(v, seen);
}

/* Adds the rows of block p that are not padding to the sums of its columns. */
static void add_block(const view *a, int32_t i, int32_t p, double *sums, double *sizes) {
  const int32_t bs = a->bs;
  const int64_t first = (int64_t)i * bs;
  for (int32_t c = 0; c < bs; c++) {
    const int64_t at = ((int64_t)a->col_idx[p] * bs + c) * bs;
    for (int32_t r = 0; r < bs && first + r < a->rows; r++) {
      const double value = a->values[(int64_t)p * bs * bs + c * bs + r];
      sums[at + r] += value;
      sizes[at + r] += fabs(value);
    }
  }
}

/* Does for Aᵀ what look_at_rows() does for A. */
static bool look_at_columns(const view *a, facts *f) {
  const size_t count = (size_t)a->block_rows * (size_t)a->bs * (size_t)a->bs;
  double *sums = calloc(count, sizeof *sums), *sizes = calloc(count, sizeof *sizes);
  constants v = all_constants(a->bs);
  uint32_t seen = 0;
  const bool ok = sums && sizes;
  for (int32_t i = 0; ok && i < a->block_rows; i++)
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) add_block(a, i, p, sums, sizes);
  for (int64_t column = 0; ok && column < a->rows; column++)
    take_out(a->bs, sums + column * a->bs, sizes + column * a->bs, &v, &seen);
  f->left = left_over(v, seen);
  free(sums);
  free(sizes);
  return ok;
}

bool facts_find(bisai_context *context, const bisai_bcsr *matrix, int64_t rows, facts *f) {
  view a = {0};
  double asymmetry = 0;
  if (f->known) return true;
  *f = (facts){.rows = rows};
  bool ok = !bisai_bcsr_asymmetry(matrix, &asymmetry, NULL) && open_view(context, matrix, rows, &a);
  if (ok) {
    f->symmetric = asymmetry <= BISAI_SYMMETRY_LIMIT;
    look_at_rows(&a, f);
    f->left = f->right;
    if (!f->symmetric) ok = look_at_columns(&a, f);
  }
  close_view(&a);
  f->known = ok;
  return ok;
}

bool constants_exist(const constants *v) { return v->components || v->ones; }

/* Subtracts the mean of the rows first, first + step, … from them. */
static void remove_mean(int64_t first, int64_t step, int64_t rows, double *x) {
  double sum = 0, count = 0;
  for (int64_t i = first; i < rows; i += step) {
    sum += x[i];
    count++;
  }
  for (int64_t i = first; i < rows; i += step) x[i] -= sum / count;
}

void constants_remove(const constants *v, int block_size, int64_t rows, double *x) {
  if (v->ones) remove_mean(0, 1, rows, x);
  for (int c = 0; c < block_size; c++)
    if (v->components >> c & 1) remove_mean(c, block_size, rows, x);
}

bool facts_singular(const facts *f) {
  return constants_exist(&f->right) || constants_exist(&f->left);
}

bool facts_may_be_definite(const facts *f) {
  return f->known && f->symmetric && f->zero_diagonals == 0 &&
         (f->negative_diagonals == 0 || f->negative_diagonals == f->rows);
}

/* Returns |vᵀb|/(‖v‖‖b‖) for the rows first, first + step, … */
static double part_of(int64_t first, int64_t step, int64_t rows, const double *b) {
  double sum = 0, count = 0, squares = 0, largest = 0;
  for (int64_t i = 0; i < rows; i++) largest = fmax(largest, fabs(b[i]));
  if (!(largest > 0) || !isfinite(largest)) return 0;
  for (int64_t i = 0; i < rows; i++) squares += (b[i] / largest) * (b[i] / largest);
  for (int64_t i = first; i < rows; i += step) {
    sum += b[i] / largest;
    count++;
  }
  return count > 0 ? fabs(sum) / sqrt(count * squares) : 0;
}

double facts_inconsistency(const facts *f, int block_size, int64_t rows, const double *rhs) {
  double part = f->left.ones ? part_of(0, 1, rows, rhs) : 0;
  for (int c = 0; c < block_size; c++)
    if (f->left.components >> c & 1) part = fmax(part, part_of(c, block_size, rows, rhs));
  return part;
}
