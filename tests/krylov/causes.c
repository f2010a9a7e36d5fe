/* SPDX-License-Identifier: BSD-3-Clause */
/* What messages of failed solves say on the cause: constants that A maps to zero, parts of b that
 * no A x has, and parts of M that are not definite. */
#include <math.h>

#include "mesh.h"
#include "preconds.h"
#include "variants.h"

enum { METHODS = VARIANTS + 1 };

/* GMRES follows the variants of the others. */
static bisai_solver_options options_for(int method) {
  return method < VARIANTS ? options_of(method) : bisai_solver_options_default();
}

static void solve_in_vain(bisai_context *context, const bisai_solver_options *options,
                          const bisai_bcsr *a, bisai_precond *m, const double *b, double *x) {
  const bisai_status status = test_solve(context, options, a, m, b, x, NULL);
  if (status != BISAI_MAX_ITERATIONS && status != BISAI_STAGNATED && status != BISAI_BREAKDOWN)
    fail_msg("%s: %s", bisai_method_string(options->method), bisai_status_string(status));
}

static void expect_no_constants(bisai_context *context) {
  if (strstr(bisai_context_error(context), "constant"))
    fail_msg("%s", bisai_context_error(context));
}

/* All conductivities are inside: A 1 = 0, and A is symmetric. */
static void every_method_names_the_part_of_b_that_a_cannot_reach(void **state) {
  (void)state;
  enum { NX = 12, NY = 11 };
  const int kinds[] = {-1, BISAI_PRECOND_BJACOBI, BISAI_PRECOND_MULTIGRID};
  bisai_context *context = test_context(2);
  for (int bs = 1; bs <= 2; bs++) {
    const int n = bs * NX * NY;
    bisai_bcsr *a = test_bcsr_take(context, test_mesh_diffusion(NX, NY, bs, TEST_FREE, 0.0));
    double *b = test_random_vector(n, 7), *x = malloc((size_t)n * sizeof *x), sum = 0, norm = 0;
    for (int i = 0; i < n; i++) b[i] += 1;
    for (int i = 0; i < n; i++) sum += b[i], norm += b[i] * b[i];
    char part[160];
    snprintf(part, sizeof part,
             "; A maps constants to zero, and no A x has the constant part of b, %.1e of its norm: "
             "b without its mean may have a solution",
             sum / sqrt(n * norm));
    for (int method = 0; method < METHODS; method++) {
      for (int k = 0; k < 3; k++) {
        bisai_precond *m =
            kinds[k] < 0 ? NULL : test_precond(context, a, (bisai_precond_kind)kinds[k]);
        for (int processes = 0; processes < 5; processes += 4) {
          test_twins hook = {.processes = 4};
          bisai_solver_options options = options_for(method);
          if (processes) options.reduce = test_add_twins;
          options.reduce_user = &hook;
          options.max_iterations = 1000;
          solve_in_vain(context, &options, a, m, b, x);
          EXPECT_IN_MESSAGE(context, part);
          assert_true(test_all_finite(n, x));
        }
        bisai_precond_destroy(&m);
      }
    }
    free(b), free(x);
    bisai_bcsr_destroy(&a);
  }
  bisai_context_destroy(&context);
}

/* Columns of zero sum: A is singular, and no constant is in its null space. Its transpose maps
 * constants to zero. */
static void rows_and_columns_of_zero_sum_are_told_apart(void **state) {
  (void)state;
  const double columns[9] = {2, -1, -1, -1, 4, -3, -5, -1, 6}, b[3] = {1, 1, 1};
  double rows[9], x[3];
  bisai_context *context = test_context(1);
  for (int i = 0; i < 9; i++) rows[i] = columns[i / 3 + i % 3 * 3];
  dense_operator op = {.a = columns};
  bisai_solver_options options = bisai_solver_options_default();
  EXPECT_STATUS(context, BISAI_BREAKDOWN,
                test_solve_dense(context, &options, 3, &op, NULL, b, x, NULL));
  EXPECT_IN_MESSAGE(context, "; no A x has the constant part of b, 1.0e+00 of its norm: ");
  op = (dense_operator){.a = rows};
  EXPECT_STATUS(context, BISAI_BREAKDOWN,
                test_solve_dense(context, &options, 3, &op, NULL, b, x, NULL));
  EXPECT_IN_MESSAGE(
      context, "; A maps constants to zero: it is singular, and b may have a part that no A x has");
  bisai_context_destroy(&context);
}

/* b has a solution, but no computed residual is zero. */
static void a_singular_matrix_is_named_if_b_is_consistent(void **state) {
  (void)state;
  enum { N = 12 * 12 };
  bisai_context *context = test_context(1);
  bisai_bcsr *a = test_bcsr_take(context, test_mesh_diffusion(12, 12, 1, TEST_FREE, 0.0));
  double *y = test_random_vector(N, 3), b[N], x[N];
  EXPECT_OK(context, bisai_bcsr_multiply(a, y, b));
  bisai_solver_options options = bisai_solver_options_default();
  options.tolerance = 0;
  solve_in_vain(context, &options, a, NULL, b, x);
  EXPECT_IN_MESSAGE(context, "; A maps constants to zero: it is singular");
  free(y);
  bisai_bcsr_destroy(&a);
  bisai_context_destroy(&context);
}

/* Rows of the padding are rows of the identity. */
static void padding_does_not_hide_the_constants(void **state) {
  (void)state;
  enum { N = 7 };
  bisai_context *context = test_context(1);
  int32_t row_ptr[N + 1] = {0}, col_idx[3 * N];
  double values[3 * N], b[N + 1] = {0}, x[N + 1];
  int32_t p = 0;
  for (int32_t row = 0; row < N; row++) {
    for (int32_t column = row - 1; column <= row + 1; column++) {
      if (column < 0 || column == N) continue;
      col_idx[p] = column;
      values[p++] = column != row ? -1 : row == 0 || row == N - 1 ? 1 : 2;
    }
    row_ptr[row + 1] = p;
    b[row] = 1;
  }
  bisai_csr_desc desc = bisai_csr_desc_default();
  desc.rows = desc.cols = N;
  desc.row_ptr = row_ptr;
  desc.col_idx = col_idx;
  desc.values = values;
  desc.block_size = 2;
  desc.pad = true;
  bisai_bcsr *a = NULL;
  EXPECT_OK(context, bisai_bcsr_from_csr(context, &desc, &a));
  assert_int_equal(1, bisai_bcsr_padding(a));
  solve_in_vain(context, NULL, a, NULL, b, x);
  EXPECT_IN_MESSAGE(context, "no A x has the constant part of b, 1.0e+00 of its norm");
  bisai_bcsr_destroy(&a);
  bisai_context_destroy(&context);
}

/* The entries next to the boundary do not cancel. */
static void nothing_is_said_of_constants_that_a_sees(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  double b[POINTS], x[POINTS];
  for (int i = 0; i < POINTS; i++) b[i] = 1;
  for (int method = 0; method < METHODS; method++) {
    bisai_bcsr *a = system_for(context, method < VARIANTS ? method : 1);
    bisai_solver_options options = options_for(method);
    options.tolerance = 0;
    options.max_iterations = 200;
    solve_in_vain(context, &options, a, NULL, b, x);
    expect_no_constants(context);
    bisai_bcsr_destroy(&a);
  }
  bisai_context_destroy(&context);
}

/* I − C with a cyclic shift C, which GMRES(1) reduces slowly. Smoothers and inner solves take a few
 * iterations, and pay for no more products. */
static void short_solves_make_no_products_for_their_message(void **state) {
  (void)state;
  enum { N = 40, FEW = 99 };
  double a[N * N] = {0}, b[N] = {1}, x[N];
  for (int i = 0; i < N; i++) {
    a[i + N * i] = 1;
    a[(i + 1) % N + N * i] = -1;
  }
  bisai_context *context = test_context(1);
  int calls[2];
  for (int more = 0; more < 2; more++) {
    dense_operator op = {.a = a};
    bisai_solver_options options = bisai_solver_options_default();
    options.gmres.restart = 1;
    options.max_iterations = FEW + more;
    EXPECT_STATUS(context, BISAI_MAX_ITERATIONS,
                  test_solve_dense(context, &options, N, &op, NULL, b, x, NULL));
    calls[more] = op.calls;
    if (more) EXPECT_IN_MESSAGE(context, "no A x has the constant part of b, 1.6e-01 of its norm");
    if (!more) expect_no_constants(context);
  }
  /* a step and the residual after it, and two products for the message */
  assert_int_equal(2 * FEW, calls[0]);
  assert_int_equal(2 * (FEW + 1) + 2, calls[1]);
  bisai_context_destroy(&context);
}

/* --- x --- */

/* Complete factors of a chain whose condition grows with the square of its length. */
static void a_tolerance_below_the_digits_of_x_is_named(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  for (int bs = 1; bs <= 2; bs++) {
    const int blocks = 20000, n = bs * blocks;
    bisai_bcsr *a = test_bcsr_take(context, test_bcsr_tridiagonal(blocks, bs, 2, -1));
    bisai_precond *m = test_precond(context, a, BISAI_PRECOND_LU);
    double *b = test_random_vector(n, 7), *x = malloc((size_t)n * sizeof *x);
    bisai_solver_options options = bisai_solver_options_default();
    for (int i = 0; i < n; i++) b[i] += 1;
    options.tolerance = 1e-14;
    EXPECT_STATUS(context, BISAI_STAGNATED, test_solve(context, &options, a, m, b, x, NULL));
    EXPECT_IN_MESSAGE(context, "; rounding the entries of x alone changes A x by ");
    EXPECT_IN_MESSAGE(context, "e-09 of b: double precision holds no better x of this size");
    free(b), free(x);
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&a);
  }
  bisai_context_destroy(&context);
}

/* --- M --- */

/* ILU(0) leaves out the entries (1, 3) and (3, 1), and the last pivot is negative (Kershaw 1978).
 * Jacobi with a damping of 1.9 amplifies most errors. D⁻¹A of the last matrix has an eigenvalue of
 * 2.8, whose error a sweep multiplies by −1.8. */
static void cg_says_what_of_the_preconditioner_is_not_definite(void **state) {
  (void)state;
  const struct {
    bisai_precond_kind kind;
    const char *part;
  } cases[] = {{BISAI_PRECOND_ILU, "; its factors are not definite, although the matrix may be: "
                                   "bjacobi and mg:smoother=l1 are definite then"},
               {BISAI_PRECOND_MULTIGRID, "; if the matrix is definite, the smoother jacobi is to "
                                         "blame: mg:smoother=l1 is definite then"},
               {BISAI_PRECOND_BJACOBI, "; an odd number of sweeps that diverge is not definite: "
                                       "take an even relax or a smaller damping"}};
  bisai_context *context = test_context(1);
  for (int k = 0; k < 3; k++) {
    int32_t row_ptr[] = {0, 3, 6, 9, 12}, col_idx[] = {0, 1, 3, 0, 1, 2, 1, 2, 3, 0, 2, 3};
    double kershaw[] = {3, -2, 2, -2, 3, -2, -2, 3, -2, 2, -2, 3};
    int32_t full_ptr[] = {0, 3, 6, 9}, full_idx[] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
    double full[] = {1, 0.9, 0.9, 0.9, 1, 0.9, 0.9, 0.9, 1};
    const int kind = cases[k].kind;
    bisai_bcsr *a =
        kind == BISAI_PRECOND_ILU
            ? test_bcsr_make(context, &(test_bcsr){4, 4, 1, row_ptr, col_idx, kershaw})
        : kind == BISAI_PRECOND_BJACOBI
            ? test_bcsr_make(context, &(test_bcsr){3, 3, 1, full_ptr, full_idx, full})
            : test_bcsr_take(context, test_mesh_diffusion(20, 20, 1, TEST_ZERO_OUTSIDE, 0.0));
    const int64_t n = bisai_bcsr_rows(a);
    bisai_precond_options o = bisai_precond_options_default();
    o.kind = cases[k].kind;
    if (kind == BISAI_PRECOND_BJACOBI) o.bjacobi.relax = 1;
    if (kind == BISAI_PRECOND_MULTIGRID) {
      o.multigrid.smoother = BISAI_SMOOTHER_JACOBI;
      o.multigrid.damping = 1.9;
      o.multigrid.coarsest = 20;
    }
    bisai_precond *m = test_precond_with(context, a, &o);
    double *b = test_random_vector(n, 5), *x = malloc((size_t)n * sizeof *x);
    const bisai_solver_options options = options_of(0);
    bisai_solver_report report = test_report();
    EXPECT_STATUS(context, BISAI_BREAKDOWN, test_solve(context, &options, a, m, b, x, &report));
    assert_int_equal(BISAI_BREAKDOWN_PRECOND, report.breakdown);
    EXPECT_IN_MESSAGE(context, cases[k].part);
    bisai_precond_destroy(&m);
    /* what the message offers */
    o = bisai_precond_options_default();
    o.kind = kind == BISAI_PRECOND_BJACOBI ? BISAI_PRECOND_BJACOBI : BISAI_PRECOND_MULTIGRID;
    o.bjacobi.relax = kind == BISAI_PRECOND_BJACOBI ? 2 : 0;
    if (kind != BISAI_PRECOND_BJACOBI) o.multigrid.smoother = BISAI_SMOOTHER_L1;
    m = test_precond_with(context, a, &o);
    EXPECT_OK(context, test_solve(context, &options, a, m, b, x, &report));
    bisai_precond_destroy(&m);
    free(b), free(x);
    bisai_bcsr_destroy(&a);
  }
  bisai_context_destroy(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_method_names_the_part_of_b_that_a_cannot_reach),
      cmocka_unit_test(rows_and_columns_of_zero_sum_are_told_apart),
      cmocka_unit_test(a_singular_matrix_is_named_if_b_is_consistent),
      cmocka_unit_test(padding_does_not_hide_the_constants),
      cmocka_unit_test(nothing_is_said_of_constants_that_a_sees),
      cmocka_unit_test(short_solves_make_no_products_for_their_message),
      cmocka_unit_test(a_tolerance_below_the_digits_of_x_is_named),
      cmocka_unit_test(cg_says_what_of_the_preconditioner_is_not_definite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
