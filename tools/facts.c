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

bool constants_exist(const constants *v) {
  return v->components || v->ones || constants_of_pressure(v);
}

bool constants_of_pressure(const constants *v) { return v->end_row > v->first_row; }

bool facts_singular(const facts *f) {
  return constants_exist(&f->right) || constants_exist(&f->left);
}

bool facts_of_ones(const facts *f) {
  return f->right.ones || f->right.components || f->left.ones || f->left.components;
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
