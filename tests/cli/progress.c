/* SPDX-License-Identifier: BSD-3-Clause */
/* The program says what it is at while that takes long: in lines where stderr is no terminal, in
 * one line in place where it is one. */
#define _XOPEN_SOURCE 700 /* pseudo-terminals */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/program.h"
#include "support/support.h"

extern char **environ;

/* Far more than ten seconds of work on any machine: 750,000 unknowns on one thread to a tolerance
 * that is hardly reached. */
static char *const long_solve[] = {
    "bisai",     "solve", "--case",           "cavity", "--size",      "500",   "--threads", "1",
    "--backend", "host",  "--preconditioner", "none",   "--tolerance", "1e-15", NULL};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Starts the program with stderr in `err`, which is closed here. stdout is the same or thrown
 * away. */
static pid_t start_with(char *const *arguments, int err, bool out_too) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (out_too)
    posix_spawn_file_actions_adddup2(&actions, err, STDOUT_FILENO);
  else
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  pid_t child;
  if (posix_spawn(&child, program_path(), &actions, NULL, arguments, environ) != 0)
    fail_msg("cannot start the program");
  posix_spawn_file_actions_destroy(&actions);
  close(err);
  return child;
}

static pid_t start(char *const *arguments, int err) { return start_with(arguments, err, false); }

/* Reads from `from` until `part` has come; fails where nothing comes for so many seconds. */
static void expect_within(int from, double seconds, const char *part, pid_t child) {
  char text[1024] = "";
  size_t length = 0;
  while (!strstr(text, part)) {
    if (length > sizeof text / 2) { /* the end is enough */
      memmove(text, text + length / 2, length - length / 2 + 1);
      length -= length / 2;
    }
    struct pollfd wait = {.fd = from, .events = POLLIN};
    const double asked = now();
    const int ready = poll(&wait, 1, (int)(1000 * seconds));
    ssize_t got = ready > 0 ? read(from, text + length, sizeof text - 1 - length) : 0;
    if (got <= 0) {
      kill(child, SIGKILL);
      waitpid(child, NULL, 0);
      fail_msg("nothing with '%s' for %.1f s, only: %s", part, now() - asked, text);
    }
    length += (size_t)got;
    text[length] = '\0';
  }
}

/* Opens a pipe. The program inherits the second end only. */
static void open_pipe(int ends[2]) {
  assert_int_equal(pipe(ends), 0);
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
}

/* Opens a terminal: what is written to its second end is read from the first, which the program
 * does not inherit. Skips the test if the machine has no terminals. */
static void open_terminal(int ends[2]) {
  ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
  if (ends[0] < 0 || grantpt(ends[0]) != 0 || unlockpt(ends[0]) != 0) skip();
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY);
  assert_true(ends[1] >= 0);
}

static void finish(pid_t child, int from) {
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  close(from);
}

static void long_solve_says_something_every_five_seconds_into_a_pipe(void **state) {
  (void)state;
  int ends[2];
  program_path();
  open_pipe(ends);
  pid_t child = start(long_solve, ends[1]);
  expect_within(ends[0], 5, ": iteration ", child);
  expect_within(ends[0], 5, "\n", child);
  expect_within(ends[0], 5, ", residual ", child);
  finish(child, ends[0]);
}

static void a_terminal_sees_one_line_that_is_rewritten(void **state) {
  (void)state;
  int ends[2];
  program_path();
  open_terminal(ends);
  pid_t child = start(long_solve, ends[1]);
  expect_within(ends[0], 5, "\r\033[Knone: iteration ", child);
  expect_within(ends[0], 5, " s\r\033[Knone: iteration ", child);
  finish(child, ends[0]);
}

/* A line that is longer than the terminal is wide would be wrapped, and a part of it would stay. */
static void a_narrow_terminal_sees_lines_that_fit(void **state) {
  (void)state;
  const struct winsize size = {.ws_row = 24, .ws_col = 20};
  int ends[2];
  program_path();
  open_terminal(ends);
  if (ioctl(ends[1], TIOCSWINSZ, &size) != 0) skip();
  pid_t child = start(long_solve, ends[1]);
  /* 19 of "none: iteration 123, residual 9.99e-01, 3 s", and the next line */
  expect_within(ends[0], 5, "\r\033[Knone: iteration", child);
  char text[512];
  size_t length = 0;
  while (length < sizeof text - 1) {
    const ssize_t got = read(ends[0], text + length, sizeof text - 1 - length);
    assert_true(got > 0);
    length += (size_t)got;
  }
  text[length] = '\0';
  finish(child, ends[0]);
  char *line = strstr(text, "\r\033[K");
  assert_non_null(line);
  for (char *next; (next = strstr(line + 1, "\r\033[K")); line = next)
    assert_in_range(next - line, 4, 4 + 19); /* \r, \033, [ and K are not shown */
}

static void a_file_that_is_slow_to_come_is_said_to_be_read(void **state) {
  (void)state;
  char *const arguments[] = {"bisai", "info", "slow.mtx", NULL};
  int ends[2];
  program_path();
  assert_int_equal(mkfifo("slow.mtx", 0600), 0);
  open_pipe(ends);
  pid_t child = start(arguments, ends[1]);
  expect_within(ends[0], 5, "slow: reading, ", child);
  finish(child, ends[0]);
}

static void short_runs_say_nothing(void **state) {
  (void)state;
  program p = run("compare --case cavity --size 6");
  assert_int_equal(p.status, 0);
  assert_string_equal(p.err, "");
  program_free(&p);
}

/* Standard output and standard error are the same pipe. The interrupt ends the long solve. */
static void progress_does_not_break_the_table_of_a_comparison(void **state) {
  (void)state;
  static char *const arguments[] = {"bisai",     "compare",   "--case",      "cavity",    "--size",
                                    "500",       "--threads", "1",           "--backend", "host",
                                    "--methods", "none",      "--tolerance", "1e-15",     NULL};
  int ends[2];
  program_path();
  open_pipe(ends);
  pid_t child = start_with(arguments, ends[1], true);
  expect_within(ends[0], 60, "\nnone: iteration ", child);
  kill(child, SIGINT);
  char text[8192];
  size_t length = 0;
  for (ssize_t got; (got = read(ends[0], text + length, sizeof text - 1 - length)) > 0;)
    length += (size_t)got;
  text[length] = '\0';
  finish(child, ends[0]);
  const char *row = strstr(text, "\nmethod      iterations");
  assert_non_null(row);
  row = strchr(row + 1, '\n');
  assert_memory_equal(row, "\nnone ", 6);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(long_solve_says_something_every_five_seconds_into_a_pipe),
      cmocka_unit_test(a_terminal_sees_one_line_that_is_rewritten),
      cmocka_unit_test(a_narrow_terminal_sees_lines_that_fit),
      cmocka_unit_test_setup_teardown(a_file_that_is_slow_to_come_is_said_to_be_read, program_setup,
                                      program_teardown),
      cmocka_unit_test_setup_teardown(progress_does_not_break_the_table_of_a_comparison,
                                      program_setup, program_teardown),
      cmocka_unit_test_setup_teardown(short_runs_say_nothing, program_setup, program_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
