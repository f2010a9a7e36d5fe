/* SPDX-License-Identifier: BSD-3-Clause */
/* Conjugate gradients in the program: which method they take by themselves, and what they
 * refuse. */
#include "program.h"
#include "support.h"

static const char laplace4[] =
    "%%MatrixMarket matrix coordinate real symmetric\n4 4 7\n1 1 2\n2 2 2\n3 3 2\n4 4 2\n"
    "2 1 -1\n3 2 -1\n4 3 -1\n";
/* Symmetric, with a zero stored at (2, 3) alone. */
static const char one_sided[] =
    "%%MatrixMarket matrix coordinate real general\n3 3 8\n1 1 4\n1 2 -1\n1 3 -1\n2 1 -1\n"
    "2 2 4\n2 3 0\n3 1 -1\n3 3 4\n";
/* A pivot of ILU(0) is zero, and no diagonal entry. */
static const char zero_pivot[] =
    "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 1\n2 2 1\n3 3 5\n2 1 1\n"
    "3 2 1\n";
static const char skewed[] =
    "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 4\n1 2 1\n2 1 -1\n2 2 4\n";

/* The same with two empty rows, which every set-up of factors refuses. */
static const char skewed_singular[] =
    "%%MatrixMarket matrix coordinate real general\n4 4 4\n1 1 4\n1 2 1\n2 1 -1\n2 2 4\n";

static int setup(void **state) {
  program_setup(state);
  program_write("laplace4.mtx", laplace4);
  program_write("one_sided.mtx", one_sided);
  program_write("zero_pivot.mtx", zero_pivot);
  program_write("skewed.mtx", skewed);
  program_write("skewed_singular.mtx", skewed_singular);
  return 0;
}

static void expect(const char *line, int status, const char *const *parts) {
  program p = run(line);
  if (p.status != status)
    fail_msg("bisai %s\nexit status %d, expected %d\n%s%s", line, p.status, status, p.out, p.err);
  for (; *parts; parts++) program_expect_in(line, p.out, *parts);
  program_free(&p);
}

static void cg_is_kept_where_no_method_is_given(void **state) {
  (void)state;
  expect("solve laplace4.mtx --block-size 1 --solver cg", 0,
         (const char *const[]){"solver   CG,", " with cg was chosen as the first candidate\n",
                               " --solver cg\n", "result   converged\n", NULL});
  expect("solve laplace4.mtx --block-size 1 --solver cg --preconditioner bjacobi", 0,
         (const char *const[]){"method   bjacobi\n", "result   converged\n", NULL});
}

static void cg_is_not_tried_with_what_is_not_symmetric(void **state) {
  (void)state;
  static const char *const files[] = {"one_sided", "zero_pivot"};
  for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
    char line[120];
    snprintf(line, sizeof line, "solve %s.mtx --block-size 1 --solver cg", files[k]);
    expect(line, 0, (const char *const[]){" with cg was chosen ", "\nresult   converged\n", NULL});
  }
}

static void diverging_relaxation_is_told(void **state) {
  (void)state;
  expect(
      "solve --case elasticity --size 4 --solver cg --preconditioner bjacobi:relax=1:damping=0.5",
      0,
      (const char *const[]){"method   bjacobi relax=1 damping=0.5\n", "result   converged\n",
                            NULL});
  expect(
      "solve --case elasticity --size 4 --solver cg --preconditioner bjacobi:relax=1", 3,
      (const char *const[]){"blocks   relaxation diverges: a sweep multiplies errors by about 1.7",
                            "the preconditioner is not definite", NULL});
  /* with an even number of sweeps M is definite all the same */
  expect("solve --case elasticity --size 4 --solver cg --preconditioner bjacobi:relax=2", 0,
         (const char *const[]){"relaxation diverges", "result   converged\n", NULL});
}

static void cg_refuses_what_is_not_symmetric_and_names_what_works(void **state) {
  (void)state;
  expect("solve skewed.mtx --block-size 1 --solver cg", 3,
         (const char *const[]){"result   not_symmetric: cg needs a symmetric matrix, and the "
                               "asymmetry of this one is 5.0e-01: "
                               "gmres, bicgstab and idr take it; with assume_symmetric (cg:force "
                               "in the program) cg does\n",
                               NULL});
  expect("solve laplace4.mtx --block-size 1 --solver cg --preconditioner isai", 3,
         (const char *const[]){
             "result   not_symmetric: cg needs a symmetric preconditioner, which isai k=1 relax=0 "
             "storage=fp64 is not: none, bjacobi",
             NULL});
  expect("compare laplace4.mtx --block-size 1 --solver cg --methods ilu,isai", 0,
         (const char *const[]){"  not_symmetric\n", "isai:k=1: cg needs a symmetric preconditioner",
                               NULL});
}

static void cg_refuses_a_matrix_before_the_set_up(void **state) {
  (void)state;
  expect("solve skewed_singular.mtx --block-size 1 --solver cg:force --preconditioner ilu", 3,
         (const char *const[]){"result   missing_diagonal: ", NULL});
  expect("solve skewed_singular.mtx --block-size 1 --solver cg --preconditioner ilu", 3,
         (const char *const[]){"result   not_symmetric: cg needs a symmetric matrix", NULL});
}

static void cg_force_takes_everything(void **state) {
  (void)state;
  expect("solve laplace4.mtx --block-size 1 --solver cg:force --preconditioner isai", 0,
         (const char *const[]){"solver   CG,", "result   converged\n", NULL});
  program p = run("solve skewed.mtx --block-size 1 --solver cg:force");
  program_expect_in("a matrix that is not symmetric", p.out, "\nsolve    ");
  program_free(&p);
}

static void flexible_solvers_are_named(void **state) {
  (void)state;
  expect("solve laplace4.mtx --block-size 1 --solver cg:flexible", 0,
         (const char *const[]){"solver   flexible CG,", "result   converged\n", NULL});
  expect("solve skewed.mtx --block-size 1 --solver gmres:flexible --restart 20", 0,
         (const char *const[]){"solver   flexible GMRES(20),", "result   converged\n", NULL});
}

static void only_flexible_solvers_take_k_cycles(void **state) {
  (void)state;
  static const char *const solvers[] = {"gmres", "cg", "cg:force", "bicgstab", "idr"},
                           *const flexible[] = {"gmres:flexible", "cg:flexible"};
  char line[160];
  for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++) {
    snprintf(line, sizeof line, "solve absent.mtx --solver %s --preconditioner mg:cycle=k",
             solvers[k]);
    program p = run(line);
    assert_int_equal(p.status, 2);
    assert_string_equal(p.err, "bisai: --preconditioner: mg:cycle=k: cycle=k is not linear: "
                               "--solver gmres:flexible or cg:flexible\n");
    program_free(&p);
  }
  for (size_t k = 0; k < sizeof flexible / sizeof *flexible; k++) {
    snprintf(line, sizeof line,
             "solve --case elasticity --size 8 --backend host --solver %s --preconditioner "
             "mg:cycle=k:coarsest=8",
             flexible[k]);
    expect(line, 0, (const char *const[]){"result   converged\n", NULL});
  }
}

static void compare_lists_what_cg_works_with(void **state) {
  (void)state;
  program p = run("compare laplace4.mtx --block-size 1 --solver cg");
  assert_int_equal(p.status, 0);
  program_expect_in("the table", p.out, "\nnone ");
  program_expect_in("the table", p.out, "\nbjacobi ");
  program_expect_in("the table", p.out, "\nilu ");
  assert_null(strstr(p.out, "not_symmetric"));
  assert_null(strstr(p.out, "isai:k=1 "));
  program_free(&p);
}

static void info_says_how_symmetric_a_matrix_is(void **state) {
  (void)state;
  expect("info laplace4.mtx", 0, (const char *const[]){"symmetry     A is symmetric\n", NULL});
  expect("info skewed.mtx", 0,
         (const char *const[]){"symmetry     A is not symmetric, asymmetry 5.0e-01\n", NULL});
}

/* CG with isai:k=1, once the default, went to 10,000 iterations on bcsstk24, and took 678
 * on bcsstk08. */
static void real_matrices_are_solved_by_default(void **state) {
  (void)state;
  static const struct {
    const char *name;
    /* about a tenth more than it takes */
    int most;
  } cases[] = {{"bcsstk24", 195}, {"bcsstk08", 40}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    char path[512], line[640];
    if (!test_matrix_path(cases[k].name, path, sizeof path)) skip();
    snprintf(line, sizeof line, "solve %s --solver cg --max-iterations %d", path, cases[k].most);
    expect(line, 0, (const char *const[]){" with cg was chosen", "result   converged\n", NULL});
    snprintf(line, sizeof line, "solve %s --solver cg --preconditioner isai:k=1", path);
    expect(line, 3, (const char *const[]){"result   not_symmetric: ", NULL});
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(cg_is_kept_where_no_method_is_given, setup, program_teardown),
      cmocka_unit_test_setup_teardown(cg_is_not_tried_with_what_is_not_symmetric, setup,
                                      program_teardown),
      cmocka_unit_test_setup_teardown(diverging_relaxation_is_told, setup, program_teardown),
      cmocka_unit_test_setup_teardown(cg_refuses_what_is_not_symmetric_and_names_what_works, setup,
                                      program_teardown),
      cmocka_unit_test_setup_teardown(flexible_solvers_are_named, setup, program_teardown),
      cmocka_unit_test_setup_teardown(cg_refuses_a_matrix_before_the_set_up, setup,
                                      program_teardown),
      cmocka_unit_test_setup_teardown(cg_force_takes_everything, setup, program_teardown),
      cmocka_unit_test_setup_teardown(only_flexible_solvers_take_k_cycles, setup, program_teardown),
      cmocka_unit_test_setup_teardown(compare_lists_what_cg_works_with, setup, program_teardown),
      cmocka_unit_test_setup_teardown(info_says_how_symmetric_a_matrix_is, setup, program_teardown),
      cmocka_unit_test(real_matrices_are_solved_by_default),
  };
  return cmocka_run_group_tests_name("cli_cg", tests, NULL, NULL);
}
