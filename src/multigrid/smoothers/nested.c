/* SPDX-License-Identifier: BSD-3-Clause */
/* The smoothers that are preconditioners of the matrix of each level: x ← x + M⁻¹(b − A x), where M
 * is block-ISAI, SWEEPS or block ILU. */
#include "apply/apply_ops.h"
#include "core/context/context_impl.h"
#include "multigrid/cycle/operations.h"
#include "multigrid/level/level_errors.h"
#include "multigrid/level/memory.h"
#include "multigrid/smoothers/relaxation.h"
#include "multigrid/smoothers/smoothers.h"

static bsi_operator *operator_of(const bsi_level *level) { return level->smoother.state; }

static bsi_operator_cost cost_of(const bsi_level *level) {
  const bsi_operator *m = operator_of(level);
  return m->ops ? m->ops->cost(m->self) : (bsi_operator_cost){0};
}

static bisai_status nested_create(bsi_hierarchy *h, bsi_level *level) {
  bisai_precond_options o = *h->setup.nested.options;
  if (!h->mirrored) o.isai.symmetric = false;
  if (!bsi_is_finest(h, level)) {
    o.shift = BISAI_SHIFT_IN_BLOCKS;
    o.shift_amount = BSI_COARSE_SHIFT;
    /* R A P is symmetric with A: its asymmetry is rounding, which small couplings may be too */
    if (o.isai.symmetric && level->own) bsi_bcsr_call_symmetric(level->own);
  }
  BSI_TRY(bsi_level_fail(
      h, level, h->setup.nested.create(h->context, level->matrix, &o, operator_of(level))));
  const bsi_operator_cost cost = cost_of(level);
  bsi_hierarchy_note_peak(h, cost.peak - cost.memory);
  return BISAI_OK;
}

static bisai_status nested_update(bsi_hierarchy *h, bsi_level *level) {
  const bsi_operator *m = operator_of(level);
  return bsi_level_fail(h, level, m->ops->update(m->self, level->matrix));
}

static bisai_status nested_smooth(bsi_hierarchy *h, bsi_level *level, int32_t count, bsi_vector b,
                                  bsi_vector from, bsi_vector to) {
  const bsi_backend *backend = h->context->backend;
  const bsi_operator *m = operator_of(level);
  const double *x = from.at;
  BSI_TRY(bsi_operations_end(h));
  for (int32_t k = 0; k < count; k++) {
    double *y = bsi_iterate_of(level, k, count, to).at;
    if (x)
      BSI_TRY(bsi_multiply_vector(h->context, bsi_cycle_matrix(level), -1.0, x, 1.0, b.at,
                                  level->work.residual));
    BSI_TRY(m->ops->apply(m->self, x ? level->work.residual : b.at, y));
    if (x) BSI_TRY(backend->vectors->add(h->context, bsi_level_rows(level), x, y));
    x = y;
  }
  return BISAI_OK;
}

/* Incomplete factors are symmetric if the pattern of level 0 is. */
static bool nested_symmetric(const bsi_hierarchy *h) { return h->mirrored; }

static bool isai_symmetric(const bsi_hierarchy *h) {
  return h->mirrored && !h->setup.options.unweighted;
}

static int64_t nested_memory(const bsi_level *level) { return cost_of(level).memory; }

static int64_t nested_apply_bytes(const bsi_level *level) { return cost_of(level).apply; }

static void nested_destroy(bisai_context *context, bsi_level *level) {
  (void)context;
  bsi_operator_destroy(operator_of(level));
}

#define NESTED                                                                                     \
  .state_size = sizeof(bsi_operator), .create = nested_create, .update = nested_update,            \
  .smooth = nested_smooth, .memory = nested_memory, .apply_bytes = nested_apply_bytes,             \
  .destroy = nested_destroy

const bsi_smoother bsi_smoother_isai = {
    NESTED, .options = {"multigrid.power", "multigrid.relax", "multigrid.level"},
    .steps = "multigrid.relax", .kind = BISAI_PRECOND_ISAI, .symmetric = isai_symmetric};

const bsi_smoother bsi_smoother_sweeps = {
    NESTED, .options = {"multigrid.sweeps", "multigrid.level"}, .steps = "multigrid.sweeps",
    .kind = BISAI_PRECOND_SWEEPS, .symmetric = nested_symmetric};

const bsi_smoother bsi_smoother_ilu = {NESTED, .options = {"multigrid.level"},
                                       .kind = BISAI_PRECOND_ILU, .symmetric = nested_symmetric};
