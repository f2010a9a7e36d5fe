/* SPDX-License-Identifier: BSD-3-Clause */
/* Methods of the benchmark of multigrid: METHOD as for the program, and a solver. */
#ifndef BENCH_METHODS_H
#define BENCH_METHODS_H

#include "systems.h"

enum { METHOD_TEXT = 128 };

/* METHOD[@SOLVER]: METHOD as for the program, SOLVER one of gmres, fgmres, cg, fcg, bicgstab,
 * idr. */
typedef struct bench_method {
  char name[METHOD_TEXT];
  bisai_precond_options options;
  bisai_solver_options solver;
  const char *solver_name;
} bench_method;

/* Reads a method for a system. Ends the program if the text has errors. */
bench_method method_of(const char *text, const bench_system *system);

#endif
