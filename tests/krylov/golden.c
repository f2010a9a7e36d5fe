/* SPDX-License-Identifier: BSD-3-Clause */
/* Iteration counts of GMRES(30) that the literature or an independent program gives.
 *
 * The lid-driven cavity (Ma et al. 2021, Table 3: N = 300, tolerance 1e-5) and the same at N = 128;
 * real matrices with b from their file or b = 1, tolerance 1e-8. The cavity's counts are exact,
 * whatever the number of threads: sums are taken in a fixed order. Those of the real matrices come
 * from another implementation with other orders of summation and may differ by two. `test_golden
 * slow` runs N = 300. */
#include <math.h>

#include "support.h"

#include "cases.h"

static bisai_context *context; /* two threads */

static int setup(void **state) {
  (void)state;
  context = test_context(2);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  bisai_context_destroy(&context);
  return 0;
}

typedef struct run {
  bisai_precond_kind kind;
  int level, power, relax, sweeps;
  bisai_value_type storage;
  int iterations;
} run;

static bisai_solver_options gmres(double tolerance) {
  bisai_solver_options options = bisai_solver_options_default();
  options.tolerance = tolerance;
  return options;
}

static int iterations_of(bisai_context *c, const bisai_bcsr *matrix, const double *b, const run *r,
                         bisai_solver_options solver_options) {
  const int64_t n = (int64_t)bisai_bcsr_block_rows(matrix) * bisai_bcsr_block_size(matrix);
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = r->kind;
  options.factor.level = r->level;
  options.isai.power = r->power > 0 ? r->power : 1;
  options.isai.relax = r->relax;
  TEST_SET_OPTION(options, sweeps.count, r->sweeps);
  options.isai.storage = r->storage;
  bisai_precond *precond = NULL;
  bisai_solver *solver = NULL;
  bisai_solver_report report = {.struct_size = sizeof report};
  double *x = test_random_vector(n, 1); /* not an initial guess: x starts from 0 */
  EXPECT_OK(c, bisai_precond_create(c, matrix, &options, &precond));
  EXPECT_OK(c, bisai_solver_create(c, n, &solver_options, &solver));
  EXPECT_OK(c, bisai_solver_solve(solver, matrix, precond, b, x, &report));
  assert_int_equal(report.reason, BISAI_REASON_CONVERGED);
  assert_true(test_relative_residual(matrix, x, b) <= 2.0 * solver_options.tolerance);
  bisai_solver_destroy(&solver);
  bisai_precond_destroy(&precond);
  free(x);
  return report.iterations;
}

static void expect_counts(bisai_context *c, const bisai_bcsr *matrix, const double *b,
                          double tolerance, size_t count, const run *runs, int allowed) {
  for (size_t i = 0; i < (TEST_SANITIZED ? 1 : count); i++) {
    const run *r = &runs[i];
    const int got = iterations_of(c, matrix, b, r, gmres(tolerance));
    if (abs(got - r->iterations) > allowed) {
      fail_msg(
          "kind %d, power %d, relax %d, sweeps %d, storage %d: %d iterations, expected %d ± %d",
          (int)r->kind, r->power, r->relax, r->sweeps, (int)r->storage, got, r->iterations,
          allowed);
    }
  }
}

/* --- the cavity --- */

static void expect_cavity_counts(int32_t n, int threads, size_t count, const run *runs) {
  bisai_context *c = test_context(threads);
  bisai_bcsr *matrix = NULL;
  double *b = NULL;
  EXPECT_OK(c, case_cavity(c, n, 0, &matrix, &b));
  assert_int_equal(bisai_bcsr_block_size(matrix), 3);
  assert_int_equal(bisai_bcsr_block_rows(matrix), n * n);
  assert_int_equal(bisai_bcsr_blocks(matrix), 5 * n * n - 4 * n);
  expect_counts(c, matrix, b, 1e-5, count, runs, 0);
  free(b);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&c);
}

#define COUNT(runs) (sizeof(runs) / sizeof((runs)[0]))

static void cavity_128_takes_the_published_iterations(void **state) {
  (void)state;
  static const run runs[] = {
      {BISAI_PRECOND_ILU, 0, 0, 0, 0, BISAI_FP64, 293},
      {BISAI_PRECOND_BJACOBI, 0, 0, 0, 0, BISAI_FP64, 1076},
      {BISAI_PRECOND_ISAI, 0, 1, 0, 0, BISAI_FP64, 502},
      {BISAI_PRECOND_ISAI, 0, 2, 0, 0, BISAI_FP64, 377},
      {BISAI_PRECOND_ISAI, 0, 3, 0, 0, BISAI_FP64, 328},
  };
  expect_cavity_counts(128, 1, COUNT(runs), runs);
}

/* As many as PETSc takes with its own ILU(1) and ILU(2) on blocks. */
static void cavity_128_levels_take_as_many_iterations_as_petsc(void **state) {
  (void)state;
  static const run runs[] = {
      {BISAI_PRECOND_ILU, 1, 0, 0, 0, BISAI_FP64, 148},
      {BISAI_PRECOND_ILU, 2, 0, 0, 0, BISAI_FP64, 114},
  };
  expect_cavity_counts(128, 1, COUNT(runs), runs);
}

static void cavity_128_relaxation_is_worth_higher_powers(void **state) {
  (void)state;
  static const run runs[] = {
      {BISAI_PRECOND_ISAI, 0, 1, 2, 0, BISAI_FP64, 298},
      {BISAI_PRECOND_ISAI, 0, 1, 1, 0, BISAI_FP64, 328},
  };
  expect_cavity_counts(128, 2, COUNT(runs), runs);
}

static void cavity_128_sweeps_take_as_many_iterations_as_isai(void **state) {
  (void)state;
  static const run runs[] = {
      {BISAI_PRECOND_SWEEPS, 0, 0, 0, 5, BISAI_FP64, 298},
      {BISAI_PRECOND_SWEEPS, 0, 0, 0, 3, BISAI_FP64, 328},
      {BISAI_PRECOND_SWEEPS, 0, 0, 0, 2, BISAI_FP64, 377},
      {BISAI_PRECOND_SWEEPS, 0, 0, 0, 1, BISAI_FP64, 502},
  };
  expect_cavity_counts(128, 2, COUNT(runs), runs);
}

static void cavity_128_narrow_storage_costs_no_iterations(void **state) {
  (void)state;
  static const run runs[] = {
      {BISAI_PRECOND_ISAI, 0, 3, 0, 0, BISAI_FP16, 328},
      {BISAI_PRECOND_ISAI, 0, 3, 0, 0, BISAI_FP32, 328},
      {BISAI_PRECOND_ISAI, 0, 2, 0, 0, BISAI_FP32, 377},
      {BISAI_PRECOND_ISAI, 0, 2, 0, 0, BISAI_FP16, 377},
  };
  expect_cavity_counts(128, 2, COUNT(runs), runs);
}

static void cavity_128_counts_do_not_depend_on_the_orthogonalization(void **state) {
  (void)state;
  static const run ilu = {BISAI_PRECOND_ILU, 0, 0, 0, 0, BISAI_FP64, 293};
  bisai_bcsr *matrix = NULL;
  double *b = NULL;
  EXPECT_OK(context, case_cavity(context, 128, 0, &matrix, &b));
  for (int kind = TEST_SANITIZED ? BISAI_MODIFIED : BISAI_CLASSICAL; kind <= BISAI_MODIFIED;
       kind++) {
    bisai_solver_options options = gmres(1e-5);
    options.gmres.orthogonalization = (bisai_orthogonalization)kind;
    assert_int_equal(iterations_of(context, matrix, b, &ilu, options), ilu.iterations);
  }
  free(b);
  bisai_bcsr_destroy(&matrix);
}

static void cavity_300_takes_the_published_iterations(void **state) {
  (void)state;
  static const run runs[] = {
      {BISAI_PRECOND_ILU, 0, 0, 0, 0, BISAI_FP64, 623},
      {BISAI_PRECOND_ISAI, 0, 1, 0, 0, BISAI_FP64, 1092},
      {BISAI_PRECOND_ISAI, 0, 2, 0, 0, BISAI_FP64, 836},
      {BISAI_PRECOND_ISAI, 0, 3, 0, 0, BISAI_FP64, 711},
  };
  expect_cavity_counts(300, 2, COUNT(runs), runs);
}

/* ‖a − b‖_F over ‖b‖_F of the values of two matrices on one pattern. */
static double relative_difference(const bisai_bcsr *a, const bisai_bcsr *b) {
  const size_t bs = (size_t)bisai_bcsr_block_size(a),
               values = (size_t)bisai_bcsr_blocks(a) * bs * bs;
  assert_int_equal(bisai_bcsr_blocks(a), bisai_bcsr_blocks(b));
  double *both = malloc(2 * values * sizeof *both), difference2 = 0.0, norm2 = 0.0;
  assert_non_null(both);
  assert_int_equal(bisai_bcsr_fetch(a, NULL, NULL, both), BISAI_OK);
  assert_int_equal(bisai_bcsr_fetch(b, NULL, NULL, both + values), BISAI_OK);
  for (size_t i = 0; i < values; i++) {
    const double difference = both[i] - both[values + i];
    difference2 += difference * difference;
    norm2 += both[values + i] * both[values + i];
  }
  free(both);
  return sqrt(difference2 / norm2);
}

/* Factors and inverses of the cavity (N = 300) beside those of one thread on the host: 1e-10 over
 * the largest κ₁ in thousands. On the host they are the same to the last bit. */
static void cavity_300_has_the_values_of_the_host(void **state) {
  (void)state;
  bisai_context *contexts[] = {test_context(2), test_host_context(1)};
  for (int power = 1; power <= 3; power++) {
    bisai_precond *precond[2] = {NULL, NULL};
    for (int k = 0; k < 2; k++) {
      bisai_bcsr *matrix = NULL;
      double *b = NULL;
      EXPECT_OK(contexts[k], case_cavity(contexts[k], 300, 0, &matrix, &b));
      bisai_precond_options options = bisai_precond_options_default();
      options.kind = BISAI_PRECOND_ISAI;
      options.isai.power = power;
      EXPECT_OK(contexts[k], bisai_precond_create(contexts[k], matrix, &options, &precond[k]));
      free(b);
      bisai_bcsr_destroy(&matrix);
    }
    const bisai_precond_report report = test_report_of(contexts[1], precond[1]);
    const double bound = test_on_device() ? 1e-10 * fmax(1.0, report.largest_condition / 1e3) : 0.0;
    const bisai_factors *f[] = {bisai_precond_factors(precond[0]),
                                bisai_precond_factors(precond[1])};
    const double differences[] = {
        relative_difference(bisai_factors_lower(f[0]), bisai_factors_lower(f[1])),
        relative_difference(bisai_factors_upper(f[0]), bisai_factors_upper(f[1])),
        relative_difference(bisai_precond_lower_inverse(precond[0]),
                            bisai_precond_lower_inverse(precond[1])),
        relative_difference(bisai_precond_upper_inverse(precond[0]),
                            bisai_precond_upper_inverse(precond[1]))};
    print_message("k = %d: L %.2g, U %.2g, NL %.2g, NU %.2g, largest condition %.3g\n", power,
                  differences[0], differences[1], differences[2], differences[3],
                  report.largest_condition);
    for (int k = 0; k < 4; k++) assert_true(differences[k] <= bound);
    bisai_precond_destroy(&precond[0]);
    bisai_precond_destroy(&precond[1]);
  }
  bisai_context_destroy(&contexts[0]);
  bisai_context_destroy(&contexts[1]);
}

/* --- real matrices --- */

static double *right_hand_side(const char *name, const bisai_bcsr *matrix) {
  const int32_t rows = bisai_bcsr_rows(matrix);
  double *b = calloc((size_t)(rows + bisai_bcsr_padding(matrix)), sizeof *b);
  char file[128], path[4096];
  assert_non_null(b);
  snprintf(file, sizeof file, "%s_b", name);
  if (test_matrix_path(file, path, sizeof path))
    EXPECT_OK(context, bisai_read_vector(context, path, rows, b));
  else
    for (int32_t i = 0; i < rows; i++) b[i] = 1.0;
  return b;
}

static void expect_file_counts(const char *name, size_t count, const run *runs) {
  bisai_bcsr *matrix = test_matrix_read(context, name, 3);
  double *b = right_hand_side(name, matrix);
  expect_counts(context, matrix, b, 1e-8, count, runs, 2);
  free(b);
  bisai_bcsr_destroy(&matrix);
}

/* A rich pattern: here sweeps and ISAI differ, as they do not on the cavity. */
static void bcsstk16_takes_as_many_iterations_as_elsewhere(void **state) {
  (void)state;
  static const run runs[] = {
      {BISAI_PRECOND_ILU, 0, 0, 0, 0, BISAI_FP64, 47},
      {BISAI_PRECOND_ISAI, 0, 1, 0, 0, BISAI_FP64, 130},
      {BISAI_PRECOND_ISAI, 0, 2, 0, 0, BISAI_FP64, 74},
      {BISAI_PRECOND_ISAI, 0, 3, 0, 0, BISAI_FP64, 52},
      {BISAI_PRECOND_ISAI, 0, 1, 1, 0, BISAI_FP64, 57},
      {BISAI_PRECOND_ISAI, 0, 1, 2, 0, BISAI_FP64, 48},
      {BISAI_PRECOND_SWEEPS, 0, 0, 0, 1, BISAI_FP64, 146},
      {BISAI_PRECOND_SWEEPS, 0, 0, 0, 2, BISAI_FP64, 105},
      {BISAI_PRECOND_SWEEPS, 0, 0, 0, 3, BISAI_FP64, 83},
      {BISAI_PRECOND_SWEEPS, 0, 0, 0, 5, BISAI_FP64, 61},
      {BISAI_PRECOND_ISAI, 0, 2, 0, 0, BISAI_FP32, 74},
  };
  expect_file_counts("bcsstk16", COUNT(runs), runs);
}

static void opm_spe9_takes_as_many_iterations_as_elsewhere(void **state) {
  (void)state;
  static const run runs[] = {
      {BISAI_PRECOND_ILU, 0, 0, 0, 0, BISAI_FP64, 45},
      {BISAI_PRECOND_ISAI, 0, 1, 0, 0, BISAI_FP64, 110},
      {BISAI_PRECOND_ISAI, 0, 2, 0, 0, BISAI_FP64, 79},
      {BISAI_PRECOND_ISAI, 0, 3, 0, 0, BISAI_FP64, 61},
      {BISAI_PRECOND_ISAI, 0, 1, 1, 0, BISAI_FP64, 61},
      {BISAI_PRECOND_ISAI, 0, 1, 2, 0, BISAI_FP64, 50},
      {BISAI_PRECOND_SWEEPS, 0, 0, 0, 2, BISAI_FP64, 79},
      {BISAI_PRECOND_ISAI, 0, 2, 0, 0, BISAI_FP32, 79},
  };
  expect_file_counts("opm_spe9_s7", COUNT(runs), runs);
}

static void sherman5_takes_as_many_iterations_as_elsewhere(void **state) {
  (void)state;
  static const run runs[] = {
      {BISAI_PRECOND_ILU, 0, 0, 0, 0, BISAI_FP64, 46},
      {BISAI_PRECOND_ISAI, 0, 1, 0, 0, BISAI_FP64, 116},
      {BISAI_PRECOND_ISAI, 0, 2, 0, 0, BISAI_FP64, 60},
      {BISAI_PRECOND_ISAI, 0, 3, 0, 0, BISAI_FP64, 52},
      {BISAI_PRECOND_ISAI, 0, 1, 1, 0, BISAI_FP64, 52},
      {BISAI_PRECOND_ISAI, 0, 1, 2, 0, BISAI_FP64, 48},
      {BISAI_PRECOND_SWEEPS, 0, 0, 0, 5, BISAI_FP64, 48},
      {BISAI_PRECOND_ISAI, 0, 2, 0, 0, BISAI_FP32, 60},
      {BISAI_PRECOND_ISAI, 0, 2, 0, 0, BISAI_FP16, 60},
  };
  expect_file_counts("sherman5", COUNT(runs), runs);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cavity_128_takes_the_published_iterations),
      cmocka_unit_test(cavity_128_levels_take_as_many_iterations_as_petsc),
      cmocka_unit_test(cavity_128_relaxation_is_worth_higher_powers),
      cmocka_unit_test(cavity_128_sweeps_take_as_many_iterations_as_isai),
      cmocka_unit_test(cavity_128_narrow_storage_costs_no_iterations),
      cmocka_unit_test(cavity_128_counts_do_not_depend_on_the_orthogonalization),
  };
  const struct CMUnitTest slow[] = {cmocka_unit_test(cavity_300_takes_the_published_iterations),
                                    cmocka_unit_test(cavity_300_has_the_values_of_the_host)};
  if (argc > 1 && strcmp(argv[1], "slow") == 0)
    return cmocka_run_group_tests_name("golden_slow", slow, setup, teardown);
  const struct CMUnitTest real[] = {
      cmocka_unit_test(bcsstk16_takes_as_many_iterations_as_elsewhere),
      cmocka_unit_test(opm_spe9_takes_as_many_iterations_as_elsewhere),
      cmocka_unit_test(sherman5_takes_as_many_iterations_as_elsewhere),
  };
  if (test_wants_real(argc, argv))
    return test_real_matrices(cmocka_run_group_tests_name("golden_real", real, setup, teardown));
  return cmocka_run_group_tests_name("golden", tests, setup, teardown);
}
