/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies L and U from a factored SeqBAIJ matrix by public calls of PETSc only.
 *
 * MatGetRowIJ() returns ia and ja, and MatSeqBAIJGetArray() returns the blocks, column by column.
 * PETSc does not document their arrangement, which is the same from 3.18 to 3.24:
 * - ia[0 … n] are the row pointers of the strictly lower L; its identity diagonal is not stored;
 * - the rows of U start at ja[ia[n]], from the last row to the first;
 * - a row of U has its columns > i in ascending order and then its diagonal block, inverted; the
 *   row ends where ja = i.
 *
 * PETSc uses another arrangement for matrices that are factored in place. A reordered matrix or a
 * future version of PETSc may also differ. In all these cases either the indices do not fit this
 * arrangement, or L (U x) is not equal to b for a random b and the solution x = U⁻¹ L⁻¹ b of
 * MatSolve(). */
#include <limits.h>
#include <math.h>

#include "petsc/calls.h"

typedef struct reading {
  bisai_context *context;
  Mat mat;
  PetscInt n, bs;
  const PetscInt *ia, *ja;
  /* number of blocks of L and U */
  int64_t blocks;
  const PetscScalar *values;
  int32_t *lower_ptr, *lower_col, *upper_ptr, *upper_col;
  double *upper;
  bisai_factors *factors;
} reading;

static bisai_status unknown_arrangement(bisai_context *context) {
  return bisai_context_fail(
      context, BISAI_UNSUPPORTED,
      "the factored Mat has an arrangement that this version of bisai does not know: it was "
      "factored in place or by another version of PETSc");
}

/* Reads the row pointers and columns of L and U. Returns false if the indices do not have the
 * arrangement. */
static bool read_structure(reading *r) {
  const PetscInt n = r->n, lower = r->ia[n];
  if (r->ia[0] != 0 || lower < 0 || lower > r->blocks - n) return false;
  for (PetscInt i = 0; i < n; i++) {
    if (r->ia[i + 1] < r->ia[i] || r->ia[i + 1] > lower) return false;
    for (PetscInt p = r->ia[i]; p < r->ia[i + 1]; p++) {
      if (r->ja[p] < (p > r->ia[i] ? r->ja[p - 1] + 1 : 0) || r->ja[p] >= i) return false;
      r->lower_col[p] = (int32_t)r->ja[p];
    }
    r->lower_ptr[i + 1] = (int32_t)r->ia[i + 1];
  }
  /* The diagonal block is the first of a row in bisai and the last in PETSc. */
  int64_t p = lower, end = r->blocks - lower;
  r->upper_ptr[n] = (int32_t)end;
  for (PetscInt i = n; i-- > 0;) {
    const int64_t first = p;
    while (p < r->blocks && r->ja[p] != i) p++;
    if (p == r->blocks) return false;
    end -= p - first + 1;
    r->upper_ptr[i] = (int32_t)end;
    r->upper_col[end] = (int32_t)i;
    for (int64_t q = first; q < p; q++) {
      if (r->ja[q] <= (q > first ? r->ja[q - 1] : i) || r->ja[q] >= n) return false;
      r->upper_col[end + 1 + q - first] = (int32_t)r->ja[q];
    }
    p++;
  }
  return p == r->blocks;
}

/* Copies the blocks of U, and the inverted diagonal blocks into `inverted`. */
static void read_upper(reading *r, double *inverted) {
  const int64_t size = (int64_t)r->bs * r->bs;
  int64_t p = r->ia[r->n];
  for (PetscInt i = r->n; i-- > 0;) {
    const int64_t first = r->upper_ptr[i], others = r->upper_ptr[i + 1] - first - 1;
    for (int64_t q = 0; q < others * size; q++)
      r->upper[(first + 1) * size + q] = r->values[p * size + q];
    for (int64_t q = 0; q < size; q++) inverted[i * size + q] = r->values[(p + others) * size + q];
    p += others + 1;
  }
}

static bisai_bcsr_desc describe(const reading *r, const int32_t *row_ptr, const int32_t *col_idx,
                                const void *values) {
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = (int32_t)r->n;
  desc.block_size = (int32_t)r->bs;
  desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = values;
  desc.ownership = BISAI_BORROW;
  return desc;
}

/* Inverts the diagonal blocks of U back and stores them in U. A block-diagonal matrix of the
 * inverted blocks is factorised, which gives the inverses. `count` is 0, 1, 2, …: the row pointers
 * and the columns of that matrix. */
static bisai_status invert_back(reading *r, const double *inverted, const int32_t *count) {
  const int64_t size = (int64_t)r->bs * r->bs;
  bisai_bcsr *matrix = NULL;
  bisai_factors *inverses = NULL;
  const bisai_bcsr_desc desc = describe(r, count, count, inverted);
  bisai_status status = bisai_bcsr_create(r->context, &desc, &matrix);
  if (!status) status = bisai_factors_create(r->context, matrix, NULL, &inverses);
  if (!status) {
    const double *diagonal = bisai_factors_inverse_diagonal(inverses);
    for (PetscInt i = 0; i < r->n; i++) {
      for (int64_t q = 0; q < size; q++)
        r->upper[r->upper_ptr[i] * size + q] = diagonal[i * size + q];
    }
  }
  bisai_factors_destroy(&inverses);
  bisai_bcsr_destroy(&matrix);
  return status;
}

static bisai_status make_factors(reading *r) {
  const bisai_bcsr_desc of_lower = describe(r, r->lower_ptr, r->lower_col, r->values);
  const bisai_bcsr_desc of_upper = describe(r, r->upper_ptr, r->upper_col, r->upper);
  bisai_bcsr *lower = NULL, *upper = NULL;
  bisai_status status = bisai_bcsr_create(r->context, &of_lower, &lower);
  if (!status) status = bisai_bcsr_create(r->context, &of_upper, &upper);
  if (!status) status = bisai_factors_from_matrices(r->context, lower, upper, &r->factors);
  bisai_bcsr_destroy(&lower);
  bisai_bcsr_destroy(&upper);
  return status;
}

/* y ← |T| x for x ≥ 0, with the identity diagonal if it is implied. */
static void multiply_sizes(const bisai_bcsr *matrix, const double *x, double *y) {
  const int32_t *row_ptr, *col_idx;
  const void *values;
  bisai_bcsr_arrays(matrix, &row_ptr, &col_idx, &values);
  const int32_t bs = bisai_bcsr_block_size(matrix);
  for (int32_t i = 0; i < bisai_bcsr_block_rows(matrix); i++) {
    double *rows = y + (int64_t)i * bs;
    for (int32_t k = 0; k < bs; k++)
      rows[k] = bisai_bcsr_unit_diagonal(matrix) ? x[(int64_t)i * bs + k] : 0;
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++) {
      const double *block = (const double *)values + (int64_t)p * bs * bs;
      for (int32_t k = 0; k < bs * bs; k++)
        rows[k % bs] += fabs(block[k]) * x[(int64_t)col_idx[p] * bs + k / bs];
    }
  }
}

static double largest(int64_t count, const double *values) {
  double size = 0;
  for (int64_t i = 0; i < count; i++)
    size = fabs(values[i]) > size || isnan(values[i]) ? fabs(values[i]) : size;
  return size;
}

/* Compares ‖b − L (U x)‖∞ with ‖|b| + |L| |U| |x|‖∞. Overwrites x, y and z. */
static bisai_status compare(const reading *r, const double *b, double *x, double *y, double *z) {
  const bisai_bcsr *lower = bisai_factors_lower(r->factors),
                   *upper = bisai_factors_upper(r->factors);
  const int64_t count = (int64_t)r->n * r->bs;
  bisai_status status = bisai_bcsr_multiply(upper, x, y);
  if (!status) status = bisai_bcsr_multiply(lower, y, z);
  if (status) return status;
  for (int64_t i = 0; i < count; i++) z[i] -= b[i], x[i] = fabs(x[i]);
  const double difference = largest(count, z);
  multiply_sizes(upper, x, y);
  multiply_sizes(lower, y, z);
  for (int64_t i = 0; i < count; i++) z[i] += fabs(b[i]);
  const double terms = largest(count, z), kappa = bisai_factors_largest_condition(r->factors, NULL);
  if (!isfinite(difference) || !isfinite(terms))
    return bisai_context_fail(r->context, BISAI_NOT_FINITE,
                              "PETSc's factors cannot be checked: a solution with them overflows");
  if (difference <= fmin(1e-12 * fmax(1, kappa / 10), 1e-3) * terms) return BISAI_OK;
  return bsi_petsc_fail(
      r->context, BISAI_UNSUPPORTED,
      "L and U do not agree with PETSc's MatSolve() (relative difference %.1e): they are "
      "reordered, or have an arrangement that this version of bisai does not know",
      difference / terms);
}

static PetscErrorCode check(reading *r, bisai_status *status) {
  const PetscInt count = r->n * r->bs;
  Vec b, x;
  PetscScalar *b_values, *x_values;
  double *y, *z;
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(r->mat, &x, &b));
  PetscCall(PetscMalloc2(count, &y, count, &z));
  PetscCall(VecGetArray(b, &b_values));
  uint64_t state = 1; /* A linear congruential generator gives every call the same vector. */
  for (PetscInt i = 0; i < count; i++) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    b_values[i] = (double)(state >> 11) * 0x1p-52 - 1;
  }
  PetscCall(VecRestoreArray(b, &b_values));
  PetscCall(MatSolve(r->mat, b, x));
  PetscCall(VecGetArray(b, &b_values));
  PetscCall(VecGetArray(x, &x_values));
  *status = compare(r, b_values, x_values, y, z);
  PetscCall(VecRestoreArray(b, &b_values));
  PetscCall(VecRestoreArray(x, &x_values));
  PetscCall(PetscFree2(y, z));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode extract(reading *r, bisai_status *status) {
  const int64_t n = r->n, size = (int64_t)r->bs * r->bs, lower = r->ia[n],
                upper = r->blocks - lower;
  double *inverted;
  int32_t *count;
  PetscFunctionBegin;
  if (lower < 0 || upper < n) {
    *status = unknown_arrangement(r->context);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscCalloc2((size_t)(n + 1), &r->lower_ptr, (size_t)lower, &r->lower_col));
  PetscCall(PetscCalloc3((size_t)(n + 1), &r->upper_ptr, (size_t)upper, &r->upper_col,
                         (size_t)(upper * size), &r->upper));
  if (read_structure(r)) {
    PetscCall(PetscMalloc2((size_t)(n * size), &inverted, (size_t)(n + 1), &count));
    for (int32_t i = 0; i <= n; i++) count[i] = i;
    read_upper(r, inverted);
    *status = invert_back(r, inverted, count);
    PetscCall(PetscFree2(inverted, count));
    if (!*status) *status = make_factors(r);
    if (!*status) PetscCall(check(r, status));
  } else {
    *status = unknown_arrangement(r->context);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses matrices that PETSc itself has not factored: they have other arrangements. */
static PetscErrorCode refuse_others(reading *r, bisai_status *status) {
  PetscBool blocked = PETSC_FALSE, own = PETSC_FALSE;
  MatFactorType type = MAT_FACTOR_NONE;
  MatFactorError error = MAT_FACTOR_NOERROR;
  MatSolverType solver = NULL;
  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)r->mat, MATSEQBAIJ, &blocked));
  PetscCall(MatGetFactorType(r->mat, &type));
  if (!blocked || (type != MAT_FACTOR_LU && type != MAT_FACTOR_ILU)) {
    *status = bisai_context_fail(r->context, BISAI_UNSUPPORTED,
                                 "the Mat is not a seqbaij that PETSc has factored by LU or ILU");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatFactorGetSolverType(r->mat, &solver));
  PetscCall(PetscStrcmp(solver, MATSOLVERPETSC, &own));
  PetscCall(MatFactorGetError(r->mat, &error));
  if (!own) {
    *status =
        bsi_petsc_fail(r->context, BISAI_UNSUPPORTED,
                       "the Mat was factored by %s; only PETSc's own factors can be read", solver);
  } else if (error) {
    *status = bsi_petsc_fail(
        r->context, BISAI_SINGULAR_BLOCK, "PETSc's factorisation failed: %s",
        error == MAT_FACTOR_NUMERIC_ZEROPIVOT ? "zero pivot" : "another error than a zero pivot");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode read_factors(void *arguments, bisai_status *status) {
  reading *r = arguments;
  static const PetscInt none[] = {0};
  MatInfo info;
  PetscInt rows, columns, count;
  PetscBool done = PETSC_FALSE;
  PetscScalar *values;
  PetscFunctionBegin;
  PetscCall(refuse_others(r, status));
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(r->mat, &rows, &columns));
  PetscCall(MatGetBlockSize(r->mat, &r->bs));
  PetscCall(MatGetInfo(r->mat, MAT_LOCAL, &info));
  r->n = rows / r->bs;
  r->blocks = (int64_t)(info.nz_used / (double)(r->bs * r->bs));
  if (r->blocks > INT_MAX) {
    *status = bisai_context_fail(r->context, BISAI_UNSUPPORTED,
                                 "the factors have more blocks than a 32-bit integer can count");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetRowIJ(r->mat, 0, PETSC_FALSE, PETSC_TRUE, &count, &r->ia, &r->ja, &done));
  PetscCheck(done && count == r->n, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "the factored Mat gives no access to its structure");
  PetscCall(MatSeqBAIJGetArray(r->mat, &values));
  r->values = values;
  const PetscInt *ia = r->ia;
  if (r->n == 0) r->ia = none, r->blocks = 0; /* PETSc does not change the first entry */
  PetscErrorCode code = extract(r, status);
  PetscCall(MatSeqBAIJRestoreArray(r->mat, &values));
  PetscCall(MatRestoreRowIJ(r->mat, 0, PETSC_FALSE, PETSC_TRUE, &count, &ia, &r->ja, &done));
  PetscCall(PetscFree2(r->lower_ptr, r->lower_col));
  PetscCall(PetscFree3(r->upper_ptr, r->upper_col, r->upper));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

bisai_status bisai_petsc_factors(bisai_context *context, Mat factored, bisai_factors **factors) {
  if (!factored || !factors)
    return bisai_context_fail(context, BISAI_INVALID_ARGUMENT, "factored or factors is NULL");
  reading r = {.context = context, .mat = factored};
  bisai_status status = bsi_petsc_run(context, read_factors, &r);
  if (!status)
    *factors = r.factors;
  else
    bisai_factors_destroy(&r.factors);
  return status;
}
