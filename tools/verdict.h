/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict of a comparison: which methods won, by how much, and why the approximate inverses won
 * or lost. */
#ifndef TOOL_VERDICT_H
#define TOOL_VERDICT_H

#include <stdio.h>

#include "run_method.h"

enum { VERDICT_WHY = 512 + 4 * METHOD_LABEL };

/* The winners among the methods that converged; NULL if none did. */
typedef struct verdict {
  /* least total time */
  const run_result *fastest;
  /* least time of a solve without its set-up */
  const run_result *fastest_solve;
  /* least memory of the preconditioner; methods whose memory is not known do not compete */
  const run_result *least_memory;
  /* number of solves after which fastest_solve, with its set-up, is ahead of fastest; 1 if they are
   * the same */
  int64_t pays_after;
  /* one sentence on ISAI and exact solves; "" unless both were run */
  char why[VERDICT_WHY];
} verdict;

verdict verdict_of(const problem *p, int count, const run_result *results);

/* Prints the verdict. Prints nothing if fewer than two methods were run. */
void verdict_print(FILE *out, const verdict *v, int count);

#endif
