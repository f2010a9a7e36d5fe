/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of a preconditioner: one table of functions for each kind. */
#ifndef BSI_PRECOND_H
#define BSI_PRECOND_H

#include <bisai/precond.h>

#include "apply/apply.h"
#include "bjacobi/bjacobi.h"
#include "factor/factor_impl.h"
#include "order/reordered.h"
#include "solve/isai.h"

enum { BSI_MOST_DIGITS = 15 };

typedef struct bsi_precond_ops {
  bool needs_factors;
  /* work vectors of n for each right-hand side */
  int vectors;
  bisai_status (*check)(bisai_context *, const bisai_precond_options *, const bisai_bcsr *);
  /* integers and memory */
  bisai_status (*setup)(bisai_precond *, const bisai_bcsr *);
  /* values, the factors being up to date */
  bisai_status (*update)(bisai_precond *, const bisai_bcsr *);
  /* of a matrix that is not factorised */
  bisai_status (*check_update)(const bisai_precond *, const bisai_bcsr *);
  bisai_status (*apply)(bisai_precond *, const bsi_vectors *);
  bisai_symmetry (*symmetry)(const bisai_precond *);
  /* what the kind itself holds */
  void (*report)(const bisai_precond *, bisai_precond_report *);
  void (*destroy)(bisai_precond *);
} bsi_precond_ops;

struct bisai_precond {
  bisai_context *context;
  const bsi_precond_ops *ops;
  bisai_precond_options options;
  int32_t block_rows, block_size;
  bool ready;
  /* what is factorised, where that is not the matrix itself */
  bsi_reordered reordered;
  /* of the matrix and of what is factorised */
  bsi_order_shape natural, ordered;
  bisai_factors *own_factors;
  /* own or the caller's */
  const bisai_factors *factors;
  /* BJACOBI */
  bsi_bjacobi jacobi;
  /* ISAI: of L and, unless symmetric, of U */
  bsi_isai isai[2];
  /* symmetric ISAI with relaxation: L's blocks by columns */
  bisai_pattern *lower_columns;
  /* of the matrix; NaN where it is not asked for */
  double asymmetry;
  /* ISAI: what their patterns lack */
  bsi_pattern_losses losses[2];
  /* SWEEPS: D⁻¹ T_off of L and of U */
  bisai_bcsr *sweeps[2];
  /* vectors·BSI_VECTORS_AT_ONCE·n */
  double *work;
  /* ops->vectors, and one more where the matrix is reordered */
  int vectors;
  bisai_precond_report report;
  char description[512];
};

/* What the inversion of the diagonal blocks met. */
void bsi_report_inversion(const bsi_invert_stats *stats, bisai_precond_report *report);

/* Refuses an option that is not the default where the kind, a known one, does not take it. */
bisai_status bsi_precond_options_check(bisai_context *context, const bisai_precond_options *given);

/* The table of a kind, or NULL for an unknown kind. */
const bsi_precond_ops *bsi_precond_ops_of(bisai_precond_kind kind);

#endif
