/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of coarse matrices that consist of rounding errors.
 *
 * A component of the matrix without a boundary, for example a free part of a body, has vectors that
 * A maps to zero. When only one aggregate of it is left, its rows of the coarse matrix are zero but
 * for rounding errors, and their inverse would be huge. The values say nothing of their own size.
 * Row r of Tᵀ D⁻¹ A P x, where A is the finer matrix and x is random, shows such rows whatever the
 * scaling of A. They get the inverse 0: smoothers and the coarse correction leave them alone. */
#include "multigrid/diagonal/null_rows.h"

#include <math.h>
#include <string.h>

#include "core/context/context_impl.h"
#include "multigrid/cycle/cycle_ops.h"
#include "multigrid/cycle/operations.h"
#include "multigrid/diagonal/radius.h"
#include "multigrid/halo/agreement.h"
#include "multigrid/level/level_errors.h"

/* For a P x in the null space of A, D⁻¹A P x is at most this part of P x. */
#define NULL_PART 1e-10
/* Rows are looked at if the largest magnitude in D⁻¹ is this many times that of the finer level.
 * Without rounding errors the two differ by small factors. */
#define SUSPICIOUS_GROWTH 1e8

bisai_status bsi_null_rows_mark(const bsi_hierarchy *h, const bsi_level *level, double *marks,
                                int64_t *rows) {
  const bsi_cycle_ops *ops = bsi_ops_of(h)->cycle;
  const bsi_vector_ops *vectors = h->context->backend->vectors;
  const int64_t n = bsi_level_rows(level);
  double norm = 0.0, fine_rows;
  *rows = 0;
  memset(marks, 0, (size_t)n * sizeof *marks);
  if (level == h->levels) return BISAI_OK;
  const bsi_level *fine = level - 1;
  const double *const product[] = {fine->work.x};
  bsi_block_matrix restriction = fine->transfers.tentative_transposed;
  if (!fine->transfers.tentative.values)
    restriction.values = NULL; /* without the weights of level 0 */
  BSI_TRY(vectors->start(h->context, n, level->work.x));
  BSI_TRY(bsi_operation_run(h->context, &(bsi_operation){.kind = BSI_OPERATION_MULTIPLY,
                                                         .m = *bsi_prolongation_of(fine),
                                                         .ranks.halo = level->halo,
                                                         .x = bsi_wide(level->work.x),
                                                         .y = bsi_wide(fine->work.x)}));
  BSI_TRY(bsi_scaled_product(h, fine, fine->work.x, fine->work.residual));
  BSI_TRY(ops->multiply(h->context, &restriction, NULL, bsi_wide(fine->work.residual), 0.0,
                        bsi_wide(level->work.y)));
  BSI_TRY(vectors->norms(h->context, 1, bsi_level_rows(fine), product, &norm));
  BSI_TRY(bsi_norms_over_ranks(h->context, h->setup.transport, 1, &norm));
  fine_rows = (double)bsi_level_rows(fine);
  BSI_TRY(bsi_sum_over_ranks(h->context, h->setup.transport, 1, &fine_rows));
  BSI_TRY(h->context->backend->memory->fetch(h->context, marks, level->work.y,
                                             (size_t)n * sizeof *marks));
  const double limit = NULL_PART * norm / sqrt(fine_rows);
  for (int64_t r = 0; r < n; r++) {
    marks[r] = fabs(marks[r]) <= limit;
    *rows += marks[r] != 0.0;
  }
  return BISAI_OK;
}

bisai_status bsi_null_rows_drop(const bsi_hierarchy *h, const bsi_level *level, double *inverse) {
  const bsi_memory_ops *memory = h->context->backend->memory;
  const int64_t n = bsi_level_rows(level), bs = level->matrix->block_size;
  if (level->diagonal.null_rows == 0) return BISAI_OK;
  double *blocks = level->diagonal.null_marks + n;
  BSI_TRY(memory->fetch(h->context, blocks, inverse, (size_t)(n * bs) * sizeof *blocks));
  for (int64_t r = 0; r < n; r++)
    for (int64_t k = 0; k < bs && level->diagonal.null_marks[r] != 0.0; k++) {
      double *block = blocks + r / bs * bs * bs;
      block[k * bs + r % bs] = block[r % bs * bs + k] = 0.0;
    }
  return memory->upload(h->context, inverse, blocks, (size_t)(n * bs) * sizeof *blocks);
}

/* NaN is suspicious. */
static bool is_suspicious(const bsi_hierarchy *h, const bsi_level *level) {
  return level != h->levels &&
         !(level->diagonal.largest <= SUSPICIOUS_GROWTH * level[-1].diagonal.largest);
}

static bisai_status mark_and_drop(bsi_hierarchy *h, bsi_level *level) {
  const int64_t values = (int64_t)bsi_block_offset(level->matrix, level->matrix->block_rows);
  BSI_TRY(bsi_null_rows_mark(h, level, level->diagonal.null_marks, &level->diagonal.null_rows));
  BSI_TRY(bsi_null_rows_drop(h, level, level->diagonal.inverse));
  BSI_TRY(h->context->backend->vectors->largest(h->context, values, level->diagonal.inverse,
                                                &level->diagonal.largest));
  return bsi_largest_of_ranks(h->context, h->setup.transport, 1, &level->diagonal.largest);
}

bisai_status bsi_null_rows_create(bsi_hierarchy *h, bsi_level *level) {
  const int64_t n = bsi_level_rows(level), bs = level->matrix->block_size;
  if (!is_suspicious(h, level)) return BISAI_OK;
  level->diagonal.null_marks =
      bsi_allocate(h->context, (size_t)(n + n * bs), sizeof *level->diagonal.null_marks);
  const bisai_status status = level->diagonal.null_marks ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  BSI_TRY(bsi_agree(h->context, h->setup.transport, status));
  return mark_and_drop(h, level);
}

bisai_status bsi_null_rows_update(bsi_hierarchy *h, bsi_level *level) {
  level->diagonal.null_rows = 0;
  if (!is_suspicious(h, level)) return BISAI_OK;
  return level->diagonal.null_marks ? mark_and_drop(h, level) : bsi_level_refuse(h, level);
}
