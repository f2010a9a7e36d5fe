/* Block ILU(k): A ≈ L U with L + U on A's pattern and the fill of symbolic.c, L with identity diagonal blocks, natural ordering.
 *
 *   for p in row i, p < i:  L_ip = A_ip U_pp⁻¹;  A_ij ← A_ij − L_ip U_pj  for every j > p that row i keeps
 *
 * Source: Saad, Iterative Methods, 10.3.2 (IKJ order), on blocks. L's and U's rows are the two halves of A's sorted rows and of the fill
 * in between, so that values are copied in by row; a bit for each block tells which is fill. */
#include "factor/symbolic.h"

#include <string.h>

bisai_factor_options bisai_factor_options_default(void) {
  return (bisai_factor_options){
      .struct_size = sizeof(bisai_factor_options), .shift = BISAI_SHIFT_NONE, .shift_amount = 0.01};
}

bisai_status bsi_factor_options_check(bisai_context *context, int level, bisai_shift shift, double shift_amount) {
  if (level < 0) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "level %d: at least 0 is needed", level);
  if (shift != BISAI_SHIFT_NONE && shift != BISAI_SHIFT_IN_BLOCKS)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown shift %d", (int)shift);
  if (!(shift_amount > 0.0) || isinf(shift_amount))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "shift_amount %g: must be positive and finite", shift_amount);
  return BISAI_OK;
}

static bisai_status check_square(bisai_context *context, const char *name, const bisai_bcsr *a) {
  if (a->block_rows != a->block_cols)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s is not square: %d × %d blocks", name, a->block_rows,
                    a->block_cols);
  if (a->type != BISAI_FP64)
    return bsi_fail(context, BISAI_UNSUPPORTED, "%s must hold fp64 values to be factorised", name);
  return BISAI_OK;
}

/* Level schedules, room for the inverse diagonal blocks, and the views that solves take. */
static bisai_status prepare_solves(bisai_context *context, bisai_factors *f) {
  const bisai_bcsr *l = f->lower, *u = f->upper;
  const size_t values = bsi_block_offset(u, u->block_rows);
  bisai_status status =
      bsi_levels_create(context, BISAI_LOWER, l->block_rows, l->row_ptr, l->col_idx, &f->lower_levels);
  if (!status)
    status = bsi_levels_create(context, BISAI_UPPER, u->block_rows, u->row_ptr, u->col_idx, &f->upper_levels);
  if (status) return status;
  f->upper_inverse = context->backend->allocate(context, values, sizeof(double));
  if (!f->upper_inverse) return BISAI_OUT_OF_MEMORY;
  if (!l->unit_diagonal) {
    f->lower_inverse = context->backend->allocate(context, values, sizeof(double));
    if (!f->lower_inverse) return BISAI_OUT_OF_MEMORY;
  }
  f->lower_solve = (bsi_triangular){BISAI_LOWER, l, f->lower_inverse, &f->lower_levels};
  f->upper_solve = (bsi_triangular){BISAI_UPPER, u, f->upper_inverse, &f->upper_levels};
  return BISAI_OK;
}

static bisai_status factorise(bisai_factors *f, const bisai_bcsr *matrix) {
  f->stats = BSI_INVERT_STATS_NONE;
  bisai_status status = f->context->backend->factor_ilu(f->context, matrix, f, &f->stats);
  if (!status) status = bsi_invert_stats_judge(f->context, "", matrix, &f->stats);
  f->ready = !status;
  return status;
}

static bisai_factors *reserve(bisai_context *context) {
  bisai_factors *f = bsi_allocate(context, 1, sizeof *f);
  if (f) *f = (bisai_factors){.context = context, .stats = BSI_INVERT_STATS_NONE};
  return f;
}

bisai_status bisai_factors_create(bisai_context *context, const bisai_bcsr *matrix, const bisai_factor_options *options,
                                  bisai_factors **factors) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!matrix || !factors)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_factors_create: %s is NULL", matrix ? "factors" : "matrix");
  const bisai_factor_options o = options ? *options : bisai_factor_options_default();
  bisai_status status = bsi_check_struct(context, "bisai_factor_options", o.struct_size, sizeof o);
  if (!status) status = bsi_factor_options_check(context, o.level, o.shift, o.shift_amount);
  if (!status) status = check_square(context, "the matrix", matrix);
  if (status) return status;
  bisai_factors *f = reserve(context);
  if (!f) return BISAI_OUT_OF_MEMORY;
  const bool repair = o.shift == BISAI_SHIFT_IN_BLOCKS;
  f->from_matrix = true;
  f->shift_amount = repair ? o.shift_amount : 0.0;
  status = bsi_factors_reserve(context, matrix, o.level, repair, INT32_MAX, f);
  if (!status) {
    f->lower->row_names = f->upper->row_names = matrix->row_names;
    status = prepare_solves(context, f);
  }
  if (!status) status = factorise(f, matrix);
  if (status)
    bisai_factors_destroy(&f);
  else
    *factors = f;
  return status;
}

bisai_status bisai_factors_update(bisai_factors *factors, const bisai_bcsr *matrix) {
  if (!factors) return BISAI_INVALID_ARGUMENT;
  bisai_context *context = factors->context;
  if (!factors->from_matrix)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "factors given by the caller have no matrix to be updated from");
  factors->ready = false;
  if (!matrix) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_factors_update: matrix is NULL");
  const bisai_status status = check_square(context, "the matrix", matrix);
  if (status) return status;
  const bisai_bcsr *u = factors->upper;
  if (matrix->block_rows != u->block_rows || matrix->block_size != u->block_size ||
      matrix->blocks != factors->matrix_blocks)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "the pattern changed: %d block rows of size %d with %d blocks, expected %d, %d and %d",
                    matrix->block_rows, matrix->block_size, matrix->blocks, u->block_rows, u->block_size,
                    factors->matrix_blocks);
  /* A pattern that moved would make the factorisation read out of bounds; this costs a fraction of it. */
  if (!bsi_factors_fit(factors, matrix))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "the pattern changed: other block columns than at creation");
  return factorise(factors, matrix);
}

/* Copies one given factor; sets *with_diagonal to whether its diagonal blocks are stored. */
static bisai_status copy_factor(bisai_context *context, bisai_triangle triangle, const bisai_bcsr *a, bisai_bcsr **copy,
                                bool *with_diagonal) {
  const char *name = triangle == BISAI_LOWER ? "lower" : "upper";
  int32_t stored = 0, missing = -1;
  for (int32_t i = 0; i < a->block_rows; i++) {
    bool diagonal = false;
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
      const int32_t j = a->col_idx[p];
      if (triangle == BISAI_LOWER ? j > i : j < i)
        return bsi_fail(context, BISAI_INVALID_STRUCTURE, "%s: block (%d, %d) lies in the other triangle", name, i, j);
      diagonal |= j == i;
    }
    stored += diagonal;
    if (!diagonal && missing < 0) missing = i;
  }
  *with_diagonal = stored > 0 || triangle == BISAI_UPPER;
  if (*with_diagonal && missing >= 0)
    return bsi_fail(context, BISAI_MISSING_DIAGONAL, "%s: block row %d has no diagonal block", name, missing);
  const bisai_status status =
      bsi_bcsr_reserve(context, a->block_rows, a->block_cols, a->block_size, a->blocks, BISAI_FP64, NULL, NULL, copy);
  if (status) return status;
  (*copy)->unit_diagonal = !*with_diagonal;
  memcpy((*copy)->row_ptr, a->row_ptr, ((size_t)a->block_rows + 1) * sizeof *a->row_ptr);
  if (a->blocks == 0) return BISAI_OK; /* of a borrowed matrix without blocks the arrays may be NULL */
  memcpy((*copy)->col_idx, a->col_idx, (size_t)a->blocks * sizeof *a->col_idx);
  memcpy((*copy)->values, a->values, bsi_block_offset(a, a->blocks) * sizeof(double));
  return BISAI_OK;
}

/* Inverts the diagonal blocks, which end the rows of L and begin those of U. */
static bisai_status invert_diagonal(bisai_factors *f, const bsi_triangular *t, double *inverses) {
  const bisai_bcsr *a = t->matrix;
  const int32_t n = a->block_rows;
  int32_t *position = bsi_allocate(f->context, (size_t)n, sizeof *position);
  if (!position) return BISAI_OUT_OF_MEMORY;
  for (int32_t i = 0; i < n; i++) position[i] = t->triangle == BISAI_LOWER ? a->row_ptr[i + 1] - 1 : a->row_ptr[i];
  bsi_invert_stats stats = BSI_INVERT_STATS_NONE;
  bisai_status status = f->context->backend->invert_blocks(f->context, a, position, 0.0, inverses, &stats);
  bsi_release(f->context, position);
  if (!status)
    status = bsi_invert_stats_judge(f->context, t->triangle == BISAI_LOWER ? "lower: " : "upper: ", a, &stats);
  bsi_invert_stats_merge(&f->stats, &stats);
  return status;
}

bisai_status bisai_factors_from_matrices(bisai_context *context, const bisai_bcsr *lower, const bisai_bcsr *upper,
                                         bisai_factors **factors) {
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
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "lower has %d block rows of size %d, upper %d of size %d",
                    lower->block_rows, lower->block_size, upper->block_rows, upper->block_size);
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

void bisai_factors_destroy(bisai_factors **factors) {
  if (!factors || !*factors) return;
  bisai_factors *f = *factors;
  *factors = NULL;
  bisai_context *context = f->context;
  bisai_bcsr_destroy(&f->lower);
  bisai_bcsr_destroy(&f->upper);
  context->backend->release(context, f->lower_fill);
  context->backend->release(context, f->upper_fill);
  context->backend->release(context, f->lower_inverse);
  context->backend->release(context, f->upper_inverse);
  bsi_levels_destroy(context, &f->lower_levels);
  bsi_levels_destroy(context, &f->upper_levels);
  bsi_release(context, f);
}

const bisai_bcsr *bisai_factors_lower(const bisai_factors *factors) { return factors->lower; }
const bisai_bcsr *bisai_factors_upper(const bisai_factors *factors) { return factors->upper; }
const double *bisai_factors_inverse_diagonal(const bisai_factors *factors) { return factors->upper_inverse; }
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
  const int64_t levels = 4 * (2 * n + factors->lower_levels.count + factors->upper_levels.count + 2);
  const size_t fill = (factors->lower_fill ? bsi_fill_bytes(factors->lower->blocks) : 0) +
                      (factors->upper_fill ? bsi_fill_bytes(factors->upper->blocks) : 0);
  return (int64_t)sizeof *factors + (int64_t)fill + bsi_bcsr_memory(factors->lower) + bsi_bcsr_memory(factors->upper) +
         inverses + (factors->lower_inverse ? inverses : 0) + levels;
}

bisai_status bisai_factors_solve(const bisai_factors *factors, bisai_schedule schedule, const double *b, double *x) {
  if (!factors) return BISAI_INVALID_ARGUMENT;
  bisai_context *context = factors->context;
  if (!factors->ready) return bsi_fail(context, BISAI_NOT_READY, "the factors' last update failed");
  if (schedule < BISAI_SCHEDULE_AUTO || schedule > BISAI_SCHEDULE_LEVELS)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown schedule %d", (int)schedule);
  if (!b || !x) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_factors_solve: %s is NULL", b ? "x" : "b");
  const bisai_status status =
      context->backend->triangular_solve(context, &factors->lower_solve, schedule, 1, b, 0, x, 0);
  if (status) return status;
  return context->backend->triangular_solve(context, &factors->upper_solve, schedule, 1, x, 0, x, 0);
}
