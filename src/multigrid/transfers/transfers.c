/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/transfers/transfers.h"

#include "multigrid/aggregation/aggregation_ops.h"
#include "multigrid/diagonal/radius.h"
#include "multigrid/spgemm/spgemm_ops.h"
#include "multigrid/transfers/row_scaling.h"
#include "multigrid/transfers/tentative.h"
#include "multigrid/transfers/transfer_ops.h"

bisai_status bsi_transfers_multiply(bsi_hierarchy *h, const bsi_level *level,
                                    const bsi_coarsening *c, const bsi_block_matrix *a,
                                    const bsi_block_matrix *b, int64_t most,
                                    bsi_block_matrix *product) {
  const bsi_spgemm_ops *ops = bsi_ops_of(h)->spgemm;
  BSI_TRY(ops->multiply_structure(h->context, a, b, most, product));
  bsi_coarsening_note_peak(h, level, c, ops->structure_room(h->context, a, b, most));
  if (h->setup.options.update != BISAI_MULTIGRID_UPDATE_FAST) return BISAI_OK;
  return bsi_transfers_find_slots(h, a, b, product);
}

bisai_status bsi_transfers_find_slots(const bsi_hierarchy *h, const bsi_block_matrix *a,
                                      const bsi_block_matrix *b, bsi_block_matrix *product) {
  const bsi_spgemm_ops *ops = bsi_ops_of(h)->spgemm;
  if (!ops->find_slots || !product->row_ptr || product->slots.of) return BISAI_OK;
  return ops->find_slots(h->context, a, b, product);
}

static bsi_prolonged prolonged_of(const bsi_level *level) {
  const bsi_level_transfers *t = &level->transfers;
  return bsi_prolonged_of(level->matrix, &t->tentative, t->filtered, &t->identity);
}

bisai_status bsi_prolongation_create(bsi_hierarchy *h, bsi_level *level, const bsi_coarsening *c) {
  bsi_block_matrix *p = &level->transfers.prolongation;
  const bsi_prolonged at = prolonged_of(level);
  BSI_TRY(bsi_transfers_multiply(h, level, c, &at.left, at.right, INT64_MAX, p));
  return bsi_block_matrix_reserve_values(h->context, p);
}

bisai_status bsi_restriction_create(bsi_hierarchy *h, bsi_level *level, const bsi_coarsening *c) {
  bsi_level_transfers *t = &level->transfers;
  const bsi_block_matrix a = bsi_block_matrix_of(level->matrix);
  if (bsi_restriction_is_transposed(h))
    BSI_TRY(bsi_transpose_create(h, &t->prolongation, &t->restriction, &t->prolongation_position));
  else
    BSI_TRY(bsi_transfers_multiply(h, level, c, &t->tentative_transposed, &a, INT64_MAX,
                                   &t->restriction));
  return bsi_block_matrix_reserve_values(h->context, &t->restriction);
}

bisai_status bsi_prolongation_update(bsi_hierarchy *h, bsi_level *level) {
  bsi_level_transfers *t = &level->transfers;
  if (!t->prolongation.row_ptr) return BISAI_OK;
  const bsi_prolonged at = prolonged_of(level);
  const bsi_smoothing smoothing = {&t->tentative, level->diagonal.inverse,
                                   bsi_transfer_damping(h, level), false};
  return bsi_ops_of(h)->spgemm->multiply_smoothed(h->context, &at.left, at.right, &smoothing,
                                                  &t->prolongation);
}

static bisai_status scale_rows(bsi_hierarchy *h, bsi_level *level) {
  bsi_level_transfers *t = &level->transfers;
  const bsi_row_scaling scaling = {.values = level->matrix->values,
                                   .diagonal = level->diagonal.position,
                                   .block_size = level->matrix->block_size,
                                   .tentative = t->tentative.values,
                                   .position = t->tentative_position,
                                   .first_size = t->first_size};
  t->tentative_transposed.multiples = !t->tentative.values;
  return bsi_ops_of(h)->transfer->scale_rows(h->context, &scaling, &t->tentative_transposed);
}

bisai_status bsi_restriction_update(bsi_hierarchy *h, bsi_level *level) {
  bsi_level_transfers *t = &level->transfers;
  const bsi_block_matrix a = bsi_block_matrix_of(level->matrix), *left = &t->tentative_transposed;
  if (bsi_rows_are_scaled(h, level)) BSI_TRY(scale_rows(h, level));
  if (!t->restriction.row_ptr) return BISAI_OK;
  if (bsi_restriction_is_transposed(h))
    return bsi_ops_of(h)->transfer->transpose_values(h->context, &t->prolongation,
                                                     t->prolongation_position, &t->restriction);
  const bsi_smoothing smoothing = {left, level->diagonal.inverse, bsi_transfer_damping(h, level),
                                   true};
  return bsi_ops_of(h)->spgemm->multiply_smoothed(h->context, left, &a, &smoothing,
                                                  &t->restriction);
}

bisai_status bsi_transfers_update(bsi_hierarchy *h, bsi_level *level) {
  BSI_TRY(bsi_prolongation_update(h, level));
  return bsi_restriction_update(h, level);
}

/* --- what updates need --- */

/* *position ← the places in m of the blocks of mᵀ, which has its structure already. */
static bisai_status renew_position(bsi_hierarchy *h, const bsi_block_matrix *m,
                                   bsi_block_matrix *transposed, int32_t **position) {
  *position = bsi_hierarchy_reserve(h, m->blocks, sizeof **position);
  if (!*position) return BISAI_OUT_OF_MEMORY;
  return bsi_ops_of(h)->transfer->transpose(h->context, m, transposed, *position);
}

/* Weights of the rows of Tᵀ come with new values. */
static bisai_status renew_tentative_transposed(bsi_hierarchy *h, bsi_level *level) {
  bsi_level_transfers *t = &level->transfers;
  bsi_block_matrix *transposed = &t->tentative_transposed;
  BSI_TRY(bsi_transpose_create(h, &t->tentative, transposed, &t->tentative_position));
  if (t->tentative.values || bsi_rows_are_scaled(h, level))
    BSI_TRY(bsi_block_matrix_reserve_values(h->context, transposed));
  if (!t->tentative.values) return BISAI_OK;
  return bsi_ops_of(h)->transfer->transpose_values(h->context, &t->tentative, t->tentative_position,
                                                   transposed);
}

static bisai_status renew_places(bsi_hierarchy *h, bsi_level *level) {
  bsi_level_transfers *t = &level->transfers;
  if (!t->tentative_transposed.row_ptr)
    BSI_TRY(renew_tentative_transposed(h, level));
  else if (!t->tentative_position)
    BSI_TRY(renew_position(h, &t->tentative, &t->tentative_transposed, &t->tentative_position));
  if (!t->restriction.row_ptr || !bsi_restriction_is_transposed(h) || t->prolongation_position)
    return BISAI_OK;
  return renew_position(h, &t->prolongation, &t->restriction, &t->prolongation_position);
}

static bisai_status renew_filtered(bsi_hierarchy *h, bsi_level *level) {
  bsi_level_transfers *t = &level->transfers;
  if (!t->weak || t->filtered) return BISAI_OK;
  t->filtered = bsi_hierarchy_reserve(h, level->matrix->blocks, sizeof *t->filtered);
  if (!t->filtered) return BISAI_OUT_OF_MEMORY;
  return bsi_ops_of(h)->aggregation->filter_again(h->context, level->matrix, &t->tentative,
                                                  &(bsi_filtered){t->filtered, t->weak});
}

static bisai_status renew_slots(bsi_hierarchy *h, bsi_level *level) {
  bsi_level_transfers *t = &level->transfers;
  const bsi_block_matrix a = bsi_block_matrix_of(level->matrix);
  const bsi_prolonged at = prolonged_of(level);
  BSI_TRY(bsi_transfers_find_slots(h, &at.left, at.right, &t->prolongation));
  if (bsi_restriction_is_transposed(h)) return BISAI_OK;
  return bsi_transfers_find_slots(h, &t->tentative_transposed, &a, &t->restriction);
}

bisai_status bsi_transfers_renew(bsi_hierarchy *h, bsi_level *level) {
  const bsi_level_transfers *t = &level->transfers;
  if (h->setup.options.keep_transfers) /* rows of rounding errors are looked for with Tᵀ */
    return t->tentative_transposed.row_ptr ? BISAI_OK : renew_tentative_transposed(h, level);
  BSI_TRY(renew_places(h, level));
  BSI_TRY(renew_filtered(h, level));
  return h->setup.options.update == BISAI_MULTIGRID_UPDATE_LEAN ? BISAI_OK : renew_slots(h, level);
}

void bsi_transfers_release_places(bisai_context *context, bsi_level_transfers *t) {
  context->backend->memory->release(context, t->tentative_position);
  context->backend->memory->release(context, t->prolongation_position);
  t->tentative_position = t->prolongation_position = NULL;
}

void bsi_transfers_release_filtered(bisai_context *context, bsi_level_transfers *t) {
  context->backend->memory->release(context, t->filtered);
  t->filtered = NULL;
}

void bsi_transfers_release_filter(bisai_context *context, bsi_level_transfers *t) {
  bsi_block_matrix_destroy(context, &t->identity);
  bsi_transfers_release_filtered(context, t);
  context->backend->memory->release(context, t->weak);
  t->weak = NULL;
}

/* --- release --- */

void bsi_transfers_release_smoothed(bisai_context *context, bsi_level_transfers *t) {
  bsi_block_matrix_destroy(context, &t->prolongation);
  bsi_block_matrix_destroy(context, &t->restriction);
  bsi_block_matrix_destroy(context, &t->product);
  bsi_transfers_release_filter(context, t);
  context->backend->memory->release(context, t->prolongation_position);
  t->prolongation_position = NULL;
}

void bsi_transfers_destroy(bisai_context *context, bsi_level_transfers *t) {
  bsi_transfers_release_smoothed(context, t);
  bsi_block_matrix_destroy(context, &t->tentative);
  bsi_block_matrix_destroy(context, &t->tentative_transposed);
  bsi_product_slots_destroy(context, &t->coarse.slots);
  context->backend->memory->release(context, t->tentative_position);
  t->tentative_position = NULL;
}
