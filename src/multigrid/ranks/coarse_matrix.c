/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers of a rank, and R (A P). Each product takes the own rows of the left factor, and rows of
 * the right factor for own rows and ghosts. */
#include "multigrid/ranks/coarse_matrix.h"

#include <math.h>

#include "core/context/context_impl.h"
#include "multigrid/halo/agreement.h"
#include "multigrid/level/level_errors.h"
#include "multigrid/spgemm/spgemm_ops.h"
#include "multigrid/transfers/galerkin.h"
#include "multigrid/transfers/row_scaling.h"
#include "multigrid/transfers/tentative.h"
#include "multigrid/transfers/transfer_ops.h"
#include "multigrid/transfers/transfers.h"

static bisai_status agree(const bsi_rank_hierarchy *r, bisai_status status) {
  return bsi_agree(r->h.context, &r->transport, status);
}

static const bsi_spgemm_ops *products_of(const bsi_rank_hierarchy *r) {
  return bsi_ops_of(&r->h)->spgemm;
}

/* --- T --- */

/* Gives T the values of the rows of ghosts: near-null-space vectors. `own` are those of the own
 * rows, and are taken over. */
static bisai_status lengthen_values(bsi_rank_hierarchy *r, bsi_block_matrix *t, int32_t own_blocks,
                                    double *own) {
  const bsi_memory_ops *memory = r->h.context->backend->memory;
  const size_t bytes = bsi_block_matrix_offset(t, own_blocks) * sizeof *own;
  bisai_status status = bsi_block_matrix_reserve_values(r->h.context, t);
  if (!status && bytes > 0) status = memory->copy(r->h.context, t->values, own, bytes);
  memory->release(r->h.context, own);
  return status;
}

/* Appends the rows of ghosts to T, and their aggregates to c->aggregate. */
static bisai_status append_to_tentative(bsi_rank_hierarchy *r, int l, const bsi_coarsening *c,
                                        bsi_numbering *columns) {
  bsi_level *level = &r->h.levels[l];
  bsi_rank_level *rank = &r->levels[l];
  bsi_block_matrix *t = &level->transfers.tentative;
  bisai_context *context = r->h.context;
  const size_t ghosts = (size_t)rank->halo.ghosts;
  double *own = t->values;
  int32_t *aggregate = bsi_allocate(context, ghosts, sizeof *aggregate);
  bisai_status status = agree(r, aggregate ? BISAI_OK : BISAI_OUT_OF_MEMORY);
  if (!status)
    status = bsi_ghost_rows_append(&rank->halo, columns, t, !own, aggregate, &rank->of_tentative);
  if (!status && own) status = lengthen_values(r, t, rank->of_tentative.own_blocks, own);
  if (!status)
    status = context->backend->memory->upload(context, c->aggregate + level->matrix->block_rows,
                                              aggregate, ghosts * sizeof *aggregate);
  if (!status) status = context->backend->memory->synchronize(context);
  bsi_release(context, aggregate);
  status = agree(r, status);
  return status ? status : bsi_ghost_rows_update(&rank->of_tentative, t);
}

/* --- structures --- */

/* *own ← the structure of the own rows of a b. *fits ← false if a rank has more than `most` blocks.
 */
static bisai_status multiply_within(bsi_rank_hierarchy *r, const bsi_block_matrix *a,
                                    const bsi_block_matrix *b, int64_t most, bsi_block_matrix *own,
                                    bool *fits) {
  double too_large;
  BSI_TRY(agree(r, products_of(r)->multiply_structure(r->h.context, a, b, most, own)));
  too_large = own->row_ptr ? 0.0 : 1.0;
  BSI_TRY(bsi_largest_of_ranks(r->h.context, &r->transport, 1, &too_large));
  *fits = too_large == 0.0;
  return BISAI_OK;
}

/* product ← a b, without more than `most` blocks on a rank, with the rows of ghosts if it is there.
 * The level has the own rows in *own. */
static bisai_status multiply(bsi_rank_hierarchy *r, int l, const bsi_block_matrix *a,
                             const bsi_block_matrix *b, int64_t most, bsi_numbering *columns,
                             bsi_block_matrix *own, bsi_block_matrix *product,
                             bsi_ghost_rows *ghosts) {
  bsi_rank_level *rank = &r->levels[l];
  bool fits = false;
  bisai_status status = multiply_within(r, a, b, most, own, &fits);
  if (status) return status;
  if (!fits) {
    bsi_block_matrix_destroy(r->h.context, own);
    return BISAI_OK;
  }
  *product = *own;
  product->slots = (bsi_product_slots){0};
  own->row_ptr = own->col_idx = NULL; /* the product may exchange them */
  status = bsi_ghost_rows_append(&rank->halo, columns, product, false, NULL, ghosts);
  bisai_status reserved = status ? status : bsi_block_matrix_reserve_values(r->h.context, product);
  own->row_ptr = product->row_ptr;
  own->col_idx = product->col_idx;
  own->values = product->values;
  own->cols = product->cols;
  return status ? status : agree(r, reserved);
}

/* Makes P. The factors are those of one rank, with T of the ghosts. */
static bisai_status make_prolongation(bsi_rank_hierarchy *r, int l, bsi_numbering *columns) {
  bsi_level_transfers *t = &r->h.levels[l].transfers;
  const bsi_prolonged at =
      bsi_prolonged_of(r->h.levels[l].matrix, &t->tentative, t->filtered, &t->identity);
  return multiply(r, l, &at.left, at.right, INT64_MAX, columns, &t->prolongation,
                  &r->levels[l].prolongation, &r->levels[l].of_prolongation);
}

/* R ← the rows of Pᵀ of own aggregates. All rows with blocks in their columns are here: A has a
 * symmetric pattern. */
static bisai_status transpose(bsi_rank_hierarchy *r, int l, int32_t aggregates) {
  bsi_level_transfers *t = &r->h.levels[l].transfers;
  bsi_block_matrix *all = &r->levels[l].transposed;
  int32_t blocks = 0;
  BSI_TRY(bsi_transpose_create(&r->h, &r->levels[l].prolongation, all, &t->prolongation_position));
  BSI_TRY(bsi_block_matrix_reserve_values(r->h.context, all));
  BSI_TRY(r->h.context->backend->memory->fetch(r->h.context, &blocks, all->row_ptr + aggregates,
                                               sizeof blocks));
  t->restriction = *all;
  t->restriction.rows = aggregates;
  t->restriction.blocks = blocks;
  return BISAI_OK;
}

static bisai_status make_restriction(bsi_rank_hierarchy *r, int l, int32_t aggregates) {
  bsi_level_transfers *t = &r->h.levels[l].transfers;
  const bsi_block_matrix a = bsi_block_matrix_of(r->h.levels[l].matrix);
  bisai_status status;
  if (bsi_restriction_is_transposed(&r->h)) {
    status = transpose(r, l, aggregates);
    if (status && t->restriction.row_ptr == NULL)
      bsi_block_matrix_destroy(r->h.context, &r->levels[l].transposed);
    return agree(r, status);
  }
  status = products_of(r)->multiply_structure(r->h.context, &t->tentative_transposed, &a, INT64_MAX,
                                              &t->restriction);
  if (!status) status = bsi_block_matrix_reserve_values(r->h.context, &t->restriction);
  return agree(r, status);
}

/* Returns the most values that the limit of the complexity leaves. */
static double values_left(const bsi_rank_hierarchy *r) {
  double values = 0.0;
  for (int l = 0; l < r->h.count; l++) values += bsi_all_values(r, l);
  return r->h.setup.options.complexity * bsi_all_values(r, 0) - values;
}

/* *coarse ← R (A P) without its values, unless it is too large on all ranks together. */
static bisai_status try_coarse_matrix(bsi_rank_hierarchy *r, int l, bisai_bcsr **coarse) {
  const bsi_level *level = &r->h.levels[l];
  const bsi_block_matrix *ap = &r->levels[l].product, *p = bsi_restriction_of(level);
  const double left = fmax(values_left(r), 0.0) / ((double)ap->width * ap->width);
  const int64_t most = (int64_t)fmin(left, INT32_MAX);
  bsi_block_matrix product = {0};
  double blocks;
  bisai_status status = products_of(r)->multiply_structure(r->h.context, p, ap, most, &product);
  status = agree(r, status);
  blocks = product.row_ptr ? product.blocks : (double)most + 1.0;
  if (!status) status = bsi_sum_over_ranks(r->h.context, &r->transport, 1, &blocks);
  if (status || blocks > left) {
    bsi_block_matrix_destroy(r->h.context, &product);
    return status;
  }
  status = bsi_block_matrix_adopt(r->h.context, &product, coarse);
  if (!status) r->h.levels[l].transfers.coarse = product;
  status = agree(r, status);
  if (status) bisai_bcsr_destroy(coarse);
  return status;
}

/* Makes A P, and R if P is smoothed. Leaves A P empty if it is too large. */
static bisai_status make_product(bsi_rank_hierarchy *r, int l, int32_t aggregates,
                                 bsi_numbering *columns) {
  bsi_level *level = &r->h.levels[l];
  bsi_level_transfers *t = &level->transfers;
  const bsi_block_matrix a = bsi_block_matrix_of(level->matrix);
  const bsi_block_matrix *p = t->prolongation.row_ptr ? &r->levels[l].prolongation : &t->tentative;
  BSI_TRY(multiply(r, l, &a, p, BSI_LARGEST_PRODUCT * (int64_t)a.blocks, columns, &t->product,
                   &r->levels[l].product, &r->levels[l].of_product));
  if (!t->product.row_ptr || !t->prolongation.row_ptr) return BISAI_OK;
  return make_restriction(r, l, aggregates);
}

static void drop_restriction(bsi_rank_hierarchy *r, int l) {
  bsi_block_matrix_destroy(r->h.context, &r->h.levels[l].transfers.restriction);
  r->levels[l].transposed = (bsi_block_matrix){0};
}

static void drop_smoothed(bsi_rank_hierarchy *r, int l) {
  bsi_ghost_rows_destroy(&r->levels[l].of_prolongation);
  bsi_ghost_rows_destroy(&r->levels[l].of_product);
  bsi_transfers_release_smoothed(r->h.context, &r->h.levels[l].transfers);
  r->levels[l].prolongation = r->levels[l].product = r->levels[l].transposed =
      (bsi_block_matrix){0};
}

/* *coarse ← R A P with the smoothed R or, if this is too large, with Tᵀ. */
static bisai_status make_smoothed_matrix(bsi_rank_hierarchy *r, int l, int32_t aggregates,
                                         bsi_numbering *columns, bisai_bcsr **coarse) {
  BSI_TRY(make_product(r, l, aggregates, columns));
  if (!r->h.levels[l].transfers.product.row_ptr) return BISAI_OK;
  BSI_TRY(try_coarse_matrix(r, l, coarse));
  if (*coarse || bsi_restriction_is_transposed(&r->h) ||
      !r->h.levels[l].transfers.prolongation.row_ptr)
    return BISAI_OK;
  drop_restriction(r, l);
  return try_coarse_matrix(r, l, coarse);
}

bisai_status bsi_rank_coarse_create(bsi_rank_hierarchy *r, int l, bsi_coarsening *c,
                                    bsi_numbering *columns, bisai_bcsr **coarse) {
  bsi_level *level = &r->h.levels[l];
  BSI_TRY(agree(r, bsi_tentative_create(&r->h, level, c)));
  BSI_TRY(append_to_tentative(r, l, c, columns));
  if (!c->vectors)
    BSI_TRY(agree(r, bsi_filter_create(&r->h, level, c, bsi_numbering_count(columns))));
  BSI_TRY(make_prolongation(r, l, columns));
  BSI_TRY(make_smoothed_matrix(r, l, c->count, columns, coarse));
  if (*coarse) return BISAI_OK;
  drop_smoothed(r, l);
  return make_smoothed_matrix(r, l, c->count, columns, coarse);
}

/* --- values --- */

/* *size ← that of the first diagonal block of the rank that has the first row. */
static bisai_status find_first_size(bsi_rank_hierarchy *r, int l, double *size) {
  const bsi_memory_ops *memory = r->h.context->backend->memory;
  const bsi_level *level = &r->h.levels[l];
  const int values = level->matrix->block_size * level->matrix->block_size;
  double block[BISAI_MAX_BLOCK_SIZE * BISAI_MAX_BLOCK_SIZE];
  int32_t place = 0;
  bisai_status status = BISAI_OK;
  const bool here = level->matrix->block_rows > 0 && r->levels[l].begins[r->transport.rank] == 0;
  *size = 0.0;
  if (here) status = memory->fetch(r->h.context, &place, level->diagonal.position, sizeof place);
  if (here && !status)
    status = memory->fetch(r->h.context, block,
                           (const double *)level->matrix->values +
                               bsi_block_offset(level->matrix, place),
                           (size_t)values * sizeof *block);
  if (here && !status) *size = bsi_row_scaling_size_of(values, block);
  BSI_TRY(agree(r, status));
  return bsi_sum_over_ranks(r->h.context, &r->transport, 1, size);
}

/* What R needs of other ranks: D⁻¹ of ghosts, and the size of the first row. */
static bisai_status prepare_restriction(bsi_rank_hierarchy *r, int l) {
  bsi_level *level = &r->h.levels[l];
  const int32_t bs = level->matrix->block_size;
  if (bsi_restriction_is_transposed(&r->h)) return BISAI_OK;
  BSI_TRY(bsi_halo_complete(level->halo, bs * bs, level->diagonal.inverse));
  return bsi_rows_are_scaled(&r->h, level) ? find_first_size(r, l, &level->transfers.first_size)
                                           : BISAI_OK;
}

static bisai_status update_restriction(bsi_rank_hierarchy *r, int l) {
  bsi_level *level = &r->h.levels[l];
  bsi_level_transfers *t = &level->transfers;
  if (!bsi_restriction_is_transposed(&r->h) || !t->restriction.row_ptr)
    return bsi_restriction_update(&r->h, level);
  return bsi_ops_of(&r->h)->transfer->transpose_values(
      r->h.context, &r->levels[l].prolongation, t->prolongation_position, &r->levels[l].transposed);
}

static bisai_status update_transfers(bsi_rank_hierarchy *r, int l) {
  bsi_level *level = &r->h.levels[l];
  bsi_rank_level *rank = &r->levels[l];
  BSI_TRY(agree(r, bsi_prolongation_update(&r->h, level)));
  if (level->transfers.prolongation.row_ptr)
    BSI_TRY(bsi_ghost_rows_update(&rank->of_prolongation, &rank->prolongation));
  BSI_TRY(prepare_restriction(r, l));
  return agree(r, update_restriction(r, l));
}

bisai_status bsi_rank_coarse_update(bsi_rank_hierarchy *r, int l, bool keep) {
  bsi_level *level = &r->h.levels[l];
  bsi_rank_level *rank = &r->levels[l];
  bsi_level_transfers *t = &level->transfers;
  const bsi_block_matrix a = bsi_block_matrix_of(level->matrix);
  bsi_block_matrix coarse = t->coarse;
  coarse.values = level[1].own->values;
  if (!keep) BSI_TRY(update_transfers(r, l));
  BSI_TRY(agree(r, products_of(r)->multiply_values(r->h.context, &a,
                                                   t->prolongation.row_ptr ? &rank->prolongation
                                                                           : &t->tentative,
                                                   &t->product)));
  BSI_TRY(bsi_ghost_rows_update(&rank->of_product, &rank->product));
  bisai_status status = products_of(r)->multiply_values(r->h.context, bsi_restriction_of(level),
                                                        &rank->product, &coarse);
  if (!status) status = bsi_ops_of(&r->h)->transfer->complete(r->h.context, level[1].own);
  return agree(r, status);
}
