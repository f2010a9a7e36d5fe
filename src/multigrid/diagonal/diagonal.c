/* SPDX-License-Identifier: BSD-3-Clause */
/* The inverses D⁻¹ of the diagonal blocks of a level. */
#include "multigrid/diagonal/diagonal.h"

#include "core/context/context_impl.h"
#include "core/matrix/matrix_ops.h"
#include "multigrid/diagonal/diagonal_ops.h"
#include "multigrid/diagonal/null_rows.h"
#include "multigrid/level/level_errors.h"
#include "multigrid/level/records.h"

static bisai_status find(bsi_hierarchy *h, bsi_level *level, void *record) {
  bsi_level_diagonal *d = &level->diagonal;
  d->position = bsi_hierarchy_reserve(h, level->matrix->block_rows, sizeof *d->position);
  if (!d->position) return BISAI_OUT_OF_MEMORY;
  d->missing = record ? BSI_MISSING_RECORDED : -1;
  return h->context->backend->matrix->structures->find_diagonals(h->context, level->matrix,
                                                                 d->position, record, &d->missing);
}

/* Refuses a matrix that lacks a diagonal block. */
static bisai_status check_found(bsi_hierarchy *h, const bsi_level *level) {
  if (level->diagonal.missing < 0) return BISAI_OK;
  return bsi_level_fail(h, level,
                        bsi_fail(h->context, BISAI_MISSING_DIAGONAL,
                                 "block row %d has no diagonal block",
                                 bsi_row_name(level->matrix, level->diagonal.missing)));
}

bisai_status bsi_diagonal_find(bsi_hierarchy *h, bsi_level *level) {
  BSI_TRY(find(h, level, NULL));
  return check_found(h, level);
}

void bsi_diagonal_release_places(bisai_context *context, bsi_level *level) {
  context->backend->memory->release(context, level->diagonal.position);
  level->diagonal.position = NULL;
}

bisai_status bsi_diagonal_renew_places(bsi_hierarchy *h, bsi_level *level) {
  return level->diagonal.position ? BISAI_OK : bsi_diagonal_find(h, level);
}

bisai_status bsi_diagonal_missing(bisai_context *context, const bisai_bcsr *a, int32_t *missing) {
  const bsi_backend *backend = context->backend;
  int32_t *position = backend->memory->allocate(context, (size_t)a->block_rows, sizeof *position);
  if (!position) return BISAI_OUT_OF_MEMORY;
  const bisai_status status =
      backend->matrix->structures->find_diagonals(context, a, position, NULL, missing);
  backend->memory->release(context, position);
  return status;
}

/* Takes what an inversion found. */
static bisai_status judge(bsi_hierarchy *h, bsi_level *level, const bsi_invert_stats *stats) {
  if (level == h->levels) h->stats = *stats;
  return bsi_level_judge(h, level, "", stats);
}

static bisai_status judge_update(bsi_hierarchy *h, bsi_level *level,
                                 const bsi_invert_stats *stats) {
  BSI_TRY(judge(h, level, stats));
  return bsi_null_rows_update(h, level);
}

/* Computes the inverses, and `stats` unless the host need not wait for them. */
static bisai_status invert(bsi_hierarchy *h, bsi_level *level, void *record,
                           bsi_invert_stats *stats) {
  bsi_level_diagonal *d = &level->diagonal;
  bsi_inversion_findings found = {.stats = stats, .largest = &d->largest};
  *stats = BSI_INVERT_STATS_NONE;
  const bisai_status status = bsi_ops_of(h)->inversion->invert(
      h->context, level->matrix, d->position, bsi_shift_of(h, level), d->inverse, record, &found);
  d->deferred = found.deferred;
  return status;
}

/* Takes what is in records, after they have been fetched. */
static void take_records(const bsi_hierarchy *h, bsi_level *level) {
  bsi_level_diagonal *d = &level->diagonal;
  if (d->missing == BSI_MISSING_RECORDED)
    d->missing = h->context->backend->matrix->structures->read_missing(
        bsi_record_here(h, level, BSI_RECORD_MISSING));
  if (d->deferred)
    bsi_ops_of(h)->inversion->read(bsi_record_here(h, level, BSI_RECORD_INVERSION), &d->found,
                                   &d->largest);
  d->deferred = false;
}

bisai_status bsi_diagonal_begin(bsi_hierarchy *h, bsi_level *level) {
  if (!level->diagonal.position)
    BSI_TRY(find(h, level, bsi_record_there(h, level, BSI_RECORD_MISSING)));
  return invert(h, level, bsi_record_there(h, level, BSI_RECORD_INVERSION), &level->diagonal.found);
}

bisai_status bsi_diagonal_end(bsi_hierarchy *h, bsi_level *level, bool *regular) {
  const bsi_invert_stats *found = &level->diagonal.found;
  take_records(h, level);
  BSI_TRY(check_found(h, level));
  *regular = found->singular_row < 0 || !bsi_may_invert(h, level);
  if (!*regular) return BISAI_OK;
  BSI_TRY(judge(h, level, found));
  return bsi_null_rows_create(h, level);
}

/* Returns true if nothing that follows an inversion depends on what it found. All levels are judged
 * in the end then, because a level is judged beside the finer one, which may be in a record. */
static bool may_defer(const bsi_hierarchy *h) {
  bool looks_for_null_rows = false;
  for (int l = 0; l < h->count; l++)
    looks_for_null_rows = looks_for_null_rows || h->levels[l].diagonal.null_marks;
  return h->records.there && !looks_for_null_rows;
}

bisai_status bsi_diagonal_update(bsi_hierarchy *h, bsi_level *level) {
  level->diagonal.unjudged = may_defer(h);
  void *record = level->diagonal.unjudged ? bsi_record_there(h, level, BSI_RECORD_INVERSION) : NULL;
  BSI_TRY(invert(h, level, record, &level->diagonal.found));
  return level->diagonal.unjudged ? BISAI_OK : judge_update(h, level, &level->diagonal.found);
}

bisai_status bsi_diagonal_complete(bsi_hierarchy *h) {
  for (int l = 0; l < h->count; l++) {
    bsi_level *level = &h->levels[l];
    if (!level->diagonal.unjudged) continue;
    take_records(h, level);
    level->diagonal.unjudged = false;
    BSI_TRY(judge_update(h, level, &level->diagonal.found));
  }
  return BISAI_OK;
}
