/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods of the program that need PETSc: with it they agree with ours, without it they say
 * so. */
#include "support.h"

#include "program.h"

#define METHODS "--methods ilu,petsc,petsc-ilu,isai,isai:factors=petsc"

#ifdef BISAI_HAVE_PETSC

/* The figure in column `column` of the line of the table that begins with `method`. */
static int count_of(const char *table, const char *method, int column) {
  char start[64];
  snprintf(start, sizeof start, "\n%s ", method);
  const char *line = strstr(table, start);
  if (!line) fail_msg("no line of %s in\n%s", method, table);
  char words[3][64];
  assert_int_equal(sscanf(line, "%63s %63s %63s", words[0], words[1], words[2]), 3);
  return atoi(words[column]);
}

static void methods_of_petsc_need_our_iterations(void **state) {
  (void)state;
  program p = run("compare --case cavity --size 64 " METHODS);
  assert_int_equal(p.status, 0);
  assert_string_equal(p.err, "");
  assert_int_equal(count_of(p.out, "petsc", 1), count_of(p.out, "ilu", 1));
  assert_int_equal(count_of(p.out, "petsc-ilu", 1), count_of(p.out, "ilu", 1));
  assert_int_equal(count_of(p.out, "isai:k=1:factors=petsc", 1), count_of(p.out, "isai:k=1", 1));
  program_free(&p);
  p = run(
      "compare --case convdiff --size 9,8,7 --methods ilu:level=1,petsc:level=1,petsc-ilu:level=1,"
      "sweeps:n=2:level=1,sweeps:n=2:level=1:factors=petsc");
  assert_int_equal(p.status, 0);
  assert_int_equal(count_of(p.out, "petsc:level=1", 1), count_of(p.out, "ilu:level=1", 1));
  assert_int_equal(count_of(p.out, "petsc-ilu:level=1", 1), count_of(p.out, "ilu:level=1", 1));
  assert_int_equal(count_of(p.out, "sweeps:n=2:level=1:factors=petsc", 1),
                   count_of(p.out, "sweeps:n=2:level=1", 1));
  program_free(&p);
}

static void accounts_say_what_is_petsc(void **state) {
  (void)state;
  static const struct {
    const char *method, *said;
  } accounts[] = {
      {"petsc:level=2", ": KSPGMRES, PCILU with 2 levels, SeqBAIJ\nset-up "},
      {"petsc-ilu", "method   block ILU(0) of PETSc "},
      {"ilu:factors=petsc", " blocks in L + U, block ILU(0) of PETSc "},
  };
  for (size_t i = 0; i < sizeof accounts / sizeof accounts[0]; i++) {
    char line[128];
    snprintf(line, sizeof line, "solve --case cavity --size 12 --preconditioner %s",
             accounts[i].method);
    program p = run(line);
    assert_int_equal(p.status, 0);
    assert_string_equal(p.err, "");
    program_expect_in("the account", p.out, accounts[i].said);
    program_free(&p);
  }
}

/* On the host the factors of PETSc are made, and then cuSPARSE is missing. */
static void factors_of_petsc_go_with_patterns_of_cusparse(void **state) {
  (void)state;
  program p = run("compare --backend host --case cavity --size 12 "
                  "--methods isai:k=2:factors=petsc:pattern=cusparse:apply=cusparse");
  assert_int_equal(p.status, 0);
  program_expect_in("below the table", p.out,
                    "isai:k=2:factors=petsc:pattern=cusparse:apply=cusparse: "
#ifdef BISAI_HAVE_CUSPARSE
                    "cuSPARSE needs --backend cuda"
#else
                    "this build has no cuSPARSE"
#endif
                    "\n");
  program_free(&p);
}

/* No daemon of MPI and no ssh, whoever runs it. */
static void petsc_needs_nothing_of_the_environment(void **state) {
  (void)state;
  unsetenv("OMPI_MCA_ess_singleton_isolated"); /* the other tests' */
  program p = run("PATH=/nonexistent OMPI_ALLOW_RUN_AS_ROOT=0 solve --case cavity --size 12 "
                  "--preconditioner petsc");
  assert_int_equal(p.status, 0);
  assert_string_equal(p.err, "");
  program_free(&p);
}

static void a_failed_end_is_said_in_petscs_words(void **state) {
  (void)state;
  static const struct {
    const char *options, *reason, *message;
  } ends[] = {
      {"--max-iterations 2", "max_iterations",
       "petsc: PETSc ended with DIVERGED_ITS after 2 iterations; true residual "},
      {"--rhs huge.mtx", "not_finite",
       "petsc: PETSc ended with DIVERGED_NANORINF after 0 iterations; true residual 1.000e+00\n"},
  };
  program_write("huge.mtx",
                "%%MatrixMarket matrix coordinate real general\n48 1 2\n1 1 1e308\n2 1 1e308\n");
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
    char line[256];
    snprintf(line, sizeof line, "compare --case cavity --size 4 --methods petsc %s",
             ends[i].options);
    program p = run(line);
    assert_int_equal(p.status, 0);
    program_expect_in("the table", p.out, ends[i].reason);
    program_expect_in("below the table", p.out, ends[i].message);
    program_free(&p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(methods_of_petsc_need_our_iterations),
      cmocka_unit_test(accounts_say_what_is_petsc),
      cmocka_unit_test(factors_of_petsc_go_with_patterns_of_cusparse),
      cmocka_unit_test(petsc_needs_nothing_of_the_environment),
      cmocka_unit_test(a_failed_end_is_said_in_petscs_words),
  };
  return cmocka_run_group_tests(tests, program_setup, program_teardown);
}

#else

static void without_petsc_its_methods_are_unavailable(void **state) {
  (void)state;
  program p = run("compare --case cavity --size 12 " METHODS);
  assert_int_equal(p.status, 0);
  program_expect_in("below the table", p.out, "petsc: this build has no PETSc\n");
  program_expect_in("below the table", p.out, "petsc-ilu: this build has no PETSc\n");
  program_expect_in("below the table", p.out, "isai:k=1:factors=petsc: this build has no PETSc\n");
  program_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(without_petsc_its_methods_are_unavailable)};
  return cmocka_run_group_tests(tests, program_setup, program_teardown);
}

#endif
