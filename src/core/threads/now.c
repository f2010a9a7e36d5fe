/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/threads/now.h"

#include <time.h>

double bsi_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
