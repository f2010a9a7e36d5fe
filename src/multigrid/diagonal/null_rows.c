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

/* For a P x in the null space of A, D⁻¹A P x is at most this part of P x. */
#define ROUNDING_PART 1e-10
/* Rows are looked at if the largest magnitude in D⁻¹ is this many times that of the finer level.
 * Without rounding errors the two differ by small factors. */
#define SUSPICIOUS_GROWTH 1e8

bisai_status bsi_rounding_mark(const bsi_hierarchy *h, const bsi_level *level, double *marks,
                               int64_t *rows) {
  const bsi_cycle_ops *ops = bsi_ops_of(h)->cycle;
  const bsi_vector_ops *vectors = h->context->backend->vectors;
  const int64_t n = bsi_level_rows(level);
  double norm = 0.0;
  *rows = 0;
  memset(marks, 0, (size_t)n * sizeof *marks);
  if (level == h->levels) return BISAI_OK;
  const bsi_level *fine = level - 1;
  const double *const product[] = {fine->x};
  bsi_sparse members = fine->members;
  if (!fine->tentative.values) members.values = NULL; /* without the weights of level 0 */
  BSI_TRY(vectors->start(h->context, n, level->x));
  BSI_TRY(ops->multiply(h->context, bsi_prolongation_of(fine), level->x, 0.0, fine->x));
  BSI_TRY(bsi_scaled_product(h, fine, fine->x, fine->residual));
  BSI_TRY(ops->multiply(h->context, &members, fine->residual, 0.0, level->y));
  BSI_TRY(vectors->norms(h->context, 1, bsi_level_rows(fine), product, &norm));
  BSI_TRY(
      h->context->backend->memory->fetch(h->context, marks, level->y, (size_t)n * sizeof *marks));
  const double limit = ROUNDING_PART * norm / sqrt((double)bsi_level_rows(fine));
  for (int64_t r = 0; r < n; r++) {
    marks[r] = fabs(marks[r]) <= limit;
    *rows += marks[r] != 0.0;
  }
  return BISAI_OK;
}

bisai_status bsi_rounding_drop(const bsi_hierarchy *h, const bsi_level *level, double *inverse) {
  const bsi_memory_ops *memory = h->context->backend->memory;
  const int64_t n = bsi_level_rows(level), bs = level->matrix->block_size;
  if (level->rounding_rows == 0) return BISAI_OK;
  double *blocks = level->rounding_marks + n;
  BSI_TRY(memory->fetch(h->context, blocks, inverse, (size_t)(n * bs) * sizeof *blocks));
  for (int64_t r = 0; r < n; r++)
    for (int64_t k = 0; k < bs && level->rounding_marks[r] != 0.0; k++) {
      double *block = blocks + r / bs * bs * bs;
      block[k * bs + r % bs] = block[r % bs * bs + k] = 0.0;
    }
  return memory->upload(h->context, inverse, blocks, (size_t)(n * bs) * sizeof *blocks);
}

/* NaN is suspicious. */
static bool is_suspicious(const bsi_hierarchy *h, const bsi_level *level) {
  return level != h->levels &&
         !(level->largest_inverse <= SUSPICIOUS_GROWTH * level[-1].largest_inverse);
}

static bisai_status mark_and_drop(bsi_hierarchy *h, bsi_level *level) {
  const int64_t values = (int64_t)bsi_block_offset(level->matrix, level->matrix->block_rows);
  BSI_TRY(bsi_rounding_mark(h, level, level->rounding_marks, &level->rounding_rows));
  BSI_TRY(bsi_rounding_drop(h, level, level->inverse));
  return h->context->backend->vectors->largest(h->context, values, level->inverse,
                                               &level->largest_inverse);
}

bisai_status bsi_rounding_create(bsi_hierarchy *h, bsi_level *level) {
  const int64_t n = bsi_level_rows(level), bs = level->matrix->block_size;
  if (!is_suspicious(h, level)) return BISAI_OK;
  level->rounding_marks =
      bsi_allocate(h->context, (size_t)(n + n * bs), sizeof *level->rounding_marks);
  return level->rounding_marks ? mark_and_drop(h, level) : BISAI_OUT_OF_MEMORY;
}

bisai_status bsi_rounding_update(bsi_hierarchy *h, bsi_level *level) {
  level->rounding_rows = 0;
  if (!is_suspicious(h, level)) return BISAI_OK;
  return level->rounding_marks ? mark_and_drop(h, level) : bsi_level_refuse(h, level);
}
