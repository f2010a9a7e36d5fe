/* SPDX-License-Identifier: BSD-3-Clause */
/* The command-line program and signals: it keeps what it has computed, and leaves nothing half
 * done. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bisai/io.h>

#include "support/program.h"
#include "support/support.h"

enum { PATIENCE = 60000 }; /* milliseconds that a test waits before it fails */

/* A solve that nothing but a signal ends within a test. */
#define ENDLESS "--case cavity --size 128 --tolerance 1e-12 --max-iterations 1000000000 "

static void pause_for(int milliseconds) {
  nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000L}, NULL);
}

/* Counts the files here whose name contains `part`. */
static int files_with(const char *part) {
  DIR *folder = opendir(".");
  assert_non_null(folder);
  int count = 0;
  for (struct dirent *e = readdir(folder); e; e = readdir(folder))
    count += strstr(e->d_name, part) != NULL;
  closedir(folder);
  return count;
}

static bool is_written(const char *path, const char *part) {
  FILE *file = fopen(path, "rb");
  if (!file) return false;
  fclose(file);
  char *text = program_read(path);
  const bool found = strstr(text, part) != NULL;
  free(text);
  return found;
}

/* Ends the program before the test fails, so that nothing stays behind. */
static void give_up(pid_t child, const char *what) {
  kill(child, SIGKILL);
  program p = program_wait(child);
  fail_msg("%s\nstdout: %s\nstderr: %s", what, p.out, p.err);
}

static void wait_for_text(pid_t child, const char *path, const char *part) {
  for (int waited = 0; !is_written(path, part); waited++) {
    if (waited == PATIENCE) give_up(child, part);
    pause_for(1);
  }
}

/* Waits until the program has opened the pipe to read, and holds it then. */
static int hold_pipe(pid_t child, const char *path) {
  for (int waited = 0; waited < PATIENCE; waited++) {
    const int file = open(path, O_WRONLY | O_NONBLOCK);
    if (file >= 0) return file;
    assert_int_equal(errno, ENXIO);
    pause_for(1);
  }
  give_up(child, "the pipe was not opened");
  return -1;
}

static void expect_end(program *p, int status, const char *message) {
  if (p->status != status || !strstr(p->err, message))
    fail_msg("exit status %d, expected %d\nstderr: %s\nexpected: %s", p->status, status, p->err,
             message);
}

/* Whatever the command: nothing was computed, so that the program ends at once and old files are as
 * they were. */
static void signals_before_there_is_a_result_end_at_once(void **state) {
  (void)state;
  static const char *const lines[] = {"solve pipe --output kept.mtx", "compare pipe", "info pipe",
                                      "convert pipe kept.mtx"};
  assert_int_equal(mkfifo("pipe", 0600), 0);
  program_write("kept.mtx", "kept");
  const int before = files_with("");
  for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
    for (int way = 0; way < 3; way++) {
      const int number = (int[]){SIGINT, SIGTERM, SIGHUP}[way];
      const pid_t child = program_start(program_path(), lines[k]);
      const int held = hold_pipe(child, "pipe");
      kill(child, number);
      program p = program_wait(child);
      close(held);
      expect_end(&p, 128 + number, ": ended before there was a result\n");
      assert_string_equal(p.out, "");
      program_free(&p);
      char *kept = program_read("kept.mtx");
      assert_string_equal(kept, "kept");
      free(kept);
    }
  }
  assert_int_equal(files_with(""), before + 2); /* stdout.txt, stderr.txt */
  assert_int_equal(unlink("pipe"), 0);
}

static void ignored_signals_stay_ignored(void **state) {
  (void)state;
  program_path();
  assert_int_equal(mkfifo("pipe", 0600), 0);
  program_write("line.sh", "trap '' INT\nexec \"$BISAI_PROGRAM\" info pipe\n");
  const pid_t child = program_start("/bin/sh", "line.sh");
  const int held = hold_pipe(child, "pipe");
  kill(child, SIGINT); /* the smaller number comes first */
  kill(child, SIGTERM);
  program p = program_wait(child);
  close(held);
  expect_end(&p, 143, "bisai: SIGTERM: ended before there was a result\n");
  program_free(&p);
  assert_int_equal(unlink("pipe"), 0);
}

/* Starts an endless solve and sends a signal when its solver runs, which only its answer tells. */
static program stop_solve(const char *line, int number) {
  for (int delay = 100; delay < PATIENCE; delay *= 2) {
    const pid_t child = program_start(program_path(), line);
    pause_for(delay);
    kill(child, number);
    program p = program_wait(child);
    if (p.status >= 0 && !strstr(p.err, "before there was a result")) return p;
    program_free(&p);
  }
  fail_msg("the solver never ran");
  return (program){0};
}

/* ‖b − A x‖/‖b‖ of the system that ENDLESS solves. */
static double residual_of(const char *path) {
  program p = run("convert --case cavity --size 128 cavity.petsc --force");
  assert_int_equal(p.status, 0);
  program_free(&p);
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = NULL;
  int64_t columns = 0;
  EXPECT_OK(context, bisai_read_matrix(context, "cavity.petsc", NULL, &matrix));
  const int64_t n = bisai_bcsr_rows(matrix);
  double *b = malloc((size_t)n * sizeof *b), *x = malloc((size_t)n * sizeof *x),
         *y = malloc((size_t)n * sizeof *y);
  assert_true(b && x && y);
  EXPECT_OK(context, bisai_read_rhs(context, "cavity.petsc", n, b, &columns));
  EXPECT_OK(context, bisai_read_vector(context, path, n, x));
  EXPECT_OK(context, bisai_bcsr_multiply(matrix, x, y));
  double rest = 0, whole = 0;
  for (int64_t i = 0; i < n; i++) {
    rest += (b[i] - y[i]) * (b[i] - y[i]);
    whole += b[i] * b[i];
  }
  free(b);
  free(x);
  free(y);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
  return sqrt(rest / whole);
}

static void solve_stops_and_writes_the_best_x(void **state) {
  (void)state;
  static const char *const solvers[] = {"gmres", "idr"};
  for (int k = 0; k < 2; k++) {
    const int number = k == 1 ? SIGTERM : SIGINT;
    char line[512], head[64];
    snprintf(line, sizeof line, "solve " ENDLESS "--preconditioner none --solver %s --output x.mtx",
             solvers[k]);
    program p = stop_solve(line, number);
    snprintf(head, sizeof head, "bisai: none: interrupted by %s at iteration ",
             number == SIGINT ? "SIGINT" : "SIGTERM");
    expect_end(&p, 128 + number, head);
    program_expect_in("the account", p.out, "result   stopped: interrupted by ");
    const char *told = strstr(p.err, "relative residual ");
    assert_non_null(told);
    const double residual = atof(told + strlen("relative residual "));
    program_free(&p);
    assert_true(residual > 0 && residual <= 1);
    /* Told with four digits. */
    assert_true(fabs(residual_of("x.mtx") - residual) <= 1e-3 * residual);
    assert_int_equal(files_with(".part"), 0);
    assert_int_equal(unlink("x.mtx"), 0);
  }
}

/* PETSc's own solver, which would go on for ever. */
static void petsc_stops_too(void **state) {
  (void)state;
  program p = run("solve --case cavity --size 4 --preconditioner petsc");
  const bool here = p.status == 0;
  program_free(&p);
  if (!here) skip();
  p = stop_solve("solve --case cavity --size 128 --tolerance 1e-300 --max-iterations 1000000000 "
                 "--preconditioner petsc "
                 "--output x.mtx",
                 SIGINT);
  expect_end(&p, 130, "bisai: petsc: interrupted by SIGINT at iteration ");
  program_free(&p);
  assert_true(residual_of("x.mtx") <= 1);
}

#ifdef BISAI_HAVE_JANSSON

static int count_of(const char *text, const char *part) {
  int count = 0;
  for (const char *at = strstr(text, part); at; at = strstr(at + 1, part)) count++;
  return count;
}

static void compare_stops_and_writes_what_has_ended(void **state) {
  (void)state;
  program_write("results.json", "old results");
  program_write("line.sh", "command -v gnuplot\n");
  program found = program_run("/bin/sh", "line.sh");
  const bool drawn = found.status == 0;
  program_free(&found);
  char line[512];
  snprintf(
      line, sizeof line,
      "compare --case cavity --size 128 --tolerance 1e-9 --max-iterations 1000000000 --methods "
      "ilu:level=3,none,isai --json results.json%s",
      drawn ? " --plots plots" : "");
  const pid_t child = program_start(program_path(), line);
  wait_for_text(child, "stdout.txt", "  converged\n");
  pause_for(100); /* as a rule the next method runs then */
  kill(child, SIGTERM);
  program p = program_wait(child);
  const bool begun = strstr(p.err, "bisai: none: interrupted by SIGTERM ") != NULL;
  expect_end(&p, 143,
             begun ? "bisai: 1 of 3 methods not run\n" : "bisai: 2 of 3 methods not run\n");
  if (drawn) program_expect_in("stderr", p.err, "bisai: --plots: plots: not drawn after SIGTERM\n");
  if (begun) {
    program_expect_in("the table", p.out, "  stopped\n");
    program_expect_in("the table", p.out, "\nnone: interrupted by SIGTERM ");
  }
  program_expect_in("the table", p.out, "\nA signal ended the comparison early: ");
  assert_null(strstr(p.out, "isai"));
  program_free(&p);
  char *json = program_read("results.json");
  assert_int_equal(count_of(json, "\"method\": "), begun ? 2 : 1);
  assert_int_equal(count_of(json, "\"reason\": \"converged\""), 1);
  assert_int_equal(count_of(json, "\"reason\": \"stopped\""), begun);
  assert_int_equal(json[strlen(json) - 2], '}');
  free(json);
  assert_int_equal(files_with(".part"), 0);
}

/* The program waits for someone to read its JSON. */
static void a_second_signal_ends_at_once(void **state) {
  (void)state;
#ifdef __SANITIZE_THREAD__
  skip(); /* ThreadSanitizer keeps the signal until open() returns, which nobody reads */
#endif
  assert_int_equal(mkfifo("json", 0600), 0);
  const pid_t child = program_start(
      program_path(), "solve --case cavity --size 8 --output written.mtx --json json");
  for (int waited = 0; access("written.mtx", F_OK) != 0; waited++) {
    if (waited == PATIENCE) give_up(child, "no solution was written");
    pause_for(1);
  }
  kill(child, SIGTERM);
  wait_for_text(child, "stderr.txt",
                "bisai: SIGTERM: stopping; another one ends the program at once\n");
  assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
  kill(child, SIGINT);
  program p = program_wait(child);
  expect_end(&p, 130, "bisai: SIGINT: ended at once\n");
  program_free(&p);
}

#endif

static void a_conversion_that_a_signal_ends_leaves_nothing_behind(void **state) {
  (void)state;
  /* for a new name, the look at its folder would make a .part too */
  program_write("large.mtx", "kept");
  const pid_t child =
      program_start(program_path(), "convert --case convdiff --size 80 large.mtx --rhs none");
  for (int waited = 0; files_with(".part") == 0; waited++) {
    if (waited == PATIENCE) give_up(child, "nothing was begun");
    pause_for(1);
  }
  kill(child, SIGINT);
  program p = program_wait(child);
  expect_end(&p, 130, "bisai: SIGINT: ended before there was a result\n");
  program_free(&p);
  assert_int_equal(files_with(".part"), 0);
  char *kept = program_read("large.mtx");
  assert_string_equal(kept, "kept");
  free(kept);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(signals_before_there_is_a_result_end_at_once),
      cmocka_unit_test(ignored_signals_stay_ignored),
      cmocka_unit_test(solve_stops_and_writes_the_best_x),
      cmocka_unit_test(petsc_stops_too),
#ifdef BISAI_HAVE_JANSSON
      cmocka_unit_test(compare_stops_and_writes_what_has_ended),
      cmocka_unit_test(a_second_signal_ends_at_once),
#endif
      cmocka_unit_test(a_conversion_that_a_signal_ends_leaves_nothing_behind),
  };
  return cmocka_run_group_tests_name("cli_signals", tests, program_setup, program_teardown);
}
