/* SPDX-License-Identifier: BSD-3-Clause */
#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <bisai/io.h>

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static volatile sig_atomic_t caught, keeping;
static bisai_context *volatile guarded;
static bool terminal; /* stderr is a terminal, and its last line may show progress */

const char *signals_name(int number) {
  return number == SIGINT ? "SIGINT" : number == SIGTERM ? "SIGTERM" : "SIGHUP";
}

static void print(const char *text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0) return; /* nobody can see the message */
}

static void handle(int number) {
  const int before = errno;
  if (terminal) print("\n");
  print("bisai: ");
  print(signals_name(number));
  if (caught || !keeping) {
    bisai_write_abandon(guarded);
    print(caught ? ": ended at once\n" : ": ended before there was a result\n");
    _exit(128 + number);
  }
  caught = number;
  print(": stopping; another one ends the program at once\n");
  errno = before;
}

void signals_install(void) {
  /* a write beyond the limit fails, and the unfinished file is removed */
  signal(SIGXFSZ, SIG_IGN);
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART}, before;
  terminal = isatty(STDERR_FILENO) == 1;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < NUMBERS; i++) sigaddset(&action.sa_mask, numbers[i]);
  for (int i = 0; i < NUMBERS; i++) {
    if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(numbers[i], &action, NULL);
  }
}

void signals_guard(bisai_context *context) { guarded = context; }

void signals_keep(void) { keeping = 1; }

int signals_caught(void) { return caught; }
