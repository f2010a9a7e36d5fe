/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/transfers/tentative.h"

#include "multigrid/aggregation/aggregation_ops.h"
#include "multigrid/transfers/transfer_ops.h"

bool bsi_restriction_is_transposed(const bsi_hierarchy *h) {
  return h->setup.symmetric || h->setup.options.unweighted;
}

bool bsi_rows_are_scaled(const bsi_hierarchy *h, const bsi_level *level) {
  return bsi_is_finest(h, level) && !bsi_restriction_is_transposed(h);
}

bisai_status bsi_transpose_create(bsi_hierarchy *h, const bsi_block_matrix *m,
                                  bsi_block_matrix *transposed, int32_t **position) {
  transposed->row_ptr = bsi_hierarchy_reserve(h, (int64_t)m->cols + 1, sizeof *transposed->row_ptr);
  transposed->col_idx = bsi_hierarchy_reserve(h, m->blocks, sizeof *transposed->col_idx);
  *position = bsi_hierarchy_reserve(h, m->blocks, sizeof **position);
  if (!transposed->row_ptr || !transposed->col_idx || !*position) return BISAI_OUT_OF_MEMORY;
  return bsi_ops_of(h)->transfer->transpose(h->context, m, transposed, *position);
}

static bisai_status list(bsi_hierarchy *h, bsi_level *level, const bsi_coarsening *c) {
  bsi_level_transfers *t = &level->transfers;
  t->tentative = (bsi_block_matrix){.rows = level->matrix->block_rows,
                                    .cols = c->count,
                                    .height = level->matrix->block_size,
                                    .width = c->width};
  BSI_TRY(bsi_ops_of(h)->transfer->list(h->context, c->aggregate, c->members, &t->tentative));
  BSI_TRY(bsi_transpose_create(h, &t->tentative, &t->tentative_transposed, &t->tentative_position));
  return bsi_rows_are_scaled(h, level)
             ? bsi_block_matrix_reserve_values(h->context, &t->tentative_transposed)
             : BISAI_OK;
}

/* Returns true if the columns of A T are released after creation and made again in updates. */
static bool keeps_weak(const bsi_hierarchy *h) {
  const bisai_multigrid_update update = h->setup.options.update;
  return !h->setup.transport &&
         (update == BISAI_MULTIGRID_UPDATE_AUTO || update == BISAI_MULTIGRID_UPDATE_LEAN);
}

bisai_status bsi_filter_create(bsi_hierarchy *h, bsi_level *level, const bsi_coarsening *c,
                               int32_t columns) {
  bsi_level_transfers *t = &level->transfers;
  const int bs = level->matrix->block_size;
  t->filtered = bsi_hierarchy_reserve(h, level->matrix->blocks, sizeof *t->filtered);
  t->identity =
      (bsi_block_matrix){.rows = columns + 1,
                         .cols = columns,
                         .height = bs,
                         .width = bs,
                         .blocks = columns,
                         .row_ptr = bsi_hierarchy_reserve(h, (int64_t)columns + 2, sizeof(int32_t)),
                         .col_idx = bsi_hierarchy_reserve(h, columns, sizeof(int32_t))};
  if (!t->filtered || !t->identity.row_ptr || !t->identity.col_idx) return BISAI_OUT_OF_MEMORY;
  if (keeps_weak(h)) {
    t->weak = bsi_hierarchy_reserve(h, level->matrix->blocks, sizeof *t->weak);
    if (!t->weak) return BISAI_OUT_OF_MEMORY;
  }
  return bsi_ops_of(h)->aggregation->filter(h->context, level->matrix, level->diagonal.inverse,
                                            h->setup.options.strength, c->aggregate,
                                            &(bsi_filtered){t->filtered, t->weak}, &t->identity);
}

/* Fills the blocks of T and Tᵀ with the vectors. */
static bisai_status orthonormalise(bsi_hierarchy *h, bsi_level *level, bsi_coarsening *c) {
  const bsi_transfer_ops *ops = bsi_ops_of(h)->transfer;
  bsi_block_matrix *t = &level->transfers.tentative,
                   *transposed = &level->transfers.tentative_transposed;
  BSI_TRY(bsi_block_matrix_reserve_values(h->context, t));
  if (!transposed->values) BSI_TRY(bsi_block_matrix_reserve_values(h->context, transposed));
  c->coarse_vectors = bsi_hierarchy_reserve_vector(h, (int64_t)t->cols * t->width * t->width);
  if (!c->coarse_vectors) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(ops->orthonormalise(h->context, transposed, c->vectors, BSI_RANK_TOLERANCE, t,
                              c->coarse_vectors));
  return ops->transpose_values(h->context, t, level->transfers.tentative_position, transposed);
}

bisai_status bsi_tentative_create(bsi_hierarchy *h, bsi_level *level, bsi_coarsening *c) {
  BSI_TRY(list(h, level, c));
  return c->vectors ? orthonormalise(h, level, c) : BISAI_OK;
}

bsi_prolonged bsi_prolonged_of(const bisai_bcsr *a, const bsi_block_matrix *tentative,
                               int32_t *filtered, const bsi_block_matrix *identity) {
  bsi_prolonged at = {bsi_block_matrix_of(a), tentative};
  if (filtered) {
    at.left.cols = identity->rows;
    at.left.col_idx = filtered;
    at.right = identity;
  }
  return at;
}
