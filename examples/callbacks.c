/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves a system given by scalar CSR arrays with the caller's own functions for the operator, the
 * preconditioner and the sums over processes. The matrix is a three-point operator for two coupled
 * unknowns, in blocks of size 2. In a distributed code, each process has its own rows of the
 * operator. This program is a single process, so its sums are already complete. */
#include <bisai/bisai.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 100, N = 2 * POINTS };
static int32_t row_ptr[N + 1], col_idx[4 * N];
static double values[4 * N];

static void make_csr(void) { /* unknown 2·i + c is species c in point i; any order within a row */
  int32_t p = 0;
  for (int32_t row = 0; row < N; row++) {
    col_idx[p] = row, values[p++] = 3.0;
    col_idx[p] = row ^ 1, values[p++] = -0.5;
    if (row >= 2) col_idx[p] = row - 2, values[p++] = -1.05;
    if (row < N - 2) col_idx[p] = row + 2, values[p++] = -0.95;
    row_ptr[row + 1] = p;
  }
}

/* y ← A x without a matrix. `user` is the pointer that was passed to the solver. */
static bisai_status multiply(void *user, int64_t n, const double *x, double *y) {
  ++*(int *)user;
  for (int64_t i = 0; i < n; i++) {
    y[i] = 3.0 * x[i] - 0.5 * x[i ^ 1];
    if (i >= 2) y[i] -= 1.05 * x[i - 2];
    if (i < n - 2) y[i] -= 0.95 * x[i + 2];
  }
  return BISAI_OK;
}

/* z ← M⁻¹ v by bisai's own ISAI of the local block, as on one subdomain of an additive Schwarz
 * method. */
static bisai_status precondition(void *user, int64_t n, const double *v, double *z) {
  (void)n;
  return bisai_precond_apply(user, v, z);
}

/* With MPI: return MPI_Allreduce(MPI_IN_PLACE, sums, count, MPI_DOUBLE, MPI_SUM,
 *                                *(MPI_Comm *)user) ? BISAI_CALLBACK_FAILED : BISAI_OK; */
static bisai_status sum_over_processes(void *user, double *sums, int count) {
  (void)user, (void)sums, (void)count;
  return BISAI_OK;
}

static int show(void *user, int iteration, double relative_residual) {
  (void)user;
  if (iteration % 10 == 0) printf("iteration %d: %.1e\n", iteration, relative_residual);
  return 0; /* any other value stops the solve */
}

int main(void) {
  make_csr();
  double b[N], x[N];
  for (int i = 0; i < N; i++) b[i] = 1.0;
  bisai_context *context = NULL;
  bisai_bcsr *matrix = NULL;
  bisai_precond *local = NULL, *precond = NULL;
  bisai_solver *solver = NULL;
  bisai_status status = bisai_context_create(NULL, &context);

  bisai_csr_desc desc = bisai_csr_desc_default();
  desc.rows = desc.cols = N;
  desc.row_ptr = row_ptr;
  desc.col_idx = col_idx;
  desc.values = values;
  desc.block_size = 2; /* 0 would take the size from the pattern */
  if (!status) status = bisai_bcsr_from_csr(context, &desc, &matrix);

  if (!status) status = bisai_precond_create_text(context, matrix, "isai", &local);
  bisai_precond_options own = bisai_precond_options_default();
  own.kind = BISAI_PRECOND_CALLBACK;
  own.callback.apply = precondition;
  own.callback.user = local;
  if (!status) status = bisai_precond_create(context, matrix, &own, &precond);

  bisai_solver_options options = bisai_solver_options_default();
  /* FGMRES: the preconditioner may change from one iteration to the next */
  options.gmres.flexible = true;
  options.reduce = sum_over_processes;
  options.monitor = show;
  if (!status) status = bisai_solver_create(context, N, &options, &solver);

  int products = 0;
  bisai_solver_report report = {.struct_size = sizeof report};
  if (!status)
    status = bisai_solver_solve_operator(solver, multiply, &products, precond, b, x, &report);
  if (status)
    fprintf(stderr, "%s: %s\n", bisai_status_string(status),
            context ? bisai_context_error(context) : "");
  else
    printf("%d iterations, %d products, residual %.1e\n", report.iterations, products,
           report.relative_residual);

  bisai_solver_destroy(&solver);
  bisai_precond_destroy(&precond);
  bisai_precond_destroy(&local);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
  return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
