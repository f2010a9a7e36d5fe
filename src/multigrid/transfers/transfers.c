/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/transfers/transfers.h"

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
  return BISAI_OK;
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

static bisai_status update_prolongation(bsi_hierarchy *h, bsi_level *level) {
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
                                   .position = t->tentative_position};
  t->tentative_transposed.multiples = !t->tentative.values;
  return bsi_ops_of(h)->transfer->scale_rows(h->context, &scaling, &t->tentative_transposed);
}

static bisai_status update_restriction(bsi_hierarchy *h, bsi_level *level) {
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
  BSI_TRY(update_prolongation(h, level));
  return update_restriction(h, level);
}

void bsi_transfers_release_smoothed(bisai_context *context, bsi_level_transfers *t) {
  bsi_block_matrix_destroy(context, &t->prolongation);
  bsi_block_matrix_destroy(context, &t->restriction);
  bsi_block_matrix_destroy(context, &t->product);
  bsi_block_matrix_destroy(context, &t->identity);
  context->backend->memory->release(context, t->prolongation_position);
  context->backend->memory->release(context, t->filtered);
  t->prolongation_position = t->filtered = NULL;
}

void bsi_transfers_destroy(bisai_context *context, bsi_level_transfers *t) {
  bsi_transfers_release_smoothed(context, t);
  bsi_block_matrix_destroy(context, &t->tentative);
  bsi_block_matrix_destroy(context, &t->tentative_transposed);
  bsi_product_slots_destroy(context, &t->coarse.slots);
  context->backend->memory->release(context, t->tentative_position);
  t->tentative_position = NULL;
}
