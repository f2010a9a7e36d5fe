/* SPDX-License-Identifier: BSD-3-Clause */
/* Which unknown CPR takes for the pressure, and how many iterations it needs, on flows and on real
 * matrices: also with unknowns and cells in other orders and other units. No test knows the names
 * of the unknowns. */
#include <math.h>

#include "fixture.h"
#include "flow.h"
#include "systems.h"

static bisai_precond_options cpr(bisai_cpr_second_stage second) {
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_CPR;
  o.cpr.second = second;
  if (second == BISAI_CPR_SECOND_STAGE_ISAI) o.isai.relax = 1;
  return o;
}

typedef struct outcome {
  int32_t iterations, pressure;
} outcome;

enum { MOST = 1000 };

/* Solves by GMRES(30) to 1e-8. Iterations: MOST if that fails. */
static outcome solve(const test_bcsr *arrays, const double *b, const bisai_precond_options *o) {
  const int64_t n = (int64_t)arrays->block_rows * arrays->block_size;
  bisai_bcsr *a = test_bcsr_make(context, arrays);
  bisai_precond *m = NULL;
  EXPECT_OK(context, bisai_precond_create(context, a, o, &m));
  const bisai_precond_report report = test_report_of(context, m);
  double *x = calloc((size_t)n, sizeof *x);
  bisai_solver_options options = bisai_solver_options_default();
  options.gmres.restart = 30;
  options.tolerance = 1e-8;
  options.max_iterations = MOST;
  bisai_solver_report r = test_report();
  const bisai_status status = test_solve(context, &options, a, m, b, x, &r);
  if (!status) assert_true(test_relative_residual(a, x, b) <= 2e-8);
  free(x);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
  return (outcome){status ? MOST : r.iterations, report.cpr.pressure};
}

/* --- other orders and units --- */

/* The next permutation of 0 … n − 1 by size. Returns false after the last one. */
static bool next_order(int n, int32_t *order) {
  int k = n - 2;
  while (k >= 0 && order[k] > order[k + 1]) k--;
  if (k < 0) return false;
  int l = n - 1;
  while (order[l] < order[k]) l--;
  int32_t swap = order[k];
  order[k] = order[l], order[l] = swap;
  for (int i = k + 1, j = n - 1; i < j; i++, j--) {
    swap = order[i];
    order[i] = order[j], order[j] = swap;
  }
  return true;
}

/* Fails unless the same unknown is found in all bs! orders, and the counts stay within two of the
 * `first`. */
static void expect_same_in_all_orders(const test_bcsr *a, const double *b,
                                      bisai_cpr_second_stage second, outcome first) {
  int32_t order[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  const bisai_precond_options o = cpr(second);
  while (next_order(a->block_size, order)) {
    test_bcsr reordered = test_flow_reordered(a, order);
    const outcome r = solve(&reordered, b, &o);
    assert_int_equal(order[r.pressure], first.pressure);
    assert_true(abs(r.iterations - first.iterations) <= 2);
    test_bcsr_free(&reordered);
  }
}

/* The same for each unknown of a block in a unit of its own. */
static void expect_same_in_other_units(const test_bcsr *a, const double *b,
                                       bisai_cpr_second_stage second, outcome first) {
  static const int powers[] = {17, -23, 3, -40};
  const size_t bs = (size_t)a->block_size, count = (size_t)test_bcsr_blocks(a) * bs * bs;
  const bisai_precond_options o = cpr(second);
  test_bcsr scaled = test_flow_reordered(a, (int32_t[]){0, 1, 2, 3});
  for (size_t v = 0; v < count; v++)
    scaled.values[v] = ldexp(scaled.values[v], powers[v / bs % bs]);
  const outcome r = solve(&scaled, b, &o);
  assert_int_equal(r.pressure, first.pressure);
  assert_true(abs(r.iterations - first.iterations) <= 2);
  test_bcsr_free(&scaled);
}

/* Cells in reverse and in random orders make another second stage, and other aggregates. */
static void expect_few_with_cells_in_other_orders(const test_bcsr *a, const double *b,
                                                  bisai_cpr_second_stage second, outcome first,
                                                  int32_t most) {
  const int32_t n = a->block_rows, bs = a->block_size;
  const bisai_precond_options o = cpr(second);
  for (uint64_t seed = 0; seed < 2; seed++) {
    int32_t *order = test_random_permutation(n, seed);
    for (int32_t i = 0; i < n && seed == 0; i++) order[i] = n - 1 - i;
    test_bcsr permuted = test_bcsr_permuted(a, order);
    double *c = malloc((size_t)(n * bs) * sizeof *c);
    for (int32_t i = 0; i < n * bs; i++) c[i] = b[order[i / bs] * bs + i % bs];
    const outcome r = solve(&permuted, c, &o);
    assert_int_equal(r.pressure, first.pressure);
    assert_in_range(r.iterations, 1, most);
    free(order), free(c);
    test_bcsr_free(&permuted);
  }
}

/* Every equation, or all equations of a cell, in a unit of its own, up to 2¹⁰ larger or smaller.
 * Residuals have another norm then, so that the counts are not the same. */
static void expect_few_with_equations_in_other_units(const test_bcsr *a, const double *b,
                                                     bisai_cpr_second_stage second, outcome first,
                                                     int32_t most) {
  const int32_t n = a->block_rows, bs = a->block_size;
  const bisai_precond_options o = cpr(second);
  for (uint64_t seed = 1; seed <= 4; seed++) {
    test_random random = test_random_seed(seed);
    test_bcsr scaled = test_flow_reordered(a, (int32_t[]){0, 1, 2, 3});
    double *c = malloc((size_t)(n * bs) * sizeof *c);
    for (int32_t i = 0; i < n; i++) {
      int power = test_random_integer(&random, -10, 10);
      for (int k = 0; k < bs; k++) {
        if (k > 0 && seed > 2) power = test_random_integer(&random, -10, 10);
        c[i * bs + k] = ldexp(b[i * bs + k], power);
        for (int64_t v = (int64_t)a->row_ptr[i] * bs; v < (int64_t)a->row_ptr[i + 1] * bs; v++)
          scaled.values[v * bs + k] = ldexp(scaled.values[v * bs + k], power);
      }
    }
    const outcome r = solve(&scaled, c, &o);
    assert_int_equal(r.pressure, first.pressure);
    assert_in_range(r.iterations, 1, most);
    free(c);
    test_bcsr_free(&scaled);
  }
}

/* Fails unless the unknown `pressure` is found and at most `most` iterations are needed, also in
 * other orders and units. */
static void expect_few(const test_bcsr *a, const double *b, bisai_cpr_second_stage second,
                       int32_t pressure, int32_t most) {
  const bisai_precond_options o = cpr(second);
  const outcome first = solve(a, b, &o);
  assert_int_equal(first.pressure, pressure);
  assert_in_range(first.iterations, 1, most);
  expect_same_in_all_orders(a, b, second, first);
  expect_same_in_other_units(a, b, second, first);
  expect_few_with_equations_in_other_units(a, b, second, first, most);
  expect_few_with_cells_in_other_orders(a, b, second, first, most);
}

/* Fails unless CPR takes as long as ILU(0), or longer, with each unknown but the one it finds. */
static void expect_wrong_pressures_to_be_of_no_use(const test_bcsr *a, const double *b) {
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_ILU;
  const int32_t alone = solve(a, b, &o).iterations;
  for (int second = BISAI_CPR_SECOND_STAGE_ISAI; second <= BISAI_CPR_SECOND_STAGE_ILU; second++) {
    o = cpr((bisai_cpr_second_stage)second);
    const outcome found = solve(a, b, &o);
    assert_true(found.iterations < alone);
    for (int32_t p = 0; p < a->block_size; p++) {
      o.cpr.pressure = p;
      const int32_t iterations = solve(a, b, &o).iterations;
      if (p == found.pressure)
        assert_int_equal(iterations, found.iterations);
      else
        assert_true(iterations >= alone);
    }
  }
}

/* --- flows --- */

static void flows_are_solved_in_all_orders_and_units(void **state) {
  (void)state;
  for (int bs = 2; bs <= 4; bs++) {
    test_bcsr a = test_flow(40, 30, bs, bs / 2, 3);
    double *b = test_random_vector((int64_t)a.block_rows * bs, 2);
    expect_few(&a, b, BISAI_CPR_SECOND_STAGE_ISAI, bs / 2, 15);
    expect_few(&a, b, BISAI_CPR_SECOND_STAGE_ILU, bs / 2, 15);
    free(b);
    test_bcsr_free(&a);
  }
}

/* Returns the unknown that is found. */
static int32_t pressure_of(const test_bcsr *arrays) {
  const bisai_precond_options o = cpr(BISAI_CPR_SECOND_STAGE_BJACOBI);
  bisai_bcsr *a = test_bcsr_make(context, arrays);
  bisai_precond *m = NULL;
  EXPECT_OK(context, bisai_precond_create(context, a, &o, &m));
  const int32_t pressure = test_report_of(context, m).cpr.pressure;
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
  return pressure;
}

/* Conduction makes temperatures as elliptic as pressures, or more so. */
static void temperatures_are_not_taken_for_pressures(void **state) {
  (void)state;
  static const double conductions[] = {0.0, 0.1, 1.0, 10.0, 1e3, 1e6};
  for (int bs = 2; bs <= 4; bs++)
    for (size_t k = 0; k < sizeof conductions / sizeof *conductions; k++) {
      test_bcsr a = test_thermal_flow(20, 18, bs, conductions[k], 1);
      int32_t order[] = {0, 1, 2, 3};
      do {
        test_bcsr reordered = test_flow_reordered(&a, order);
        assert_int_equal(order[pressure_of(&reordered)], 0);
        test_bcsr_free(&reordered);
      } while (next_order(bs, order));
      test_bcsr_free(&a);
    }
}

/* --- real matrices --- */

typedef struct reservoir {
  const char *name;
  int32_t bs, pressure;
  /* bounds of the iterations with the default second stage, ILU, and with ISAI and relax = 1 */
  int32_t ilu, isai;
} reservoir;

static const reservoir spe9 = {"opm_spe9_s7", 3, 1, 12, 14}, spe01 = {"SPE01_bsr3", 3, 0, 7, 9},
                       spe10 = {"opm_spe10m1_s516", 3, 1, 12, 24},
                       thermal = {"opm_spe1_thermal_s65", 4, 1, 13, 20};

/* Reads a matrix to host memory, and its right-hand side. */
static test_bcsr read_reservoir(const reservoir *r, double **b) {
  bisai_context *host = test_host_context(1);
  char name[100], path[4096];
  snprintf(name, sizeof name, "%s_b", r->name);
  if (!test_matrix_path(name, path, sizeof path)) {
    bisai_context_destroy(&host);
    test_matrix_skip(name, "not under $BISAI_MATRICES");
  }
  bisai_bcsr *matrix = test_matrix_read(host, r->name, r->bs);
  const int32_t n = bisai_bcsr_block_rows(matrix), *row_ptr, *col_idx;
  const void *values;
  bisai_bcsr_arrays(matrix, &row_ptr, &col_idx, &values);
  const test_bcsr view = {n,
                          n,
                          r->bs,
                          (int32_t *)(uintptr_t)row_ptr,
                          (int32_t *)(uintptr_t)col_idx,
                          (double *)(uintptr_t)values};
  test_bcsr a = test_flow_reordered(&view, (int32_t[]){0, 1, 2, 3});
  *b = malloc((size_t)(n * r->bs) * sizeof **b);
  EXPECT_OK(host, bisai_read_vector(host, path, (int64_t)n * r->bs, *b));
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&host);
  return a;
}

static void expect_counts(const reservoir *of) {
  double *b;
  test_bcsr a = read_reservoir(of, &b);
  expect_few(&a, b, BISAI_CPR_SECOND_STAGE_AUTO, of->pressure, of->ilu);
  expect_few(&a, b, BISAI_CPR_SECOND_STAGE_ISAI, of->pressure, of->isai);
  free(b);
  test_bcsr_free(&a);
}

static void spe9_takes_few_iterations_in_all_orders_and_units(void **state) {
  (void)state;
  expect_counts(&spe9);
}

static void spe01_takes_few_iterations_in_all_orders_and_units(void **state) {
  (void)state;
  expect_counts(&spe01);
}

static void spe10_takes_few_iterations_in_all_orders_and_units(void **state) {
  (void)state;
  expect_counts(&spe10);
}

static void spe1_thermal_takes_few_iterations_in_all_orders_and_units(void **state) {
  (void)state;
  expect_counts(&thermal);
}

static void wrong_pressures_of_spe1_thermal_do_not_beat_ilu(void **state) {
  (void)state;
  double *b;
  test_bcsr a = read_reservoir(&thermal, &b);
  expect_wrong_pressures_to_be_of_no_use(&a, b);
  free(b);
  test_bcsr_free(&a);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flows_are_solved_in_all_orders_and_units),
      cmocka_unit_test(temperatures_are_not_taken_for_pressures),
  };
  const struct CMUnitTest real[] = {
      cmocka_unit_test(spe01_takes_few_iterations_in_all_orders_and_units),
      cmocka_unit_test(spe9_takes_few_iterations_in_all_orders_and_units),
      cmocka_unit_test(spe10_takes_few_iterations_in_all_orders_and_units),
      cmocka_unit_test(spe1_thermal_takes_few_iterations_in_all_orders_and_units),
      cmocka_unit_test(wrong_pressures_of_spe1_thermal_do_not_beat_ilu),
  };
  if (test_wants_real(argc, argv))
    return test_real_matrices(
        cmocka_run_group_tests_name("cpr_reservoirs_real", real, setup, teardown));
  return cmocka_run_group_tests_name("cpr_reservoirs", tests, setup, teardown);
}
