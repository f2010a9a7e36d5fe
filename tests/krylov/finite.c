/* SPDX-License-Identifier: BSD-3-Clause */
/* What holds for every method whatever it is given: x is finite, nothing is called converged that
 * is not, a reported residual is the true one, and a failed solve leaves nothing behind in the
 * solver. */
#include <math.h>
#include <pthread.h>
#include <time.h>

#include "systems.h"

static const struct variant {
  bisai_method method;
  int s;
  bisai_side side;
  bool flexible;
} variants[] = {{.method = BISAI_GMRES, .s = 4},
                {.method = BISAI_GMRES, .s = 4, .side = BISAI_LEFT},
                {.method = BISAI_GMRES, .s = 4, .flexible = true},
                {.method = BISAI_CG, .s = 4},
                {.method = BISAI_CG, .s = 4, .flexible = true},
                {.method = BISAI_BICGSTAB, .s = 4},
                {.method = BISAI_IDR, .s = 1},
                {.method = BISAI_IDR, .s = 4}};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

static bisai_solver_options options_of(int v) {
  bisai_solver_options options = bisai_solver_options_default();
  options.method = variants[v].method;
  options.cg.assume_symmetric = true; /* the systems of these tests are not */
  options.idr.shadow_dimension = variants[v].s;
  options.gmres.side = variants[v].side;
  options.gmres.flexible = variants[v].method == BISAI_GMRES && variants[v].flexible;
  options.cg.flexible = variants[v].method == BISAI_CG && variants[v].flexible;
  return options;
}

/* (1 .; 1 .): nothing of b − A x depends on x(1), and only b with two equal entries is in reach. */
static bisai_bcsr *second_column_empty(bisai_context *context) {
  return test_bcsr_make(
      context, &(test_bcsr){2, 2, 1, (int32_t[]){0, 1, 2}, (int32_t[]){0, 0}, (double[]){1, 1}});
}

static bisai_bcsr *diagonal_matrix(bisai_context *context, int32_t n, const double *values) {
  return test_bcsr_take(context, test_bcsr_diagonal(n, values));
}

/* 4 on the diagonal and −1 beside it, times `size`. */
static bisai_bcsr *tridiagonal(bisai_context *context, int32_t n, double size) {
  return test_bcsr_take(context, test_bcsr_tridiagonal(n, 1, 4 * size, -size));
}

/* ‖b − A x‖/‖b‖ of that matrix, b and x multiplied by `unit`, a power of two that makes them large
 * enough for it. */
static double tridiagonal_residual(int n, double size, const double *b, const double *x,
                                   double unit) {
  double rr = 0, bb = 0;
  for (int i = 0; i < n; i++) {
    double r = b[i] * unit - 4 * size * (x[i] * unit);
    if (i > 0) r += size * (x[i - 1] * unit);
    if (i + 1 < n) r += size * (x[i + 1] * unit);
    rr += r * r;
    bb += b[i] * unit * (b[i] * unit);
  }
  return sqrt(rr / bb);
}

/* --- x is finite --- */

/* M⁻¹ makes x(1) as much larger than x(0) as no double is. The first residual of any x(0) = b(0) is
 * zero. */
static void an_infinite_x_is_never_called_converged(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = second_column_empty(context);
  const struct {
    double b[2], scale[2];
  } cases[] = {{{1e307, 1e307}, {1, 100}}, {{1e3, 1e3}, {1, 1e307}}, {{1e306, -2e306}, {1, 1e5}}};
  for (int k = 0; k < 3; k++) {
    for (int v = 0; v < VARIANTS; v++) {
      diagonal_operator op = {.scale = cases[k].scale};
      bisai_precond *precond =
          test_precond_callback(context, matrix, diagonal_operator_multiply, &op);
      const bisai_solver_options options = options_of(v);
      double x[2] = {NAN, NAN};
      bisai_solver_report report = test_report();
      const bisai_status status =
          test_solve(context, &options, matrix, precond, cases[k].b, x, &report);
      /* In the last case rounding decides which failure is met first. */
      assert_true(k == 2 ? status != BISAI_OK : status == BISAI_NOT_FINITE);
      EXPECT_IN_MESSAGE(context, "; block column 1 is empty: the matrix is singular");
      assert_true(test_all_finite(2, x));
      EXPECT_NEAR(1, report.relative_residual, 0); /* of x = 0: every other x was infinite */
      EXPECT_NEAR(0, test_norm2(2, x), 0);
      bisai_precond_destroy(&precond);
    }
  }
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

static void an_infinite_entry_of_x_is_named(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = second_column_empty(context);
  const double b[2] = {1e307, 1e307}, scale[2] = {1, 100};
  double x[2];
  diagonal_operator op = {.scale = scale};
  bisai_precond *precond = test_precond_callback(context, matrix, diagonal_operator_multiply, &op);
  EXPECT_STATUS(context, BISAI_NOT_FINITE, test_solve(context, NULL, matrix, precond, b, x, NULL));
  EXPECT_MESSAGE(
      context,
      "NaN or infinity in entry 1 of x after iteration 1; block column 1 is empty: the matrix is "
      "singular");
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* 2⁻⁶⁰⁰ x = 2⁶⁰⁰: the solution itself is beyond the range. */
static void a_solution_beyond_the_range_is_refused(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  double values[3] = {1, 0x1p-600, 1};
  const double b[3] = {1, 0x1p600, 1};
  bisai_bcsr *matrix = diagonal_matrix(context, 3, values);
  bisai_precond *exact = test_precond(context, matrix, BISAI_PRECOND_BJACOBI);
  for (int v = 0; v < VARIANTS; v++) {
    const bisai_solver_options options = options_of(v);
    double x[3];
    EXPECT_STATUS(context, BISAI_NOT_FINITE,
                  test_solve(context, &options, matrix, exact, b, x, NULL));
    assert_true(test_all_finite(3, x));
  }
  bisai_precond_destroy(&exact);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

static void a_solution_whose_square_is_beyond_the_range_is_found(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  double values[3] = {1, 0x1p-400, 1};
  const double b[3] = {1, 0x1p600, 1};
  bisai_bcsr *matrix = diagonal_matrix(context, 3, values);
  bisai_precond *exact = test_precond(context, matrix, BISAI_PRECOND_BJACOBI);
  for (int v = 0; v < VARIANTS; v++) {
    const bisai_solver_options options = options_of(v);
    double x[3];
    EXPECT_OK(context, test_solve(context, &options, matrix, exact, b, x, NULL));
    EXPECT_NEAR(1, x[1] / 0x1p1000, 1e-14);
  }
  bisai_precond_destroy(&exact);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* The guess is the best finite x here, and stays to the bit. */
static void a_failure_leaves_a_finite_initial_guess(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = second_column_empty(context);
  const double b[2] = {1e307, 1e307}, scale[2] = {1, 1000}, guess[2] = {4e306, 7};
  for (int v = 0; v < VARIANTS; v++) {
    diagonal_operator op = {.scale = scale};
    bisai_precond *precond =
        test_precond_callback(context, matrix, diagonal_operator_multiply, &op);
    bisai_solver_options options = options_of(v);
    options.use_initial_guess = true;
    double x[2];
    memcpy(x, guess, sizeof x);
    EXPECT_STATUS(context, BISAI_NOT_FINITE,
                  test_solve(context, &options, matrix, precond, b, x, NULL));
    assert_memory_equal(guess, x, sizeof x);
    bisai_precond_destroy(&precond);
  }
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* With x(0) = 1 the residual is zero, and does not see x(1). */
static void an_initial_guess_that_is_not_finite_is_refused_by_its_entry(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = second_column_empty(context);
  const double b[2] = {1, 1}, bad[] = {NAN, INFINITY, -INFINITY};
  for (int v = 0; v < VARIANTS; v++) {
    for (int k = 0; k < 6; k++) {
      bisai_solver_options options = options_of(v);
      options.use_initial_guess = true;
      double x[2] = {k / 3, bad[k % 3]};
      bisai_solver_report report = test_report();
      EXPECT_STATUS(context, BISAI_NOT_FINITE,
                    test_solve(context, &options, matrix, NULL, b, x, &report));
      EXPECT_MESSAGE(context, "NaN or infinity in entry 1 of the initial guess");
      assert_int_equal(BISAI_REASON_NOT_FINITE, report.reason);
      assert_int_equal(0, report.iterations);
    }
  }
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

static void a_failure_names_the_empty_row_or_column_of_a(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  int32_t row_ptr[] = {0, 2, 2, 3}, col_idx[] = {0, 1, 2};
  double values[] = {2, 1, 3};
  bisai_bcsr *row = test_bcsr_make(context, &(test_bcsr){3, 3, 1, row_ptr, col_idx, values});
  bisai_bcsr *column = second_column_empty(context);
  const double b[3] = {1, 2, 3};
  for (int v = 0; v < VARIANTS; v++) {
    const bisai_solver_options options = options_of(v);
    double x[3];
    assert_true(test_solve(context, &options, row, NULL, b, x, NULL) != BISAI_OK);
    EXPECT_IN_MESSAGE(context, "; block row 1 is empty: the matrix is singular");
    assert_true(test_solve(context, &options, column, NULL, b, x, NULL) != BISAI_OK);
    EXPECT_IN_MESSAGE(context, "; block column 1 is empty: the matrix is singular");
  }
  bisai_bcsr_destroy(&row);
  bisai_bcsr_destroy(&column);
  bisai_context_destroy(&context);
}

/* --- converged means progress --- */

static void a_zero_matrix_converges_at_no_tolerance(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  double zero[4] = {0};
  const double b[4] = {1, 2, 0, 1}, tolerances[] = {0.1, 0.5, 0.7, 0.9, 0.99, 1 - 0x1p-53};
  bisai_bcsr *matrix = diagonal_matrix(context, 4, zero);
  for (int v = 0; v < VARIANTS; v++) {
    for (int k = 0; k < 6; k++) {
      for (int guess = 0; guess < 2; guess++) {
        bisai_solver_options options = options_of(v);
        options.tolerance = tolerances[k];
        options.use_initial_guess = guess;
        double x[4] = {3, 4, 5, 6};
        bisai_solver_report report = test_report();
        assert_true(test_solve(context, &options, matrix, NULL, b, x, &report) != BISAI_OK);
        EXPECT_NEAR(1, report.relative_residual, 0);
      }
    }
  }
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* Of an inconsistent system, from x = 0 and from a guess: what converges has a residual below the
 * first one and below (1 + tolerance)/2. */
static void what_converges_has_a_smaller_residual_than_at_the_start(void **state) {
  (void)state;
  enum { N = 12, TOLERANCES = 7 };
  bisai_context *context = test_context(1);
  const double tolerances[TOLERANCES] = {0.2, 0.34, 0.5, 0.6, 0.75, 0.9, 0.99};
  int converged = 0, failed = 0;
  for (int seed = 1; seed <= 10; seed++) {
    double *a = test_random_vector(N * N, (uint64_t)seed),
           *b = test_random_vector(N, (uint64_t)(seed + 100));
    double *guess = test_random_vector(N, (uint64_t)(seed + 200));
    for (int i = 0; i < N; i++) { /* a row of zeros, of nearly no symmetry */
      a[5 + i * N] = 0;
      guess[i] *= seed % 2 ? 0.1 : 1;
    }
    for (int v = 0; v < VARIANTS; v++) {
      for (int k = 0; k < 2 * TOLERANCES; k++) {
        const double tolerance = tolerances[k / 2];
        dense_operator op = {.a = a};
        bisai_solver_options options = options_of(v);
        options.tolerance = tolerance;
        options.use_initial_guess = k % 2;
        double x[N] = {0};
        if (k % 2) memcpy(x, guess, sizeof x);
        const double unit = b[0] / test_norm2(N, b),
                     first = fabs(unit) * test_dense_residual(N, a, b, x);
        bisai_solver_report report = test_report();
        const bisai_status status =
            test_solve_dense(context, &options, N, &op, NULL, b, x, &report);
        /* Rounding errors of A x are relative to x, which may be large where A is singular. */
        EXPECT_NEAR(fabs(unit) * test_dense_residual(N, a, b, x), report.relative_residual,
                    1e-14 * (1 + test_norm2(N, x)));
        if (status) {
          failed++;
          continue;
        }
        converged++;
        assert_true(report.relative_residual <= fmin(2 * tolerance, (1 + tolerance) / 2));
        assert_true(report.iterations == 0 ? report.relative_residual <= tolerance
                                           : report.relative_residual < first);
      }
    }
    free(a);
    free(b);
    free(guess);
  }
  assert_true(converged > 100 && failed > 100);
  bisai_context_destroy(&context);
}

static void an_initial_guess_within_the_tolerance_is_taken_as_it_is(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  double values[2] = {1, 2};
  const double b[2] = {3, 4}, guess[2] = {3, 1}; /* a residual of 2, where ‖b‖ is 5 */
  bisai_bcsr *matrix = diagonal_matrix(context, 2, values);
  for (int v = 0; v < VARIANTS; v++) {
    bisai_solver_options options = options_of(v);
    options.use_initial_guess = true;
    options.tolerance = 0.4;
    double x[2];
    memcpy(x, guess, sizeof x);
    bisai_solver_report report = test_report();
    EXPECT_OK(context, test_solve(context, &options, matrix, NULL, b, x, &report));
    assert_int_equal(0, report.iterations);
    assert_memory_equal(guess, x, sizeof x);
    EXPECT_NEAR(0.4, report.relative_residual, 1e-15);
  }
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* --- sizes --- */

/* x has few digits where b is denormal: most of these solves cannot succeed, and none may claim
 * that it did. */
static void residuals_of_denormal_right_hand_sides_are_true(void **state) {
  (void)state;
  enum { N = 20, SIZES = 8 };
  bisai_context *context = test_context(1);
  const double sizes[SIZES] = {1e-300, 1e-305, 1e-310, 1e-314, 1e-318, 1e-321, 1e-322, 0x1p-1074};
  bisai_bcsr *matrix = tridiagonal(context, N, 0.3);
  bisai_precond *precond = test_precond(context, matrix, BISAI_PRECOND_ILU);
  for (int v = 0; v < VARIANTS; v++) {
    for (int k = 0; k < 2 * SIZES; k++) {
      const bisai_solver_options options = options_of(v);
      double b[N], x[N];
      for (int i = 0; i < N; i++) b[i] = sizes[k / 2] * (1 + i % 3);
      bisai_solver_report report = test_report();
      const bisai_status status =
          test_solve(context, &options, matrix, k % 2 ? precond : NULL, b, x, &report);
      EXPECT_NEAR(tridiagonal_residual(N, 0.3, b, x, 0x1p900), report.relative_residual, 1e-15);
      assert_true(!status ? report.relative_residual <= 2e-8 : report.relative_residual > 1e-8);
      if (k / 2 < 3) assert_int_equal(BISAI_OK, status); /* 43 bits are enough */
    }
  }
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* Without a preconditioner squares of A r vanish at once, or where few steps make r small. */
static void matrices_of_any_size_are_solved_without_a_preconditioner(void **state) {
  (void)state;
  enum { N = 20 };
  bisai_context *context = test_context(1);
  for (int exponent = -305; exponent <= 300; exponent += 5) {
    const double size = pow(10, exponent);
    double values[3] = {size, 2 * size, 3 * size};
    bisai_bcsr *small = diagonal_matrix(context, 3, values), *large = tridiagonal(context, N, size);
    double b[N], x[N];
    for (int i = 0; i < N; i++) b[i] = 1 + i % 3;
    for (int v = 0; v < VARIANTS; v++) {
      const bisai_solver_options options = options_of(v);
      EXPECT_OK(context, test_solve(context, &options, small, NULL, b, x, NULL));
      for (int i = 0; i < 3; i++) EXPECT_NEAR(b[i], values[i] * x[i], 1e-7);
      EXPECT_OK(context, test_solve(context, &options, large, NULL, b, x, NULL));
      for (int i = 0; i < N; i++) x[i] *= size;
      assert_true(tridiagonal_residual(N, 1, b, x, 1) <= 2.1e-8);
    }
    bisai_bcsr_destroy(&small);
    bisai_bcsr_destroy(&large);
  }
  bisai_context_destroy(&context);
}

/* --- sums over processes --- */

/* Succeeds always, but spoils the sums of one call. */
typedef struct bad_sum {
  int calls, bad_at;
  double value;
} bad_sum;

static bisai_status add_badly(void *user, double *values, int count) {
  test_synchronize();
  bad_sum *hook = user;
  hook->calls++;
  for (int i = 0; i < count && hook->calls == hook->bad_at; i++) values[i] = hook->value;
  return BISAI_OK;
}

static void a_sum_that_is_not_finite_does_not_outlast_its_solve(void **state) {
  (void)state;
  enum { N = 50 };
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = tridiagonal(context, N, 1);
  const double bad[] = {NAN, INFINITY, -INFINITY};
  double b[N], x[N], expected[N];
  for (int i = 0; i < N; i++) b[i] = 1 + i % 5;
  for (int v = 0; v < VARIANTS; v++) {
    bad_sum hook = {0};
    bisai_solver_options options = options_of(v);
    options.reduce = add_badly;
    options.reduce_user = &hook;
    EXPECT_OK(context, test_solve(context, &options, matrix, NULL, b, expected, NULL));
    const int calls = hook.calls;
    for (int k = 0; k < 3; k++) {
      for (int call = 1; call <= calls; call++) {
        bisai_solver *solver = NULL;
        EXPECT_OK(context, bisai_solver_create(context, N, &options, &solver));
        hook = (bad_sum){.bad_at = call, .value = bad[k]};
        bisai_solver_report report = test_report();
        const bisai_status status = bisai_solver_solve(solver, matrix, NULL, b, x, &report);
        assert_true(test_all_finite(N, x));
        assert_true(status || tridiagonal_residual(N, 1, b, x, 1) <= 2e-8);
        hook = (bad_sum){0};
        EXPECT_OK(context, bisai_solver_solve(solver, matrix, NULL, b, x, NULL));
        assert_memory_equal(expected, x, sizeof x);
        bisai_solver_destroy(&solver);
      }
    }
  }
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* Two processes, each a thread with a context of its own, that meet at every sum. One that waits
 * for the other for too long fails. */
typedef struct meeting {
  pthread_mutex_t lock;
  pthread_cond_t met;
  int arrived, rounds, count;
  double sums[64], results[64];
  /* they came with different counts, or one did not come */
  bool apart;
} meeting;

typedef struct process {
  pthread_t thread;
  meeting *place;
  bisai_context *context;
  bisai_bcsr *matrix;
  bisai_precond *precond;
  bisai_solver_options options;
  double b[2], x[2];
  bisai_status status;
  bisai_solver_report report;
} process;

static bisai_status add_both(void *user, double *values, int count) {
  test_synchronize();
  meeting *m = user;
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 60;
  pthread_mutex_lock(&m->lock);
  const int round = m->rounds;
  if (m->arrived++ == 0) {
    m->count = count;
    memcpy(m->sums, values, (size_t)count * sizeof *values);
    while (m->rounds == round && !m->apart)
      if (pthread_cond_timedwait(&m->met, &m->lock, &limit)) m->apart = true;
  } else {
    m->apart = m->apart || m->count != count;
    for (int i = 0; i < count && !m->apart; i++) m->results[i] = m->sums[i] + values[i];
    m->arrived = 0;
    m->rounds++;
    pthread_cond_signal(&m->met);
  }
  if (!m->apart) memcpy(values, m->results, (size_t)count * sizeof *values);
  const bisai_status status = m->apart ? BISAI_UNAVAILABLE : BISAI_OK;
  pthread_mutex_unlock(&m->lock);
  return status;
}

static void *solve_as_one_of_two(void *user) {
  process *p = user;
  bisai_solver *solver = NULL;
  p->report = test_report();
  p->status = bisai_solver_create(p->context, 2, &p->options, &solver);
  if (!p->status)
    p->status = bisai_solver_solve(solver, p->matrix, p->precond, p->b, p->x, &p->report);
  bisai_solver_destroy(&solver);
  return NULL;
}

/* The second process has an empty column, whose x is infinite, or no number in the initial
 * guess. */
static void processes_agree_about_an_x_that_one_of_them_has(void **state) {
  (void)state;
  double values[2] = {1, 1};
  const double scales[2][2] = {{1, 1}, {1, 1000}};
  for (int v = 0; v < VARIANTS; v++) {
    for (int guess = 0; guess < 2; guess++) {
      meeting place = {.lock = PTHREAD_MUTEX_INITIALIZER, .met = PTHREAD_COND_INITIALIZER};
      diagonal_operator ops[2] = {{.scale = scales[0]}, {.scale = scales[1]}};
      process both[2];
      for (int k = 0; k < 2; k++) {
        process *p = &both[k];
        *p = (process){.place = &place,
                       .context = test_context(1),
                       .b = {1e307, 1e307},
                       .x = {0, guess && k ? NAN : 0}};
        p->matrix = k ? second_column_empty(p->context) : diagonal_matrix(p->context, 2, values);
        p->precond =
            test_precond_callback(p->context, p->matrix, diagonal_operator_multiply, &ops[k]);
        p->options = options_of(v);
        p->options.use_initial_guess = guess;
        p->options.reduce = add_both;
        p->options.reduce_user = &place;
      }
      for (int k = 0; k < 2; k++)
        assert_int_equal(0, pthread_create(&both[k].thread, NULL, solve_as_one_of_two, &both[k]));
      for (int k = 0; k < 2; k++) assert_int_equal(0, pthread_join(both[k].thread, NULL));
      assert_false(place.apart);
      for (int k = 0; k < 2; k++) {
        process *p = &both[k];
        assert_int_equal(BISAI_NOT_FINITE, p->status);
        assert_int_equal(both[0].report.iterations, p->report.iterations);
        if (guess)
          EXPECT_MESSAGE(p->context,
                         k ? "NaN or infinity in entry 1 of the initial guess"
                           : "NaN or infinity in another process's part of the initial guess");
        else
          assert_true(test_norm2(2, p->x) == 0);
        bisai_precond_destroy(&p->precond);
        bisai_bcsr_destroy(&p->matrix);
        bisai_context_destroy(&p->context);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_infinite_x_is_never_called_converged),
      cmocka_unit_test(an_infinite_entry_of_x_is_named),
      cmocka_unit_test(a_solution_beyond_the_range_is_refused),
      cmocka_unit_test(a_solution_whose_square_is_beyond_the_range_is_found),
      cmocka_unit_test(a_failure_leaves_a_finite_initial_guess),
      cmocka_unit_test(an_initial_guess_that_is_not_finite_is_refused_by_its_entry),
      cmocka_unit_test(a_failure_names_the_empty_row_or_column_of_a),
      cmocka_unit_test(a_zero_matrix_converges_at_no_tolerance),
      cmocka_unit_test(what_converges_has_a_smaller_residual_than_at_the_start),
      cmocka_unit_test(an_initial_guess_within_the_tolerance_is_taken_as_it_is),
      cmocka_unit_test(residuals_of_denormal_right_hand_sides_are_true),
      cmocka_unit_test(matrices_of_any_size_are_solved_without_a_preconditioner),
      cmocka_unit_test(a_sum_that_is_not_finite_does_not_outlast_its_solve),
      cmocka_unit_test(processes_agree_about_an_x_that_one_of_them_has),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
