/* SPDX-License-Identifier: BSD-3-Clause */
/* A system that is large enough for all the loops of a set-up, an update and a solve to be shared
 * out: the same bits on any number of threads, whoever else wants the processors. */
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

#include "core/matrix/triangular.h"
#include "factor/factor_impl.h"

enum { EDGE = 110, BLOCK_SIZE = 4, N = EDGE * EDGE * BLOCK_SIZE };

/* What comes out: vectors side by side, and counts. */
typedef struct results {
  double *vectors;
  int iterations;
  bisai_precond_report report;
} results;

enum { SOLVE_SERIAL, SOLVE_LEVELS, ISAI, SWEEPS, JACOBI, SOLUTION, VECTORS };

static void apply(bisai_context *c, const bisai_bcsr *a, const bisai_precond_options *o,
                  const double *v, double *z, bisai_precond_report *report) {
  bisai_precond *precond = NULL;
  EXPECT_OK(c, bisai_precond_create(c, a, o, &precond));
  EXPECT_OK(c, bisai_precond_update(precond, a));
  EXPECT_OK(c, bisai_precond_apply(precond, v, z));
  *report = test_report_of(c, precond);
  bisai_precond_destroy(&precond);
}

static results compute(int threads) {
  results r = {.vectors = malloc(VECTORS * N * sizeof(double))};
  assert_non_null(r.vectors);
  bisai_context *c = test_host_context(threads);
  bisai_bcsr *a = test_bcsr_take(c, test_bcsr_grid(EDGE, EDGE, BLOCK_SIZE, 3));
  double *v = test_random_vector(N, 4);
  bisai_factors *factors = NULL;
  EXPECT_OK(c, bisai_factors_create(c, a, NULL, &factors));
  EXPECT_OK(c,
            bisai_factors_solve(factors, BISAI_SCHEDULE_SERIAL, v, r.vectors + SOLVE_SERIAL * N));
  EXPECT_OK(c,
            bisai_factors_solve(factors, BISAI_SCHEDULE_LEVELS, v, r.vectors + SOLVE_LEVELS * N));
  bisai_factors_destroy(&factors);

  bisai_precond_report report;
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_ISAI;
  o.isai.power = 2;
  o.factor.equilibrate = true;
  apply(c, a, &o, v, r.vectors + ISAI * N, &r.report);
  o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_SWEEPS;
  apply(c, a, &o, v, r.vectors + SWEEPS * N, &report);
  o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_BJACOBI;
  o.bjacobi.max_block = 12;
  apply(c, a, &o, v, r.vectors + JACOBI * N, &report);

  bisai_precond *precond = NULL;
  bisai_solver *solver = NULL;
  bisai_solver_report solve = {.struct_size = sizeof solve};
  EXPECT_OK(c, bisai_precond_create(c, a, NULL, &precond));
  EXPECT_OK(c, bisai_solver_create(c, N, NULL, &solver));
  memset(r.vectors + SOLUTION * N, 0, N * sizeof(double));
  EXPECT_OK(c, bisai_solver_solve(solver, a, precond, v, r.vectors + SOLUTION * N, &solve));
  r.iterations = solve.iterations;
  bisai_solver_destroy(&solver);
  bisai_precond_destroy(&precond);
  free(v);
  bisai_bcsr_destroy(&a);
  bisai_context_destroy(&c);
  return r;
}

static void expect_same(const results *expected, int threads) {
  results r = compute(threads);
  for (int v = 0; v < VECTORS; v++)
    assert_memory_equal(expected->vectors + (size_t)v * N, r.vectors + (size_t)v * N,
                        N * sizeof(double));
  assert_int_equal(expected->iterations, r.iterations);
  assert_true(expected->report.largest_condition == r.report.largest_condition);
  assert_int_equal(expected->report.isai.blocks, r.report.isai.blocks);
  free(r.vectors);
}

static void levels_of_the_system_are_wide_enough_to_be_shared_out(void **state) {
  (void)state;
  bisai_context *c = test_host_context(1);
  bisai_bcsr *a = test_bcsr_take(c, test_bcsr_grid(EDGE, EDGE, BLOCK_SIZE, 3));
  bsi_levels levels = {0};
  EXPECT_OK(c, bsi_levels_create(c, BISAI_LOWER, a->block_rows, a->row_ptr, a->col_idx, &levels));
  assert_int_equal(levels.count, 2 * EDGE - 1);
  assert_int_equal(bsi_level_threads(&levels, 0, 8, bsi_bcsr_product_bytes(a)), 1);
  assert_in_range(bsi_level_threads(&levels, EDGE, 8, bsi_bcsr_product_bytes(a)), 3, 8);
  bsi_levels_destroy(c, &levels);
  bisai_bcsr_destroy(&a);
  bisai_context_destroy(&c);
}

static void bits_do_not_depend_on_the_number_of_threads(void **state) {
  (void)state;
  results one = compute(1);
  assert_memory_equal(one.vectors + SOLVE_SERIAL * N, one.vectors + SOLVE_LEVELS * N,
                      N * sizeof(double));
  static const int numbers[] = {2, 4, 8, 21};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) expect_same(&one, numbers[i]);
  free(one.vectors);
}

static void *keep_busy(void *stop) {
  while (!atomic_load((atomic_bool *)stop)) continue;
  return NULL;
}

static void bits_do_not_depend_on_what_else_runs(void **state) {
  (void)state;
  results one = compute(1);
  atomic_bool stop = false;
  pthread_t others[6];
  for (int i = 0; i < 6; i++)
    assert_int_equal(pthread_create(&others[i], NULL, keep_busy, &stop), 0);
  expect_same(&one, 8);
  atomic_store(&stop, true);
  for (int i = 0; i < 6; i++) pthread_join(others[i], NULL);
  free(one.vectors);
}

/* One of the threads that share a matrix: it has a context, a preconditioner and a solver of its
 * own. */
typedef struct sharer {
  const bisai_bcsr *matrix;
  bisai_method method;
  const double *b;
  double *x;
  bisai_status status;
} sharer;

static void *solve_shared(void *user) {
  sharer *s = user;
  bisai_context *c = NULL;
  bisai_precond *precond = NULL;
  bisai_solver *solver = NULL;
  bisai_context_options options = bisai_context_options_default();
  bisai_solver_options how = bisai_solver_options_default();
  bisai_precond_options kind = bisai_precond_options_default();
  options.backend = BISAI_BACKEND_HOST;
  options.threads = 2;
  how.method = s->method;
  kind.kind = BISAI_PRECOND_BJACOBI;
  s->status = bisai_context_create(&options, &c);
  if (!s->status) s->status = bisai_precond_create(c, s->matrix, &kind, &precond);
  if (!s->status) s->status = bisai_solver_create(c, N, &how, &solver);
  for (int i = 0; i < 3 && !s->status; i++)
    s->status = bisai_solver_solve(solver, s->matrix, precond, s->b, s->x, NULL);
  bisai_solver_destroy(&solver);
  bisai_precond_destroy(&precond);
  bisai_context_destroy(&c);
  return NULL;
}

/* The matrix's own context has threads, too, which no solve may use. A solve that waits for another
 * for ever ends by the test's timeout. */
static void threads_may_share_a_matrix_each_with_its_own_context(void **state) {
  (void)state;
  enum { SHARERS = 4 };
  bisai_context *owner = test_host_context(4);
  bisai_bcsr *a =
      test_bcsr_take(owner, test_bcsr_tridiagonal(N / BLOCK_SIZE, BLOCK_SIZE, 4.0, -1.0));
  double *b = test_random_vector(N, 5), *x = calloc(2 * SHARERS * N, sizeof *x);
  assert_non_null(x);
  static const bisai_method methods[] = {BISAI_CG, BISAI_GMRES};
  for (int m = 0; m < 2; m++) {
    sharer sharers[SHARERS];
    pthread_t threads[SHARERS];
    for (int i = 0; i < SHARERS; i++) {
      sharers[i] = (sharer){a, methods[m], b, x + (size_t)(m * SHARERS + i) * N, BISAI_OK};
      assert_int_equal(pthread_create(&threads[i], NULL, solve_shared, &sharers[i]), 0);
    }
    for (int i = 0; i < SHARERS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < SHARERS; i++) {
      assert_int_equal(sharers[i].status, BISAI_OK);
      assert_memory_equal(sharers[i].x, sharers[0].x, N * sizeof(double));
    }
  }
  free(x);
  free(b);
  bisai_bcsr_destroy(&a);
  bisai_context_destroy(&owner);
}

/* Blocks alike, nearly singular: a thread that helps another one comes from later blocks to earlier
 * ones, and the first has to be named. */
static void the_first_of_equal_blocks_is_named_whoever_finds_it(void **state) {
  (void)state;
  enum { BLOCKS = 40000, REPEATS = 150 };
  test_bcsr plain = test_bcsr_tridiagonal(BLOCKS, 2, 1.0, 0.0);
  for (int32_t i = 0; i < BLOCKS; i++) test_bcsr_block(&plain, i, i)[3] = 1e-18;
  bisai_context *c = test_host_context(8);
  bisai_bcsr *a = test_bcsr_take(c, plain);
  atomic_bool stop = false;
  pthread_t others[4];
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&others[i], NULL, keep_busy, &stop), 0);
  bool first = true;
  for (int kind = BISAI_PRECOND_BJACOBI; kind <= BISAI_PRECOND_ILU; kind++) {
    bisai_precond_options o = bisai_precond_options_default();
    o.kind = (bisai_precond_kind)kind;
    bisai_precond *precond = NULL;
    EXPECT_OK(c, bisai_precond_create(c, a, &o, &precond));
    for (int i = 0; i < REPEATS; i++) {
      EXPECT_OK(c, bisai_precond_update(precond, a));
      const bisai_precond_report report = test_report_of(c, precond);
      first = first && report.largest_condition_row == 0;
      if (kind == BISAI_PRECOND_BJACOBI)
        first = first && report.bjacobi.near_singular == BLOCKS &&
                report.bjacobi.near_singular_block == 0;
    }
    bisai_precond_destroy(&precond);
  }
  atomic_store(&stop, true);
  for (int i = 0; i < 4; i++) pthread_join(others[i], NULL);
  assert_true(first);
  bisai_bcsr_destroy(&a);
  bisai_context_destroy(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(levels_of_the_system_are_wide_enough_to_be_shared_out),
      cmocka_unit_test(bits_do_not_depend_on_the_number_of_threads),
      cmocka_unit_test(bits_do_not_depend_on_what_else_runs),
      cmocka_unit_test(threads_may_share_a_matrix_each_with_its_own_context),
      cmocka_unit_test(the_first_of_equal_blocks_is_named_whoever_finds_it),
  };
  return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
