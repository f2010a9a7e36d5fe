/* SPDX-License-Identifier: BSD-3-Clause */
/* What the check of the dialect refuses, and beside it what it has to accept. */
#include <bisai/bisai.h>

static int refused(bisai_status status, int n, const int *x) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i];
  if (status == BISAI_OK && n > 0) return sum;
  while (n > 0) {
    sum -= x[--n];
  }
  if (sum > n)
    --sum;
  else
    sum = n;
  if (bisai_context_failed(status) !=
      BISAI_OK)
    return n;
  if (sum == 7) {
    sum = 8;
  } else if (sum == 8) {
    sum = 9;
  } else {
    sum = 7;
  }
  return sum;
}

static int sound(bisai_status status, int n, const int *x, int *end) {
  const int failed = status != BISAI_OK; /* if (status == BISAI_OK) ++n; */
  int sum = n > 0 ? x[--n] : failed;
  for (int i = 0, j = n; i < j; i++, j--) sum += x[i] * x[j];
  if (!status) {
    ++*end;
    return sum;
  }
  if (sum == 7) {
    sum = 8;
  } else {
    n--;
    sum = 7;
  }
  if (n > 3) {
    if (n < 5) sum = 3;
  } else {
    sum = 4;
  }
  for (int i = 0; i < n; i++) {
    const int y = x[i];
  }
  return sum;
}
