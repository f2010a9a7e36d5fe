/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "bench.h"
#include "device.h"

enum { ROUNDS = 5, COPIES = 10 };

double bench_device_now(void) {
  bench_device_wait();
  return bench_now();
}

double bench_device_copy_rate(size_t bytes, void *stream) {
  void *from = bench_device_allocate(bytes), *to = bench_device_allocate(bytes);
  double best = INFINITY;
  for (int round = 0; round < ROUNDS; round++)
    best = fmin(best, bench_device_copy(to, from, bytes, COPIES, stream));
  bench_device_release(from);
  bench_device_release(to);
  return 2.0 * (double)bytes / best;
}
