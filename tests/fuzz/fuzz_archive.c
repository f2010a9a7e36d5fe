/* SPDX-License-Identifier: BSD-3-Clause */
/* Tar archives, plain or compressed, of which the matrix and its right-hand side are found by their
 * names. */
#include "fuzz.h"

#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  fuzz_read_matrix(data, bytes, 0);
  fuzz_read_rhs(data, bytes, 3);
  fuzz_read_system(data, bytes);
  return 0;
}

#ifdef BISAI_FUZZ
size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t most, unsigned seed);

/* A header of tar is its block's only if the sum of its bytes is right, which chance does not
 * hit. */
static void repair_header(uint8_t *block) {
  enum { BLOCK = 512, AT = 148, LENGTH = 8 };
  unsigned sum = 0;
  memset(block + AT, ' ', LENGTH);
  for (int i = 0; i < BLOCK; i++) sum += block[i];
  char text[LENGTH + 1];
  snprintf(text, sizeof text, "%06o", sum);
  memcpy(block + AT, text, LENGTH - 1);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t most, unsigned seed) {
  enum { BLOCK = 512, MAGIC = 257 };
  bytes = LLVMFuzzerMutate(data, bytes, most);
  for (size_t at = 0; at + BLOCK <= bytes && seed % 8 != 0; at += BLOCK)
    if (memcmp(data + at + MAGIC, "ustar", 5) == 0) repair_header(data + at);
  return bytes;
}
#endif
