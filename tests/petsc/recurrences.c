/* SPDX-License-Identifier: BSD-3-Clause */
/* CG and BiCGSTAB against PETSc's KSPCG and KSPBCGS with the same block ILU(0): the same residuals
 * step by step, the same counts on real matrices. */
#include "fixture.h"

#include <math.h>

#include "petsc_fixture.h"

/* The common part of two histories that is above `floor` is the same but for rounding; *iterations
 * of both. */
static void compare(const bisai_bcsr *matrix, bisai_method method, const double *b, double floor,
                    double bound, int iterations[2]) {
  const int64_t n = (int64_t)bisai_bcsr_block_rows(matrix) * bisai_bcsr_block_size(matrix);
  double *x = calloc((size_t)n, sizeof *x);
  bisai_petsc_solver *theirs = NULL;
  bisai_solver *ours = NULL;
  bisai_precond *precond = NULL;
  bisai_precond_options how = bisai_precond_options_default();
  bisai_solver_options options = bisai_solver_options_default();
  bisai_solver_report r = {.struct_size = sizeof r}, s = {.struct_size = sizeof s};
  how.kind = BISAI_PRECOND_ILU;
  options.method = method;
  EXPECT_OK(context, bisai_petsc_solver_create(context, matrix, 0, &options, &theirs));
  EXPECT_OK(context, bisai_petsc_solver_solve(theirs, b, x, &r));
  EXPECT_OK(context, bisai_precond_create(context, matrix, &how, &precond));
  EXPECT_OK(context, bisai_solver_create(context, n, &options, &ours));
  EXPECT_OK(context, bisai_solver_solve(ours, matrix, precond, b, x, &s));
  assert_true(test_relative_residual(matrix, x, b) <= 2e-8);
  assert_int_equal(method, r.method);
  EXPECT_NEAR(1, r.history[0], 1e-12);
  const int length = r.history_length < s.history_length ? r.history_length : s.history_length;
  for (int i = 0; i < length && s.history[i] > floor; i++)
    EXPECT_NEAR(s.history[i], r.history[i], bound * s.history[i]);
  iterations[0] = s.iterations;
  iterations[1] = r.iterations;
  bisai_solver_destroy(&ours);
  bisai_precond_destroy(&precond);
  bisai_petsc_solver_destroy(&theirs);
  free(x);
}

static void bicgstab_has_the_residuals_of_kspbcgs(void **state) {
  (void)state;
  static const int32_t sizes[] = {1, 2, 3, 4, 5, 7};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
    bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(20, 20, sizes[k], 8));
    double *b = test_random_vector(400 * sizes[k], 1);
    int iterations[2];
    compare(matrix, BISAI_BICGSTAB, b, 0, 1e-6, iterations);
    assert_int_equal(iterations[0], iterations[1]);
    bisai_bcsr_destroy(&matrix);
    free(b);
  }
}

/* A five-point Laplacian for each of bs unknowns that are coupled with each other at every
 * point. */
static bisai_bcsr *coupled_laplacians(int32_t bs) {
  const test_bcsr m = test_bcsr_grid(20, 20, bs, 8);
  for (int32_t row = 0; row < m.block_rows; row++)
    for (int32_t p = m.row_ptr[row]; p < m.row_ptr[row + 1]; p++)
      for (int32_t i = 0; i < bs; i++)
        for (int32_t j = 0; j < bs; j++)
          m.values[((int64_t)p * bs + j) * bs + i] = m.col_idx[p] != row ? (i == j ? -1 : 0)
                                                     : i == j            ? 4 + 0.1 * bs
                                                                         : -0.1;
  return test_bcsr_take(context, m);
}

static void cg_has_the_residuals_of_kspcg(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 5; bs++) {
    bisai_bcsr *matrix = coupled_laplacians(bs);
    double *b = test_random_vector(400 * bs, 1);
    int iterations[2];
    compare(matrix, BISAI_CG, b, 0, 1e-6, iterations);
    assert_int_equal(iterations[0], iterations[1]);
    assert_true(iterations[0] > 10);
    bisai_bcsr_destroy(&matrix);
    free(b);
  }
}

typedef struct real_matrix {
  const char *name;
  bisai_method method;
  /* rounding moves the counts of long solves */
  int apart;
} real_matrix;

static void counts_on_real_matrices_are_petscs(void **state) {
  (void)state;
  static const real_matrix matrices[] = {
      {"nos3", BISAI_CG, 0},           {"wathenSmall", BISAI_CG, 0},
      {"bcsstk08", BISAI_CG, 0},       {"bcsstk16", BISAI_CG, 0},
      {"mhd3200b", BISAI_CG, 0},       {"sherman1", BISAI_CG, 0},
      {"orsirr_1", BISAI_BICGSTAB, 1}, {"orsreg_1", BISAI_BICGSTAB, 1},
      {"sherman3", BISAI_BICGSTAB, 2}, {"sherman4", BISAI_BICGSTAB, 1},
      {"sherman5", BISAI_BICGSTAB, 1}, {"cage10", BISAI_BICGSTAB, 0},
      {"pde2961", BISAI_BICGSTAB, 1},  {"jpwh_991", BISAI_BICGSTAB, 0},
      {"watt_1", BISAI_BICGSTAB, 1},   {"add32", BISAI_BICGSTAB, 1},
      {"steam2", BISAI_BICGSTAB, 0},   {"DK01R", BISAI_BICGSTAB, 2}};
  for (size_t k = 0; k < sizeof matrices / sizeof matrices[0]; k++) {
    bisai_bcsr *matrix = test_matrix_read(context, matrices[k].name, 1);
    const int64_t n = bisai_bcsr_block_rows(matrix);
    double *b = malloc((size_t)n * sizeof *b);
    for (int64_t i = 0; i < n; i++) b[i] = 1;
    int iterations[2];
    compare(matrix, matrices[k].method, b, 1, 1e-6, iterations);
    if (abs(iterations[0] - iterations[1]) > matrices[k].apart)
      fail_msg("%s: %d iterations, PETSc %d", matrices[k].name, iterations[0], iterations[1]);
    bisai_bcsr_destroy(&matrix);
    free(b);
  }
}

typedef struct heard {
  /* stop: the iteration that ends the solve; −1: none */
  int count, stop;
  double residuals[101];
} heard;

static int hear(void *user, int iteration, double residual) {
  heard *h = user;
  assert_int_equal(h->count, iteration); /* each once, restarts included */
  assert_true(h->count < 101);
  h->residuals[h->count++] = residual;
  return iteration == h->stop;
}

static void the_monitor_hears_of_every_iteration_and_stops_petsc(void **state) {
  (void)state;
  static const bisai_method methods[] = {BISAI_GMRES, BISAI_CG, BISAI_BICGSTAB};
  bisai_bcsr *matrix = coupled_laplacians(2);
  const int64_t n = 800;
  double *b = test_random_vector(n, 1), *x = malloc((size_t)n * sizeof *x),
         *alone = malloc((size_t)n * sizeof *x);
  for (int k = 0; k < 3; k++) {
    heard h = {.stop = -1};
    bisai_petsc_solver *solver = NULL;
    bisai_solver_report report = {.struct_size = sizeof report};
    bisai_solver_options options = bisai_solver_options_default();
    options.method = methods[k];
    options.gmres.restart = 4;
    EXPECT_OK(context, bisai_petsc_solver_create(context, matrix, 0, &options, &solver));
    EXPECT_OK(context, bisai_petsc_solver_solve(solver, b, alone, &report));
    const int iterations = report.iterations;
    assert_true(iterations > 8 && iterations < 100);
    bisai_petsc_solver_destroy(&solver);
    options.monitor = hear;
    options.monitor_user = &h;
    EXPECT_OK(context, bisai_petsc_solver_create(context, matrix, 0, &options, &solver));
    EXPECT_OK(context, bisai_petsc_solver_solve(solver, b, x, &report));
    assert_memory_equal(alone, x, (size_t)n * sizeof *x);
    assert_int_equal(iterations, report.iterations);
    assert_int_equal(iterations + 1, h.count);
    /* At a restart PETSc computes the residual anew. */
    for (int i = 0; i < h.count; i++) EXPECT_NEAR(report.history[i], h.residuals[i], 1e-14);
    for (int stop = 0; stop < 8; stop++) { /* again and again with one solver */
      h = (heard){.stop = stop};
      EXPECT_STATUS(context, BISAI_STOPPED, bisai_petsc_solver_solve(solver, b, x, &report));
      assert_int_equal(BISAI_REASON_STOPPED, report.reason);
      assert_int_equal(stop, report.iterations);
      assert_int_equal(stop + 1, h.count);
      EXPECT_NEAR(test_relative_residual(matrix, x, b), report.relative_residual, 1e-14);
      EXPECT_NEAR(h.residuals[stop], report.relative_residual, 1e-12);
    }
    bisai_petsc_solver_destroy(&solver);
  }
  free(b);
  free(x);
  free(alone);
  bisai_bcsr_destroy(&matrix);
}

static void petsc_has_no_idr(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_tridiagonal(5, 1, 3, -1));
  bisai_solver_options options = bisai_solver_options_default();
  bisai_petsc_solver *solver = NULL;
  options.method = BISAI_IDR;
  EXPECT_STATUS(context, BISAI_UNSUPPORTED,
                bisai_petsc_solver_create(context, matrix, 0, &options, &solver));
  EXPECT_MESSAGE(context, "PETSc has gmres, cg and bicgstab only");
  assert_null(solver);
  bisai_bcsr_destroy(&matrix);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bicgstab_has_the_residuals_of_kspbcgs),
      cmocka_unit_test(cg_has_the_residuals_of_kspcg),
      cmocka_unit_test(the_monitor_hears_of_every_iteration_and_stops_petsc),
      cmocka_unit_test(petsc_has_no_idr),
  };
  const struct CMUnitTest real[] = {cmocka_unit_test(counts_on_real_matrices_are_petscs)};
  bisai_context *starter = test_context(1);
  bool ok = test_petsc_start(starter);
  int failed = test_wants_real(argc, argv)
                   ? test_real_matrices(cmocka_run_group_tests(real, setup, teardown))
                   : cmocka_run_group_tests(tests, setup, teardown);
  ok = test_petsc_stop(starter) && ok;
  bisai_context_destroy(&starter);
  return ok ? failed : 1;
}
