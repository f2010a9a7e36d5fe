/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of coarse matrices that consist of rounding errors.
 *
 * A component of the matrix without a boundary, for example a free part of a body, has vectors that
 * A maps to zero. When only one aggregate of it is left, its rows of the coarse matrix are zero but
 * for rounding errors, and their inverse would be huge. The values say nothing of their own size.
 * Row r of Tᵀ D⁻¹ A P x, where A is the finer matrix and x is random, shows such rows whatever the
 * scaling of A. They get the inverse 0: smoothers and the coarse correction leave them alone. */
#include <math.h>
#include <string.h>

#include "multigrid/hierarchy.h"
#include "multigrid/multigrid_ops.h"

/* The largest part of P x that D⁻¹A P x is for a P x in the null space of A. */
#define ROUNDING_PART 1e-10
/* ‖D⁻¹‖ over that of the finer level from which on rows are looked at. Without rounding errors, it
 * changes by small factors from level to level. */
#define SUSPICIOUS_GROWTH 1e8

bisai_status bsi_mark_rounding_errors(const bsi_hierarchy *h, int l, double *marks,
                                      int64_t *marked) {
  const bsi_backend *backend = h->context->backend;
  const bsi_cycle_ops *ops = bsi_ops_of(h)->cycle;
  const bsi_level *coarse = &h->levels[l];
  const int64_t n = bsi_level_rows(coarse);
  double norm = 0.0;
  *marked = 0;
  memset(marks, 0, (size_t)n * sizeof *marks);
  if (l == 0) return BISAI_OK;
  const bsi_level *fine = coarse - 1;
  const double *const product[] = {fine->x};
  bsi_sparse members = fine->members;
  if (!fine->tentative.values) members.values = NULL; /* without the weights of level 0 */
  BSI_TRY(ops->start(h->context, n, coarse->x));
  BSI_TRY(ops->multiply(h->context, bsi_prolongation_of(fine), coarse->x, 0.0, fine->x));
  BSI_TRY(bsi_scaled_product(h, fine, fine->x, fine->residual));
  BSI_TRY(ops->multiply(h->context, &members, fine->residual, 0.0, coarse->y));
  BSI_TRY(ops->norms(h->context, 1, bsi_level_rows(fine), product, &norm));
  BSI_TRY(backend->memory->fetch(h->context, marks, coarse->y, (size_t)n * sizeof *marks));
  const double limit = ROUNDING_PART * norm / sqrt((double)bsi_level_rows(fine));
  for (int64_t r = 0; r < n; r++) {
    marks[r] = fabs(marks[r]) <= limit;
    *marked += marks[r] != 0.0;
  }
  return BISAI_OK;
}

bisai_status bsi_drop_marked(const bsi_hierarchy *h, const bsi_level *level, double *inverse) {
  const bsi_memory_ops *memory = h->context->backend->memory;
  const int64_t n = bsi_level_rows(level), bs = level->matrix->block_size;
  double *blocks = level->marks + n;
  if (level->marked == 0) return BISAI_OK;
  BSI_TRY(memory->fetch(h->context, blocks, inverse, (size_t)(n * bs) * sizeof *blocks));
  for (int64_t r = 0; r < n; r++)
    for (int64_t k = 0; k < bs && level->marks[r] != 0.0; k++) {
      double *block = blocks + r / bs * bs * bs;
      block[k * bs + r % bs] = block[r % bs * bs + k] = 0.0;
    }
  return memory->upload(h->context, inverse, blocks, (size_t)(n * bs) * sizeof *blocks);
}

static bisai_status reserve_marks(const bsi_hierarchy *h, bsi_level *level) {
  const int64_t n = bsi_level_rows(level);
  level->marks =
      bsi_allocate(h->context, (size_t)(n * (1 + level->matrix->block_size)), sizeof *level->marks);
  return level->marks ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

bisai_status bsi_drop_rounding_errors(bsi_hierarchy *h, bsi_level *level, bool creating) {
  const bsi_cycle_ops *ops = bsi_ops_of(h)->cycle;
  const int64_t values = (int64_t)bsi_block_offset(level->matrix, level->matrix->block_rows);
  const double *const inverses[] = {level->inverse};
  level->marked = 0;
  if (level == h->levels || level->inverse_norm <= SUSPICIOUS_GROWTH * level[-1].inverse_norm)
    return BISAI_OK;
  if (!level->marks && !creating) return bsi_level_refuse(h, level);
  if (!level->marks) BSI_TRY(reserve_marks(h, level));
  BSI_TRY(bsi_mark_rounding_errors(h, bsi_level_number(h, level), level->marks, &level->marked));
  BSI_TRY(bsi_drop_marked(h, level, level->inverse));
  return ops->norms(h->context, 1, values, inverses, &level->inverse_norm);
}
