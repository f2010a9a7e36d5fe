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
                                        bsi_numbering *columns, int32_t *aggregate,
                                        bisai_status *own) {
  const bsi_memory_ops *memory = r->h.context->backend->memory;
  bsi_level *level = &r->h.levels[l];
  bsi_rank_level *rank = &r->levels[l];
  bsi_block_matrix *t = &level->transfers.tentative;
  double *values = t->values;
  BSI_TRY(bsi_ghost_rows_append(&rank->of_tentative, columns, t, aggregate, own));
  if (!*own && values) *own = lengthen_values(r, t, rank->of_tentative.own_blocks, values);
  if (!*own)
    *own = memory->upload(r->h.context, c->aggregate + level->matrix->block_rows, aggregate,
                          (size_t)rank->halo.ghosts * sizeof *aggregate);
  if (!*own) *own = memory->synchronize(r->h.context);
  return BISAI_OK;
}

/* Takes the near-null-space vectors of ghosts or, without vectors, makes the filtered A T. */
static bisai_status fill_tentative(bsi_rank_hierarchy *r, int l, const bsi_coarsening *c,
                                   const bsi_numbering *columns, bisai_status *own) {
  bsi_level *level = &r->h.levels[l];
  if (!c->vectors) {
    if (!*own) *own = bsi_filter_create(&r->h, level, c, bsi_numbering_count(columns));
    return BISAI_OK;
  }
  BSI_TRY(agree(r, *own));
  *own = bsi_ghost_rows_update(&r->levels[l].of_tentative, &level->transfers.tentative);
  return BISAI_OK;
}

/* Makes T with the rows of ghosts, and what P is the product of. */
static bisai_status make_tentative(bsi_rank_hierarchy *r, int l, bsi_coarsening *c,
                                   bsi_numbering *columns, bisai_status *own) {
  bsi_level *level = &r->h.levels[l];
  bsi_rank_level *rank = &r->levels[l];
  bsi_block_matrix *t = &level->transfers.tentative;
  bisai_context *context = r->h.context;
  int32_t *aggregate = bsi_allocate(context, (size_t)rank->halo.ghosts, sizeof *aggregate);
  bisai_status status = aggregate ? bsi_tentative_create(&r->h, level, c) : BISAI_OUT_OF_MEMORY;
  if (!status)
    status =
        bsi_ghost_rows_begin(&rank->halo, &r->room, columns, t, !c->vectors, &rank->of_tentative);
  status = agree(r, status);
  if (!status) status = append_to_tentative(r, l, c, columns, aggregate, own);
  bsi_release(context, aggregate);
  return status ? status : fill_tentative(r, l, c, columns, own);
}

/* --- structures ---
 *
 * These functions return a failure of all ranks. *own is the status of what this rank did alone
 * since they agreed: that of the steps before a call and, after it, of its last steps. */

/* A product whose own rows the level has in *own, and *with those of ghosts too. */
typedef struct product_of_rank {
  const bsi_block_matrix *a, *b;
  /* the most blocks on a rank */
  int64_t most;
  bsi_block_matrix *own, *with;
  bsi_ghost_rows *ghosts;
} product_of_rank;

/* The structure of the own rows, and what other ranks get of it. */
static bisai_status begin_product(bsi_rank_hierarchy *r, int l, const bsi_numbering *columns,
                                  const product_of_rank *p) {
  BSI_TRY(products_of(r)->multiply_structure(r->h.context, p->a, p->b, p->most, p->own));
  if (!p->own->row_ptr) return BISAI_OK;
  *p->with = *p->own;
  p->with->slots = (bsi_product_slots){0};
  return bsi_ghost_rows_begin(&r->levels[l].halo, &r->room, columns, p->with, false, p->ghosts);
}

/* Appends the rows of ghosts, which may exchange the arrays. */
static bisai_status end_product(bsi_rank_hierarchy *r, bsi_numbering *columns,
                                const product_of_rank *p, bisai_status *own) {
  p->own->row_ptr = p->own->col_idx = NULL;
  const bisai_status status = bsi_ghost_rows_append(p->ghosts, columns, p->with, NULL, own);
  if (!status && !*own) *own = bsi_block_matrix_reserve_values(r->h.context, p->with);
  p->own->row_ptr = p->with->row_ptr;
  p->own->col_idx = p->with->col_idx;
  p->own->values = p->with->values;
  p->own->cols = p->with->cols;
  return status;
}

static void drop_product(const bsi_rank_hierarchy *r, const product_of_rank *p) {
  bsi_ghost_rows_destroy(p->ghosts);
  bsi_block_matrix_destroy(r->h.context, p->own);
  *p->with = (bsi_block_matrix){0};
}

/* Makes the structure of a product. *fits ← false if a rank has more than the most blocks: there is
 * no product then. */
static bisai_status multiply(bsi_rank_hierarchy *r, int l, const product_of_rank *p,
                             bsi_numbering *columns, bool *fits, bisai_status *own) {
  double too_large[2] = {0.0, 0.0};
  if (!*own) *own = begin_product(r, l, columns, p);
  if (!*own && !p->own->row_ptr) too_large[0] = 1.0;
  BSI_TRY(bsi_agree_and_reduce(r->h.context, &r->transport, *own, BISAI_REDUCE_MAX, 1, too_large));
  *fits = too_large[0] == 0.0;
  if (*fits) return end_product(r, columns, p, own);
  drop_product(r, p);
  return BISAI_OK;
}

/* Makes P. The factors are those of one rank, with T of the ghosts. */
static bisai_status make_prolongation(bsi_rank_hierarchy *r, int l, bsi_numbering *columns,
                                      bisai_status *own) {
  bsi_level_transfers *t = &r->h.levels[l].transfers;
  const bsi_prolonged at =
      bsi_prolonged_of(r->h.levels[l].matrix, &t->tentative, t->filtered, &t->identity);
  const product_of_rank p = {.a = &at.left,
                             .b = at.right,
                             .most = INT64_MAX,
                             .own = &t->prolongation,
                             .with = &r->levels[l].prolongation,
                             .ghosts = &r->levels[l].of_prolongation};
  bool fits;
  return multiply(r, l, &p, columns, &fits, own);
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
    return status;
  }
  status = products_of(r)->multiply_structure(r->h.context, &t->tentative_transposed, &a, INT64_MAX,
                                              &t->restriction);
  return status ? status : bsi_block_matrix_reserve_values(r->h.context, &t->restriction);
}

/* Returns the most values that the limit of the complexity leaves. */
static double values_left(const bsi_rank_hierarchy *r) {
  double values = 0.0;
  for (int l = 0; l < r->h.count; l++) values += bsi_all_values(r, l);
  return r->h.setup.options.complexity * bsi_all_values(r, 0) - values;
}

/* coarse->matrix ← R (A P) without its values, unless it is too large on all ranks together. */
static bisai_status try_coarse_matrix(bsi_rank_hierarchy *r, int l, bsi_rank_coarse *coarse,
                                      bisai_status *own) {
  const bsi_level *level = &r->h.levels[l];
  const bsi_block_matrix *ap = &r->levels[l].product, *p = bsi_restriction_of(level);
  const double left = fmax(values_left(r), 0.0) / ((double)ap->width * ap->width);
  const int64_t most = (int64_t)fmin(left, INT32_MAX);
  bsi_block_matrix product = {0};
  double blocks[2];
  if (!*own) *own = products_of(r)->multiply_structure(r->h.context, p, ap, most, &product);
  blocks[0] = product.row_ptr ? product.blocks : (double)most + 1.0;
  const bisai_status status =
      bsi_agree_and_reduce(r->h.context, &r->transport, *own, BISAI_REDUCE_SUM, 1, blocks);
  coarse->fits = !status && blocks[0] <= left;
  if (!coarse->fits) {
    bsi_block_matrix_destroy(r->h.context, &product);
    return status;
  }
  *own = bsi_block_matrix_adopt(r->h.context, &product, &coarse->matrix);
  if (!*own) r->h.levels[l].transfers.coarse = product;
  return BISAI_OK;
}

/* Makes A P, and R if P is smoothed. *fits ← false if A P is too large: there is none then. */
static bisai_status make_product(bsi_rank_hierarchy *r, int l, int32_t aggregates,
                                 bsi_numbering *columns, bool *fits, bisai_status *own) {
  bsi_level *level = &r->h.levels[l];
  bsi_level_transfers *t = &level->transfers;
  const bsi_block_matrix a = bsi_block_matrix_of(level->matrix);
  const product_of_rank p = {.a = &a,
                             .b = t->prolongation.row_ptr ? &r->levels[l].prolongation
                                                          : &t->tentative,
                             .most = BSI_LARGEST_PRODUCT * (int64_t)a.blocks,
                             .own = &t->product,
                             .with = &r->levels[l].product,
                             .ghosts = &r->levels[l].of_product};
  BSI_TRY(multiply(r, l, &p, columns, fits, own));
  if (*fits && !*own && t->prolongation.row_ptr) *own = make_restriction(r, l, aggregates);
  return BISAI_OK;
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

void bsi_rank_coarse_drop(bsi_rank_hierarchy *r, int l) {
  drop_smoothed(r, l);
  bsi_ghost_rows_destroy(&r->levels[l].of_tentative);
  bsi_transfers_destroy(r->h.context, &r->h.levels[l].transfers);
}

/* coarse->matrix ← R A P with the smoothed R or, if this is too large, with Tᵀ. */
static bisai_status make_smoothed_matrix(bsi_rank_hierarchy *r, int l, int32_t aggregates,
                                         bsi_numbering *columns, bsi_rank_coarse *coarse,
                                         bisai_status *own) {
  BSI_TRY(make_product(r, l, aggregates, columns, &coarse->fits, own));
  if (!coarse->fits) return BISAI_OK;
  BSI_TRY(try_coarse_matrix(r, l, coarse, own));
  if (coarse->fits || bsi_restriction_is_transposed(&r->h) || !coarse->smoothed) return BISAI_OK;
  drop_restriction(r, l);
  return try_coarse_matrix(r, l, coarse, own);
}

bisai_status bsi_rank_coarse_create(bsi_rank_hierarchy *r, int l, bsi_coarsening *c,
                                    bsi_numbering *columns, bsi_rank_coarse *coarse,
                                    bisai_status *own) {
  *coarse = (bsi_rank_coarse){.smoothed = true};
  *own = BISAI_OK;
  BSI_TRY(make_tentative(r, l, c, columns, own));
  BSI_TRY(make_prolongation(r, l, columns, own));
  BSI_TRY(make_smoothed_matrix(r, l, c->count, columns, coarse, own));
  if (coarse->fits) return BISAI_OK;
  drop_smoothed(r, l);
  coarse->smoothed = false;
  return make_smoothed_matrix(r, l, c->count, columns, coarse, own);
}

/* --- values --- */

/* *size ← that of the first diagonal block of the rank that has the first row. */
static bisai_status find_first_size(bsi_rank_hierarchy *r, int l, double *size) {
  const bsi_memory_ops *memory = r->h.context->backend->memory;
  const bsi_level *level = &r->h.levels[l];
  const int values = level->matrix->block_size * level->matrix->block_size;
  double block[BISAI_MAX_BLOCK_SIZE * BISAI_MAX_BLOCK_SIZE], sum[2] = {0.0, 0.0};
  int32_t place = 0;
  bisai_status status = BISAI_OK;
  const bool here = level->matrix->block_rows > 0 && r->levels[l].begins[r->transport.rank] == 0;
  if (here) status = memory->fetch(r->h.context, &place, level->diagonal.position, sizeof place);
  if (here && !status)
    status = memory->fetch(r->h.context, block,
                           (const double *)level->matrix->values +
                               bsi_block_offset(level->matrix, place),
                           (size_t)values * sizeof *block);
  if (here && !status) sum[0] = bsi_row_scaling_size_of(values, block);
  BSI_TRY(bsi_agree_and_reduce(r->h.context, &r->transport, status, BISAI_REDUCE_SUM, 1, sum));
  *size = sum[0];
  return BISAI_OK;
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

static bisai_status update_transfers(bsi_rank_hierarchy *r, int l, bisai_status *own) {
  bsi_level *level = &r->h.levels[l];
  bsi_rank_level *rank = &r->levels[l];
  BSI_TRY(agree(r, *own ? *own : bsi_prolongation_update(&r->h, level)));
  if (level->transfers.prolongation.row_ptr)
    BSI_TRY(bsi_ghost_rows_update(&rank->of_prolongation, &rank->prolongation));
  BSI_TRY(prepare_restriction(r, l));
  *own = update_restriction(r, l);
  return BISAI_OK;
}

bisai_status bsi_rank_coarse_update(bsi_rank_hierarchy *r, int l, bool keep, bisai_status *own) {
  bsi_level *level = &r->h.levels[l];
  bsi_rank_level *rank = &r->levels[l];
  bsi_level_transfers *t = &level->transfers;
  const bsi_block_matrix a = bsi_block_matrix_of(level->matrix);
  if (!keep) BSI_TRY(update_transfers(r, l, own));
  if (!*own)
    *own = products_of(r)->multiply_values(
        r->h.context, &a, t->prolongation.row_ptr ? &rank->prolongation : &t->tentative,
        &t->product);
  BSI_TRY(agree(r, *own));
  BSI_TRY(bsi_ghost_rows_update(&rank->of_product, &rank->product));
  bsi_block_matrix coarse = t->coarse;
  coarse.values = level[1].own->values;
  *own = products_of(r)->multiply_values(r->h.context, bsi_restriction_of(level), &rank->product,
                                         &coarse);
  if (!*own) *own = bsi_ops_of(&r->h)->transfer->complete(r->h.context, level[1].own);
  return BISAI_OK;
}
