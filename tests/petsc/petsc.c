/* SPDX-License-Identifier: BSD-3-Clause */
/* libbisai_petsc on small matrices: PETSc's factors against ours and against dense products,
 * matrices both ways, PETSc's solver, errors of PETSc as statuses. What real matrices give is in
 * factors.c. */
#include "fixture.h"

#include <math.h>

#include "petsc_fixture.h"

static const int32_t block_sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 16};
enum { BLOCK_SIZES = sizeof block_sizes / sizeof block_sizes[0] };

static bisai_bcsr *random_matrix(bisai_context *c, int32_t n, int32_t bs, uint64_t seed) {
  return test_bcsr_take(c, test_bcsr_random(test_shape_square(n, bs, seed)));
}

static bisai_factors *own_factors(const bisai_bcsr *matrix, int level) {
  bisai_factor_options options = bisai_factor_options_default();
  bisai_factors *factors = NULL;
  options.level = level;
  EXPECT_OK(context, bisai_factors_create(context, matrix, &options, &factors));
  return factors;
}

/* Same pattern, and values that differ by `tolerance` of the largest at most. */
static void expect_same_matrix(const bisai_bcsr *a, const bisai_bcsr *b, double tolerance) {
  const int32_t *a_ptr, *a_idx, *b_ptr, *b_idx, n = bisai_bcsr_block_rows(a),
                                                bs = bisai_bcsr_block_size(a);
  const void *a_values, *b_values;
  assert_int_equal(bisai_bcsr_block_rows(b), n);
  assert_int_equal(bisai_bcsr_block_size(b), bs);
  assert_int_equal(bisai_bcsr_blocks(b), bisai_bcsr_blocks(a));
  bisai_bcsr_arrays(a, &a_ptr, &a_idx, &a_values);
  bisai_bcsr_arrays(b, &b_ptr, &b_idx, &b_values);
  assert_memory_equal(a_ptr, b_ptr, (size_t)(n + 1) * sizeof *a_ptr);
  if (a_ptr[n] == 0) return;
  assert_memory_equal(a_idx, b_idx, (size_t)a_ptr[n] * sizeof *a_idx);
  double largest = 0;
  const int64_t count = (int64_t)a_ptr[n] * bs * bs;
  for (int64_t i = 0; i < count; i++) largest = fmax(largest, fabs(((const double *)a_values)[i]));
  EXPECT_CLOSE(count, (const double *)a_values, (const double *)b_values, tolerance * largest);
}

/* 1e-12: diagonally dominant matrices, whose factorisation is stable (see factor/factor.c), and
 * PETSc's diagonal blocks are inverted twice. */
static void expect_same_factors(const bisai_factors *a, const bisai_factors *b) {
  expect_same_matrix(bisai_factors_lower(a), bisai_factors_lower(b), 1e-12);
  expect_same_matrix(bisai_factors_upper(a), bisai_factors_upper(b), 1e-12);
}

static void factors_of_petsc_are_ours_for_every_block_size_and_level(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    for (int level = 0; level < 3; level++) {
      bisai_bcsr *matrix = random_matrix(context, 25, block_sizes[s], (uint64_t)(20 + s));
      bisai_factors *ours = own_factors(matrix, level), *theirs = NULL;
      bisai_petsc_ilu *ilu = NULL;
      EXPECT_OK(context, bisai_petsc_ilu_create(context, matrix, level, &ilu));
      EXPECT_OK(context, bisai_petsc_ilu_factors(ilu, &theirs));
      expect_same_factors(ours, theirs);
      assert_int_equal(bisai_petsc_ilu_blocks(ilu),
                       bisai_bcsr_blocks(bisai_factors_lower(theirs)) +
                           bisai_bcsr_blocks(bisai_factors_upper(theirs)));
      assert_true(bisai_petsc_ilu_seconds(ilu) > 0);
      bisai_petsc_ilu_destroy(&ilu);
      assert_null(ilu);
      bisai_factors_destroy(&theirs);
      bisai_factors_destroy(&ours);
      bisai_bcsr_destroy(&matrix);
    }
  }
}

static void petsc_solves_as_our_triangular_solves_do(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int64_t n = 30 * block_sizes[s];
    bisai_bcsr *matrix = random_matrix(context, 30, block_sizes[s], (uint64_t)(70 + s));
    bisai_factors *ours = own_factors(matrix, 1);
    bisai_petsc_ilu *ilu = NULL;
    double *v = test_random_vector(n, 5), *z = test_random_vector(n, 6),
           *expected = test_random_vector(n, 7);
    EXPECT_OK(context, bisai_petsc_ilu_create(context, matrix, 1, &ilu));
    EXPECT_OK(context, bisai_petsc_ilu_apply(ilu, n, v, z));
    EXPECT_OK(context, bisai_factors_solve(ours, BISAI_SCHEDULE_AUTO, v, expected));
    EXPECT_CLOSE(n, expected, z, 1e-13);
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_petsc_ilu_apply(ilu, n + 1, v, z));
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_petsc_ilu_apply(ilu, n, NULL, z));
    free(v);
    free(z);
    free(expected);
    bisai_petsc_ilu_destroy(&ilu);
    bisai_factors_destroy(&ours);
    bisai_bcsr_destroy(&matrix);
  }
}

static void matrices_of_no_rows_and_of_one_go_through(void **state) {
  (void)state;
  for (int32_t n = 0; n < 2; n++) {
    bisai_bcsr *matrix = random_matrix(context, n, 3, 1), *back = NULL;
    bisai_petsc_ilu *ilu = NULL;
    bisai_factors *factors = NULL;
    Mat mat = NULL;
    EXPECT_OK(context, bisai_petsc_to_mat(context, matrix, &mat));
    EXPECT_OK(context, bisai_petsc_from_mat(context, mat, &back));
    expect_same_matrix(matrix, back, 0);
    EXPECT_OK(context, bisai_petsc_ilu_create(context, matrix, 0, &ilu));
    EXPECT_OK(context, bisai_petsc_ilu_factors(ilu, &factors));
    bisai_factors_destroy(&factors);
    bisai_petsc_ilu_destroy(&ilu);
    bisai_bcsr_destroy(&back);
    bisai_bcsr_destroy(&matrix);
    assert_int_equal(MatDestroy(&mat), 0);
  }
}

/* y ← A x by PETSc, against the dense product: the layout inside blocks is right. From y = 0,
 * because PETSc 3.18 leaves empty rows of blocks of 8 and more as they are. */
static void expect_product(Mat mat, const bisai_bcsr *matrix) {
  const int64_t m = (int64_t)bisai_bcsr_block_rows(matrix) * bisai_bcsr_block_size(matrix);
  const int64_t n = (int64_t)bisai_bcsr_block_cols(matrix) * bisai_bcsr_block_size(matrix);
  double *x = test_random_vector(n, 3), *y = calloc((size_t)m, sizeof *y),
         *dense = test_dense(matrix);
  double *expected = test_dense_multiply(m, n, 1, dense, x);
  Vec in, out;
  VecCreateSeqWithArray(PETSC_COMM_SELF, 1, (PetscInt)n, x, &in);
  VecCreateSeqWithArray(PETSC_COMM_SELF, 1, (PetscInt)m, y, &out);
  assert_int_equal(MatMult(mat, in, out), 0);
  EXPECT_CLOSE(m, expected, y, 1e-12);
  VecDestroy(&in);
  VecDestroy(&out);
  free(x);
  free(y);
  free(dense);
  free(expected);
}

static void matrices_go_to_petsc_and_back(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    for (int rectangular = 0; rectangular < 2; rectangular++) {
      test_shape shape = test_shape_square(20, block_sizes[s], (uint64_t)(40 + s));
      if (rectangular)
        shape.block_cols = 31, shape.diagonal = TEST_DIAGONAL_RANDOM, shape.empty_every = 4;
      bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_random(shape)), *back = NULL;
      Mat mat = NULL, scalar = NULL;
      EXPECT_OK(context, bisai_petsc_to_mat(context, matrix, &mat));
      expect_product(mat, matrix);
      EXPECT_OK(context, bisai_petsc_from_mat(context, mat, &back));
      expect_same_matrix(matrix, back, 0);
      bisai_bcsr_destroy(&back);
      assert_int_equal(MatConvert(mat, MATSEQAIJ, MAT_INITIAL_MATRIX, &scalar), 0);
      EXPECT_OK(context, bisai_petsc_from_mat(context, scalar, &back));
      expect_same_matrix(matrix, back, 0);
      bisai_bcsr_destroy(&back);
      MatDestroy(&mat);
      MatDestroy(&scalar);
      bisai_bcsr_destroy(&matrix);
    }
  }
}

static void a_mat_outlives_its_matrix(void **state) {
  (void)state;
  bisai_bcsr *matrix = random_matrix(context, 10, 3, 9), *kept = random_matrix(context, 10, 3, 9);
  Mat mat = NULL;
  EXPECT_OK(context, bisai_petsc_to_mat(context, matrix, &mat));
  bisai_bcsr_destroy(&matrix);
  expect_product(mat, kept);
  MatDestroy(&mat);
  bisai_bcsr_destroy(&kept);
}

/* --- the caller's own factored matrices --- */

typedef enum factoring { PLAIN, REORDERED, COMPLETE, IN_PLACE, CHOLESKY, SCALAR } factoring;

static Mat factor_mat(const bisai_bcsr *matrix, factoring how) {
  Mat mat = NULL, source = NULL, factored = NULL;
  IS rows, columns;
  MatFactorInfo info;
  EXPECT_OK(context, bisai_petsc_to_mat(context, matrix, &mat));
  if (how == SCALAR || how == CHOLESKY) MatConvert(mat, MATSEQAIJ, MAT_INITIAL_MATRIX, &source);
  Mat a = source ? source : mat;
  MatGetOrdering(a, how == REORDERED ? MATORDERINGRCM : MATORDERINGNATURAL, &rows, &columns);
  MatFactorInfoInitialize(&info);
  info.fill = 1;
  if (how == IN_PLACE) {
    assert_int_equal(MatILUFactor(a, rows, columns, &info), 0);
    factored = a, mat = NULL;
  } else if (how == CHOLESKY) {
    MatGetFactor(a, MATSOLVERPETSC, MAT_FACTOR_ICC, &factored);
    assert_int_equal(MatICCFactorSymbolic(factored, a, rows, &info), 0);
    assert_int_equal(MatCholeskyFactorNumeric(factored, a, &info), 0);
  } else {
    MatGetFactor(a, MATSOLVERPETSC, how == COMPLETE ? MAT_FACTOR_LU : MAT_FACTOR_ILU, &factored);
    assert_int_equal(how == COMPLETE ? MatLUFactorSymbolic(factored, a, rows, columns, &info)
                                     : MatILUFactorSymbolic(factored, a, rows, columns, &info),
                     0);
    assert_int_equal(MatLUFactorNumeric(factored, a, &info), 0);
  }
  ISDestroy(&rows);
  ISDestroy(&columns);
  MatDestroy(&source);
  MatDestroy(&mat);
  return factored;
}

static void factored_mats_of_the_caller_are_read(void **state) {
  (void)state;
  bisai_bcsr *matrix = random_matrix(context, 12, 4, 3);
  for (int complete = 0; complete < 2; complete++) {
    Mat factored = factor_mat(matrix, complete ? COMPLETE : PLAIN);
    bisai_factors *theirs = NULL, *ours = own_factors(matrix, complete ? 12 : 0);
    EXPECT_OK(context, bisai_petsc_factors(context, factored, &theirs));
    expect_same_factors(ours, theirs);
    bisai_factors_destroy(&ours);
    bisai_factors_destroy(&theirs);
    MatDestroy(&factored);
  }
  bisai_bcsr_destroy(&matrix);
}

static void factors_in_another_arrangement_are_refused(void **state) {
  (void)state;
  static const struct {
    factoring how;
    const char *message;
  } refused[] = {
      {REORDERED, "L and U do not agree with PETSc's MatSolve()"},
      {IN_PLACE, "the factored Mat has an arrangement that this version of bisai does not know"},
      {CHOLESKY, "the Mat is not a seqbaij that PETSc has factored by LU or ILU"},
      {SCALAR, "the Mat is not a seqbaij that PETSc has factored by LU or ILU"},
  };
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(5, 4, 3, 8));
  bisai_factors *factors = NULL;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    Mat factored = factor_mat(matrix, refused[i].how);
    EXPECT_STATUS(context, BISAI_UNSUPPORTED, bisai_petsc_factors(context, factored, &factors));
    if (strncmp(bisai_context_error(context), refused[i].message, strlen(refused[i].message)) != 0)
      fail_msg("'%s', expected '%s …'", bisai_context_error(context), refused[i].message);
    assert_null(factors);
    MatDestroy(&factored);
  }
  Mat plain = NULL;
  EXPECT_OK(context, bisai_petsc_to_mat(context, matrix, &plain));
  EXPECT_STATUS(context, BISAI_UNSUPPORTED, bisai_petsc_factors(context, plain, &factors));
  MatDestroy(&plain);
  bisai_bcsr_destroy(&matrix);
}

/* [1, −1e10 1, …]: the solution grows by 1e10 a row and overflows, and nothing can be checked by
 * it. */
static void factors_that_cannot_be_checked_are_refused(void **state) {
  (void)state;
  test_bcsr arrays = test_bcsr_tridiagonal(40, 1, 1, -1e10);
  for (int32_t i = 0; i + 1 < 40; i++) *test_bcsr_block(&arrays, i, i + 1) = 0;
  bisai_bcsr *matrix = test_bcsr_take(context, arrays);
  Mat factored = factor_mat(matrix, PLAIN);
  bisai_factors *factors = NULL;
  EXPECT_STATUS(context, BISAI_NOT_FINITE, bisai_petsc_factors(context, factored, &factors));
  EXPECT_MESSAGE(context, "PETSc's factors cannot be checked: a solution with them overflows");
  assert_null(factors);
  MatDestroy(&factored);
  bisai_bcsr_destroy(&matrix);
}

static void a_factorisation_that_failed_is_refused(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_tridiagonal(3, 2, 0, 1)); /* zero pivots */
  Mat factored = factor_mat(matrix, PLAIN);
  bisai_factors *factors = NULL;
  EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK, bisai_petsc_factors(context, factored, &factors));
  EXPECT_MESSAGE(context, "PETSc's factorisation failed: zero pivot");
  assert_null(factors);
  MatDestroy(&factored);
  bisai_bcsr_destroy(&matrix);
}

/* --- errors --- */

static void what_cannot_be_factored_is_refused_with_its_row(void **state) {
  (void)state;
  bisai_petsc_ilu *ilu = NULL;
  bisai_petsc_solver *solver = NULL;
  const int32_t row_ptr[] = {0, 1, 2}, off_diagonal[] = {0, 0}, diagonal[] = {0, 1};
  const double values[] = {1, 0};
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = 2, desc.block_size = 1;
  desc.row_ptr = row_ptr, desc.col_idx = off_diagonal, desc.values = values;
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(context, bisai_bcsr_create(context, &desc, &matrix));
  EXPECT_STATUS(context, BISAI_MISSING_DIAGONAL, bisai_petsc_ilu_create(context, matrix, 0, &ilu));
  EXPECT_MESSAGE(context, "block row 1 has no diagonal block");
  EXPECT_STATUS(context, BISAI_MISSING_DIAGONAL,
                bisai_petsc_solver_create(context, matrix, 0, NULL, &solver));
  bisai_bcsr_destroy(&matrix);

  desc.col_idx = diagonal;
  for (int32_t bs = 1; bs < 10; bs++) { /* [1 0; 0 0] in larger blocks: the second is singular */
    double *blocks = calloc((size_t)(2 * bs * bs), sizeof *blocks);
    for (int32_t k = 0; k < bs; k++) blocks[k * bs + k] = 1;
    desc.block_size = bs, desc.values = blocks;
    EXPECT_OK(context, bisai_bcsr_create(context, &desc, &matrix));
    EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK, bisai_petsc_ilu_create(context, matrix, 0, &ilu));
    bisai_bcsr_destroy(&matrix);
    free(blocks);
  }
  assert_null(ilu);
  assert_null(solver);
}

static void arguments_are_judged(void **state) {
  (void)state;
  bisai_bcsr *matrix = random_matrix(context, 4, 2, 1), *wide = NULL, *narrow = NULL,
             *result = NULL;
  bisai_petsc_ilu *ilu = NULL;
  bisai_petsc_solver *solver = NULL;
  bisai_factors *factors = NULL;
  Mat mat = NULL;
  test_shape shape = test_shape_square(4, 2, 1);
  shape.block_cols = 5;
  wide = test_bcsr_take(context, test_bcsr_random(shape));
  const int32_t row_ptr[] = {0, 1}, col_idx[] = {0};
  const float one = 1;
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = desc.block_size = 1, desc.value_type = BISAI_FP32;
  desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = &one;
  EXPECT_OK(context, bisai_bcsr_create(context, &desc, &narrow));

  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_petsc_ilu_create(context, NULL, 0, &ilu));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_petsc_ilu_create(context, matrix, 0, NULL));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_petsc_ilu_create(NULL, matrix, 0, &ilu));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_petsc_ilu_create(context, matrix, -1, &ilu));
  EXPECT_MESSAGE(context, "level is -1; it must be at least 0");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_petsc_ilu_create(context, wide, 0, &ilu));
  EXPECT_MESSAGE(context, "the matrix is not square: 4 × 5 blocks");
  EXPECT_STATUS(context, BISAI_UNSUPPORTED, bisai_petsc_ilu_create(context, narrow, 0, &ilu));
  EXPECT_STATUS(context, BISAI_UNSUPPORTED, bisai_petsc_to_mat(context, narrow, &mat));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_petsc_to_mat(context, NULL, &mat));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_petsc_from_mat(context, NULL, &result));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_petsc_factors(context, NULL, &factors));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_petsc_ilu_factors(NULL, &factors));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_petsc_ilu_apply(NULL, 0, NULL, NULL));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_petsc_start(context, NULL));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_petsc_solver_create(context, matrix, 0, NULL, NULL));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_petsc_solver_solve(NULL, NULL, NULL, NULL));
  bisai_solver_options options = bisai_solver_options_default();
  options.gmres.restart = 0;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_petsc_solver_create(context, matrix, 0, &options, &solver));
  options = bisai_solver_options_default();
  options.gmres.flexible = true;
  EXPECT_STATUS(context, BISAI_UNSUPPORTED,
                bisai_petsc_solver_create(context, matrix, 0, &options, &solver));
  options = bisai_solver_options_default();
  options.method = BISAI_CG;
  options.cg.flexible = true;
  EXPECT_STATUS(context, BISAI_UNSUPPORTED,
                bisai_petsc_solver_create(context, matrix, 0, &options, &solver));
  bisai_petsc_ilu_destroy(NULL);
  bisai_petsc_ilu_destroy(&ilu);
  bisai_petsc_solver_destroy(NULL);
  bisai_petsc_solver_destroy(&solver);
  assert_true(!ilu && !solver && !factors && !mat && !result);
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&wide);
  bisai_bcsr_destroy(&narrow);
}

static void errors_of_petsc_become_statuses_with_its_message(void **state) {
  (void)state;
  Mat mat = NULL, dense = NULL;
  bisai_bcsr *result = NULL;
  MatCreateSeqBAIJ(PETSC_COMM_SELF, 2, 4, 4, 1, NULL, &mat); /* never assembled */
  EXPECT_STATUS(context, BISAI_EXTERNAL_ERROR, bisai_petsc_from_mat(context, mat, &result));
  EXPECT_IN_MESSAGE(context, "PETSc, open_mat(): the Mat is not assembled");
  MatCreateSeqDense(PETSC_COMM_SELF, 2, 2, NULL, &dense);
  EXPECT_STATUS(context, BISAI_UNSUPPORTED, bisai_petsc_from_mat(context, dense, &result));
  EXPECT_IN_MESSAGE(context, "the Mat has type seqdense; seqbaij, seqsbaij or seqaij is needed");
  assert_null(result);
  MatDestroy(&mat);
  MatDestroy(&dense);
}

static void nothing_is_published_or_leaked_when_memory_runs_out(void **state) {
  (void)state;
  test_allocator allocator;
  for (long long k = 1;; k++) {
    test_allocator_reset(&allocator, 0);
    bisai_context *c = test_context_on(&allocator, 1);
    bisai_bcsr *matrix = random_matrix(c, 8, 3, 2), *back = NULL;
    bisai_petsc_ilu *ilu = NULL;
    bisai_factors *factors = NULL;
    Mat mat = NULL;
    EXPECT_OK(c, bisai_petsc_ilu_create(c, matrix, 0, &ilu));
    EXPECT_OK(c, bisai_petsc_to_mat(c, matrix, &mat));
    const long long before = allocator.live_blocks, calls = allocator.calls;
    allocator.fail_at = calls + k;
    bisai_status status = bisai_petsc_ilu_factors(ilu, &factors);
    if (!status) status = bisai_petsc_from_mat(c, mat, &back);
    const bool failed = allocator.calls >= calls + k;
    if (failed) assert_int_equal(status, BISAI_OUT_OF_MEMORY);
    if (!failed) EXPECT_OK(c, status);
    assert_true((factors && back) || failed);
    bisai_factors_destroy(&factors);
    bisai_bcsr_destroy(&back);
    assert_int_equal(allocator.live_blocks, before);
    MatDestroy(&mat);
    bisai_petsc_ilu_destroy(&ilu);
    bisai_bcsr_destroy(&matrix);
    bisai_context_destroy(&c);
    assert_int_equal(allocator.live_blocks, 0);
    if (!failed) break;
  }
}

/* --- PETSc's solver --- */

static void petsc_solves_with_the_iterations_of_our_gmres(void **state) {
  (void)state;
  static const int32_t sizes[] = {1, 2, 3, 4, 5, 7};
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    for (int level = 0; level < 2; level++) {
      bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(20, 20, sizes[s], 8));
      const int64_t n = 400 * sizes[s];
      double *b = test_random_vector(n, 1), *x = test_random_vector(n, 2),
             *y = test_random_vector(n, 3);
      bisai_petsc_solver *theirs = NULL;
      bisai_solver *ours = NULL;
      bisai_precond *precond = NULL;
      bisai_precond_options how = bisai_precond_options_default();
      bisai_solver_report r = {.struct_size = sizeof r},
                          s_report = {.struct_size = sizeof s_report};
      how.kind = BISAI_PRECOND_ILU;
      how.factor.level = level;
      EXPECT_OK(context, bisai_petsc_solver_create(context, matrix, level, NULL, &theirs));
      assert_true(bisai_petsc_solver_seconds(theirs) > 0);
      EXPECT_OK(context, bisai_petsc_solver_solve(theirs, b, x, &r));
      EXPECT_OK(context, bisai_precond_create(context, matrix, &how, &precond));
      EXPECT_OK(context, bisai_solver_create(context, n, NULL, &ours));
      EXPECT_OK(context, bisai_solver_solve(ours, matrix, precond, b, y, &s_report));
      assert_int_equal(r.iterations, s_report.iterations);
      assert_int_equal(r.history_length, r.iterations + 1);
      EXPECT_NEAR(1, r.history[0], 1e-12);       /* x = 0 at the start: its residual is b */
      for (int i = 0; i < r.history_length; i++) /* two Gram–Schmidts */
        EXPECT_NEAR(s_report.history[i], r.history[i], 1e-6 * s_report.history[i]);
      assert_true(test_relative_residual(matrix, x, b) <= 2e-8);
      EXPECT_NEAR(test_relative_residual(matrix, x, b), r.relative_residual, 1e-12);
      assert_true(r.solve_seconds > 0);
      bisai_solver_destroy(&ours);
      bisai_precond_destroy(&precond);
      bisai_petsc_solver_destroy(&theirs);
      assert_null(theirs);
      bisai_bcsr_destroy(&matrix);
      free(b);
      free(x);
      free(y);
    }
  }
}

static void petsc_stops_as_it_is_told(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_tridiagonal(200, 2, 2, -1));
  double *b = test_random_vector(400, 1), *x = test_random_vector(400, 2);
  double *zero = calloc(400, sizeof *zero);
  bisai_solver_options options = bisai_solver_options_default();
  bisai_petsc_solver *solver = NULL;
  bisai_solver_report r = {.struct_size = sizeof r};
  options.max_iterations = 3;
  options.use_initial_guess = true;
  options.gmres.side = BISAI_LEFT;
  test_bcsr grid = test_bcsr_grid(30, 30, 2, 4);
  bisai_bcsr *larger = test_bcsr_make(context, &grid);
  double *c = test_random_vector(1800, 3), *y = calloc(1800, sizeof *y);
  options.tolerance = 1e-14;
  EXPECT_OK(context, bisai_petsc_solver_create(context, larger, 0, &options, &solver));
  EXPECT_STATUS(context, BISAI_MAX_ITERATIONS, bisai_petsc_solver_solve(solver, c, y, &r));
  assert_int_equal(r.reason, BISAI_REASON_MAX_ITERATIONS);
  assert_int_equal(r.iterations, 3);
  assert_true(r.relative_residual > 1e-14);
  EXPECT_IN_MESSAGE(context, "DIVERGED_ITS");
  bisai_petsc_solver_destroy(&solver);

  EXPECT_OK(context, bisai_petsc_solver_create(context, matrix, 0, NULL, &solver));
  EXPECT_OK(context, bisai_petsc_solver_solve(solver, zero, x, &r));
  assert_int_equal(r.iterations, 0);
  EXPECT_CLOSE(400, zero, x, 0);
  /* exact factors: one iteration or two */
  EXPECT_OK(context, bisai_petsc_solver_solve(solver, b, x, NULL));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_petsc_solver_solve(solver, NULL, x, &r));
  r.struct_size = 3;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_petsc_solver_solve(solver, b, x, &r));
  r.struct_size = sizeof r;
  b[7] = NAN;
  EXPECT_STATUS(context, BISAI_NOT_FINITE, bisai_petsc_solver_solve(solver, b, x, &r));
  assert_int_equal(r.reason, BISAI_REASON_NOT_FINITE);
  bisai_petsc_solver_destroy(&solver);
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&larger);
  test_bcsr_free(&grid);
  free(b);
  free(c);
  free(x);
  free(y);
  free(zero);
}

static void petsc_that_runs_is_left_alone(void **state) {
  (void)state;
  bool started = true;
  EXPECT_OK(context, bisai_petsc_start(context, &started));
  assert_false(started);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(factors_of_petsc_are_ours_for_every_block_size_and_level),
      cmocka_unit_test(petsc_solves_as_our_triangular_solves_do),
      cmocka_unit_test(matrices_of_no_rows_and_of_one_go_through),
      cmocka_unit_test(matrices_go_to_petsc_and_back),
      cmocka_unit_test(a_mat_outlives_its_matrix),
      cmocka_unit_test(factored_mats_of_the_caller_are_read),
      cmocka_unit_test(factors_in_another_arrangement_are_refused),
      cmocka_unit_test(factors_that_cannot_be_checked_are_refused),
      cmocka_unit_test(a_factorisation_that_failed_is_refused),
      cmocka_unit_test(what_cannot_be_factored_is_refused_with_its_row),
      cmocka_unit_test(arguments_are_judged),
      cmocka_unit_test(errors_of_petsc_become_statuses_with_its_message),
      cmocka_unit_test(nothing_is_published_or_leaked_when_memory_runs_out),
      cmocka_unit_test(petsc_solves_with_the_iterations_of_our_gmres),
      cmocka_unit_test(petsc_stops_as_it_is_told),
      cmocka_unit_test(petsc_that_runs_is_left_alone),
  };
  bisai_context *starter = test_context(1);
  bisai_bcsr *matrix = test_bcsr_take(starter, test_bcsr_tridiagonal(3, 2, 4, -1));
  bisai_petsc_ilu *ilu = NULL;
  bool started = false;
  bool ok = bisai_petsc_ilu_create(starter, matrix, 0, &ilu) == BISAI_INVALID_ARGUMENT &&
            !ilu && /* PETSc does not run */
            !bisai_petsc_stop(starter) && test_petsc_start(starter);
  int failed = cmocka_run_group_tests(tests, setup, teardown);
  /* never twice */
  ok = ok && test_petsc_stop(starter) && bisai_petsc_start(starter, &started) == BISAI_UNAVAILABLE;
  if (!ok) print_error("starting or ending PETSc went wrong\n");
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&starter);
  return failed || !ok;
}
