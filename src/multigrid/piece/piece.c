/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of levels: creation, updates and what they give. */
#include <math.h>
#include <string.h>

#include "core/block/block_math.h"
#include "core/context/context_impl.h"
#include "core/matrix/matrix_ops.h"
#include "multigrid/diagonal/diagonal_ops.h"
#include "multigrid/level/hierarchy_impl.h"
#include "multigrid/piece/piece_impl.h"
#include "multigrid/smoothers/chebyshev.h"
#include "multigrid/unit/votes.h"

bisai_piece_options bisai_piece_options_default(void) {
  return (bisai_piece_options){.struct_size = sizeof(bisai_piece_options), .strength = 0.25};
}

/* Refuses rows that are no piece. */
static bisai_status check_rows(bisai_context *context, const bisai_bcsr *rows) {
  if (!context->backend->memory->is_host)
    return bsi_fail(context, BISAI_UNSUPPORTED, "pieces of levels need a context of the host");
  if (rows->type != BISAI_FP64 || rows->unit_diagonal)
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "pieces of levels need values in fp64, with the diagonal blocks");
  if (rows->block_cols < rows->block_rows)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "a piece of %d block rows has %d block columns: it has those of its own rows",
                    rows->block_rows, rows->block_cols);
  return BISAI_OK;
}

static bisai_status check_options(bisai_context *context, const bisai_piece_options *o) {
  if (o->struct_size != sizeof *o)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "options.struct_size is wrong: start from bisai_piece_options_default()");
  if ((o->null_vectors != NULL) != (o->null_count > 0) || o->null_count < 0 ||
      o->null_count > BISAI_MULTIGRID_VECTORS)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "null_count is %d, null_vectors is %s",
                    o->null_count, o->null_vectors ? "given" : "NULL");
  if (o->level < 0 || !(o->strength >= 0.0 && o->strength <= 1.0) ||
      !(o->shift_amount >= 0.0 && isfinite(o->shift_amount)))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "level %d, strength %g, shift_amount %g",
                    o->level, o->strength, o->shift_amount);
  return BISAI_OK;
}

/* Computes D⁻¹ of the own rows. */
static bisai_status invert(bisai_piece *p) {
  bsi_invert_stats stats = BSI_INVERT_STATS_NONE;
  bsi_inversion_findings found = {.stats = &stats, .largest = &p->largest};
  const double shift = p->options.level > 0 ? BSI_COARSE_SHIFT : p->options.shift_amount;
  BSI_TRY(bsi_bcsr_check_finite(p->context, p->rows));
  BSI_TRY(p->context->backend->multigrid->inversion->invert(p->context, p->rows, p->position, shift,
                                                            p->inverse, NULL, &found));
  return bsi_invert_stats_judge(p->context, "", p->rows, &stats);
}

static bisai_status fill(bisai_piece *p) {
  const size_t n = (size_t)bsi_piece_rows(p), all = (size_t)bsi_piece_columns(p);
  int32_t missing = -1;
  p->position = bsi_allocate(p->context, n, sizeof *p->position);
  p->inverse =
      bsi_allocate(p->context, bsi_block_offset(p->rows, (int64_t)all), sizeof *p->inverse);
  p->aggregate = bsi_allocate(p->context, all, sizeof *p->aggregate);
  p->work = bsi_allocate(p->context, 3 * (size_t)bsi_piece_values(p), sizeof *p->work);
  if (!p->position || !p->inverse || !p->aggregate || !p->work) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(p->context->backend->matrix->structures->find_diagonals(p->context, p->rows, p->position,
                                                                  &missing));
  if (missing >= 0)
    return bsi_fail(p->context, BISAI_MISSING_DIAGONAL, "block row %d has no diagonal block",
                    bsi_row_name(p->rows, missing));
  BSI_TRY(invert(p));
  BSI_TRY(bsi_piece_aggregate(p));
  return bsi_piece_tentative_create(p);
}

static bisai_status check(bisai_context *context, const bisai_bcsr *rows,
                          const bisai_piece_options *options, bisai_piece **piece) {
  if (!rows || !options || !piece)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_piece_create: %s is NULL",
                    !rows      ? "rows"
                    : !options ? "options"
                               : "piece");
  BSI_TRY(check_rows(context, rows));
  return check_options(context, options);
}

bisai_status bisai_piece_create(bisai_context *context, const bisai_bcsr *rows,
                                const bisai_piece_options *options, bisai_piece **piece) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  bisai_status status = check(context, rows, options, piece);
  if (status) return status;
  bisai_piece *p = bsi_allocate(context, 1, sizeof *p);
  if (!p) return BISAI_OUT_OF_MEMORY;
  *p = (bisai_piece){.context = context, .rows = rows, .options = *options};
  p->width = options->null_vectors ? options->null_count : rows->block_size;
  status = fill(p);
  p->options.null_vectors = NULL; /* the caller's array may go */
  if (status)
    bisai_piece_destroy(&p);
  else
    *piece = p;
  return status;
}

bisai_status bisai_piece_update(bisai_piece *piece, const bisai_bcsr *rows) {
  if (!piece) return BISAI_INVALID_ARGUMENT;
  if (!rows)
    return bsi_fail(piece->context, BISAI_INVALID_ARGUMENT, "bisai_piece_update: rows is NULL");
  BSI_TRY(check_rows(piece->context, rows));
  if (rows != piece->rows) BSI_TRY(bsi_bcsr_check_pattern(piece->context, rows, piece->rows));
  const bisai_bcsr *before = piece->rows;
  piece->rows = rows;
  const bisai_status status = invert(piece);
  if (status) piece->rows = before; /* the caller may destroy what was refused */
  return status;
}

void bisai_piece_destroy(bisai_piece **piece) {
  if (!piece || !*piece) return;
  bisai_piece *p = *piece;
  bisai_context *context = p->context;
  bsi_piece_transfers *t = &p->transfers;
  *piece = NULL;
  bsi_block_matrix_destroy(context, &t->tentative);
  bsi_block_matrix_destroy(context, &t->tentative_transposed);
  bsi_block_matrix_destroy(context, &t->prolongation);
  bsi_block_matrix_destroy(context, &t->restriction);
  bsi_block_matrix_destroy(context, &t->identity);
  bsi_release(context, t->position);
  bsi_release(context, t->filtered);
  bsi_release(context, p->position);
  bsi_release(context, p->inverse);
  bsi_release(context, p->aggregate);
  bsi_release(context, p->coarse_vectors);
  bsi_release(context, p->work);
  bsi_release(context, p);
}

const double *bisai_piece_inverse(const bisai_piece *piece) { return piece->inverse; }

double bisai_piece_largest_inverse(const bisai_piece *piece) { return piece->largest; }

const int32_t *bisai_piece_aggregates(const bisai_piece *piece, int32_t *count, int32_t *width) {
  *count = piece->count;
  *width = piece->width;
  return piece->aggregate;
}

const double *bisai_piece_coarse_vectors(const bisai_piece *piece) { return piece->coarse_vectors; }

void bisai_piece_scale(const bisai_piece *piece, const double *x, double *y) {
  const int bs = piece->rows->block_size;
  double own[BISAI_MAX_BLOCK_SIZE];
  for (int32_t i = 0; i < bsi_piece_rows(piece); i++) {
    const double *inverse = piece->inverse + bsi_block_offset(piece->rows, i),
                 *from = x + (size_t)i * (size_t)bs;
    bsi_column sum;
    bsi_column_clear(bs, &sum);
    bsi_column_add_product(bs, &sum, inverse, from);
    bsi_column_store(bs, &sum, own);
    memcpy(y + (size_t)i * (size_t)bs, own, (size_t)bs * sizeof *own);
  }
}

bisai_status bisai_piece_coefficients(const bisai_piece *piece,
                                      const bisai_multigrid_options *options, double *alpha,
                                      double *beta) {
  const double bound = bsi_radius_bound_of(piece->options.symmetric, piece->radius.radius);
  bsi_chebyshev chebyshev;
  switch (options->smoother) {
  case BISAI_SMOOTHER_JACOBI:
    *alpha = 0.0;
    *beta = bsi_jacobi_damping(piece->options.level == 0, options->damping, piece->radius.radius);
    return BISAI_OK;
  case BISAI_SMOOTHER_CHEBYSHEV:
    chebyshev = bsi_chebyshev_begin(bound, options->ratio);
    for (int32_t k = 0; k < options->degree; k++) {
      alpha[k] = beta[k] = 0.0;
      bsi_chebyshev_coefficients(&chebyshev, k, &alpha[k], &beta[k]);
    }
    return BISAI_OK;
  default:
    return bsi_fail(piece->context, BISAI_UNSUPPORTED,
                    "this smoother needs a matrix on one process: take jacobi or chebyshev");
  }
}

bisai_status bisai_piece_vote(bisai_context *context, const bisai_bcsr *rows, int64_t *components,
                              int64_t *points) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!rows || !components || !points)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_piece_vote: %s is NULL",
                    rows ? "a number" : "rows");
  BSI_TRY(check_rows(context, rows));
  return bsi_count_votes_host(context, rows, components, points);
}
