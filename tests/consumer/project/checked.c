/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's program: solves a five-point system with blocks of size 3 by block-ISAI and GMRES, and
 * checks the solution itself. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <bisai/bisai.h>

enum { SIDE = 12, SIZE = 3, ROWS = SIDE * SIDE, AREA = SIZE * SIZE, N = ROWS * SIZE };

static int32_t row_ptr[ROWS + 1], col_idx[5 * ROWS];
static double values[5 * ROWS * AREA], b[N], x[N];

static int32_t add_block(int32_t position, int32_t col, double diagonal, double other) {
  col_idx[position] = col;
  for (int i = 0; i < AREA; i++)
    values[position * AREA + i] = i % (SIZE + 1) == 0 ? diagonal : other;
  return position + 1;
}

static void make_matrix(void) {
  int32_t p = 0;
  for (int32_t row = 0; row < ROWS; row++) {
    if (row >= SIDE) p = add_block(p, row - SIDE, -1.0, 0.1);
    if (row % SIDE > 0) p = add_block(p, row - 1, -1.2, 0.0);
    p = add_block(p, row, 5.0, -0.3);
    if (row % SIDE < SIDE - 1) p = add_block(p, row + 1, -0.8, 0.0);
    if (row < ROWS - SIDE) p = add_block(p, row + SIDE, -1.0, 0.1);
    row_ptr[row + 1] = p;
  }
}

/* ‖b − A x‖₂/‖b‖₂ from the arrays, without the library. */
static double residual(void) {
  double difference = 0.0, whole = 0.0;
  for (int32_t row = 0; row < ROWS; row++) {
    for (int r = 0; r < SIZE; r++) {
      double sum = b[row * SIZE + r];
      for (int32_t p = row_ptr[row]; p < row_ptr[row + 1]; p++)
        for (int c = 0; c < SIZE; c++)
          sum -= values[p * AREA + c * SIZE + r] * x[col_idx[p] * SIZE + c];
      difference += sum * sum;
      whole += b[row * SIZE + r] * b[row * SIZE + r];
    }
  }
  return sqrt(difference / whole);
}

int main(void) {
  bisai_context *context = NULL;
  bisai_bcsr *matrix = NULL;
  bisai_precond *precond = NULL;
  bisai_solver *solver = NULL;
  bisai_solver_report report = {.struct_size = sizeof report};
  make_matrix();
  for (int i = 0; i < N; i++) b[i] = 1.0 + i % 7;

  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = ROWS;
  desc.block_size = SIZE;
  desc.row_ptr = row_ptr;
  desc.col_idx = col_idx;
  desc.values = values;
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = BISAI_PRECOND_ISAI;
  options.isai.power = 2;

  bisai_status status = bisai_context_create(NULL, &context);
  if (!status) status = bisai_bcsr_create(context, &desc, &matrix);
  if (!status) status = bisai_precond_create(context, matrix, &options, &precond);
  if (!status) status = bisai_solver_create(context, N, NULL, &solver);
  if (!status) status = bisai_solver_solve(solver, matrix, precond, b, x, &report);
  if (status)
    fprintf(stderr, "%s: %s\n", bisai_status_string(status),
            context ? bisai_context_error(context) : "");
  /* The default tolerance, 1e-8, is of the estimate; the solver promises twice that of the true
   * residual. */
  int bad = status || !(residual() <= 2e-8) || report.iterations < 2;
  printf("bisai %s: %d iterations, relative residual %.2e\n", bisai_version(), report.iterations,
         residual());

  bisai_solver_destroy(&solver);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
  return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
