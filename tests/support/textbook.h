/* SPDX-License-Identifier: BSD-3-Clause */
/* CG, BiCGSTAB and IDR(s) as their books and papers have them, dense and sequential: what the
 * library's are compared with. */
#ifndef BISAI_TEST_TEXTBOOK_H
#define BISAI_TEST_TEXTBOOK_H

#include "support.h"

/* A x = b, A dense and column-major, z = M⁻¹v elementwise (NULL: none). */
typedef struct textbook_system {
  int64_t n;
  const double *a, *inverse, *b;
} textbook_system;

/* `steps` iterations from x = 0: history has steps + 1 relative residual norms, iterates steps + 1
 * vectors x. */
void textbook_cg(const textbook_system *system, int steps, double *history, double *iterates);
void textbook_bicgstab(const textbook_system *system, int steps, double *history, double *iterates);
/* Algorithm 913's Figure 2 in its own order of operations, modified Gram–Schmidt for g_k and
 * all. */
void textbook_idr(const textbook_system *system, int s, int steps, double *history,
                  double *iterates);

#endif
