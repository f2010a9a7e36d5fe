/* SPDX-License-Identifier: BSD-3-Clause */
/* The C interface, with random systems, options, failing allocations and numbers of threads: see
 * api.h. */
#include "api.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  fuzz_api_run("this input", data, bytes);
  return 0;
}
