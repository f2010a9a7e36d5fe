/* SPDX-License-Identifier: BSD-3-Clause */
/* How long the threads of OpenMP spin at a barrier before they sleep.
 *
 * libgomp spins some 10 ms unless its environment says otherwise. On a machine that is busy, or whose processor time is limited, a
 * spinning thread keeps the one that it waits for from running: a small solve, which meets thousands of barriers, then takes a
 * hundred times longer. 3000 turns, some ten microseconds, cost a few per cent at most on an idle machine. libgomp reads its environment
 * before main(), so the program has to start once more. */
#include "waiting.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_chosen(void) { return getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT") || getenv("KMP_BLOCKTIME"); }

/* valgrind does not follow the program through exec. */
static bool is_under_valgrind(void) {
  const char *preloaded = getenv("LD_PRELOAD");
  return preloaded && strstr(preloaded, "vgpreload");
}

void waiting_set_up(char **argv) {
  char path[4096];
  if (is_chosen() || is_under_valgrind()) return;
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0 || length >= (ssize_t)sizeof path - 1) return;
  path[length] = '\0';
  const char *slash = strrchr(path, '/');
  if (slash && strncmp(slash, "/ld", 3) == 0) return; /* started through the dynamic loader, by hand */
  /* By its own path: executed as /proc/self/exe, the process would be called "exe" in lists. */
  if (setenv("GOMP_SPINCOUNT", "3000", 0) == 0) execv(path, argv);
}
