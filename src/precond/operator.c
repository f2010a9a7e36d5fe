/* SPDX-License-Identifier: BSD-3-Clause */
/* A preconditioner as an operator of which others are made, and as the iteration x ← x + M⁻¹ (b − A
 * x), whose error is estimated. */
#include "precond/operator.h"

#include "apply/error_growth.h"
#include "core/context/context_impl.h"
#include "precond/precond_impl.h"

static bisai_status update(void *self, const bisai_bcsr *matrix) {
  return bsi_precond_update_inside(self, matrix);
}

static bisai_status apply(void *self, const double *v, double *z) {
  const int64_t n = bsi_precond_size(self);
  return bsi_precond_apply_inside(self, 1, v, n, z, n, 0, false);
}

static bsi_operator_cost cost(const void *self) {
  const bisai_precond *m = self;
  const int64_t memory = m->report.memory_bytes;
  return (bsi_operator_cost){memory, m->factors ? m->factors->ilu.peak_bytes : memory,
                             m->report.apply_bytes};
}

static void destroy(void *self) {
  bisai_precond *m = self;
  bisai_precond_destroy(&m);
}

bsi_operator bsi_precond_as_operator(bisai_precond *m) {
  static const bsi_operator_ops ops = {update, apply, cost, destroy};
  return (bsi_operator){&ops, m};
}

bisai_status bsi_precond_operator_create(bisai_context *context, const bisai_bcsr *matrix,
                                         const bisai_precond_options *options, bsi_operator *made) {
  bisai_precond *m = NULL;
  const bisai_status status = bisai_precond_create(context, matrix, options, &m);
  if (!status) *made = bsi_precond_as_operator(m);
  return status;
}

bisai_status bsi_precond_error_factor(bisai_precond *m, const bisai_bcsr *a, double *factor) {
  return bsi_error_growth(m->context, a, bsi_precond_as_operator(m), factor);
}

bisai_status bisai_precond_error_factor(bisai_precond *precond, const bisai_bcsr *matrix,
                                        double *factor) {
  if (!precond) return BISAI_INVALID_ARGUMENT;
  if (!matrix || !factor)
    return bsi_fail(precond->context, BISAI_INVALID_ARGUMENT,
                    "bisai_precond_error_factor: %s is NULL", matrix ? "factor" : "matrix");
  const int64_t n = bsi_precond_size(precond),
                rows = matrix->block_rows * (int64_t)matrix->block_size;
  if (rows != n || matrix->block_cols != matrix->block_rows)
    return bsi_fail(precond->context, BISAI_INVALID_ARGUMENT,
                    "bisai_precond_error_factor: the matrix has %lld rows and %lld columns, the "
                    "preconditioner %lld rows",
                    (long long)rows, (long long)matrix->block_cols * matrix->block_size,
                    (long long)n);
  BSI_TRY(bsi_precond_check_ready(precond));
  return bsi_precond_error_factor(precond, matrix, factor);
}
