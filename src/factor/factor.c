/* SPDX-License-Identifier: BSD-3-Clause */
/* Block ILU(k): A ≈ L U with L + U on A's pattern and the fill of symbolic.c, L with identity
 * diagonal blocks, natural ordering.
 *
 *   for p in row i, p < i:  L_ip = A_ip U_pp⁻¹;  A_ij ← A_ij − L_ip U_pj  for every j > p that row
 *   i keeps
 *
 * Source: Saad, Iterative Methods, 10.3.2 (IKJ order), on blocks. The rows of L and U are the two
 * halves of A's sorted rows with the fill in between, so that values are copied by row. A bit for
 * each block marks fill.
 *
 * An update may take sweeps instead (Chow and Patel, Fine-grained parallel incomplete LU
 * factorization, SIAM J. Sci. Comput. 37, 2015): the same loop with U_pp⁻¹ and U_pj of the sweep
 * before. The source takes L_ip of the sweep before, too. */
#include "factor/symbolic.h"

#include "apply/apply_ops.h"
#include "core/context/context_impl.h"
#include "core/context/staging.h"
#include "core/context/words.h"
#include "core/matrix/matrix_ops.h"
#include "factor/factor_ops.h"

BSI_DEFINE_WORDS(schedule, BISAI_SCHEDULE_LIST, "unknown schedule")

bisai_factor_options bisai_factor_options_default(void) {
  return (bisai_factor_options){
      .struct_size = sizeof(bisai_factor_options), .shift = BISAI_SHIFT_NONE, .shift_amount = 0.01};
}

bisai_status bsi_factor_options_check(bisai_context *context, int level, bisai_shift shift,
                                      double shift_amount, double least_pivot, int update_sweeps) {
  if (level < 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "level %d: at least 0 is needed", level);
  if (shift != BISAI_SHIFT_NONE && shift != BISAI_SHIFT_IN_BLOCKS)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown shift %d", (int)shift);
  if (shift != BISAI_SHIFT_NONE && (!(shift_amount > 0.0) || isinf(shift_amount)))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "shift_amount %g: must be positive and finite",
                    shift_amount);
  if (!(least_pivot >= 0.0 && least_pivot <= 1.0))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "least_pivot %g: must be from 0 to 1",
                    least_pivot);
  if (update_sweeps < 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "update_sweeps %d: must not be negative",
                    update_sweeps);
  return BISAI_OK;
}

static bisai_status check_square(bisai_context *context, const char *name, const bisai_bcsr *a) {
  if (a->block_rows != a->block_cols)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s is not square: %d × %d blocks", name,
                    a->block_rows, a->block_cols);
  if (a->type != BISAI_FP64)
    return bsi_fail(context, BISAI_UNSUPPORTED, "%s must hold fp64 values to be factorised", name);
  return BISAI_OK;
}

/* Makes the level schedules, reserves the inverse diagonal blocks and the vector for solutions in
 * place, and sets the views for solves. */
static bisai_status prepare_solves(bisai_context *context, bisai_factors *f) {
  const bisai_bcsr *l = f->lower, *u = f->upper;
  const size_t values = bsi_block_offset(u, u->block_rows);
  const bsi_symbolic_ops *symbolic = context->backend->factor->symbolic;
  BSI_TRY(symbolic->find_levels(context, BISAI_LOWER, l, &f->lower_levels));
  BSI_TRY(symbolic->find_levels(context, BISAI_UPPER, u, &f->upper_levels));
  if (!u->unit_diagonal) {
    f->upper_inverse = context->backend->memory->allocate(context, values, sizeof(double));
    if (!f->upper_inverse) return BISAI_OUT_OF_MEMORY;
  }
  if (!l->unit_diagonal) {
    f->lower_inverse = context->backend->memory->allocate(context, values, sizeof(double));
    if (!f->lower_inverse) return BISAI_OUT_OF_MEMORY;
  }
  if (!context->backend->memory->is_host) {
    f->spare = context->backend->memory->allocate(
        context, (size_t)u->block_rows * (size_t)u->block_size, sizeof *f->spare);
    if (!f->spare) return BISAI_OUT_OF_MEMORY;
  }
  f->lower_solve = (bsi_triangular){BISAI_LOWER, l, f->lower_inverse, &f->lower_levels, f->spare};
  f->upper_solve = (bsi_triangular){BISAI_UPPER, u, f->upper_inverse, &f->upper_levels, f->spare};
  return BISAI_OK;
}

/* Reserves what sweeps read. */
static bisai_status prepare_sweeps(bisai_context *context, int count, bisai_factors *f) {
  const bsi_memory_ops *memory = context->backend->memory;
  const bisai_bcsr *u = f->upper;
  if (count == 0) return BISAI_OK;
  f->sweep.count = count;
  f->sweep.upper = memory->allocate(context, bsi_block_offset(u, u->blocks), sizeof(double));
  f->sweep.inverse = memory->allocate(context, bsi_block_offset(u, u->block_rows), sizeof(double));
  return f->sweep.upper && f->sweep.inverse ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

static bisai_factors *reserve(bisai_context *context) {
  bisai_factors *f = bsi_allocate(context, 1, sizeof *f);
  if (f) *f = (bisai_factors){.context = context, .stats = BSI_INVERT_STATS_NONE};
  return f;
}

bisai_status bisai_factors_create(bisai_context *context, const bisai_bcsr *matrix,
                                  const bisai_factor_options *options, bisai_factors **factors) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!matrix || !factors)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_factors_create: %s is NULL",
                    matrix ? "factors" : "matrix");
  const bisai_factor_options o = options ? *options : bisai_factor_options_default();
  bisai_status status = bsi_check_struct(context, "bisai_factor_options", o.struct_size, sizeof o);
  if (!status)
    status = bsi_factor_options_check(context, o.level, o.shift, o.shift_amount, o.least_pivot,
                                      o.update_sweeps);
  if (!status) status = check_square(context, "the matrix", matrix);
  if (status) return status;
  bisai_factors *f = reserve(context);
  if (!f) return BISAI_OUT_OF_MEMORY;
  const bool repair = o.shift == BISAI_SHIFT_IN_BLOCKS || o.least_pivot > 0.0;
  f->ilu.there = true;
  f->repair = (bsi_repair){o.shift == BISAI_SHIFT_IN_BLOCKS ? o.shift_amount : o.least_pivot,
                           o.least_pivot};
  status = bsi_factors_reserve(context, matrix, o.level, repair, context->fill_limit, f);
  if (!status) {
    f->lower->row_names = f->upper->row_names = matrix->row_names;
    status = prepare_solves(context, f);
  }
  if (!status) status = prepare_sweeps(context, o.update_sweeps, f);
  if (!status) status = bsi_factors_refresh(f, matrix);
  if (status)
    bisai_factors_destroy(&f);
  else
    *factors = f;
  return status;
}

bisai_status bsi_factors_check(const bisai_factors *factors, const bisai_bcsr *matrix) {
  bisai_context *context = factors->context;
  BSI_TRY(check_square(context, "the matrix", matrix));
  if (matrix->unit_diagonal)
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "the matrix implies its diagonal blocks: block ILU needs them stored");
  const bisai_bcsr *u = factors->upper;
  if (matrix->block_rows != u->block_rows || matrix->block_size != u->block_size ||
      matrix->blocks != factors->ilu.matrix_blocks)
    return bsi_fail(
        context, BISAI_INVALID_ARGUMENT,
        "the pattern changed: %d block rows of size %d with %d blocks, expected %d, %d and %d",
        matrix->block_rows, matrix->block_size, matrix->blocks, u->block_rows, u->block_size,
        factors->ilu.matrix_blocks);
  /* With another pattern the factorisation would read out of bounds. This check costs a fraction of
   * it. */
  bool fit = false;
  BSI_TRY(context->backend->factor->symbolic->fit(context, factors, matrix, &fit));
  if (!fit)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "the pattern changed: other block columns than at creation");
  return BISAI_OK;
}

/* Takes a sweep from the factors as they are. */
static bisai_status sweep(bisai_factors *f, const bisai_bcsr *matrix) {
  const bsi_backend *backend = f->context->backend;
  const bisai_bcsr *u = f->upper;
  f->stats = BSI_INVERT_STATS_NONE;
  BSI_TRY(backend->memory->copy(f->context, f->sweep.upper, u->values,
                                bsi_block_offset(u, u->blocks) * sizeof(double)));
  BSI_TRY(backend->memory->copy(f->context, f->sweep.inverse, f->upper_inverse,
                                bsi_block_offset(u, u->block_rows) * sizeof(double)));
  return backend->factor->ilu->sweep(f->context, matrix, f, &f->stats);
}

bisai_status bsi_factors_refresh(bisai_factors *factors, const bisai_bcsr *matrix) {
  const bool exact = factors->sweep.count == 0 || !factors->ready;
  bisai_status status = BISAI_OK;
  factors->stats = BSI_INVERT_STATS_NONE;
  factors->ready = false;
  if (exact)
    status = factors->context->backend->factor->ilu->factorise(factors->context, matrix, factors,
                                                               &factors->stats);
  for (int s = 0; s < factors->sweep.count && !exact && !status; s++)
    status = sweep(factors, matrix);
  if (!status) status = bsi_invert_stats_judge(factors->context, "", matrix, &factors->stats);
  factors->ready = !status;
  return status;
}

bisai_status bisai_factors_update(bisai_factors *factors, const bisai_bcsr *matrix) {
  if (!factors) return BISAI_INVALID_ARGUMENT;
  bisai_context *context = factors->context;
  if (!factors->ilu.there)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "factors given by the caller have no matrix to be updated from");
  if (!matrix)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_factors_update: matrix is NULL");
  BSI_TRY(bsi_factors_check(factors, matrix));
  return bsi_factors_refresh(factors, matrix);
}

/* Checks the structure of a caller's factor. *with_diagonal ← true if its diagonal blocks are
 * stored. */
static bisai_status check_factor(bisai_context *context, bisai_triangle triangle, int32_t n,
                                 const bsi_structure *s, bool *with_diagonal) {
  const char *name = triangle == BISAI_LOWER ? "lower" : "upper";
  int32_t stored = 0, missing = -1;
  for (int32_t i = 0; i < n; i++) {
    bool diagonal = false;
    for (int32_t p = s->row_ptr[i]; p < s->row_ptr[i + 1]; p++) {
      const int32_t j = s->col_idx[p];
      if (triangle == BISAI_LOWER ? j > i : j < i)
        return bsi_fail(context, BISAI_INVALID_STRUCTURE,
                        "%s: block (%d, %d) lies in the other triangle", name, i, j);
      diagonal |= j == i;
    }
    stored += diagonal;
    if (!diagonal && missing < 0) missing = i;
  }
  *with_diagonal = stored > 0 || triangle == BISAI_UPPER;
  if (*with_diagonal && missing >= 0)
    return bsi_fail(context, BISAI_MISSING_DIAGONAL, "%s: block row %d has no diagonal block", name,
                    missing);
  return BISAI_OK;
}

/* Copies a caller's factor. */
static bisai_status copy_factor(bisai_context *context, bisai_triangle triangle,
                                const bisai_bcsr *a, bisai_bcsr **copy, bool *with_diagonal) {
  bsi_structure s;
  BSI_TRY(bsi_bcsr_structure(a, &s));
  BSI_TRY(check_factor(context, triangle, a->block_rows, &s, with_diagonal));
  BSI_TRY(bsi_bcsr_reserve(
      context,
      &(bsi_bcsr_sizes){a->block_rows, a->block_cols, a->block_size, a->blocks, BISAI_FP64}, NULL,
      NULL, copy));
  (*copy)->unit_diagonal = !*with_diagonal;
  BSI_TRY(bsi_bcsr_set_structure(*copy, s.row_ptr, s.col_idx));
  return context->backend->memory->copy(context, (*copy)->values, a->values,
                                        bsi_block_offset(a, a->blocks) * sizeof(double));
}

/* Inverts the diagonal blocks of a factor. They are last in the rows of L and first in those of
 * U. */
static bisai_status invert_diagonal(bisai_factors *f, const bsi_triangular *t, double *inverses) {
  const bisai_bcsr *a = t->matrix;
  const int32_t n = a->block_rows;
  const bsi_backend *backend = f->context->backend;
  bsi_structure s;
  bisai_status status = bsi_bcsr_structure(a, &s);
  if (status) return status;
  int32_t *host = bsi_allocate(f->context, (size_t)n, sizeof *host);
  int32_t *position =
      host ? backend->memory->allocate(f->context, (size_t)n, sizeof *position) : NULL;
  status = position ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  bsi_invert_stats stats = BSI_INVERT_STATS_NONE;
  for (int32_t i = 0; i < n && !status; i++)
    host[i] = t->triangle == BISAI_LOWER ? s.row_ptr[i + 1] - 1 : s.row_ptr[i];
  if (!status)
    status = backend->memory->upload(f->context, position, host, (size_t)n * sizeof *host);
  if (!status)
    status = backend->factor->inversion->invert(f->context, a, position, 0.0, inverses, &stats);
  backend->memory->release(f->context, position);
  bsi_release(f->context, host);
  if (!status)
    status = bsi_invert_stats_judge(f->context,
                                    t->triangle == BISAI_LOWER ? "lower: " : "upper: ", a, &stats);
  bsi_invert_stats_merge(&f->stats, &stats);
  return status;
}

bisai_status bisai_factors_from_matrices(bisai_context *context, const bisai_bcsr *lower,
                                         const bisai_bcsr *upper, bisai_factors **factors) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!lower || !upper || !factors)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_factors_from_matrices: %s is NULL",
                    !lower   ? "lower"
                    : !upper ? "upper"
                             : "factors");
  bisai_status status = check_square(context, "lower", lower);
  if (!status) status = check_square(context, "upper", upper);
  if (status) return status;
  if (lower->block_rows != upper->block_rows || lower->block_size != upper->block_size)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "lower has %d block rows of size %d, upper %d of size %d", lower->block_rows,
                    lower->block_size, upper->block_rows, upper->block_size);
  bisai_factors *f = reserve(context);
  if (!f) return BISAI_OUT_OF_MEMORY;
  bool general_lower, ignored;
  status = copy_factor(context, BISAI_LOWER, lower, &f->lower, &general_lower);
  if (!status) status = copy_factor(context, BISAI_UPPER, upper, &f->upper, &ignored);
  if (!status) status = prepare_solves(context, f);
  if (!status && general_lower) status = invert_diagonal(f, &f->lower_solve, f->lower_inverse);
  if (!status) status = invert_diagonal(f, &f->upper_solve, f->upper_inverse);
  f->ready = !status;
  if (status)
    bisai_factors_destroy(&f);
  else
    *factors = f;
  return status;
}

/* The inverses of transposed blocks are the transposed inverses. */
static bisai_status transpose_inverses(bisai_context *context, const bisai_bcsr *a,
                                       const double *from, double *to) {
  if (!from) return BISAI_OK;
  return context->backend->matrix->blocks->copy_blocks(
      context, BISAI_FP64, a->block_size, a->block_rows, BISAI_ROW_MAJOR, NULL, from, to);
}

bisai_status bsi_factors_transpose(const bisai_factors *factors, bisai_factors **transposed) {
  bisai_context *context = factors->context;
  bisai_factors *f = reserve(context);
  if (!f) return BISAI_OUT_OF_MEMORY;
  bisai_status status = bsi_bcsr_transpose(factors->upper, &f->lower);
  if (!status) status = bsi_bcsr_transpose(factors->lower, &f->upper);
  if (!status) status = prepare_solves(context, f);
  if (!status)
    status = transpose_inverses(context, f->lower, factors->upper_inverse, f->lower_inverse);
  if (!status)
    status = transpose_inverses(context, f->upper, factors->lower_inverse, f->upper_inverse);
  f->ready = !status;
  if (status)
    bisai_factors_destroy(&f);
  else
    *transposed = f;
  return status;
}

void bisai_factors_destroy(bisai_factors **factors) {
  if (!factors || !*factors) return;
  bisai_factors *f = *factors;
  *factors = NULL;
  bisai_context *context = f->context;
  bisai_bcsr_destroy(&f->lower);
  bisai_bcsr_destroy(&f->upper);
  context->backend->memory->release(context, f->ilu.lower_fill);
  context->backend->memory->release(context, f->ilu.upper_fill);
  context->backend->memory->release(context, f->sweep.upper);
  context->backend->memory->release(context, f->sweep.inverse);
  context->backend->memory->release(context, f->spare);
  context->backend->memory->release(context, f->lower_inverse);
  context->backend->memory->release(context, f->upper_inverse);
  bsi_levels_destroy(context, &f->lower_levels);
  bsi_levels_destroy(context, &f->upper_levels);
  bsi_release(context, f);
}

const bisai_bcsr *bisai_factors_lower(const bisai_factors *factors) { return factors->lower; }
const bisai_bcsr *bisai_factors_upper(const bisai_factors *factors) { return factors->upper; }
const double *bisai_factors_inverse_diagonal(const bisai_factors *factors) {
  return factors->upper_inverse;
}
int64_t bisai_factors_fallbacks(const bisai_factors *factors) { return factors->stats.fallbacks; }

int64_t bisai_factors_repairs(const bisai_factors *factors, int32_t *first_block_row) {
  if (first_block_row) *first_block_row = factors->stats.first_repair_row;
  return factors->stats.repairs;
}

double bisai_factors_largest_condition(const bisai_factors *factors, int32_t *block_row) {
  if (block_row) *block_row = factors->stats.largest_condition_row;
  return factors->stats.largest_condition;
}

int64_t bsi_factors_memory(const bisai_factors *factors) {
  const int64_t n = factors->upper->block_rows;
  const int64_t inverses = (int64_t)bsi_block_offset(factors->upper, n) * 8;
  const int64_t levels =
      4 * (2 * n + factors->lower_levels.count + factors->upper_levels.count + 2);
  const size_t fill = (factors->ilu.lower_fill ? bsi_fill_bytes(factors->lower->blocks) : 0) +
                      (factors->ilu.upper_fill ? bsi_fill_bytes(factors->upper->blocks) : 0);
  const int64_t spare = factors->spare ? 8 * n * factors->upper->block_size : 0;
  const int64_t copies =
      factors->sweep.upper
          ? inverses + 8 * (int64_t)bsi_block_offset(factors->upper, factors->upper->blocks)
          : 0;
  return (int64_t)sizeof *factors + (int64_t)fill + spare + copies +
         bsi_bcsr_memory(factors->lower) + bsi_bcsr_memory(factors->upper) + inverses +
         (factors->lower_inverse ? inverses : 0) + levels;
}

bisai_status bisai_factors_solve(const bisai_factors *factors, bisai_schedule schedule,
                                 const double *b, double *x) {
  if (!factors) return BISAI_INVALID_ARGUMENT;
  bisai_context *context = factors->context;
  if (!factors->ready) return bsi_fail(context, BISAI_NOT_READY, "the factors' last update failed");
  if (schedule < BISAI_SCHEDULE_AUTO || schedule > BISAI_SCHEDULE_LEVELS)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown schedule %d", (int)schedule);
  if (!b || !x)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_factors_solve: %s is NULL",
                    b ? "x" : "b");
  const int64_t n = (int64_t)factors->upper->block_rows * factors->upper->block_size;
  const bsi_backend *backend = context->backend;
  bsi_staged from = {0}, to = {0};
  bisai_status status = bsi_stage_input(context, n, 1, b, 0, &from);
  if (!status) status = bsi_stage_output(context, n, 1, false, x, 0, &to);
  if (!status)
    status = backend->apply->solve_triangle(context, &factors->lower_solve, schedule, 1, from.data,
                                            0, to.data, 0);
  if (!status)
    status = backend->apply->solve_triangle(context, &factors->upper_solve, schedule, 1, to.data, 0,
                                            to.data, 0);
  status = bsi_stage_return(context, status, &to);
  bsi_stage_release(context, &from);
  return status;
}
