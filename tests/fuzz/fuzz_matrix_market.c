/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix Market text, plain or compressed, as a matrix, as a vector and as several. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  fuzz_read_matrix(data, bytes, 0);
  fuzz_read_matrix(data, bytes, 3);
  fuzz_read_vector(data, bytes, 3);
  fuzz_read_vectors(data, bytes, 3, 4);
  fuzz_read_system(data, bytes);
  return 0;
}
