/* SPDX-License-Identifier: BSD-3-Clause */
/* Estimates how fast the iteration x ← x + M⁻¹ (b − A x) converges. */
#include <math.h>

#include "apply/apply_ops.h"
#include "core/context/context_impl.h"
#include "core/vector/power.h"
#include "precond/precond_impl.h"

/* Steps of the iteration in a power step, because errors that oscillate with a period of two would
 * make estimates of single steps differ. */
enum { STEPS_OF_POWER = 2 };
enum { POWER_STEPS = 6, POWER_VECTORS = 2 };

typedef struct iteration {
  bisai_precond *m;
  const bisai_bcsr *a;
  double *product, *error;
} iteration;

/* y ← x − M⁻¹ A x */
static bisai_status change_error(const iteration *i, const double *x, double *y) {
  bisai_context *context = i->m->context;
  const int64_t n = bsi_precond_size(i->m);
  BSI_TRY(bsi_multiply_vector(context, i->a, 1.0, x, 0.0, NULL, i->product));
  BSI_TRY(bsi_precond_apply_inside(i->m, 1, i->product, n, y, n, 0));
  return context->backend->vectors->combine(context, n, 1.0, x, -1.0, y);
}

static bisai_status power_step(void *user, const double *x, double *y) {
  const iteration *i = user;
  BSI_TRY(change_error(i, x, i->error));
  return change_error(i, i->error, y);
}

bisai_status bsi_precond_error_factor(bisai_precond *m, const bisai_bcsr *a, double *factor) {
  const bsi_memory_ops *memory = m->context->backend->memory;
  const int64_t n = bsi_precond_size(m);
  double norms[2] = {0.0, 0.0};
  double *vectors =
      memory->allocate(m->context, (size_t)((POWER_VECTORS + 2) * n), sizeof *vectors);
  if (!vectors) return BISAI_OUT_OF_MEMORY;
  iteration i = {m, a, vectors + POWER_VECTORS * n, vectors + (POWER_VECTORS + 1) * n};
  const bisai_status status =
      bsi_power_norms(m->context, n, POWER_STEPS, power_step, &i, vectors, vectors + n, norms);
  memory->release(m->context, vectors);
  if (status) return status;
  *factor = pow(bsi_power_growth(norms), 1.0 / STEPS_OF_POWER);
  return BISAI_OK;
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
