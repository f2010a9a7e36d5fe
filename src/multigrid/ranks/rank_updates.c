/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/ranks/rank_updates.h"

#include "core/context/context_impl.h"
#include "multigrid/spgemm/block_matrix.h"
#include "multigrid/updates.h"

static bool keeps_all(const bsi_rank_hierarchy *r) {
  return r->products_only || r->h.setup.options.update == BISAI_MULTIGRID_UPDATE_FAST;
}

/* --- release --- */

void bsi_rank_updates_release_product(bsi_rank_hierarchy *r, int l) {
  double **values = &r->levels[l].product.values;
  if (keeps_all(r)) return;
  r->h.context->backend->memory->release(r->h.context, *values);
  *values = r->h.levels[l].transfers.product.values = NULL;
}

static void release_level(bsi_rank_hierarchy *r, int l) {
  bsi_rank_level *rank = &r->levels[l];
  bsi_level *level = &r->h.levels[l];
  bsi_rank_updates_release_product(r, l);
  bsi_updates_release_wide(&r->h, level);
  /* the same arrays with the rows of ghosts */
  rank->prolongation.values = level->transfers.prolongation.values;
  if (rank->transposed.row_ptr) rank->transposed.values = level->transfers.restriction.values;
}

void bsi_rank_updates_release(bsi_rank_hierarchy *r) {
  if (keeps_all(r)) return;
  for (int l = 0; l < r->h.count; l++) release_level(r, l);
}

/* --- renewal --- */

/* own ← the own rows of a matrix with rows of ghosts, whose values are reserved if they are not. */
static bisai_status renew(const bsi_rank_hierarchy *r, bsi_block_matrix *with,
                          bsi_block_matrix *own) {
  if (!with->row_ptr || with->values) return BISAI_OK;
  BSI_TRY(bsi_block_matrix_reserve_values(r->h.context, with));
  own->values = with->values;
  return BISAI_OK;
}

bisai_status bsi_rank_reserve_inverse(bsi_rank_hierarchy *r, bsi_level *level) {
  level->diagonal.inverse =
      bsi_hierarchy_reserve_vector(&r->h, bsi_level_room(level) * level->matrix->block_size);
  return level->diagonal.inverse ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

static bisai_status renew_inverse(bsi_rank_hierarchy *r, bsi_level *level) {
  if (level->diagonal.inverse || !level->fp32.inverse) return BISAI_OK;
  BSI_TRY(bsi_rank_reserve_inverse(r, level));
  level->smoother.inverse = level->diagonal.inverse;
  return BISAI_OK;
}

static bisai_status renew_level(bsi_rank_hierarchy *r, int l) {
  bsi_rank_level *rank = &r->levels[l];
  bsi_level *level = &r->h.levels[l];
  bsi_level_transfers *t = &level->transfers;
  if (level->own) BSI_TRY(bsi_matrix_renew_values(level->own));
  BSI_TRY(renew_inverse(r, level));
  BSI_TRY(renew(r, &rank->product, &t->product));
  BSI_TRY(renew(r, &rank->prolongation, &t->prolongation));
  return rank->transposed.row_ptr ? renew(r, &rank->transposed, &t->restriction)
                                  : renew(r, &t->restriction, &t->restriction);
}

bisai_status bsi_rank_updates_renew(bsi_rank_hierarchy *r) {
  if (keeps_all(r)) return BISAI_OK;
  for (int l = 0; l < r->h.count; l++) BSI_TRY(renew_level(r, l));
  return BISAI_OK;
}

void bsi_rank_updates_end(bsi_rank_hierarchy *r) {
  if (r->h.setup.options.update == BISAI_MULTIGRID_UPDATE_AUTO)
    r->h.setup.options.update = BISAI_MULTIGRID_UPDATE_FAST;
  bsi_rank_updates_release(r);
}
