/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/updates.h"

#include "core/context/context_impl.h"
#include "multigrid/coarse/coarsest.h"
#include "multigrid/diagonal/diagonal.h"
#include "multigrid/level/memory.h"
#include "multigrid/level/records.h"
#include "multigrid/level/smoother.h"
#include "multigrid/transfers/galerkin.h"
#include "multigrid/transfers/transfers.h"

static bool is(const bsi_hierarchy *h, bisai_multigrid_update update) {
  return h->setup.options.update == update;
}

/* --- release --- */

void bsi_updates_release_product(const bsi_hierarchy *h, bsi_level *level) {
  bsi_level_transfers *t = &level->transfers;
  if (is(h, BISAI_MULTIGRID_UPDATE_FAST)) return;
  bsi_block_matrix_destroy(h->context, &t->product);
  bsi_product_slots_release(h->context, &t->prolongation.slots);
  bsi_product_slots_release(h->context, &t->restriction.slots);
  bsi_product_slots_release(h->context, &t->coarse.slots);
}

static void release_values(const bsi_hierarchy *h, double **values) {
  h->context->backend->memory->release(h->context, *values);
  *values = NULL;
}

void bsi_updates_release_wide(const bsi_hierarchy *h, bsi_level *level) {
  bsi_level_transfers *t = &level->transfers;
  const bsi_level_fp32 *copies = &level->fp32;
  if (!copies->in_use) return;
  if (level->own && !bsi_smoother_is_nested(level)) bsi_matrix_release_values(level->own);
  if (copies->inverse) {
    release_values(h, &level->diagonal.inverse);
    level->smoother.inverse = NULL;
  }
  if (h->setup.options.keep_transfers && !is(h, BISAI_MULTIGRID_UPDATE_NONE)) return;
  if ((copies->prolongation || copies->prolongation_values) && t->prolongation.row_ptr)
    release_values(h, &t->prolongation.values);
  if ((copies->restriction || copies->restriction_values) && t->restriction.row_ptr)
    release_values(h, &t->restriction.values);
}

static void release_level(const bsi_hierarchy *h, bsi_level *level) {
  bsi_level_transfers *t = &level->transfers;
  bsi_updates_release_product(h, level);
  bsi_updates_release_wide(h, level);
  bsi_transfers_release_places(h->context, t);
  bsi_diagonal_release_places(h->context, level);
  if (t->restriction.row_ptr) bsi_block_matrix_destroy(h->context, &t->tentative_transposed);
  if (t->weak) bsi_transfers_release_filtered(h->context, t);
  if (!is(h, BISAI_MULTIGRID_UPDATE_NONE)) return;
  if (t->prolongation.row_ptr) bsi_block_matrix_destroy(h->context, &t->tentative);
  bsi_transfers_release_filter(h->context, t);
  bsi_release(h->context, level->diagonal.null_marks);
  level->diagonal.null_marks = NULL;
}

void bsi_updates_release(bsi_hierarchy *h) {
  if (is(h, BISAI_MULTIGRID_UPDATE_FAST)) return;
  for (int l = 0; l < h->count; l++) release_level(h, &h->levels[l]);
  release_values(h, &h->coarse.work);
  if (!is(h, BISAI_MULTIGRID_UPDATE_NONE)) return;
  release_values(h, &h->lanczos.work);
  bsi_coarsest_release_room(h->context, &h->coarse);
  bsi_records_destroy(h);
}

/* --- renewal --- */

static bisai_status renew_wide(bsi_hierarchy *h, bsi_level *level) {
  bsi_level_transfers *t = &level->transfers;
  if (level->own) BSI_TRY(bsi_matrix_renew_values(level->own));
  if (!level->diagonal.inverse) {
    level->diagonal.inverse = bsi_hierarchy_reserve_vector(h, bsi_level_diagonal_values(level));
    if (!level->diagonal.inverse) return BISAI_OUT_OF_MEMORY;
    level->smoother.inverse = level->diagonal.inverse;
  }
  if (t->prolongation.row_ptr && !t->prolongation.values)
    BSI_TRY(bsi_block_matrix_reserve_values(h->context, &t->prolongation));
  if (t->restriction.row_ptr && !t->restriction.values)
    BSI_TRY(bsi_block_matrix_reserve_values(h->context, &t->restriction));
  return BISAI_OK;
}

static bisai_status renew_level(bsi_hierarchy *h, bsi_level *level) {
  BSI_TRY(renew_wide(h, level));
  BSI_TRY(bsi_diagonal_renew_places(h, level));
  if (level == bsi_coarsest_of(h)) return BISAI_OK;
  BSI_TRY(bsi_transfers_renew(h, level));
  return bsi_galerkin_renew(h, level);
}

static bisai_status renew(bsi_hierarchy *h) {
  for (int l = 0; l < h->count; l++) BSI_TRY(renew_level(h, &h->levels[l]));
  if (!h->coarse.inverse || h->coarse.work) return BISAI_OK;
  const int64_t n = bsi_level_rows(bsi_coarsest_of(h));
  h->coarse.work = bsi_hierarchy_reserve_vector(h, n * n);
  return h->coarse.work ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

bisai_status bsi_updates_renew(bsi_hierarchy *h) {
  if (is(h, BISAI_MULTIGRID_UPDATE_FAST)) return BISAI_OK;
  const bisai_status status = renew(h);
  if (status) bsi_updates_release(h);
  if (!status && is(h, BISAI_MULTIGRID_UPDATE_AUTO))
    h->setup.options.update = BISAI_MULTIGRID_UPDATE_FAST;
  return status;
}
