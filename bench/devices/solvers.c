/* SPDX-License-Identifier: BSD-3-Clause */
/* An iteration of CG, BiCGSTAB and IDR(s) on a GPU, with block-Jacobi, on a symmetric positive
 * definite matrix of the same pattern as the system's. Bytes: A, M⁻¹, the vectors that both read
 * and write, and those of the method's own passes (krylov/passes/recurrence_state.h). */
#include <stdio.h>
#include <string.h>

#include "solvers.h"

enum { ITERATIONS = 200 };

/* Makes a matrix with the pattern of b's matrix. Off-diagonal blocks are −I, and the diagonal
 * blocks make it diagonally dominant. */
static bisai_bcsr *symmetric_copy(device_bench *b) {
  const size_t square = (size_t)b->system.bs * (size_t)b->system.bs,
               blocks = (size_t)b->system.blocks;
  int32_t *row_ptr = bench_allocate((size_t)b->system.rows + 1, sizeof *row_ptr),
          *col_idx = bench_allocate(blocks, sizeof *col_idx);
  double *values = bench_allocate(blocks * square, sizeof *values);
  bisai_bcsr *made = NULL;
  memset(values, 0, blocks * square * sizeof *values);
  need(b->context, bisai_bcsr_fetch(b->system.matrix, row_ptr, col_idx, NULL), "fetch");
  for (int32_t row = 0; row < b->system.rows; row++)
    for (int32_t p = row_ptr[row]; p < row_ptr[row + 1]; p++)
      for (int32_t i = 0; i < b->system.bs; i++)
        values[(size_t)p * square + (size_t)(i * (b->system.bs + 1))] =
            col_idx[p] == row ? 6.05 + 0.1 * i : -1;
  need(b->context,
       bench_take_arrays(b->context, b->system.rows, b->system.bs, row_ptr, col_idx, values, &made),
       "symmetric matrix");
  return made;
}

typedef struct solving {
  device_bench *b;
  bisai_bcsr *matrix;
  bisai_precond *precond;
  bisai_solver *solver;
  const double *rhs;
  int iterations;
} solving;

/* No solve reaches the tolerance. If rounding ends a solve before ITERATIONS, its own number of
 * iterations counts. */
static double iterate(void *argument) {
  solving *s = argument;
  bisai_solver_report report = {.struct_size = sizeof report};
  device_wait(s->b);
  const double start = bench_now();
  const bisai_status status =
      bisai_solver_solve(s->solver, s->matrix, s->precond, s->rhs, s->b->y, &report);
  device_wait(s->b);
  const double seconds = bench_now() - start;
  if (status != BISAI_MAX_ITERATIONS) need(s->b->context, status, "solver");
  s->iterations = report.iterations;
  return seconds / report.iterations;
}

/* Returns the number of vectors that the passes of IDR(s) read and write in an iteration. */
static double idr_vectors(int s) {
  double sum = (s + 1) + (s + 2) + 2 + 6;
  for (int k = 0; k < s; k++)
    sum += (s - k + 2) + (s + 1) + (4 + (s - 1) + k + (k + 1 < s ? 5 : 4));
  return sum / (s + 1);
}

void device_measure_solvers(device_bench *b, const double *rhs) {
  static const struct {
    const char *name;
    bisai_method method;
    int s, products;
  } rows[] = {{"an iteration of CG, bjacobi", BISAI_CG, 4, 1},
              {"an iteration of BiCGSTAB, bjacobi", BISAI_BICGSTAB, 4, 2},
              {"an iteration of IDR(1), bjacobi", BISAI_IDR, 1, 1},
              {"an iteration of IDR(4), bjacobi", BISAI_IDR, 4, 1},
              {"an iteration of IDR(8), bjacobi", BISAI_IDR, 8, 1}};
  enum { ROWS = sizeof rows / sizeof rows[0] };
  const double vector = device_vector_bytes(b),
               matrix = device_matrix_bytes(b, b->system.blocks, 8);
  solving solves[ROWS];
  device_group g = {0};
  bisai_precond_options o = bisai_precond_options_default();
  solving all = {.b = b, .matrix = symmetric_copy(b), .rhs = rhs};
  o.kind = BISAI_PRECOND_BJACOBI;
  need(b->context, bisai_precond_create(b->context, all.matrix, &o, &all.precond), "block-Jacobi");
  for (int k = 0; k < ROWS; k++) {
    bisai_solver_options how = bisai_solver_options_default();
    how.method = rows[k].method;
    how.idr.shadow_dimension = rows[k].s;
    how.tolerance = 0;
    how.max_iterations = ITERATIONS;
    solves[k] = all;
    need(b->context,
         bisai_solver_create(b->context, (int64_t)b->system.rows * b->system.bs, &how,
                             &solves[k].solver),
         "solver");
    const double passes = rows[k].method == BISAI_CG         ? 13
                          : rows[k].method == BISAI_BICGSTAB ? 19
                                                             : idr_vectors(rows[k].s);
    device_add(&g, rows[k].name,
               rows[k].products * (matrix + vector * b->system.bs + 4 * vector) + passes * vector,
               iterate, &solves[k]);
  }
  device_measure(b, &g);
  for (int k = 0; k < ROWS; k++) {
    if (solves[k].iterations < ITERATIONS)
      printf("  %s: %d iterations\n", rows[k].name, solves[k].iterations);
    bisai_solver_destroy(&solves[k].solver);
  }
  bisai_precond_destroy(&all.precond);
  bisai_bcsr_destroy(&all.matrix);
}
