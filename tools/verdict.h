/* SPDX-License-Identifier: BSD-3-Clause */
/* What a comparison comes to: which method won, by what, and why the approximate inverses won or
 * lost. */
#ifndef TOOL_VERDICT_H
#define TOOL_VERDICT_H

#include <stdio.h>

#include "run_method.h"

enum { VERDICT_WHY = 1024 };

/* The winners among the methods that converged; NULL where none did. */
typedef struct verdict {
  /* least total time */
  const run_result *fastest;
  /* least time of a solve, its set-up aside */
  const run_result *fastest_solve;
  /* least memory of the preconditioner; methods whose memory is not known do not compete */
  const run_result *least_memory;
  /* solves after which fastest_solve with its set-up is ahead of fastest; 1 where they are one */
  int64_t pays_after;
  /* one sentence on ISAI and exact solves; "" where the two were not both run */
  char why[VERDICT_WHY];
} verdict;

verdict verdict_of(const problem *p, int count, const run_result *results);

/* In words; nothing where fewer than two methods were run. */
void verdict_print(FILE *out, const verdict *v, int count);

#endif
