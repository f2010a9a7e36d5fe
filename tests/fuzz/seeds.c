/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the fuzz target of the C interface on random inputs, which seeds make: seeds FIRST COUNT.
 * Failures are counted, so that one run shows all of them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "api.h"

enum { MOST = 320 };

/* Inputs of different lengths: what is missing at the end takes the first answers. */
static size_t make_input(uint64_t seed, uint8_t *bytes) {
  const size_t count = 40 + (size_t)(fuzz_mix(~seed) % (MOST - 39));
  for (size_t i = 0; i < count; i++) bytes[i] = (uint8_t)(fuzz_mix(fuzz_mix(seed) + i) >> 24);
  return count;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s FIRST COUNT\nRuns the inputs of COUNT seeds from FIRST on.\n",
            argv[0]);
    return 2;
  }
  const uint64_t first = strtoull(argv[1], NULL, 10), count = strtoull(argv[2], NULL, 10);
  fuzz_count_failures(true);
  for (uint64_t seed = first; seed - first < count; seed++) {
    uint8_t bytes[MOST];
    char name[64];
    const size_t length = make_input(seed, bytes);
    snprintf(name, sizeof name, "seed %" PRIu64, seed);
    fuzz_api_run(name, bytes, length);
  }
  const fuzz_tally *t = &fuzz_counts;
  printf("%lld systems, %lld of %lld set-ups made, %lld updates, %lld allocations failed; solves:",
         t->systems, t->set_up, t->setups, t->updates, t->faults);
  for (int status = 0; status <= BISAI_NOT_LINEAR; status++)
    if (t->solves[status] > 0)
      printf(" %lld %s,", t->solves[status], bisai_status_string((bisai_status)status));
  printf(" %lld failures\n", fuzz_failures());
  return count > 0 && fuzz_failures() == 0 ? 0 : 1;
}
