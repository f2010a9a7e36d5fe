/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong on a level, in terms of the caller's matrix. */
#include "multigrid/level/level_errors.h"

#include "core/context/context_impl.h"
#include "core/matrix/matrix_ops.h"

bisai_status bsi_level_fail(const bsi_hierarchy *h, const bsi_level *level, bisai_status status) {
  const int number = bsi_level_number(h, level) + h->setup.above.levels;
  if (number > 0) return bsi_fail_at(h->context, status, "multigrid, level %d", number);
  return h->scalar_copy ? bsi_fail_at(h->context, status, "multigrid of scalar rows") : status;
}

/* Refuses a level whose matrix is not finite. */
static bisai_status check_finite(const bsi_hierarchy *h, const bsi_level *level) {
  const bisai_bcsr *a = level->matrix;
  int64_t index = -1;
  BSI_TRY(h->context->backend->matrix->blocks->find_not_finite(
      h->context, a->type, (int64_t)bsi_block_offset(a, a->blocks), a->values, &index));
  if (index < 0) return BISAI_OK;
  return bsi_fail(h->context, BISAI_NOT_FINITE,
                  "multigrid, level %d: the matrix of %d block rows overflows",
                  bsi_level_number(h, level) + h->setup.above.levels, a->block_rows);
}

/* Blocks of coarse levels are shifted until they are regular, unless they are not finite. */
bisai_status bsi_level_judge(const bsi_hierarchy *h, const bsi_level *level, const char *what,
                             const bsi_invert_stats *stats) {
  const bisai_status status = bsi_invert_stats_judge(h->context, what, level->matrix, stats);
  if (!status) return BISAI_OK;
  if (bsi_is_finest(h, level) && h->scalar_copy)
    return bsi_fail(h->context, status, "%sscalar row %d: the diagonal value is zero", what,
                    stats->singular_row);
  if (!bsi_is_finest(h, level)) BSI_TRY(check_finite(h, level));
  return bsi_level_fail(h, level, status);
}

bisai_status bsi_level_refuse(const bsi_hierarchy *h, const bsi_level *level) {
  BSI_TRY(check_finite(h, level));
  return bsi_fail(h->context, BISAI_SINGULAR_BLOCK,
                  "multigrid, level %d: the new values make the matrix of %d block rows singular: "
                  "a new preconditioner takes them",
                  bsi_level_number(h, level) + h->setup.above.levels, level->matrix->block_rows);
}
