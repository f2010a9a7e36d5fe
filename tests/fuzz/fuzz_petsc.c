/* SPDX-License-Identifier: BSD-3-Clause */
/* PETSc's binary files, plain or compressed: a matrix, a vector, and a vector behind a matrix. */
#include "fuzz.h"

/* PETSc's files begin with a zero byte. Compressed ones are tried while they are short: long ones
 * swell to megabytes of rows, which only takes time. */
enum { MOST_COMPRESSED = 128 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  if (bytes > MOST_COMPRESSED && data[0] != 0) return 0;
  fuzz_read_matrix(data, bytes, 0);
  fuzz_read_matrix(data, bytes, 2);
  fuzz_read_vector(data, bytes, 3);
  fuzz_read_rhs(data, bytes, 3);
  fuzz_read_system(data, bytes);
  return 0;
}
