/* SPDX-License-Identifier: BSD-3-Clause */
/* bisai help, and spellings that are accepted beside others. */
#include "support/program.h"
#include "support/support.h"

/* Both succeed and print the same, which has `words` in it. */
static void expect_same(const char *line, const char *other, const char *words) {
  program a = run(line), b = run(other);
  assert_int_equal(a.status, 0);
  assert_int_equal(b.status, 0);
  assert_string_equal(a.err, "");
  program_expect_in(line, a.out, words);
  assert_string_equal(a.out, b.out);
  program_free(&a);
  program_free(&b);
}

static void help_prints_what_the_option_prints(void **state) {
  (void)state;
  expect_same("help", "--help", "COMMAND: solve");
  expect_same("help --help", "--help", "help COMMAND");
  expect_same("help solve", "solve --help", "--preconditioner");
  expect_same("help compare", "compare --help", "--methods");
  expect_same("help info", "info --help", "--block-size");
  expect_same("help convert", "convert --help", "INPUT OUTPUT");
}

/* The help is made from the library's descriptions. Lines are wrapped between words. */
static void help_tells_what_the_keys_of_mg_mean(void **state) {
  (void)state;
  static const char *const lines[] = {
      "\nKeys of mg:\ncycle=auto|v|w|k|vw: order of the levels, default auto\n",
      "\npre=N: smoothings before the coarse correction, from 0 to 100000, default 1\n",
      "\ndamping=W: damping of the smoothers jacobi and l1, above 0 and below 2, default",
      "\nprecision=fp64|fp32: what cycles read of large levels, default fp32\n",
      "\nlevels=N: the most levels, from 1 to 24, default 24\n",
      "\nkeep: updates keep the transfers\n",
      "\nnull=components|FILE: near-null-space vectors, default components\n",
      "\nk=N: power of the pattern of the smoother isai, from 1, default 1\n",
      "\nshift=N: repairs singular diagonal blocks"};
  program p = run("help solve");
  assert_int_equal(p.status, 0);
  for (size_t k = 0; k < sizeof lines / sizeof *lines; k++)
    program_expect_in("help solve", p.out, lines[k]);
  program_free(&p);
}

static void expect_refusal(const char *line, const char *message) {
  program p = run(line);
  assert_int_equal(p.status, 2);
  assert_string_equal(p.out, "");
  assert_string_equal(p.err, message);
  program_free(&p);
}

static void help_with_an_unknown_command_exits_2(void **state) {
  (void)state;
  expect_refusal("help compute",
                 "bisai: 'compute' is not a command (solve, compare, info, convert)\n");
  expect_refusal("help solve info", "bisai: help: 'info': only one COMMAND is allowed\n");
  expect_refusal("help ''", "bisai: '' is not a command (solve, compare, info, convert)\n");
}

/* The program says what it took. */
static void color_is_colour(void **state) {
  (void)state;
  program p = run("solve --case cavity --size 8 --preconditioner ilu --ordering color");
  assert_int_equal(p.status, 0);
  assert_string_equal(p.err, "");
  program_expect_in("the heading", p.out, "matrix   in colour order inside ilu, isai and sweeps\n");
  program_expect_in("the account", p.out, "ordering=colour");
  program_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(help_prints_what_the_option_prints),
      cmocka_unit_test(help_tells_what_the_keys_of_mg_mean),
      cmocka_unit_test(help_with_an_unknown_command_exits_2),
      cmocka_unit_test(color_is_colour),
  };
  return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
