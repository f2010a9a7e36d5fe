/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/transfers/galerkin.h"

#include <math.h>

#include "multigrid/level/memory.h"
#include "multigrid/spgemm/spgemm_ops.h"
#include "multigrid/transfers/tentative.h"
#include "multigrid/transfers/transfer_ops.h"
#include "multigrid/transfers/transfers.h"

/* --- values --- */

bisai_status bsi_galerkin_update(bsi_hierarchy *h, bsi_level *level) {
  const bsi_spgemm_ops *ops = bsi_ops_of(h)->spgemm;
  bsi_level_transfers *t = &level->transfers;
  const bsi_block_matrix a = bsi_block_matrix_of(level->matrix);
  bsi_block_matrix view = t->coarse;
  view.values = level[1].own->values;
  view.slots.halved = h->setup.halved;
  BSI_TRY(ops->multiply_values(h->context, &a, bsi_prolongation_of(level), &t->product));
  BSI_TRY(ops->multiply_values(h->context, bsi_restriction_of(level), &t->product, &view));
  /* a diagonal block of zeros has no inverse, but the pseudo-inverse of the coarsest matrix takes
   * it */
  if (!t->tentative.values && bsi_inverts_at_once(h, level + 1)) return BISAI_OK;
  return bsi_ops_of(h)->transfer->complete(h->context, level[1].own);
}

/* --- structure --- */

static double values_of(const bisai_bcsr *a) { return (double)bsi_block_offset(a, a->blocks); }

static double operator_values(const bsi_hierarchy *h) {
  double values = h->setup.above.all_values;
  for (int l = 0; l < h->count; l++) values += values_of(h->levels[l].matrix);
  return values;
}

/* Returns the most values that the limit of the complexity leaves for the matrix below a level. */
static double values_left(const bsi_hierarchy *h, const bsi_level *level) {
  const double rows = (double)bsi_level_rows(level);
  const double finest =
      h->setup.above.levels > 0 ? h->setup.above.values : values_of(h->levels[0].matrix);
  const double left = h->setup.options.complexity * finest - operator_values(h);
  const bool saves_inverse = h->setup.spares_inverses && bsi_may_invert(h, level);
  return saves_inverse ? fmax(left, rows * rows) : left;
}

/* product ← the structure of R (A P). Notes the peak. */
static bisai_status multiply(bsi_hierarchy *h, const bsi_level *level, const bsi_coarsening *c,
                             int64_t most, bsi_block_matrix *product) {
  const bsi_spgemm_ops *ops = bsi_ops_of(h)->spgemm;
  const bsi_block_matrix *r = bsi_restriction_of(level), *ap = &level->transfers.product;
  BSI_TRY(ops->multiply_structure(h->context, r, ap, most, product));
  const int64_t room = ops->structure_room(h->context, r, ap, most);
  bsi_coarsening_note_peak(h, level, c, room + bsi_block_matrix_memory(product));
  if (h->setup.options.update != BISAI_MULTIGRID_UPDATE_FAST) return BISAI_OK;
  return bsi_transfers_find_slots(h, r, ap, product);
}

/* Returns the most blocks of `width` columns that R A P may have. */
static int64_t most_coarse_blocks(const bsi_hierarchy *h, const bsi_level *level, double width) {
  const double left = values_left(h, level) / (width * width);
  return (int64_t)fmin(fmax(left, 0.0), INT32_MAX);
}

/* *coarse ← the matrix of the structure R A P, which it takes over. */
static bisai_status adopt(bsi_hierarchy *h, bsi_level *level, bsi_block_matrix *product,
                          bisai_bcsr **coarse) {
  const bsi_spgemm_ops *ops = bsi_ops_of(h)->spgemm;
  bisai_status status = BISAI_OK;
  if (ops->find_upper && h->setup.halved)
    status =
        ops->find_upper(h->context, bsi_restriction_of(level), &level->transfers.product, product);
  if (status)
    bsi_block_matrix_destroy(h->context, product);
  else
    status = bsi_block_matrix_adopt(h->context, product, coarse);
  if (!status) level->transfers.coarse = *product;
  return status;
}

/* *coarse ← R A P without its values. It stays NULL if it is too large for the limit of the
 * complexity. */
static bisai_status try_coarse_matrix(bsi_hierarchy *h, bsi_level *level, const bsi_coarsening *c,
                                      bisai_bcsr **coarse) {
  bsi_block_matrix product = {0};
  const bisai_status status =
      multiply(h, level, c, most_coarse_blocks(h, level, level->transfers.product.width), &product);
  if (!status && product.row_ptr) return adopt(h, level, &product, coarse);
  bsi_block_matrix_destroy(h->context, &product);
  return status;
}

/* Makes the structure of A P, and of R if P is smoothed. Leaves A P empty if it is too large. */
static bisai_status make_product(bsi_hierarchy *h, bsi_level *level, const bsi_coarsening *c) {
  bsi_level_transfers *t = &level->transfers;
  const bsi_block_matrix a = bsi_block_matrix_of(level->matrix);
  BSI_TRY(bsi_transfers_multiply(h, level, c, &a, bsi_prolongation_of(level),
                                 BSI_LARGEST_PRODUCT * (int64_t)a.blocks, &t->product));
  if (!t->product.row_ptr) return BISAI_OK;
  BSI_TRY(bsi_block_matrix_reserve_values(h->context, &t->product));
  return t->prolongation.row_ptr ? bsi_restriction_create(h, level, c) : BISAI_OK;
}

/* *coarse ← R A P with the smoothed R or, if this is too large, with Tᵀ. It stays NULL if both are
 * too large, or if A P is. */
static bisai_status make_smoothed_matrix(bsi_hierarchy *h, bsi_level *level,
                                         const bsi_coarsening *c, bisai_bcsr **coarse) {
  bisai_status status = make_product(h, level, c);
  if (status || !level->transfers.product.row_ptr) return status;
  status = try_coarse_matrix(h, level, c, coarse);
  if (status || *coarse || bsi_restriction_is_transposed(h)) return status;
  bsi_coarsening_note_peak(h, level, c, 0);
  bsi_block_matrix_destroy(h->context, &level->transfers.restriction);
  return try_coarse_matrix(h, level, c, coarse);
}

/* *coarse ← R A P or, if this is too large, Tᵀ A T. It stays NULL if that is too large too. */
static bisai_status make_coarse_matrix(bsi_hierarchy *h, bsi_level *level, const bsi_coarsening *c,
                                       bisai_bcsr **coarse) {
  const bisai_status status = make_smoothed_matrix(h, level, c, coarse);
  if (status || *coarse) return status;
  bsi_coarsening_note_peak(h, level, c, 0);
  bsi_transfers_release_smoothed(h->context, &level->transfers);
  BSI_TRY(make_product(h, level, c));
  return try_coarse_matrix(h, level, c, coarse);
}

bisai_status bsi_galerkin_renew(bsi_hierarchy *h, bsi_level *level) {
  const bsi_spgemm_ops *ops = bsi_ops_of(h)->spgemm;
  bsi_level_transfers *t = &level->transfers;
  const bsi_block_matrix a = bsi_block_matrix_of(level->matrix);
  if (!t->product.row_ptr) {
    BSI_TRY(ops->multiply_structure(h->context, &a, bsi_prolongation_of(level),
                                    BSI_LARGEST_PRODUCT * (int64_t)a.blocks, &t->product));
    BSI_TRY(bsi_block_matrix_reserve_values(h->context, &t->product));
  }
  if (h->setup.options.update == BISAI_MULTIGRID_UPDATE_LEAN) return BISAI_OK;
  BSI_TRY(bsi_transfers_find_slots(h, &a, bsi_prolongation_of(level), &t->product));
  return bsi_transfers_find_slots(h, bsi_restriction_of(level), &t->product, &t->coarse);
}

/* The largest A, in blocks, whose products get room before their sizes are known. Waits do not
 * matter beside the products of a larger one, and guesses of sizes do. */
enum { MOST_AT_ONCE = 1 << 20 };

/* Reserves the values of P, R and A P. */
static bisai_status reserve_values(bsi_hierarchy *h, bsi_level_transfers *t) {
  BSI_TRY(bsi_block_matrix_reserve_values(h->context, &t->prolongation));
  BSI_TRY(bsi_block_matrix_reserve_values(h->context, &t->restriction));
  return bsi_block_matrix_reserve_values(h->context, &t->product);
}

/* Makes the structures of P, R, A P and *coarse = R A P with few waits, if the backend has a way to
 * do so, and reserves their values. *coarse stays NULL if this does not go well. */
static bisai_status make_at_once(bsi_hierarchy *h, bsi_level *level, const bsi_coarsening *c,
                                 bisai_bcsr **coarse) {
  const bsi_transfer_ops *ops = bsi_ops_of(h)->transfer;
  bsi_level_transfers *t = &level->transfers;
  const bsi_block_matrix a = bsi_block_matrix_of(level->matrix);
  const bsi_prolonged at =
      bsi_prolonged_of(level->matrix, &t->tentative, t->filtered, &t->identity);
  const bool is_transposed = bsi_restriction_is_transposed(h);
  const int64_t room = (3 + (int64_t)BSI_LARGEST_PRODUCT) * 4 * a.blocks;
  bsi_block_matrix product = {0};
  bool made = false;
  if (!ops->structures || h->setup.options.update == BISAI_MULTIGRID_UPDATE_FAST ||
      a.blocks > MOST_AT_ONCE)
    return BISAI_OK;
  const bsi_structures s = {.a = &a,
                            .left = &at.left,
                            .right = at.right,
                            .transposed = is_transposed ? NULL : &t->tentative_transposed,
                            .most_product = BSI_LARGEST_PRODUCT * (int64_t)a.blocks,
                            .most_coarse = most_coarse_blocks(h, level, t->tentative.width),
                            .prolongation = &t->prolongation,
                            .restriction = &t->restriction,
                            .product = &t->product,
                            .coarse = &product,
                            .position = &t->prolongation_position};
  bisai_status status = ops->structures(h->context, &s, &made);
  bsi_coarsening_note_peak(h, level, c, room + bsi_block_matrix_memory(&product));
  if (!status && made) status = reserve_values(h, t);
  if (!status && made) return adopt(h, level, &product, coarse);
  bsi_block_matrix_destroy(h->context, &product);
  return status;
}

bisai_status bsi_galerkin_create(bsi_hierarchy *h, bsi_level *level, bsi_coarsening *c,
                                 bisai_bcsr **coarse) {
  BSI_TRY(bsi_tentative_create(h, level, c));
  if (!c->vectors) BSI_TRY(bsi_filter_create(h, level, c, c->count));
  BSI_TRY(make_at_once(h, level, c, coarse));
  if (!*coarse) {
    BSI_TRY(bsi_prolongation_create(h, level, c));
    BSI_TRY(make_coarse_matrix(h, level, c, coarse));
  }
  bsi_coarsening_note_peak(h, level, c, 0);
  return BISAI_OK;
}
