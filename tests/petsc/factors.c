/* SPDX-License-Identifier: BSD-3-Clause */
/* Block ILU(0) and ILU(1) against PETSc's on real matrices and on the cases, in blocks of 2, 3, 4,
 * 5 and 7 (padded where the size does not divide): two implementations that share nothing.
 *
 * Bounds, in Frobenius norms, κ the largest κ₁ of a pivot block:
 *   ‖L − L_PETSc‖/‖L‖ and the same of U ≤ 1e-12·max(1, κ/10³), since an error ε in a pivot becomes
 *   one of κ ε in what it divides; ‖L U − A‖ on the pattern of L + U ≤ 1e-13·‖A‖; for PETSc's,
 *   whose pivots have been inverted twice, times max(1, κ/10³).
 * GMRES(30) needs as many iterations with PETSc's factors as with ours, one more or less where a
 * residual passes the tolerance by a rounding error.
 *
 * `test_petsc_factors FILE` writes bench/results/petsc-factors.md, which takes the cavity of the
 * paper in. `test_petsc_factors slow` runs that alone: PETSc's own solver has to need the 623
 * iterations of Ma et al. 2021, Table 3. */
#include "fixture.h"

#include <math.h>

#include "cases.h"
#include "petsc_fixture.h"

enum { LEVELS = 2, MAX_ITERATIONS = 3000 };

static FILE *table;

typedef struct system_case {
  /* a real matrix, or "cavity", "convdiff" */
  const char *name;
  int32_t bs;
} system_case;

static const system_case systems[] = {
#define IN_ALL_SIZES(name)                                                                         \
  {name, 2}, {name, 3}, {name, 4}, {name, 5}, { name, 7 }
    IN_ALL_SIZES("SPE01_bsr3"),
    IN_ALL_SIZES("2dcyl1"),
    IN_ALL_SIZES("sherman5"),
    IN_ALL_SIZES("rdb1250"),
    IN_ALL_SIZES("DK01R"),
    IN_ALL_SIZES("pyamg_ldg_p5"),
    IN_ALL_SIZES("steam2"),
    IN_ALL_SIZES("teko_modified"),
    IN_ALL_SIZES("hymls_taylorcouette_8"),
    IN_ALL_SIZES("bcsstk16"),
    IN_ALL_SIZES("cavity"),
    IN_ALL_SIZES("convdiff"),
};
enum { SYSTEMS = sizeof systems / sizeof systems[0], SANITIZED_SYSTEMS = 15 };

/* --- norms --- */

static const double *values_of(const bisai_bcsr *matrix, const int32_t **row_ptr,
                               const int32_t **col_idx) {
  const void *values;
  bisai_bcsr_arrays(matrix, row_ptr, col_idx, &values);
  return values;
}

/* ‖A − B‖/‖A‖ of one pattern, an implied identity diagonal counted; fails where the patterns
 * differ. */
static double relative_difference(const bisai_bcsr *a, const bisai_bcsr *b) {
  const int32_t *a_ptr, *a_idx, *b_ptr, *b_idx, n = bisai_bcsr_block_rows(a),
                                                bs = bisai_bcsr_block_size(a);
  const double *x = values_of(a, &a_ptr, &a_idx), *y = values_of(b, &b_ptr, &b_idx);
  assert_int_equal(bisai_bcsr_blocks(a), bisai_bcsr_blocks(b));
  assert_memory_equal(a_ptr, b_ptr, (size_t)(n + 1) * sizeof *a_ptr);
  if (a_ptr[n] > 0) assert_memory_equal(a_idx, b_idx, (size_t)a_ptr[n] * sizeof *a_idx);
  double difference = 0, norm = bisai_bcsr_unit_diagonal(a) ? (double)n * bs : 0;
  for (int64_t i = 0; i < (int64_t)a_ptr[n] * bs * bs; i++) {
    difference += (x[i] - y[i]) * (x[i] - y[i]);
    norm += x[i] * x[i];
  }
  return sqrt(difference / norm);
}

/* C ← C + A B for column-major blocks; A NULL is the identity. */
static void multiply_add(int32_t bs, const double *a, const double *b, double *c) {
  for (int32_t j = 0; j < bs; j++) {
    for (int32_t k = 0; k < bs; k++) {
      if (!a) c[j * bs + k] += b[j * bs + k];
      for (int32_t i = 0; a && i < bs; i++) c[j * bs + i] += a[k * bs + i] * b[j * bs + k];
    }
  }
}

/* Adds row p of U, times `factor`, to the row of blocks that `at` opens (position + 1; 0: not in
 * the pattern). */
static void add_row(const bisai_bcsr *upper, int32_t p, const double *factor, const int32_t *at,
                    double *row) {
  const int32_t *ptr, *idx, bs = bisai_bcsr_block_size(upper);
  const double *values = values_of(upper, &ptr, &idx);
  for (int32_t q = ptr[p]; q < ptr[p + 1]; q++) {
    if (at[idx[q]])
      multiply_add(bs, factor, values + (int64_t)q * bs * bs,
                   row + (int64_t)(at[idx[q]] - 1) * bs * bs);
  }
}

/* ‖L U − A‖ on the pattern of L + U, where A may have nothing, over ‖A‖. */
static double backward_error(const bisai_bcsr *matrix, const bisai_factors *factors) {
  const bisai_bcsr *lower = bisai_factors_lower(factors), *upper = bisai_factors_upper(factors);
  const int32_t *l_ptr, *l_idx, *u_ptr, *u_idx, *a_ptr, *a_idx;
  const double *l = values_of(lower, &l_ptr, &l_idx), *a = values_of(matrix, &a_ptr, &a_idx);
  const int32_t n = bisai_bcsr_block_rows(matrix), bs = bisai_bcsr_block_size(matrix),
                size = bs * bs;
  values_of(upper, &u_ptr, &u_idx);
  int32_t *at = calloc((size_t)n, sizeof *at);
  double error = 0, norm = 0;
  for (int32_t i = 0; i < n; i++) {
    int32_t count = 0;
    for (int32_t p = l_ptr[i]; p < l_ptr[i + 1]; p++) at[l_idx[p]] = ++count;
    for (int32_t p = u_ptr[i]; p < u_ptr[i + 1]; p++) at[u_idx[p]] = ++count;
    double *row = calloc((size_t)count * (size_t)size, sizeof *row);
    for (int32_t p = l_ptr[i]; p < l_ptr[i + 1]; p++)
      add_row(upper, l_idx[p], l + (int64_t)p * size, at, row);
    add_row(upper, i, NULL, at, row);
    for (int32_t p = a_ptr[i]; p < a_ptr[i + 1]; p++) {
      assert_true(at[a_idx[p]] > 0);
      for (int32_t k = 0; k < size; k++) {
        row[(at[a_idx[p]] - 1) * size + k] -= a[(int64_t)p * size + k];
        norm += a[(int64_t)p * size + k] * a[(int64_t)p * size + k];
      }
    }
    for (int64_t k = 0; k < (int64_t)count * size; k++) error += row[k] * row[k];
    for (int32_t p = l_ptr[i]; p < l_ptr[i + 1]; p++) at[l_idx[p]] = 0;
    for (int32_t p = u_ptr[i]; p < u_ptr[i + 1]; p++) at[u_idx[p]] = 0;
    free(row);
  }
  free(at);
  return sqrt(error / norm);
}

/* --- systems and solves --- */

/* The right-hand side of NAME_b, or ones. */
static double *make_rhs(const char *name, const bisai_bcsr *matrix) {
  char path[4096], of_rhs[256];
  double *rhs = calloc(
      (size_t)bisai_bcsr_block_rows(matrix) * (size_t)bisai_bcsr_block_size(matrix), sizeof *rhs);
  snprintf(of_rhs, sizeof of_rhs, "%s_b", name);
  if (test_matrix_path(of_rhs, path, sizeof path))
    EXPECT_OK(context, bisai_read_vector(context, path, bisai_bcsr_rows(matrix), rhs));
  else
    for (int32_t i = 0; i < bisai_bcsr_rows(matrix); i++) rhs[i] = 1;
  return rhs;
}

static bool is_made(const system_case *s) {
  return strcmp(s->name, "cavity") == 0 || strcmp(s->name, "convdiff") == 0;
}

/* Skips the test where the file is not there. */
static bisai_bcsr *make_system(const system_case *s, double **rhs, double *tolerance) {
  bisai_bcsr *matrix = NULL;
  char path[4096];
  *tolerance = strcmp(s->name, "cavity") == 0 ? 1e-5 : 1e-8;
  if (strcmp(s->name, "cavity") == 0) {
    EXPECT_OK(context, case_cavity(context, TEST_SANITIZED ? 16 : 64, s->bs, &matrix, rhs));
    return matrix;
  }
  if (strcmp(s->name, "convdiff") == 0) {
    const int32_t edge = TEST_SANITIZED ? 8 : 20;
    EXPECT_OK(context, case_convdiff(context, edge, edge, edge, s->bs, &matrix, rhs));
    return matrix;
  }
  if (!test_matrix_path(s->name, path, sizeof path)) {
    if (table)
      fail_msg("no %s.mtx.xz under $BISAI_MATRICES: the table would be incomplete", s->name);
    test_matrix_skip(s->name, "not under $BISAI_MATRICES");
  }
  bisai_read_options options = bisai_read_options_default();
  options.block_size = s->bs;
  options.pad = true;
  bisai_status status = bisai_read_matrix(context, path, &options, &matrix);
  if (status == BISAI_UNAVAILABLE) test_matrix_skip(s->name, bisai_context_error(context));
  EXPECT_OK(context, status);
  *rhs = make_rhs(s->name, matrix);
  return matrix;
}

static bisai_solver_options gmres(double tolerance) {
  bisai_solver_options options = bisai_solver_options_default();
  options.tolerance = tolerance;
  options.max_iterations = MAX_ITERATIONS;
  return options;
}

/* Iterations of our GMRES(30), −1 where it does not converge. */
static int iterations_with(const bisai_bcsr *matrix, const bisai_precond_options *how,
                           const double *b, double tolerance) {
  const int64_t n = (int64_t)bisai_bcsr_block_rows(matrix) * bisai_bcsr_block_size(matrix);
  const bisai_solver_options options = gmres(tolerance);
  bisai_solver_report report = {.struct_size = sizeof report};
  bisai_precond *precond = NULL;
  bisai_solver *solver = NULL;
  double *x = calloc((size_t)n, sizeof *x);
  EXPECT_OK(context, bisai_precond_create(context, matrix, how, &precond));
  EXPECT_OK(context, bisai_solver_create(context, n, &options, &solver));
  const bisai_status status = bisai_solver_solve(solver, matrix, precond, b, x, &report);
  bisai_solver_destroy(&solver);
  bisai_precond_destroy(&precond);
  free(x);
  return !status ? report.iterations : -1;
}

static int iterations_with_factors(const bisai_bcsr *matrix, const bisai_factors *factors,
                                   const double *b, double tolerance) {
  bisai_precond_options how = bisai_precond_options_default();
  how.kind = BISAI_PRECOND_ILU;
  how.factor.factors = factors;
  return iterations_with(matrix, &how, b, tolerance);
}

static int iterations_of_petsc_ilu(const bisai_bcsr *matrix, bisai_petsc_ilu *ilu, const double *b,
                                   double tolerance) {
  bisai_precond_options how = bisai_precond_options_default();
  how.kind = BISAI_PRECOND_CALLBACK;
  how.callback.apply = bisai_petsc_ilu_apply;
  how.callback.user = ilu;
  return iterations_with(matrix, &how, b, tolerance);
}

/* Of PETSc's whole solver. */
static int iterations_of_petsc(const bisai_bcsr *matrix, int level, const double *b,
                               double tolerance) {
  const bisai_solver_options options = gmres(tolerance);
  const size_t n = (size_t)bisai_bcsr_block_rows(matrix) * (size_t)bisai_bcsr_block_size(matrix);
  bisai_solver_report report = {.struct_size = sizeof report};
  bisai_petsc_solver *solver = NULL;
  double *x = calloc(n, sizeof *x);
  EXPECT_OK(context, bisai_petsc_solver_create(context, matrix, level, &options, &solver));
  const bisai_status status = bisai_petsc_solver_solve(solver, b, x, &report);
  bisai_petsc_solver_destroy(&solver);
  free(x);
  return !status ? report.iterations : -1;
}

/* --- the comparison --- */

typedef struct comparison {
  /* differences of L and U, backward errors */
  double kappa, lower, upper, ours, theirs;
  int with_ours, with_theirs, with_matsolve, of_petsc;
} comparison;

static void print_count(int iterations) {
  if (iterations < 0)
    fprintf(table, " – |");
  else
    fprintf(table, " %d |", iterations);
}

/* The largest of every column, and the rows whose four counts agree. */
static comparison worst;
static int rows, rows_of_equal_counts;

static void keep_worst(const comparison *c) {
  worst.lower = fmax(worst.lower, c->lower);
  worst.upper = fmax(worst.upper, c->upper);
  worst.ours = fmax(worst.ours, c->ours);
  worst.theirs = fmax(worst.theirs, c->theirs);
  rows++;
  rows_of_equal_counts += c->with_ours == c->with_theirs && c->with_ours == c->with_matsolve &&
                          c->with_ours == c->of_petsc;
}

static void print_row(const system_case *s, const bisai_bcsr *matrix, int level,
                      const comparison *c) {
  if (!table) return;
  fprintf(table, "| %s | %d | %d | %d | %.1e | %.1e | %.1e | %.1e | %.1e |", s->name, (int)s->bs,
          (int)bisai_bcsr_block_rows(matrix), level, c->kappa, c->lower, c->upper, c->ours,
          c->theirs);
  print_count(c->with_ours);
  print_count(c->with_theirs);
  print_count(c->with_matsolve);
  print_count(c->of_petsc);
  fputc('\n', table);
  keep_worst(c);
}

static void expect_agreement(const comparison *c) {
  const double by_pivots = fmax(1, c->kappa / 1e3);
  EXPECT_NEAR(0, c->lower, 1e-12 * by_pivots);
  EXPECT_NEAR(0, c->upper, 1e-12 * by_pivots);
  EXPECT_NEAR(0, c->ours, 1e-13);
  EXPECT_NEAR(0, c->theirs, 1e-13 * by_pivots);
  assert_in_range(c->with_theirs + 1, c->with_ours, c->with_ours + 2);
  assert_in_range(c->with_matsolve + 1, c->with_ours, c->with_ours + 2);
}

static void compare_level(const system_case *s, const bisai_bcsr *matrix, const double *b,
                          double tolerance, int level) {
  bisai_factor_options options = bisai_factor_options_default();
  bisai_factors *ours = NULL, *theirs = NULL;
  bisai_petsc_ilu *ilu = NULL;
  comparison c = {0};
  options.level = level;
  EXPECT_OK(context, bisai_factors_create(context, matrix, &options, &ours));
  EXPECT_OK(context, bisai_petsc_ilu_create(context, matrix, level, &ilu));
  EXPECT_OK(context, bisai_petsc_ilu_factors(ilu, &theirs));
  c.kappa = bisai_factors_largest_condition(ours, NULL);
  c.lower = relative_difference(bisai_factors_lower(ours), bisai_factors_lower(theirs));
  c.upper = relative_difference(bisai_factors_upper(ours), bisai_factors_upper(theirs));
  c.ours = backward_error(matrix, ours);
  c.theirs = backward_error(matrix, theirs);
  c.with_ours = iterations_with_factors(matrix, ours, b, tolerance);
  c.with_theirs = iterations_with_factors(matrix, theirs, b, tolerance);
  c.with_matsolve = iterations_of_petsc_ilu(matrix, ilu, b, tolerance);
  c.of_petsc = iterations_of_petsc(matrix, level, b, tolerance);
  print_row(s, matrix, level, &c);
  expect_agreement(&c);
  bisai_petsc_ilu_destroy(&ilu);
  bisai_factors_destroy(&ours);
  bisai_factors_destroy(&theirs);
}

static void factors_agree(void **state) {
  const system_case *s = *state;
  double *b = NULL, tolerance = 0;
  bisai_bcsr *matrix = make_system(s, &b, &tolerance);
  for (int level = 0; level < LEVELS; level++) compare_level(s, matrix, b, tolerance, level);
  bisai_bcsr_destroy(&matrix);
  free(b);
}

/* --- the paper's cavity --- */

static void cavity_takes(int32_t n, int iterations) {
  bisai_bcsr *matrix = NULL;
  double *b = NULL;
  EXPECT_OK(context, case_cavity(context, n, 0, &matrix, &b));
  bisai_precond_options ours = bisai_precond_options_default();
  ours.kind = BISAI_PRECOND_ILU;
  const int own = iterations_with(matrix, &ours, b, 1e-5),
            other = iterations_of_petsc(matrix, 0, b, 1e-5);
  if (table)
    fprintf(
        table,
        "\nThe lid-driven cavity of the paper, %d × %d nodes, to 10⁻⁵, ILU(0): %d iterations with\n"
        "bisai, %d with PETSc's solver.\n",
        (int)n, (int)n, own, other);
  assert_int_equal(own, iterations);
  assert_int_equal(other, iterations);
  bisai_bcsr_destroy(&matrix);
  free(b);
}

static void the_worst_is_written(void **state) {
  (void)state;
  fprintf(
      table,
      "\n%d rows; all four counts agree in %d of them. The largest differences: L %.1e, U %.1e;\n"
      "the largest ‖L U − A‖/‖A‖: %.1e, PETSc's %.1e.\n",
      rows, rows_of_equal_counts, worst.lower, worst.upper, worst.ours, worst.theirs);
}

static void petsc_needs_293_iterations_on_the_small_cavity(void **state) {
  (void)state;
  cavity_takes(128, 293);
}

static void petsc_needs_623_iterations_on_the_cavity_of_the_paper(void **state) {
  (void)state;
  cavity_takes(300, 623);
}

static const char heading[] =
    "# Block ILU: bisai compared with PETSc\n"
    "\n"
    "The page compares L and U of bisai with those of PETSc %d.%d.%d (which "
    "`bisai_petsc_factors` reads\n"
    "through public calls) for real matrices and the two cases (cavity 64 × 64, "
    "convection–diffusion\n"
    "20³), in blocks of 2, 3, 4, 5 and 7, ILU(0) and ILU(1). Made by\n"
    "\n"
    "```sh\n"
    "BISAI_MATRICES=… build/release/tests/test_petsc_factors bench/results/petsc-factors.md\n"
    "```\n"
    "\n"
    "which fails if a bound is exceeded: ‖L − L_PETSc‖/‖L‖ and the same of U at most "
    "10⁻¹²·max(1, κ/10³),\n"
    "where κ is the largest κ₁ of a pivot block; ‖L U − A‖ on the pattern of L + U at most "
    "10⁻¹³·‖A‖\n"
    "(Frobenius norms). PETSc stores the inverses of the pivots. The pivots that are read "
    "have therefore\n"
    "been inverted twice, and PETSc's LU − A contains κ times the rounding error. The "
    "bound for it is\n"
    "10⁻¹³·max(1, κ/10³).\n"
    "\n"
    "The last four columns count iterations of GMRES(30) to 10⁻⁸ (cavity 10⁻⁵) with the "
    "right-hand side\n"
    "of the file, or b = 1; – means not converged within %d iterations. The first three "
    "are bisai's\n"
    "GMRES with its own factors, with PETSc's factors and with PETSc's `MatSolve()`; the "
    "fourth is\n"
    "PETSc's whole solver. The worst values of each column and the cavity of the paper "
    "follow the table.\n"
    "\n"
    "| matrix | block | block rows | level | κ | L | U | LU − A | PETSc's LU − A | ours | "
    "PETSc's factors | MatSolve | PETSc |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | "
    "---: |\n";

int main(int argc, char **argv) {
  const bool slow = argc > 1 && strcmp(argv[1], "slow") == 0;
  const bool real = test_wants_real(argc, argv), to_table = argc > 1 && !slow && !real;
  const int some = TEST_SANITIZED && real ? SANITIZED_SYSTEMS : SYSTEMS;
  struct CMUnitTest tests[SYSTEMS + 3];
  size_t count = 0;
  for (int i = 0; !slow && i < some; i++) {
    if (!to_table && is_made(&systems[i]) == real) continue;
    tests[count++] = (struct CMUnitTest){
        .name = systems[i].name, .test_func = factors_agree, .initial_state = (void *)&systems[i]};
  }
  if (to_table) tests[count++] = (struct CMUnitTest)cmocka_unit_test(the_worst_is_written);
  if (!slow && !real && !TEST_SANITIZED)
    tests[count++] =
        (struct CMUnitTest)cmocka_unit_test(petsc_needs_293_iterations_on_the_small_cavity);
  if (slow || to_table)
    tests[count++] =
        (struct CMUnitTest)cmocka_unit_test(petsc_needs_623_iterations_on_the_cavity_of_the_paper);

  if (to_table) {
    table = fopen(argv[1], "w");
    if (!table) return 1;
    fprintf(table, heading, PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR,
            MAX_ITERATIONS);
  }
  bisai_context *starter = test_context(1);
  if (!test_petsc_start(starter)) return 1;
  int failed = _cmocka_run_group_tests("petsc_factors", tests, count, setup, teardown);
  if (real) failed = test_real_matrices(failed);
  if (!test_petsc_stop(starter)) failed = 1;
  if (table) failed |= fclose(table) != 0;
  bisai_context_destroy(&starter);
  return failed;
}
