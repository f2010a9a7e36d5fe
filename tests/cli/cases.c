/* SPDX-License-Identifier: BSD-3-Clause */
/* The cases: counts of blocks and iterations; the matrices of the paper, by name. */
#include <unistd.h>

#include "cases.h"
#include "results.h"

static char *in_cases(const char *name) {
  static char path[1024];
  const char *tests = getenv("BISAI_TESTS");
  if (!tests) skip();
  snprintf(path, sizeof path, "%s/../cases/%s", tests, name);
  return path;
}

static json_t *expectations(const char *case_name) {
  char name[64];
  snprintf(name, sizeof name, "%s/expected.json", case_name);
  json_t *root = json_load_file(in_cases(name), 0, NULL);
  if (!root) fail_msg("%s cannot be read", in_cases(name));
  return root;
}

/* Writes the command that compares the methods of one system, without their names. */
static void write_command(json_t *expected, const json_t *system, char line[512]) {
  const char *name = text(expected, "case"),
             *keys = json_string_value(json_object_get(system, "keys")),
             *solver = json_string_value(json_object_get(expected, "solver"));
  json_t *value;
  size_t i;
  snprintf(line, 512, "compare --case %s%s%s --size ", name, keys ? ":" : "", keys ? keys : "");
  json_array_foreach(json_object_get(system, "size"), i, value) {
    snprintf(line + strlen(line), 512 - strlen(line), "%s%d", i ? "," : "",
             (int)json_integer_value(value));
  }
  snprintf(line + strlen(line), 512 - strlen(line), " --solver %s --methods ",
           solver ? solver : "gmres");
}

/* Runs one system with all its methods and compares counts: iterations exactly, as they do not
 * depend on the number of threads. */
static void expect_counts(json_t *expected, size_t number) {
  char line[512], command[512];
  json_t *system = json_array_get(json_object_get(expected, "systems"), number), *value,
         *iterations = json_object_get(system, "iterations"),
         *inverse = json_object_get(system, "inverse_blocks");
  size_t i = 0;
  write_command(expected, system, command);
  snprintf(line, sizeof line, "%s", command);
  const char *method;
  json_object_foreach(iterations, method, value) {
    snprintf(line + strlen(line), sizeof line - strlen(line), "%s,", method);
  }
  line[strlen(line) - 1] = '\0';
  json_t *root = results(line), *matrix = json_object_get(root, "matrix");
  assert_int_equal(integer(matrix, "block_rows"), integer(system, "block_rows"));
  assert_int_equal(integer(matrix, "blocks"), integer(system, "blocks"));
  json_object_foreach(iterations, method, value) {
    json_t *run = run_of(root, i++);
    if (json_is_false(json_object_get(run, "converged")))
      fail_msg("%s%s: %s", command, method, text(run, "reason"));
    if (integer(run, "iterations") != json_integer_value(value))
      fail_msg("%s%s: %d iterations, expected %d", command, method, (int)integer(run, "iterations"),
               (int)json_integer_value(value));
    json_t *blocks = json_object_get(inverse, method);
    if (blocks) assert_int_equal(integer(run, "blocks"), json_integer_value(blocks));
  }
  json_decref(root);
}

/* The first systems of expected.json, those that are small. */
static void expect_first_systems(const char *case_name, size_t count) {
  json_t *root = expectations(case_name);
  for (size_t i = 0; i < count; i++) expect_counts(root, i);
  json_decref(root);
}

static void the_cavity_has_its_counts_at_16_and_32_nodes(void **state) {
  (void)state;
  expect_first_systems("cavity", 2);
}

static void convection_diffusion_has_its_counts(void **state) {
  (void)state;
  expect_first_systems("convdiff", 2);
}

static void elasticity_has_its_counts(void **state) {
  (void)state;
  expect_first_systems("elasticity", 4);
}

static void reaction_has_its_counts(void **state) {
  (void)state;
  expect_first_systems("reaction", 2);
}

static void the_reservoir_has_its_counts(void **state) {
  (void)state;
  expect_first_systems("reservoir", 6);
}

static void the_shell_has_its_counts(void **state) {
  (void)state;
  expect_first_systems("shell", 3);
}

static void euler_has_its_counts(void **state) {
  (void)state;
  expect_first_systems("euler", 3);
}

static void the_atmosphere_has_its_counts(void **state) {
  (void)state;
  expect_first_systems("atmosphere", 2);
}

static void convection_diffusion_has_the_block_pattern_of_atmosmodd(void **state) {
  (void)state;
  json_t *root = expectations("convdiff"),
         *system = json_array_get(json_object_get(root, "systems"), 2);
  bisai_context *context = test_context(0);
  bisai_bcsr *matrix = NULL;
  double *rhs = NULL;
  EXPECT_OK(context, case_convdiff(context, 148, 148, 58, 0, &matrix, &rhs));
  assert_int_equal(bisai_bcsr_block_size(matrix), 4);
  assert_int_equal(bisai_bcsr_block_rows(matrix), integer(system, "block_rows"));
  assert_int_equal(bisai_bcsr_blocks(matrix), integer(system, "blocks"));
  free(rhs);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
  json_decref(root);
}

static void a_case_in_other_blocks_is_the_same_system(void **state) {
  (void)state;
  static const int sizes[] = {1, 2, 4, 5, 7, 32};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    char line[128];
    snprintf(line, sizeof line,
             "solve --case cavity --size 16 --preconditioner none --block-size %d", sizes[i]);
    json_t *root = results(line);
    assert_int_equal(integer(json_object_get(root, "matrix"), "block_size"), sizes[i]);
    assert_int_equal(integer(json_object_get(root, "matrix"), "block_rows"),
                     (768 + sizes[i] - 1) / sizes[i]);
    assert_int_equal(integer(run_of(root, 0), "iterations"), 138);
    json_decref(root);
  }
  /* 10 points a line, not a multiple of 4, and 630 in all: padded. */
  json_t *root = results("solve --case convdiff --size 10,9,7 --preconditioner none");
  json_t *scalar =
      results("solve --case convdiff --size 10,9,7 --preconditioner none --block-size 1");
  assert_int_equal(integer(json_object_get(root, "matrix"), "block_rows"), 158);
  assert_int_equal(integer(json_object_get(scalar, "matrix"), "block_rows"), 630);
  assert_int_equal(integer(run_of(root, 0), "iterations"),
                   integer(run_of(scalar, 0), "iterations"));
  json_decref(scalar);
  json_decref(root);
}

static void the_smallest_cavity_is_the_one_written_by_hand(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = NULL;
  double *rhs = NULL;
  EXPECT_OK(context, case_cavity(context, 3, 0, &matrix, &rhs));
  const int32_t *row_ptr, *col_idx;
  const void *values;
  bisai_bcsr_arrays(matrix, &row_ptr, &col_idx, &values);
  const double *v = values;
  assert_int_equal(bisai_bcsr_blocks(matrix), 33);
  /* The one interior node, 4: its star S W P E N is 1 3 4 5 7, h = 1/2, blocks column by column. */
  static const double star[5][9] = {{-1, 0, 0, 0, -1, 0, 0.25, 0, -1},
                                    {-1, 0, 0, 0, -1, 0, 0, -0.25, -1},
                                    {4, 0, 0, 0, 4, 0, 0, 0, 4},
                                    {-1, 0, 0, 0, -1, 0, 0, 0.25, -1},
                                    {-1, 0, 0, 0, -1, 0, -0.25, 0, -1}};
  EXPECT_CLOSE(45, &star[0][0], v + 9 * row_ptr[4], 0);
  /* Top right corner, node 8: the right wall comes first; its star is S W P = 5 7 8. */
  static const double corner[3][9] = {
      {0}, {0, 0, 0, 0, 0, 2, 0, 0, 0}, {1, 0, 0, 0, 1, -2, 0, 0, 1}};
  EXPECT_CLOSE(27, &corner[0][0], v + 9 * row_ptr[8], 0);
  /* u of node 7, the only one of the lid */
  for (int i = 0; i < 27; i++) assert_true(rhs[i] == (i == 21 ? 1 : 0));
  free(rhs);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

static void the_matrices_of_the_paper_are_known_by_file_name(void **state) {
  (void)state;
  json_t *root = expectations("suitesparse"), *system;
  size_t i;
  json_array_foreach(json_object_get(root, "systems"), i, system) {
    char path[64], line[128];
    snprintf(path, sizeof path, "some/folder/%s.mtx.gz", text(system, "name"));
    const case_suitesparse *known = case_suitesparse_find(path);
    assert_non_null(known);
    assert_string_equal(known->name, text(system, "name"));
    assert_int_equal(known->block_size, integer(system, "block_size"));
    assert_true(known->tolerance == real(system, "tolerance"));
    /* The helper downloads from the same place. */
    snprintf(line, sizeof line, "--address %s", known->name);
    program p = program_run(in_cases("suitesparse/fetch.sh"), line);
    assert_int_equal(p.status, 0);
    p.out[strcspn(p.out, "\n")] = '\0';
    assert_string_equal(p.out, known->address);
    program_free(&p);
  }
  assert_null(case_suitesparse_find("venkat5.mtx"));
  assert_null(case_suitesparse_find("venkat50_b.mtx"));
  assert_null(case_suitesparse_find("venkat50.mtx/other.mtx"));
  json_decref(root);
}

static void the_helper_downloads_and_unpacks(void **state) {
  (void)state;
  if (system("mkdir -p mirror/Simon venkat50 got && cp laplace5.mtx venkat50/venkat50.mtx && "
             "tar -czf mirror/Simon/venkat50.tar.gz venkat50") != 0)
    skip();
  char here[512], line[1024];
  assert_non_null(getcwd(here, sizeof here));
  snprintf(line, sizeof line, "SUITESPARSE_URL=file://%s/mirror SUITESPARSE_DIR=got venkat50",
           here);
  program p = program_run(in_cases("suitesparse/fetch.sh"), line);
  assert_int_equal(p.status, 0);
  assert_string_equal(p.out, "got/venkat50.mtx\n");
  program_free(&p);
  char *got = program_read("got/venkat50.mtx");
  assert_string_equal(got, laplace5);
  free(got);
  snprintf(line, sizeof line, "SUITESPARSE_URL=file://%s/mirror SUITESPARSE_DIR=got atmosmodd",
           here);
  p = program_run(in_cases("suitesparse/fetch.sh"), line);
  assert_int_equal(p.status, 1);
  assert_non_null(strstr(p.err, "fetch.sh: cannot download file://"));
  program_free(&p);
  p = program_run(in_cases("suitesparse/fetch.sh"), "nos3");
  assert_int_equal(p.status, 1);
  assert_string_equal(p.err,
                      "fetch.sh: 'nos3' is in no list of the papers' matrices: give GROUP/NAME\n");
  program_free(&p);
}

/* Of two matrices the first cannot be downloaded. */
static void the_helper_takes_groups_and_goes_on_after_a_failure(void **state) {
  (void)state;
  if (system("mkdir -p mirror/HB nos3 groups && cp laplace5.mtx nos3/nos3.mtx && "
             "tar -czf mirror/HB/nos3.tar.gz nos3") != 0)
    skip();
  char here[512], line[1024];
  assert_non_null(getcwd(here, sizeof here));
  snprintf(line, sizeof line,
           "SUITESPARSE_URL=file://%s/mirror SUITESPARSE_DIR=groups bcsstk17 HB/nos3", here);
  program p = program_run(in_cases("suitesparse/fetch.sh"), line);
  assert_int_equal(p.status, 1);
  assert_string_equal(p.out, "groups/nos3.mtx\n");
  program_expect_in("what is missing", p.err, "fetch.sh: not there: HB/bcsstk17\n");
  program_free(&p);
  assert_int_equal(access("groups/nos3.mtx", F_OK), 0);
  p = program_run(in_cases("suitesparse/fetch.sh"), "--address HB/../nos3");
  assert_int_equal(p.status, 1);
  assert_string_equal(p.err, "fetch.sh: 'HB/../nos3' is not GROUP/NAME\n");
  program_free(&p);
}

static int addresses_of(const char *list) {
  char line[128];
  snprintf(line, sizeof line, "--address %s", list);
  program p = program_run(in_cases("suitesparse/fetch.sh"), line);
  assert_int_equal(p.status, 0);
  int count = 0;
  for (const char *at = p.out; (at = strstr(at, ".tar.gz\n")) != NULL; at++) count++;
  program_free(&p);
  return count;
}

static void the_helper_has_the_matrices_of_each_paper(void **state) {
  (void)state;
  assert_int_equal(addresses_of("all"), 3);
  assert_int_equal(addresses_of("gauss-jordan-2017"), 56);
  assert_int_equal(addresses_of("adaptive-2020"), 76);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_cavity_has_its_counts_at_16_and_32_nodes),
      cmocka_unit_test(convection_diffusion_has_its_counts),
      cmocka_unit_test(elasticity_has_its_counts),
      cmocka_unit_test(reaction_has_its_counts),
      cmocka_unit_test(the_reservoir_has_its_counts),
      cmocka_unit_test(the_shell_has_its_counts),
      cmocka_unit_test(euler_has_its_counts),
      cmocka_unit_test(the_atmosphere_has_its_counts),
      cmocka_unit_test(convection_diffusion_has_the_block_pattern_of_atmosmodd),
      cmocka_unit_test(a_case_in_other_blocks_is_the_same_system),
      cmocka_unit_test(the_smallest_cavity_is_the_one_written_by_hand),
      cmocka_unit_test(the_matrices_of_the_paper_are_known_by_file_name),
      cmocka_unit_test(the_helper_downloads_and_unpacks),
      cmocka_unit_test(the_helper_takes_groups_and_goes_on_after_a_failure),
      cmocka_unit_test(the_helper_has_the_matrices_of_each_paper),
  };
  return cmocka_run_group_tests_name("cli_cases", tests, program_setup, program_teardown);
}
