/* SPDX-License-Identifier: BSD-3-Clause */
/* Small systems for the tests of solvers: dense operators that count and misbehave on demand,
 * convection–diffusion. */
#ifndef BISAI_TEST_SYSTEMS_H
#define BISAI_TEST_SYSTEMS_H

#include "support.h"

/* y ← A x, dense and column-major; the call numbered `fail_at` or `nan_at` (1: the first, 0: never)
 * misbehaves. */
typedef struct dense_operator {
  const double *a;
  int calls, fail_at, nan_at;
} dense_operator;

bisai_status dense_operator_multiply(void *user, int64_t n, const double *x, double *y);

/* size times a matrix that is dominated by its diagonal; free() it. */
double *test_dominant(int n, double size);

/* ‖b − A x‖₂/|b₀|, whatever the size of A, b and x. */
double test_dense_residual(int n, const double *a, const double *b, const double *x);

/* z ← scale·v, elementwise. */
typedef struct diagonal_operator {
  const double *scale;
  int calls, fail_at;
} diagonal_operator;

bisai_status diagonal_operator_multiply(void *user, int64_t n, const double *v, double *z);

/* A preconditioner that calls `apply`; its matrix is a 1 × 1 identity or whatever has n rows. */
bisai_precond *test_precond_callback(bisai_context *context, const bisai_bcsr *matrix,
                                     bisai_apply_function apply, void *user);
/* The defaults of a kind. */
bisai_precond_options test_precond_options(bisai_precond_kind kind);
/* Returns false if this build lacks a library that the kind needs. */
bool test_has_kind(bisai_context *context, bisai_precond_kind kind);
/* A preconditioner with these defaults, or with other options. */
bisai_precond *test_precond(bisai_context *context, const bisai_bcsr *matrix,
                            bisai_precond_kind kind);
bisai_precond *test_precond_with(bisai_context *context, const bisai_bcsr *matrix,
                                 const bisai_precond_options *options);

/* Identity matrix of n scalar rows. */
bisai_bcsr *test_identity(bisai_context *context, int32_t n);

/* Five-point convection–diffusion on side × side interior points, scalar: diagonal 4, −1.4 and −0.6
 * along x, −1.2 and −0.8 along y. */
bisai_bcsr *test_convdiff(bisai_context *context, int32_t side);

/* What bisai_reduce takes as `user`: `processes` processes that all hold the same part; the call
 * numbered `fail_at` fails. */
typedef struct test_twins {
  int processes, calls, values, fail_at;
} test_twins;

bisai_status test_add_twins(void *user, double *values, int count);

bool test_all_finite(int64_t n, const double *x);

/* A monitor that stops a solve at iteration *(const int *)user. */
int test_stop_at(void *user, int iteration, double relative);
/* Fails unless a solve that this monitor stops leaves the x of a solve of as many iterations. */
void test_expect_stopped(bisai_context *context, bisai_solver_options options,
                         const bisai_bcsr *matrix, const double *b, int stop);

/* How many allocations make a solver of 10 unknowns; fails unless each of them is missed as out of
 * memory and nothing leaks. */
int test_solver_allocations(const bisai_solver_options *options);

/* A report ready to be filled. */
bisai_solver_report test_report(void);

/* Makes a solver, solves, destroys it. The report's history is gone then. */
bisai_status test_solve(bisai_context *context, const bisai_solver_options *options,
                        const bisai_bcsr *matrix, bisai_precond *precond, const double *b,
                        double *x, bisai_solver_report *report);
bisai_status test_solve_dense(bisai_context *context, const bisai_solver_options *options,
                              int64_t n, dense_operator *op, bisai_precond *precond,
                              const double *b, double *x, bisai_solver_report *report);

#endif
