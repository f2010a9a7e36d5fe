/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocations that fail while all candidates of a list are tried, because no x reaches the
 * tolerance: the choice says so, keeps nothing, and can be made again. */
#include <string.h>

#include <bisai/solve.h>

#include "support/csr.h"
#include "support/mesh.h"
#include "support/staggered.h"

static bisai_bcsr *make_definite(bisai_context *context) {
  return test_bcsr_take(context, test_mesh_springs(6, 6, 5, TEST_FIXED_FACE));
}

static bisai_bcsr *make_general(bisai_context *context) {
  return test_bcsr_take(context, test_bcsr_grid(16, 16, 2, 5));
}

static bisai_bcsr *make_saddle(bisai_context *context) {
  test_bcsr a = test_bcsr_staggered(8, 4);
  /* Otherwise no b but a balanced one has a solution, and nothing is tried. */
  a.values[a.row_ptr[a.block_rows] - 1] *= 1.5;
  return test_bcsr_take(context, a);
}

/* Row i has its large entry in column i + 7, and zeros on the diagonal. */
static bisai_bcsr *make_permuted(bisai_context *context) {
  enum { ROWS = 60, SHIFT = 7 };
  test_bcsr a = test_bcsr_tridiagonal(ROWS, 1, 4, 1);
  for (int32_t p = 0; p < a.row_ptr[ROWS]; p++) a.col_idx[p] = (a.col_idx[p] + SHIFT) % ROWS;
  return test_bcsr_take(context, a);
}

/* Springs field by field, of which the library finds the nodes. */
static bisai_bcsr *make_fields(bisai_context *context) {
  test_bcsr a = test_mesh_springs(5, 4, 4, TEST_FIXED_FACE);
  const int32_t nodes = a.block_rows, rows = 3 * nodes;
  csr s = csr_random(rows, rows, 0, 1);
  int32_t next = 0;
  for (int32_t i = 0; i < rows; i++) {
    for (int32_t p = a.row_ptr[i % nodes]; p < a.row_ptr[i % nodes + 1]; p++)
      for (int32_t c = 0; c < 3; c++) {
        s.col_idx[next] = c * nodes + a.col_idx[p];
        s.values[next++] = a.values[(p * 3 + c) * 3 + i / nodes];
      }
    s.row_ptr[i + 1] = next;
  }
  bisai_csr_desc desc = desc_of(&s);
  bisai_bcsr *matrix = NULL;
  desc.find_nodes = true;
  EXPECT_OK(context, bisai_bcsr_from_csr(context, &desc, &matrix));
  assert_int_equal(3, bisai_bcsr_block_size(matrix));
  csr_free(&s);
  test_bcsr_free(&a);
  return matrix;
}

/* What a choice came to. */
typedef struct outcome {
  bisai_status status;
  int trials;
  /* the methods of the trials, after blanks */
  char methods[3000];
  double *x;
} outcome;

/* `incomplete`: no complete factors, which end a choice where they have all digits of x. */
static outcome choose(bisai_context *context, const bisai_bcsr *a, bool incomplete) {
  const int64_t n = (int64_t)bisai_bcsr_block_rows(a) * bisai_bcsr_block_size(a);
  outcome o = {.x = test_nan_vector(n)};
  double *b = test_random_vector(n, 3);
  bisai_auto_solver *solver = NULL;
  bisai_solve_options options = bisai_solve_options_default();
  bisai_solve_report report = {.struct_size = sizeof report};
  options.solver.tolerance = 1e-300;
  options.solver.stagnation_cycles = 1;
  options.precond.automatic.incomplete = incomplete;
  o.status = bisai_auto_solver_create(context, &options, &solver);
  if (!o.status) o.status = bisai_auto_solver_solve(solver, a, b, o.x, &report);
  o.trials = report.choice.count;
  for (int i = 0; i < o.trials; i++) {
    strcat(o.methods, " ");
    strcat(o.methods, report.choice.trials[i].method);
  }
  strcat(o.methods, " ");
  bisai_auto_solver_destroy(&solver);
  free(b);
  return o;
}

/* Fails an allocation, or this one and all later ones. */
static void expect_failure(bisai_context *context, test_allocator *allocator, const bisai_bcsr *a,
                           bool incomplete, long long which, bool after) {
  const long long live = atomic_load(&allocator->live_blocks);
  allocator->fail_at = atomic_load(&allocator->calls) + which;
  allocator->fail_after = after;
  const outcome o = choose(context, a, incomplete);
  allocator->fail_at = 0;
  allocator->fail_after = false;
  if (o.status != BISAI_OUT_OF_MEMORY)
    fail_msg("allocation %lld fails, and the status is %s", which, bisai_status_string(o.status));
  assert_true(*bisai_context_error(context));
  assert_int_equal(live, atomic_load(&allocator->live_blocks));
  free(o.x);
}

/* Fails allocations at so many positions, or all, of a choice that tries the methods of `words`. */
static void expect_survived(bisai_bcsr *(*make)(bisai_context *), bool incomplete,
                            const char *const *words, int positions) {
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *context = test_context_on(&allocator, 1);
  bisai_bcsr *a = make(context);
  const int64_t n = (int64_t)bisai_bcsr_block_rows(a) * bisai_bcsr_block_size(a);
  const long long before = atomic_load(&allocator.calls);
  const outcome expected = choose(context, a, incomplete);
  const long long calls = atomic_load(&allocator.calls) - before,
                  stride = TEST_SANITIZED ? calls / 8 : (calls + positions - 1) / positions;
  assert_true(expected.status == BISAI_STAGNATED || expected.status == BISAI_MAX_ITERATIONS);
  for (; *words; words++)
    if (!strstr(expected.methods, *words)) fail_msg("no%s in%s", *words, expected.methods);
  for (long long which = 1; which <= calls; which += stride)
    expect_failure(context, &allocator, a, incomplete, which, which / stride % 4 == 3);
  const outcome again = choose(context, a, incomplete);
  assert_int_equal(expected.status, again.status);
  assert_string_equal(expected.methods, again.methods);
  assert_memory_equal(expected.x, again.x, (size_t)n * sizeof *again.x);
  free(expected.x);
  free(again.x);
  bisai_bcsr_destroy(&a);
  bisai_context_destroy(&context);
}

/* The most positions: as many as take a second or two. */
enum { SOME = 40, ALL = 1000 };

static void candidates_for_definite_matrices_survive(void **state) {
  (void)state;
  static const char *const words[] = {" ilu ", " mg ", " ilu:level=2", " none ", NULL},
                           *const factors[] = {" lu", NULL};
  expect_survived(make_definite, true, words, SOME);
  expect_survived(make_definite, false, factors, SOME);
}

static void candidates_for_general_matrices_survive(void **state) {
  (void)state;
  static const char *const words[] = {" ilu:level=",      " mg",    " bjacobi",
                                      "matching=entries", " none ", NULL},
                           *const factors[] = {" lu", NULL};
  expect_survived(make_general, true, words, SOME);
  expect_survived(make_general, false, factors, SOME);
}

static void candidates_for_saddle_points_survive(void **state) {
  (void)state;
  static const char *const words[] = {" schur ", " schur:first=ilu", " lu", "matching=entries",
                                      NULL};
  expect_survived(make_saddle, false, words, ALL / 5);
}

static void candidates_for_permuted_rows_survive(void **state) {
  (void)state;
  static const char *const words[] = {" ilu:level=", "matching=entries", " none ", NULL},
                           *const factors[] = {" lu", "matching=entries", NULL};
  expect_survived(make_permuted, true, words, ALL);
  expect_survived(make_permuted, false, factors, ALL);
}

static void candidates_for_nodes_that_were_found_survive(void **state) {
  (void)state;
  static const char *const words[] = {" ilu ", " none ", NULL}, *const factors[] = {" lu", NULL};
  expect_survived(make_fields, true, words, SOME);
  expect_survived(make_fields, false, factors, SOME);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(candidates_for_definite_matrices_survive),
      cmocka_unit_test(candidates_for_general_matrices_survive),
      cmocka_unit_test(candidates_for_saddle_points_survive),
      cmocka_unit_test(candidates_for_permuted_rows_survive),
      cmocka_unit_test(candidates_for_nodes_that_were_found_survive)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
