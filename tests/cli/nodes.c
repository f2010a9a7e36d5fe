/* SPDX-License-Identifier: BSD-3-Clause */
/* Files whose rows are not numbered by node: unknowns field by field, nodes in any order, nodes of
 * which some unknowns are eliminated. Vectors of files keep the numbering of the file. */
#include "support/program.h"
#include "support/support.h"

/* NODES nodes of 2 unknowns on a line, each coupled to its neighbours by full blocks. */
enum { NODES = 6, ROWS = 2 * NODES };

/* Writes the entries of the rows with place[row] > 0, as row place[row]. Row 2·i + c is component c
 * of node i. */
static void write_line(const char *path, int rows, const int place[ROWS]) {
  static const double value[2][2][2] = {{{4, 1}, {1, 5}}, {{-1, 0.25}, {-0.25, -1}}};
  int count = 0;
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "%%%%MatrixMarket matrix coordinate real general\n%d %d %30s\n", rows, rows, "");
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < ROWS; j++) {
      const int away = j / 2 - i / 2, r = away < 0 ? j % 2 : i % 2, c = away < 0 ? i % 2 : j % 2;
      if (abs(away) > 1 || place[i] == 0 || place[j] == 0) continue;
      fprintf(file, "%d %d %g\n", place[i], place[j], value[abs(away)][r][c]);
      count++;
    }
  rewind(file);
  fprintf(file, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d", rows, rows, count);
  assert_int_equal(fclose(file), 0);
}

static void write_values(const char *path, int rows, int columns, const double *values) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "%%%%MatrixMarket matrix array real general\n%d %d\n", rows, columns);
  for (int c = 0; c < columns; c++)
    for (int i = 0; i < rows; i++) fprintf(file, "%.17g\n", values[i * columns + c]);
  assert_int_equal(fclose(file), 0);
}

static void read_values(const char *path, int rows, double *values) {
  bisai_context *context = test_context(1);
  EXPECT_OK(context, bisai_read_vector(context, path, rows, values));
  bisai_context_destroy(&context);
}

/* Field by field, by node, and by node without unknown 1 of node 0 and unknown 0 of node 3. */
static int by_field(int row) { return row % 2 * NODES + row / 2 + 1; }
static const int of_node[ROWS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
static const int eliminated[ROWS] = {1, 0, 2, 3, 4, 5, 0, 6, 7, 8, 9, 10};

static int setup(void **state) {
  int fields[ROWS];
  double b[ROWS], b_of_fields[ROWS], node[2 * ROWS];
  program_setup(state);
  for (int i = 0; i < ROWS; i++) {
    fields[i] = by_field(i);
    b[i] = b_of_fields[fields[i] - 1] = (i + 1) * (i + 1);
  }
  write_line("fields.mtx", ROWS, fields);
  write_line("nodes.mtx", ROWS, of_node);
  write_line("eliminated.mtx", ROWS - 2, eliminated);
  write_values("fields_b.mtx", ROWS, 1, b_of_fields);
  write_values("nodes_b.mtx", ROWS, 1, b);
  for (int i = 0; i < ROWS; i++) {
    if (eliminated[i] == 0) continue;
    node[2 * (eliminated[i] - 1)] = i / 2 + 1;
    node[2 * (eliminated[i] - 1) + 1] = i % 2 + 1;
  }
  write_values("map.mtx", ROWS - 2, 2, node);
  for (int i = 0; i < ROWS - 2; i++) node[i] = node[2 * i];
  write_values("map_without.mtx", ROWS - 2, 1, node);
  node[4] = 2.5;
  write_values("map_broken.mtx", ROWS - 2, 1, node);
  return 0;
}

static void expect_out(const char *line, const char *part) {
  program p = run(line);
  if (p.status != 0) fail_msg("bisai %s: exit status %d\n%s", line, p.status, p.err);
  program_expect_in(line, p.out, part);
  program_free(&p);
}

static void expect_same_files(const char *path, const char *other) {
  char *text = program_read(other);
  program_expect_file(path, text);
  free(text);
}

static void fields_become_blocks_with_their_right_hand_side(void **state) {
  (void)state;
  static const char *const options[] = {"--fields 2", "--interleave 2", "--nodes auto"};
  expect_out("convert nodes.mtx expected.mtx --block-size 2", "12 rows, 16 blocks of size 2");
  for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
    char line[100];
    snprintf(line, sizeof line, "convert fields.mtx blocks.mtx --force %s", options[k]);
    expect_out(line, "matrix   fields: 12 rows, 16 blocks of size 2, to blocks.mtx\n"
                     "rhs      fields_b.mtx, beside the matrix, to blocks_b.mtx\n");
    expect_same_files("blocks.mtx", "expected.mtx");
    expect_same_files("blocks_b.mtx", "expected_b.mtx");
  }
}

static void x_keeps_the_numbering_of_the_file(void **state) {
  (void)state;
  double x[ROWS], y[ROWS];
  expect_out("solve nodes.mtx --preconditioner ilu --output x.mtx", "\nresult   converged");
  read_values("x.mtx", ROWS, x);
  expect_out("solve fields.mtx --fields 2 --preconditioner ilu --output y.mtx",
             "matrix   fields: 6 block rows of size 2, 16 blocks\n"
             "rhs      fields_b.mtx, beside the matrix\n");
  read_values("y.mtx", ROWS, y);
  /* the same operations */
  for (int i = 0; i < ROWS; i++) assert_true(x[i] == y[by_field(i) - 1]);
}

static void eliminated_unknowns_are_padding(void **state) {
  (void)state;
  static const char *const maps[] = {"map.mtx", "map_without.mtx", "auto"};
  enum { LEFT = ROWS - 2 };
  double x[LEFT], y[LEFT];
  expect_out("solve eliminated.mtx --block-size 1 --preconditioner lu --output x.mtx",
             "\nresult   converged");
  read_values("x.mtx", LEFT, x);
  for (size_t k = 0; k < sizeof maps / sizeof *maps; k++) {
    char line[200];
    snprintf(
        line, sizeof line,
        "solve eliminated.mtx --nodes %s --preconditioner ilu --tolerance 1e-13 --output y.mtx",
        maps[k]);
    program p = run(line);
    program_expect_in(line, p.out,
                      "matrix   eliminated: 6 block rows of size 2, 16 blocks, 2 of 12 rows "
                      "padding\nrhs      A x with x_i = 1, i = 1 to n\n");
    program_expect_in(line, p.err,
                      "eliminated: 6 nodes of at most 2 unknowns, padded with 2 rows of the "
                      "identity\n");
    assert_int_equal(p.status, 0);
    program_free(&p);
    read_values("y.mtx", LEFT, y);
    EXPECT_CLOSE(LEFT, x, y, 1e-12); /* A is well-conditioned */
  }
}

static void null_vectors_are_those_of_the_file(void **state) {
  (void)state;
  double constants[2 * ROWS] = {0}, x[ROWS], y[ROWS];
  for (int i = 0; i < ROWS; i++) constants[2 * i + i / NODES] = 1;
  write_values("constants.mtx", ROWS, 2, constants);
  expect_out("solve fields.mtx --fields 2 --preconditioner mg:coarsest=2 --output x.mtx",
             "\nresult   converged");
  read_values("x.mtx", ROWS, x);
  expect_out("solve fields.mtx --fields 2 --preconditioner mg:coarsest=2:null=constants.mtx "
             "--output y.mtx",
             "\nresult   converged");
  read_values("y.mtx", ROWS, y);
  /* rounding alone: the vectors span the same space, and others would end up to 1e-8 apart */
  EXPECT_CLOSE(ROWS, x, y, 1e-12);
}

static void info_studies_the_blocks_of_nodes(void **state) {
  (void)state;
  expect_out("info fields.mtx --fields 2",
             "matrix       fields: 12 rows, 64 entries\n"
             "block size   2, the unknowns of a node\n"
             "blocks       16 in 6 block rows, at most 3 in one, 0 diagonal blocks missing\n");
}

static void nodes_are_found_where_nothing_says_which_rows_make_a_block(void **state) {
  (void)state;
  double x[ROWS], y[ROWS];
  static const char found[] = "bisai: fields: 6 nodes of 2 unknowns\n";
  program_expect("solve fields.mtx --preconditioner ilu --output x.mtx", 0, found);
  program_expect("solve fields.mtx --fields 2 --preconditioner ilu --output y.mtx", 0, "");
  read_values("x.mtx", ROWS, x);
  read_values("y.mtx", ROWS, y);
  EXPECT_CLOSE(ROWS, y, x, 0.0);
  program_expect("compare fields.mtx --methods ilu", 0, found);
  program_expect("solve fields.mtx --block-size 1", 0, "");
  program_expect("solve nodes.mtx", 0, "");
  expect_out("info fields.mtx", "block size   2, the unknowns of a node\n");
  expect_out("info nodes.mtx", "block size   2, found in the pattern\n");
  expect_out("convert fields.mtx blocks.mtx --force",
             "12 rows, 64 blocks of size 1, to blocks.mtx");
  expect_same_files("blocks_b.mtx", "fields_b.mtx");
}

static void wrong_fields_and_nodes_are_named(void **state) {
  (void)state;
  static const struct {
    const char *line, *message;
  } wrong[] = {
      {"solve fields.mtx --fields 1",
       "bisai: --fields: '1' is neither auto nor an integer from 2 to 32\n"},
      {"convert fields.mtx out.mtx --interleave x",
       "bisai: --interleave: 'x' is neither auto nor an integer from 2 to 32\n"},
      {"solve fields.mtx --fields 5", "bisai: 12 rows are not 5 fields of the same length\n"},
      {"solve fields.mtx --fields 2 --block-size 3",
       "bisai: 2 fields make blocks of size 2, and the block size is 3\n"},
      {"solve laplace5.mtx --fields auto",
       "bisai: laplace5: no fields were found: --fields N sets their number\n"},
      {"solve laplace5.mtx --nodes auto",
       "bisai: laplace5: no nodes were found: too few rows have the columns of another row to "
       "which they are coupled\n"},
      {"solve fields.mtx --fields 2 --nodes auto",
       "bisai: --fields and --nodes: give only one of them\n"},
      {"solve --case cavity --size 4 --fields 3",
       "bisai: --fields and --nodes are for a FILE; the nodes of a case are known\n"},
      {"solve fields.mtx --nodes -",
       "bisai: --nodes: the nodes come from a file, not from standard input\n"},
      {"solve fields.mtx --fields 2 --preconditioner schur:from=7",
       "bisai: --preconditioner: schur:from=7: from and to name rows, which --fields and --nodes "
       "number anew\n"},
      {"solve fields.mtx --nodes ''", "bisai: --nodes: the name is empty\n"},
      {"solve eliminated.mtx --nodes map_broken.mtx",
       "bisai: map_broken.mtx: row 5: the node is 2.5, not an integer from 1 to 10\n"},
      {"solve eliminated.mtx --nodes map.mtx --block-size 1",
       "bisai: eliminated: the largest node has 2 components, and the largest block size is 1\n"},
      {"solve eliminated.mtx --nodes map.mtx --output ./map.mtx",
       "bisai: --output: ./map.mtx: the same file as --nodes\n"},
      {"info eliminated.mtx --nodes map.mtx --json map.mtx",
       "bisai: --json: map.mtx: the same file as --nodes\n"},
      {"convert eliminated.mtx map.mtx --nodes map.mtx",
       "bisai: OUTPUT: map.mtx: the same file as --nodes\n"},
      {"convert eliminated.mtx out.petsc --nodes out.petsc.info",
       "bisai: OUTPUT's block size: out.petsc.info: the same file as --nodes\n"},
      {"convert fields.mtx out.mtx --interleave 2 --nodes map.mtx",
       "bisai: --fields and --nodes: give only one of them\n"},
  };
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
    program_expect(wrong[k].line, 2, wrong[k].message);
}

/* Nodes of four rows that do not fit, and what is said of them: rows and nodes count from 1, as the
 * file does. */
static void wrong_files_of_nodes_are_told_in_their_own_numbers(void **state) {
  (void)state;
  static const struct {
    const char *size, *values, *message;
  } wrong[] = {
      {"3 1", "1 1 2", "line 2: a vector of 3 values; 4 are needed"},
      {"5 1", "1 1 2 2 3", "line 2: a vector of 5 values; 4 are needed"},
      {"4 3", "1 1 2 2 1 2 1 2 1 1 1 1", "line 2: 3 columns; at most 2 are possible"},
      {"4 1", "1 1 2", "line 5: the file ends after 3 of 4 entries"},
      {"4 1", "1 1 3 3", "node 2 has no row"},
      {"4 1", "2 2 3 3", "node 1 has no row"},
      {"4 1", "1 1 2 5", "row 4: the node is 5, not an integer from 1 to 4"},
      {"4 1", "1 0 2 2", "row 2: the node is 0, not an integer from 1 to 4"},
      {"4 2", "1 1 2 2 1 2 0 1", "row 3: the component is 0, not an integer from 1 to 32"},
      {"4 2", "1 1 2 2 1 33 1 2", "row 2: the component is 33, not an integer from 1 to 32"},
      {"4 2", "1 1 2 1 1 2 1 2", "rows 2 and 4 are both component 2 of node 1"},
  };
  program_write("four.mtx", "%%MatrixMarket matrix coordinate real general\n4 4 4\n"
                            "1 1 1\n2 2 1\n3 3 1\n4 4 1\n");
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    char text[200];
    snprintf(text, sizeof text, "%%%%MatrixMarket matrix array real general\n%s\n%s\n",
             wrong[k].size, wrong[k].values);
    for (char *c = strchr(text, '\n') + 5; *c; c++)
      if (*c == ' ') *c = '\n';
    program_write("wrong.mtx", text);
    snprintf(text, sizeof text, "bisai: wrong.mtx: %s\n", wrong[k].message);
    program_expect("solve four.mtx --nodes wrong.mtx", 2, text);
    program_expect("info four.mtx --nodes wrong.mtx", 2, text);
    program_expect("convert four.mtx out.mtx --nodes wrong.mtx", 2, text);
  }
  program_expect("solve four.mtx --nodes absent.mtx", 2,
                 "bisai: cannot open absent.mtx: No such file or directory\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields_become_blocks_with_their_right_hand_side),
      cmocka_unit_test(x_keeps_the_numbering_of_the_file),
      cmocka_unit_test(eliminated_unknowns_are_padding),
      cmocka_unit_test(null_vectors_are_those_of_the_file),
      cmocka_unit_test(info_studies_the_blocks_of_nodes),
      cmocka_unit_test(nodes_are_found_where_nothing_says_which_rows_make_a_block),
      cmocka_unit_test(wrong_fields_and_nodes_are_named),
      cmocka_unit_test(wrong_files_of_nodes_are_told_in_their_own_numbers),
  };
  return cmocka_run_group_tests(tests, setup, program_teardown);
}
