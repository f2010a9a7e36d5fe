/* SPDX-License-Identifier: BSD-3-Clause */
/* The transfers of a piece, by the operations of whole levels: products of the own rows of A with T
 * of the own rows and the ghosts, and of the own rows of Tᵀ with those of A. */
#include <string.h>

#include "core/context/context_impl.h"
#include "multigrid/aggregation/aggregation_ops.h"
#include "multigrid/piece/piece_impl.h"
#include "multigrid/spgemm/spgemm_ops.h"
#include "multigrid/transfers/row_scaling.h"
#include "multigrid/transfers/tentative.h"
#include "multigrid/transfers/transfer_ops.h"

static const bsi_multigrid_ops *ops_of(const bisai_piece *p) {
  return p->context->backend->multigrid;
}

/* --- the own rows --- */

/* Makes Tᵀ of the own rows. */
static bisai_status transpose(bisai_piece *p) {
  bsi_piece_transfers *t = &p->transfers;
  const size_t blocks = (size_t)t->tentative.blocks;
  bsi_block_matrix *m = &t->tentative_transposed;
  m->row_ptr = bsi_allocate(p->context, (size_t)p->count + 1, sizeof *m->row_ptr);
  m->col_idx = bsi_allocate(p->context, blocks, sizeof *m->col_idx);
  t->position = bsi_allocate(p->context, blocks, sizeof *t->position);
  if (!m->row_ptr || !m->col_idx || !t->position) return BISAI_OUT_OF_MEMORY;
  return ops_of(p)->transfer->transpose(p->context, &t->tentative, m, t->position);
}

static bool rows_are_scaled(const bisai_piece *p) {
  return p->options.level == 0 && !bsi_piece_is_transposed(p);
}

static bisai_status orthonormalise(bisai_piece *p) {
  const bsi_transfer_ops *ops = ops_of(p)->transfer;
  bsi_piece_transfers *t = &p->transfers;
  const size_t vectors = (size_t)p->count * (size_t)(p->width * p->width);
  BSI_TRY(bsi_block_matrix_reserve_values(p->context, &t->tentative));
  p->coarse_vectors = bsi_allocate(p->context, vectors, sizeof *p->coarse_vectors);
  if (!p->coarse_vectors) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(ops->orthonormalise(p->context, &t->tentative_transposed, p->options.null_vectors,
                              BSI_RANK_TOLERANCE, &t->tentative, p->coarse_vectors));
  return ops->transpose_values(p->context, &t->tentative, t->position, &t->tentative_transposed);
}

bisai_status bsi_piece_tentative_create(bisai_piece *p) {
  bsi_piece_transfers *t = &p->transfers;
  const bool vectors = p->options.null_vectors != NULL;
  t->tentative = (bsi_block_matrix){.rows = bsi_piece_rows(p),
                                    .cols = p->count,
                                    .height = p->rows->block_size,
                                    .width = p->width};
  BSI_TRY(ops_of(p)->transfer->list(p->context, p->aggregate, &t->tentative));
  BSI_TRY(transpose(p));
  if (vectors || rows_are_scaled(p))
    BSI_TRY(bsi_block_matrix_reserve_values(p->context, &t->tentative_transposed));
  return vectors ? orthonormalise(p) : BISAI_OK;
}

void bisai_piece_get_tentative(const bisai_piece *piece, double *blocks) {
  const bsi_block_matrix *t = &piece->transfers.tentative;
  const size_t size = (size_t)(t->height * t->width);
  for (int32_t i = 0; i < bsi_piece_rows(piece); i++) {
    const int32_t k = t->row_ptr[i];
    double *block = blocks + (size_t)i * size;
    memset(block, 0, size * sizeof *block);
    if (k == t->row_ptr[i + 1]) continue;
    if (t->values)
      memcpy(block, t->values + (size_t)k * size, size * sizeof *block);
    else
      for (int r = 0; r < t->height; r++) block[r * t->height + r] = 1.0;
  }
}

/* --- the ghosts --- */

static bisai_status check_ghosts(bisai_piece *p, const bisai_piece_ghosts *ghosts) {
  const int32_t g = bsi_piece_columns(p) - bsi_piece_rows(p);
  if (ghosts->columns < p->count || (g > 0 && !ghosts->aggregate) ||
      (g > 0 && p->coarse_vectors && !ghosts->tentative))
    return bsi_fail(p->context, BISAI_INVALID_ARGUMENT,
                    "bisai_piece_connect: %d columns of %d own aggregates, or an array is NULL",
                    ghosts->columns, p->count);
  for (int32_t j = 0; j < g; j++)
    if (ghosts->aggregate[j] < -1 || ghosts->aggregate[j] >= ghosts->columns)
      return bsi_fail(p->context, BISAI_INVALID_ARGUMENT,
                      "bisai_piece_connect: the aggregate of ghost %d is column %d of %d", j,
                      ghosts->aggregate[j], ghosts->columns);
  return BISAI_OK;
}

/* Appends the rows of the ghosts to T. */
static bisai_status append_ghosts(bisai_piece *p, const bisai_piece_ghosts *ghosts) {
  bsi_block_matrix *t = &p->transfers.tentative;
  const int32_t n = bsi_piece_rows(p), all = bsi_piece_columns(p);
  const size_t size = (size_t)(t->height * t->width);
  bsi_block_matrix longer = {
      .rows = all, .cols = ghosts->columns, .height = t->height, .width = t->width};
  for (int32_t j = n; j < all; j++) p->aggregate[j] = ghosts->aggregate[j - n];
  bisai_status status = ops_of(p)->transfer->list(p->context, p->aggregate, &longer);
  if (!status && t->values) status = bsi_block_matrix_reserve_values(p->context, &longer);
  if (status) {
    bsi_block_matrix_destroy(p->context, &longer);
    return status;
  }
  if (t->values) memcpy(longer.values, t->values, (size_t)t->blocks * size * sizeof(double));
  for (int32_t j = n; t->values && j < all; j++)
    if (p->aggregate[j] >= 0)
      memcpy(longer.values + (size_t)longer.row_ptr[j] * size,
             ghosts->tentative + (size_t)(j - n) * size, size * sizeof(double));
  bsi_block_matrix_destroy(p->context, t);
  *t = longer;
  return BISAI_OK;
}

/* Makes what A T is computed from if T has identity blocks. */
static bisai_status filter(bisai_piece *p, int32_t columns) {
  bsi_piece_transfers *t = &p->transfers;
  const int bs = p->rows->block_size;
  t->filtered = bsi_allocate(p->context, (size_t)p->rows->blocks, sizeof *t->filtered);
  t->identity =
      (bsi_block_matrix){.rows = columns + 1,
                         .cols = columns,
                         .height = bs,
                         .width = bs,
                         .blocks = columns,
                         .row_ptr = bsi_allocate(p->context, (size_t)columns + 2, sizeof(int32_t)),
                         .col_idx = bsi_allocate(p->context, (size_t)columns, sizeof(int32_t))};
  if (!t->filtered || !t->identity.row_ptr || !t->identity.col_idx) return BISAI_OUT_OF_MEMORY;
  return ops_of(p)->aggregation->filter(p->context, p->rows, p->inverse, p->options.strength,
                                        p->aggregate, columns, t->filtered, &t->identity);
}

static bsi_prolonged prolonged_of(const bisai_piece *p) {
  const bsi_piece_transfers *t = &p->transfers;
  return bsi_prolonged_of(p->rows, &t->tentative, t->filtered, &t->identity);
}

static bisai_status multiply(const bisai_piece *p, const bsi_block_matrix *a,
                             const bsi_block_matrix *b, bsi_block_matrix *product) {
  BSI_TRY(ops_of(p)->spgemm->multiply_structure(p->context, a, b, INT64_MAX, product));
  return bsi_block_matrix_reserve_values(p->context, product);
}

bisai_status bisai_piece_connect(bisai_piece *piece, const bisai_piece_ghosts *ghosts) {
  if (!piece) return BISAI_INVALID_ARGUMENT;
  bsi_piece_transfers *t = &piece->transfers;
  if (!ghosts || t->prolongation.row_ptr)
    return bsi_fail(piece->context, BISAI_INVALID_ARGUMENT, "bisai_piece_connect: %s",
                    ghosts ? "the piece is connected" : "ghosts is NULL");
  const bsi_block_matrix a = bsi_block_matrix_of(piece->rows);
  BSI_TRY(check_ghosts(piece, ghosts));
  BSI_TRY(append_ghosts(piece, ghosts));
  if (!piece->coarse_vectors) BSI_TRY(filter(piece, ghosts->columns));
  const bsi_prolonged at = prolonged_of(piece);
  BSI_TRY(multiply(piece, &at.left, at.right, &t->prolongation));
  if (bsi_piece_is_transposed(piece)) return BISAI_OK;
  return multiply(piece, &t->tentative_transposed, &a, &t->restriction);
}

/* --- values --- */

double bisai_piece_first_size(const bisai_piece *piece) {
  const int bs = piece->rows->block_size;
  if (bsi_piece_rows(piece) == 0) return 1.0;
  return bsi_row_scaling_size_of(bs * bs, (const double *)piece->rows->values +
                                              bsi_block_offset(piece->rows, piece->position[0]));
}

/* Scales the rows of Tᵀ to the first row of all processes. */
static bisai_status scale_rows(bisai_piece *p, double first_size) {
  bsi_piece_transfers *t = &p->transfers;
  const double own = bisai_piece_first_size(p), factor = first_size / own;
  const bsi_row_scaling scaling = {.values = p->rows->values,
                                   .diagonal = p->position,
                                   .block_size = p->rows->block_size,
                                   .tentative = t->tentative.values,
                                   .position = t->position};
  t->tentative_transposed.multiples = !t->tentative.values;
  BSI_TRY(ops_of(p)->transfer->scale_rows(p->context, &scaling, &t->tentative_transposed));
  const size_t values =
      bsi_block_matrix_offset(&t->tentative_transposed, t->tentative_transposed.blocks);
  for (size_t k = 0; k < values && first_size != own; k++)
    t->tentative_transposed.values[k] *= factor;
  return BISAI_OK;
}

static bisai_status compute_restriction(bisai_piece *p) {
  bsi_piece_transfers *t = &p->transfers;
  const bsi_block_matrix a = bsi_block_matrix_of(p->rows), *left = &t->tentative_transposed;
  const bsi_smoothing smoothing = {left, p->inverse,
                                   bsi_damping_of(p->options.symmetric, p->radius.growth), true};
  return ops_of(p)->spgemm->multiply_smoothed(p->context, left, &a, &smoothing, &t->restriction);
}

bisai_status bisai_piece_compute(bisai_piece *piece, double first_size,
                                 const double *ghost_inverse) {
  if (!piece) return BISAI_INVALID_ARGUMENT;
  bsi_piece_transfers *t = &piece->transfers;
  const int32_t n = bsi_piece_rows(piece), ghosts = bsi_piece_columns(piece) - n;
  if (!t->prolongation.row_ptr)
    return bsi_fail(piece->context, BISAI_INVALID_ARGUMENT,
                    "bisai_piece_compute: the piece is not connected");
  const bsi_prolonged at = prolonged_of(piece);
  const bsi_smoothing smoothing = {&t->tentative, piece->inverse,
                                   bsi_damping_of(piece->options.symmetric, piece->radius.growth),
                                   false};
  BSI_TRY(ops_of(piece)->spgemm->multiply_smoothed(piece->context, &at.left, at.right, &smoothing,
                                                   &t->prolongation));
  if (bsi_piece_is_transposed(piece)) return BISAI_OK;
  if (ghosts > 0 && !ghost_inverse)
    return bsi_fail(piece->context, BISAI_INVALID_ARGUMENT,
                    "bisai_piece_compute: ghost_inverse is NULL");
  if (ghosts > 0)
    memcpy(piece->inverse + bsi_block_offset(piece->rows, n), ghost_inverse,
           bsi_block_offset(piece->rows, ghosts) * sizeof *ghost_inverse);
  if (rows_are_scaled(piece)) BSI_TRY(scale_rows(piece, first_size));
  return compute_restriction(piece);
}

bisai_piece_view bisai_piece_get(const bisai_piece *piece, bisai_piece_matrix which) {
  const bsi_piece_transfers *t = &piece->transfers;
  const bsi_block_matrix *const all[] = {[BISAI_PIECE_TENTATIVE] = &t->tentative,
                                         [BISAI_PIECE_TENTATIVE_TRANSPOSED] =
                                             &t->tentative_transposed,
                                         [BISAI_PIECE_PROLONGATION] = &t->prolongation,
                                         [BISAI_PIECE_RESTRICTION] = &t->restriction};
  const bsi_block_matrix *m = all[which];
  const bool own_rows = which == BISAI_PIECE_TENTATIVE;
  return (bisai_piece_view){.rows = own_rows ? bsi_piece_rows(piece) : m->rows,
                            .cols = m->cols,
                            .height = m->height,
                            .width = m->width,
                            .row_ptr = m->row_ptr,
                            .col_idx = m->col_idx,
                            .values = m->values};
}
