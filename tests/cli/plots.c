/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures of the command-line program: which files, and what their scripts and data say. */
#include "support/program.h"
#include "support/support.h"

static bool is_png(const char *path) {
  FILE *file = fopen(path, "rb");
  unsigned char head[8] = {0};
  const bool ok = file && fread(head, 1, 8, file) == 8 && memcmp(head, "\x89PNG\r\n\x1a\n", 8) == 0;
  if (file) fclose(file);
  return ok;
}

/* Runs with --plots, which must end well and say `message`; skips the test where there is no
 * gnuplot. */
static void draw_and_say(const char *line, const char *message) {
  program p = run(line);
  const bool absent =
      p.status == 2 && strstr(p.err, "gnuplot, which draws the figures, was not found");
  if (!absent && (p.status != 0 || strcmp(p.err, message) != 0))
    fail_msg("bisai %s\nexit status %d\nstderr: %s", line, p.status, p.err);
  program_free(&p);
  if (absent) skip();
}

static void draw(const char *line) { draw_and_say(line, ""); }

static void plots_are_png_files(void **state) {
  (void)state;
  draw("compare --case cavity --size 8 --methods none,isai:k=2:relax=1,sweeps:n=2 --plots plots");
  static const char *const names[] = {
      "plots/residuals.png", "plots/setup.png",      "plots/pattern_A.png", "plots/pattern_L.png",
      "plots/pattern_U.png", "plots/pattern_NL.png", "plots/pattern_NU.png"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (!is_png(names[i])) fail_msg("%s is not a PNG file", names[i]);
  char *script = program_read("plots/figures.gnuplot");
  program_expect_in("the script", script, "\"cavity: matrix A, 288 blocks in 64 block rows\"");
  program_expect_in("the script", script, "\"cavity: NL on S(|L|^2), ");
  free(script);
}

/* The look of a curve in the legend: "with linespoints lw 2 lc 1 dt 1 pt 7 ps 1.3 title …". */
static void sixteen_curves_look_different(void **state) {
  (void)state;
  draw(
      "compare --case cavity --size 4 --plots sixteen --methods none,bjacobi,ilu,isai,isai:relax=1,"
      "isai:relax=2,isai:relax=3,isai:k=2,isai:k=3,isai:k=4,isai:k=5,sweeps:n=0,sweeps:n=1,sweeps:"
      "n=2,"
      "sweeps:n=3,sweeps:n=4");
  char *script = program_read("sixteen/figures.gnuplot"), *looks[16];
  int count = 0;
  for (char *look = strstr(script, "with linespoints "); look;
       look = strstr(look + 1, "with linespoints ")) {
    assert_true(count < 16);
    looks[count++] = look;
  }
  assert_int_equal(count, 16);
  for (int i = 0; i < 16; i++) {
    *strstr(looks[i], " title ") = '\0';
    for (int k = 0; k < i; k++) assert_string_not_equal(looks[i], looks[k]);
  }
  free(script);
}

/* A window of 192 block rows in the middle of A, for its factors and their inverses too. */
static void pictures_of_patterns_show_the_same_window(void **state) {
  (void)state;
  draw("compare --case cavity --size 64 --methods isai:k=3 --max-iterations 1 --plots windows");
  char *script = program_read("windows/figures.gnuplot");
  int windows = 0;
  for (const char *at = script; (at = strstr(at, "\"block rows 1952 to 2143\"")); at++) windows++;
  assert_int_equal(windows, 5);
  free(script);
}

static void plots_are_drawn_also_where_every_method_fails(void **state) {
  (void)state;
  draw_and_say("compare no_diagonal.mtx --block-size 1 --methods ilu --plots failed",
               "bisai: no_diagonal: 4 of 4 diagonal entries are zero: try --preconditioner "
               "lu:matching=entries, then --solver idr:s=8 --preconditioner "
               "ilu:level=2:matching=entries\n");
  assert_true(is_png("failed/residuals.png"));
  assert_true(is_png("failed/setup.png"));
  char *data = program_read("failed/setup.dat");
  program_expect_in("setup.dat", data, "\"ilu (failed)\" 0 0 0\n");
  free(data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plots_are_png_files),
      cmocka_unit_test(sixteen_curves_look_different),
      cmocka_unit_test(pictures_of_patterns_show_the_same_window),
      cmocka_unit_test(plots_are_drawn_also_where_every_method_fails),
  };
  return cmocka_run_group_tests_name("cli_plots", tests, program_setup, program_teardown);
}
