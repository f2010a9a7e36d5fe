/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of PETSc on one process: SeqBAIJ, ILU(0), GMRES(30) preconditioned from the right.
 * Each call does its operation once and returns the seconds. */
#ifndef BENCH_OPERATIONS_PETSC_H
#define BENCH_OPERATIONS_PETSC_H

#include "common/bench.h"

typedef struct bench_petsc bench_petsc;

const char *bench_petsc_version(void);
bench_petsc *bench_petsc_create(const bisai_bcsr *matrix, const double *rhs, double tolerance);
void bench_petsc_destroy(bench_petsc *petsc);

double bench_petsc_product(void *petsc);
double bench_petsc_factor_numeric(void *petsc);
double bench_petsc_factor(void *petsc); /* symbolic and numeric */
double bench_petsc_factor_solve(void *petsc);
double bench_petsc_ksp(void *petsc); /* KSPSolve after the set-up of the preconditioner */

/* Iterations and seconds of the parts of the last bench_petsc_ksp(). */
typedef struct bench_petsc_parts {
  int iterations;
  double products, applications, orthogonalization;
} bench_petsc_parts;
bench_petsc_parts bench_petsc_ksp_parts(const bench_petsc *petsc);

/* Returns the largest difference between the solutions, relative to the largest value. */
double bench_petsc_difference(const bench_petsc *petsc, const double *x);

#endif
