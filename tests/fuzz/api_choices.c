/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes as answers to questions. */
#include <math.h>

#include "api.h"

static uint8_t next_byte(fuzz_choices *choices) {
  return choices->next < choices->end ? *choices->next++ : 0;
}

int fuzz_pick(fuzz_choices *choices, int count) { return next_byte(choices) % count; }

int fuzz_between(fuzz_choices *choices, int low, int high) {
  return low + fuzz_pick(choices, high - low + 1);
}

bool fuzz_rarely(fuzz_choices *choices, int in) { return fuzz_pick(choices, in) == in - 1; }

uint64_t fuzz_seed(fuzz_choices *choices) {
  const uint64_t low = next_byte(choices), high = next_byte(choices);
  return low + 256 * high;
}

double fuzz_not_finite(fuzz_choices *choices) {
  static const double values[] = {NAN, INFINITY, -INFINITY};
  return values[fuzz_pick(choices, 3)];
}

uint64_t fuzz_mix(uint64_t state) {
  state += UINT64_C(0x9e3779b97f4a7c15);
  state = (state ^ (state >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  state = (state ^ (state >> 27)) * UINT64_C(0x94d049bb133111eb);
  return state ^ (state >> 31);
}

double fuzz_noise(uint64_t seed, int64_t i, int64_t j) {
  const uint64_t bits = fuzz_mix(fuzz_mix(fuzz_mix(seed) + (uint64_t)i) + (uint64_t)j);
  return (double)(bits >> 11) * 0x1p-52 - 1;
}
