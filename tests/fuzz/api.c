/* SPDX-License-Identifier: BSD-3-Clause */
/* One case of the fuzz target of the C interface, from the system to its last property. */
#include "api.h"

void fuzz_api_run(const char *name, const uint8_t *data, size_t bytes) {
  fuzz_choices choices = {.next = data, .end = bytes > 0 ? data + bytes : data};
  fuzz_case(name, data, bytes);
  fuzz_counts.systems++;
  const int threads = fuzz_between(&choices, 2, 3);
  const bool faults = fuzz_rarely(&choices, 6);
  fuzz_system system = fuzz_system_make(&choices);
  if (faults) {
    fuzz_fault_properties(&choices, &system);
    fuzz_system_free(&system);
    return;
  }
  fuzz_world worlds[2];
  fuzz_world_open(&worlds[0], 1);
  fuzz_world_open(&worlds[1], threads);
  bisai_bcsr *first[2], *second = fuzz_matrix_make(&choices, &system, FUZZ_SECOND, &worlds[0]);
  for (int w = 0; w < 2; w++)
    first[w] = fuzz_matrix_make(&choices, &system, FUZZ_FIRST, &worlds[w]);
  if (first[0] && first[1] && second) {
    fuzz_matrix_properties(&choices, &system, first, worlds);
    if (system.definite || system.neumann)
      fuzz_definite_properties(&choices, &system, &worlds[0], first[0]);
    bisai_precond *const none[2] = {NULL, NULL};
    if (fuzz_rarely(&choices, 4))
      fuzz_solve_properties(&choices, &system, first, NULL, none, worlds);
    const int kinds = fuzz_between(&choices, 1, 2);
    for (int k = 0; k < kinds; k++)
      fuzz_precond_properties(&choices, &system, first, second, worlds);
    if (!system.large && fuzz_rarely(&choices, 3))
      fuzz_choice_properties(&choices, &system, first, worlds);
  }
  for (int w = 0; w < 2; w++) bisai_bcsr_destroy(&first[w]);
  bisai_bcsr_destroy(&second);
  for (int w = 0; w < 2; w++) fuzz_world_close(&worlds[w]);
  fuzz_system_free(&system);
}
