/* SPDX-License-Identifier: BSD-3-Clause */
#include "facts.h"

bool facts_find(bisai_context *context, const bisai_bcsr *matrix, int64_t rows, facts *f) {
  bisai_matrix_study_report s = {.struct_size = sizeof s};
  if (f->known) return true;
  *f = (facts){.rows = rows};
  if (bisai_matrix_study(context, matrix, rows, NULL, &s)) return false;
  *f = (facts){.known = true,
               .symmetric = s.symmetry.symmetric,
               .rows = s.entries.rows,
               .zero_diagonals = s.diagonal.zero,
               .negative_diagonals = s.diagonal.negative,
               .first_zero = s.saddle.first_row,
               .last_zero = s.saddle.last_row,
               .zero_rows = s.entries.zero_rows,
               .mixed_signs = s.diagonal.mixed_signs,
               .right = s.null.right,
               .left = s.null.left,
               .study = s};
  return true;
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

bool facts_inconsistency(bisai_context *context, const bisai_bcsr *matrix, const facts *f,
                         const double *rhs, double *part) {
  return constants_exist(&f->left) &&
         !bisai_matrix_study_rhs(context, matrix, &f->study, rhs, part);
}
