/* SPDX-License-Identifier: BSD-3-Clause */
/* What the entries of a matrix say without a solve: its symmetry, its diagonal, and the constants
 * that it maps to zero, which make it singular. */
#ifndef FACTS_H
#define FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include <bisai/study.h>

typedef bisai_study_constants constants;

typedef struct facts {
  bool known;
  /* as CG needs it: BISAI_SYMMETRY_LIMIT */
  bool symmetric;
  /* scalar rows without padding: all, and those whose diagonal entry is not stored or zero, and
   * negative */
  int64_t rows, zero_diagonals, negative_diagonals;
  /* the first and the last row with a zero on the diagonal and other entries, from 0 */
  int64_t first_zero, last_zero;
  /* rows without an entry other than 0 */
  int64_t zero_rows;
  /* a component of the blocks has diagonal entries of both signs */
  bool mixed_signs;
  /* A v = 0, and Aᵀ v = 0, up to rounding */
  constants right, left;
  /* all that is known */
  bisai_matrix_study_report study;
} facts;

/* Finds the facts unless they are known. Padding beyond `rows` is left out. Returns false if there
 * is not enough memory or the values are not fp64. */
bool facts_find(bisai_context *context, const bisai_bcsr *matrix, int64_t rows, facts *f);

bool constants_exist(const constants *v);

/* Returns true if one of them is 1 in the rows of a pressure. */
bool constants_of_pressure(const constants *v);

/* Returns true if A or its transpose maps a constant to zero. */
bool facts_singular(const facts *f);

/* The same for constants in all rows, or in one component of the blocks. */
bool facts_of_ones(const facts *f);

/* Returns true if A is symmetric, and its diagonal is positive, or negative, throughout. Definite
 * matrices are of this kind. */
bool facts_may_be_definite(const facts *f);

/* *part ← the largest |vᵀb|/(‖v‖‖b‖) over the constants with Aᵀ v = 0. It is 0 up to rounding if
 * these constants allow a solution of A x = b. Returns false if there are none, or if it cannot be
 * measured. */
bool facts_inconsistency(bisai_context *context, const bisai_bcsr *matrix, const facts *f,
                         const double *rhs, double *part);

#endif
