/* SPDX-License-Identifier: BSD-3-Clause */
#include "apply/error_growth.h"

#include <math.h>

#include "apply/apply_ops.h"
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "core/vector/power.h"

/* Steps of the iteration in a power step, because errors that oscillate with a period of two would
 * make estimates of single steps differ. */
enum { STEPS_OF_POWER = 2 };
enum { POWER_STEPS = 6, POWER_VECTORS = 2 };

typedef struct iteration {
  bisai_context *context;
  const bisai_bcsr *a;
  bsi_operator m;
  double *product, *error;
} iteration;

/* y ← x − M⁻¹ A x */
static bisai_status change_error(const iteration *i, const double *x, double *y) {
  const bsi_backend *backend = i->context->backend;
  const int64_t n = (int64_t)i->a->block_rows * i->a->block_size;
  BSI_TRY(bsi_multiply_vector(i->context, i->a, 1.0, x, 0.0, NULL, i->product));
  BSI_TRY(i->m.ops->apply(i->m.self, i->product, y));
  return backend->vectors->combine(i->context, n, 1.0, x, -1.0, y);
}

static bisai_status power_step(void *user, const double *x, double *y) {
  const iteration *i = user;
  BSI_TRY(change_error(i, x, i->error));
  return change_error(i, i->error, y);
}

bisai_status bsi_error_growth(bisai_context *context, const bisai_bcsr *a, bsi_operator m,
                              double *factor) {
  const bsi_memory_ops *memory = context->backend->memory;
  const int64_t n = (int64_t)a->block_rows * a->block_size;
  double norms[2] = {0.0, 0.0};
  double *vectors = memory->allocate(context, (size_t)((POWER_VECTORS + 2) * n), sizeof *vectors);
  if (!vectors) return BISAI_OUT_OF_MEMORY;
  iteration i = {context, a, m, vectors + POWER_VECTORS * n, vectors + (POWER_VECTORS + 1) * n};
  const bisai_status status =
      bsi_power_norms(context, n, POWER_STEPS, power_step, &i, vectors, vectors + n, norms);
  memory->release(context, vectors);
  if (status) return status;
  *factor = pow(bsi_power_growth(norms), 1.0 / STEPS_OF_POWER);
  return BISAI_OK;
}
