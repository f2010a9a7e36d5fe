/* PETSc's binary files, plain or compressed: a matrix, a vector, and a vector behind a matrix. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  fuzz_read_matrix(data, bytes, 0);
  fuzz_read_matrix(data, bytes, 2);
  fuzz_read_vector(data, bytes, 3);
  fuzz_read_rhs(data, bytes, 3);
  return 0;
}
