/* SPDX-License-Identifier: BSD-3-Clause */
/* Estimates how fast the iteration x ← x + M⁻¹ (b − A x) converges. */
#include "apply/error_growth.h"
#include "core/context/context_impl.h"
#include "precond/operator.h"
#include "precond/precond_impl.h"

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
