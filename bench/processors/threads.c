/* SPDX-License-Identifier: BSD-3-Clause */
/* Times set-up, update and solve in a small program that links the library. The system is reaction
 * and diffusion with two unknowns at each point of a cube, in CSR, solved by ISAI(2) and GMRES.
 * Then a shorter time step follows. threads.py runs the program on one thread and on the default
 * number of threads, on idle and on busy cores. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/bench.h"

static const char usage[] =
    "usage: bench_threads [OPTION VALUE]…\n"
    "  --unknowns N    approximate number of unknowns (default 100000)\n"
    "  --threads N     number of threads; 0 (default): the library's choice\n"
    "  --seconds S     repeats the run for S seconds (default 0.3), at least once; the first "
    "run does not count if there is a second\n"
    "  --busy S        only keeps a processor busy for S seconds\n";

/* The matrix in CSR, block size 2. */
typedef struct problem {
  /* points */
  int edge;
  int32_t rows, *row_ptr, *col_idx;
  double *values, *rhs, *x;
} problem;

/* Seconds of each phase. */
typedef struct times {
  double setup, update, solve;
  int iterations;
} times;

/* Gives the neighbours of point (i, j, k) and the point itself in ascending order, and returns
 * their number. */
static int neighbours(int edge, int i, int j, int k, int *points) {
  const int point = (k * edge + j) * edge + i;
  int count = 0;
  if (k > 0) points[count++] = point - edge * edge;
  if (j > 0) points[count++] = point - edge;
  if (i > 0) points[count++] = point - 1;
  points[count++] = point;
  if (i + 1 < edge) points[count++] = point + 1;
  if (j + 1 < edge) points[count++] = point + edge;
  if (k + 1 < edge) points[count++] = point + edge * edge;
  return count;
}

/* Both unknowns diffuse to the neighbours, and react with each other at their point. */
static void assemble(problem *p, double time_step) {
  int32_t entry = 0;
  for (int point = 0; point < p->rows / 2; point++) {
    int beside[7];
    const int count = neighbours(p->edge, point % p->edge, point / p->edge % p->edge,
                                 point / p->edge / p->edge, beside);
    for (int c = 0; c < 2; c++) {
      const double diffusion = c ? 0.5 : 1.0;
      p->row_ptr[2 * point + c] = entry;
      for (int q = 0; q < count; q++) {
        if (beside[q] != point) {
          p->col_idx[entry] = 2 * beside[q] + c;
          p->values[entry++] = -diffusion;
          continue;
        }
        for (int d = 0; d < 2; d++) {
          p->col_idx[entry] = 2 * point + d;
          p->values[entry++] = d == c ? 1 / time_step + 6 * diffusion + 0.3 : c ? -0.7 : 0.4;
        }
      }
    }
  }
  p->row_ptr[p->rows] = entry;
}

static problem make_problem(int unknowns) {
  problem p = {.edge = (int)lround(cbrt(unknowns / 2.0))};
  p.rows = 2 * p.edge * p.edge * p.edge;
  const size_t rows = (size_t)p.rows;
  p.row_ptr = bench_allocate(rows + 1, sizeof *p.row_ptr);
  p.col_idx = bench_allocate(8 * rows, sizeof *p.col_idx);
  p.values = bench_allocate(8 * rows, sizeof *p.values);
  p.rhs = bench_allocate(rows, sizeof *p.rhs);
  p.x = bench_allocate(rows, sizeof *p.x);
  for (size_t i = 0; i < rows; i++) p.rhs[i] = 1;
  return p;
}

static bisai_bcsr *make_matrix(bisai_context *context, problem *p, double time_step) {
  assemble(p, time_step);
  bisai_csr_desc desc = bisai_csr_desc_default();
  desc.rows = desc.cols = p->rows;
  desc.row_ptr = p->row_ptr;
  desc.col_idx = p->col_idx;
  desc.values = p->values;
  desc.block_size = 2;
  bisai_bcsr *matrix;
  need(context, bisai_bcsr_from_csr(context, &desc, &matrix), "matrix");
  return matrix;
}

static times run(int threads, problem *p) {
  times t;
  double start = bench_now();
  bisai_context_options where = bisai_context_options_default();
  where.backend = BISAI_BACKEND_HOST;
  where.threads = threads;
  bisai_context *context = NULL;
  need(context, bisai_context_create(&where, &context), "context");
  bisai_bcsr *matrix = make_matrix(context, p, 10);
  bisai_precond_options how = bisai_precond_options_default();
  how.kind = BISAI_PRECOND_ISAI;
  how.isai.power = 2;
  bisai_precond *precond;
  need(context, bisai_precond_create(context, matrix, &how, &precond), "preconditioner");
  bisai_solver_options options = bisai_solver_options_default();
  options.tolerance = 1e-10;
  bisai_solver *solver;
  need(context, bisai_solver_create(context, p->rows, &options, &solver), "solver");
  t.setup = bench_now() - start;

  start = bench_now();
  bisai_bcsr_destroy(&matrix);
  matrix = make_matrix(context, p, 0.1);
  need(context, bisai_precond_update(precond, matrix), "update");
  t.update = bench_now() - start;

  start = bench_now();
  memset(p->x, 0, (size_t)p->rows * sizeof *p->x);
  bisai_solver_report report = {.struct_size = sizeof report};
  need(context, bisai_solver_solve(solver, matrix, precond, p->rhs, p->x, &report), "solve");
  t.solve = bench_now() - start;
  t.iterations = report.iterations;

  bisai_solver_destroy(&solver);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
  return t;
}

static void keep_busy(double seconds) {
  const double end = bench_now() + seconds;
  for (volatile int i = 0; bench_now() < end;)
    while (++i % 4096) continue;
}

int main(int argc, char **argv) {
  int unknowns = 100000, threads = 0;
  double seconds = 0.3, busy = 0;
  for (int i = 1; i < argc; i += 2) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--unknowns") == 0)
      unknowns = atoi(value);
    else if (strcmp(argv[i], "--threads") == 0)
      threads = atoi(value);
    else if (strcmp(argv[i], "--seconds") == 0)
      seconds = atof(value);
    else if (strcmp(argv[i], "--busy") == 0)
      busy = atof(value);
    else
      bench_fail("%s", usage);
  }
  if (busy > 0) return keep_busy(busy), 0;
  problem p = make_problem(unknowns);
  times sum = run(threads, &p);
  int count = 1;
  const double end = bench_now() + seconds - sum.setup - sum.update - sum.solve;
  for (int round = 1; bench_now() < end; round++) {
    const times t = run(threads, &p);
    if (round == 1) sum = (times){0}, count = 0; /* the first round touched new memory */
    sum = (times){sum.setup + t.setup, sum.update + t.update, sum.solve + t.solve, t.iterations};
    count++;
  }
  printf("{\"unknowns\": %d, \"iterations\": %d, \"setup\": %.9g, \"update\": %.9g, \"solve\": "
         "%.9g}\n",
         p.rows, sum.iterations, sum.setup / count, sum.update / count, sum.solve / count);
  free(p.row_ptr);
  free(p.col_idx);
  free(p.values);
  free(p.rhs);
  free(p.x);
  return 0;
}
