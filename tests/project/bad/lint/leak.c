/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults that clang-tidy has to find: memory that is used after it was freed, and memory that is
 * lost where a size is refused. */
#include <stdlib.h>

int bsi_used_after_free(int n) {
  int *work = malloc(sizeof *work);
  if (!work) return -1;
  *work = n;
  free(work);
  return *work;
}

int bsi_leaks(int n) {
  int *work = malloc(sizeof *work);
  if (!work || n < 0) return -1;
  *work = n;
  const int result = *work + 1;
  free(work);
  return result;
}
