/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows how a code with scalar CSR arrays uses bisai in a time loop. The matrix is divided into
 * blocks once. Each time step then provides new values in the order of the caller's arrays.
 *
 * The equation is heat conduction on SIDE × SIDE points, with a conductivity that depends on the
 * temperature:
 *
 *     u' = ∇·(k(u) ∇u),   k(u) = 1 + u²,   u = 0 outside the grid.
 *
 * Each time step is one linearly implicit Euler step. */
#include <bisai/bisai.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 45, N = SIDE * SIDE, STEPS = 8 };
static const double DT = 5.0;

static int32_t row_ptr[N + 1], col_idx[5 * N];
static double values[5 * N], state[N];

static double conductivity(double u, double v) { return 1 + (u * u + v * v) / 2; }

/* The entries of a row may come in any order. Here the diagonal comes first. */
static int32_t neighbours(int32_t point, int32_t *out) {
  int32_t count = 0;
  out[count++] = point;
  if (point % SIDE > 0) out[count++] = point - 1;
  if (point % SIDE < SIDE - 1) out[count++] = point + 1;
  if (point >= SIDE) out[count++] = point - SIDE;
  if (point < N - SIDE) out[count++] = point + SIDE;
  return count;
}

/* values ← I/DT − ∇·(k(state) ∇) */
static void assemble(void) {
  for (int32_t point = 0; point < N; point++) {
    const int32_t diagonal = row_ptr[point];
    const int32_t missing = 5 - (row_ptr[point + 1] - diagonal); /* beyond the edges, where u = 0 */
    values[diagonal] = 1 / DT + missing * conductivity(state[point], 0);
    for (int32_t p = diagonal + 1; p < row_ptr[point + 1]; p++) {
      values[p] = -conductivity(state[point], state[col_idx[p]]);
      values[diagonal] -= values[p];
    }
  }
}

int main(void) {
  for (int32_t point = 0; point < N; point++) {
    row_ptr[point + 1] = row_ptr[point] + neighbours(point, col_idx + row_ptr[point]);
    state[point] = point % SIDE < SIDE / 2 ? 2.0 : 1.0;
  }
  assemble();

  bisai_context *context = NULL;
  bisai_status status = bisai_context_create(NULL, &context);

  bisai_bcsr *matrix = NULL;
  bisai_csr_desc desc = bisai_csr_desc_default();
  desc.rows = desc.cols = N;
  desc.row_ptr = row_ptr;
  desc.col_idx = col_idx;
  desc.values = values;
  desc.block_size = 2;
  desc.pad = true; /* N is odd: an identity completes the last block */
  if (!status) status = bisai_bcsr_from_csr(context, &desc, &matrix);

  /* Vectors include the padding. Zeros of b in the padding give zeros of x. */
  const int32_t rows = N + (matrix ? bisai_bcsr_padding(matrix) : 0);
  double *rhs = calloc((size_t)rows, sizeof *rhs), *x = calloc((size_t)rows, sizeof *x);
  if (!status && (!rhs || !x)) status = BISAI_OUT_OF_MEMORY;

  bisai_precond *precond = NULL;
  bisai_solver *solver = NULL;
  if (!status) status = bisai_precond_create_text(context, matrix, "ilu", &precond);
  if (!status) status = bisai_solver_create(context, rows, NULL, &solver);

  bisai_solver_report solve = {.struct_size = sizeof solve};
  for (int i = 0; i < STEPS && !status; i++) {
    assemble(); /* writes to `values`, in the order of row_ptr and col_idx */
    for (int j = 0; j < N; j++) rhs[j] = state[j] / DT;
    status = bisai_bcsr_update_from_csr(matrix, &desc);
    if (!status) status = bisai_precond_update(precond, matrix);
    if (!status) status = bisai_solver_solve(solver, matrix, precond, rhs, x, &solve);
    if (status) break;
    double heat = 0;
    for (int j = 0; j < N; j++) heat += state[j] = x[j];
    printf("step %d: %d iterations, residual %.1e, %s; mean temperature %.4f\n", i,
           solve.iterations, solve.relative_residual, bisai_reason_string(solve.reason), heat / N);
  }
  if (status)
    fprintf(stderr, "%s: %s\n", bisai_status_string(status),
            context ? bisai_context_error(context) : "");

  bisai_solver_destroy(&solver);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
  free(rhs);
  free(x);
  return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
