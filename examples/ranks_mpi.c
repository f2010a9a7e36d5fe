/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves a convection–diffusion system by FGMRES with multigrid over all ranks of MPI:
 *   mpirun -n 4 ranks_mpi [SIDE [cuda]]
 * Each rank makes its own lines of a grid of SIDE × SIDE points, and lists the points of its
 * neighbours that they are coupled to. With `cuda` rank r works on GPU r, modulo their number. */
#include <bisai/bisai.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_transport.h"

/* The own rows: lines first … last − 1 of the grid. */
typedef struct lines {
  int64_t side, first, last;
  int32_t *row_ptr, *col_idx;
  double *values;
  int64_t *ghosts;
  int32_t ghost_count;
} lines;

/* Returns the number here of a point: own points come first, then those of the line before, and
 * those of the line behind. */
static int32_t number_of(lines *l, int64_t line, int64_t point) {
  const int64_t own = (l->last - l->first) * l->side;
  if (line >= l->first && line < l->last) return (int32_t)((line - l->first) * l->side + point);
  return (int32_t)(own + (line < l->first || l->first == 0 ? 0 : l->side) + point);
}

/* Five points, with wind along the lines. */
static void assemble(lines *l) {
  static const int64_t across[] = {-1, 0, 0, 0, 1}, along[] = {0, -1, 0, 1, 0};
  static const double weights[] = {-1.0, -1.4, 4.0, -0.6, -1.0};
  const int64_t n = (l->last - l->first) * l->side;
  l->row_ptr = malloc((size_t)(n + 1) * sizeof *l->row_ptr);
  l->col_idx = malloc((size_t)(5 * n + 1) * sizeof *l->col_idx);
  l->values = malloc((size_t)(5 * n + 1) * sizeof *l->values);
  l->ghosts = malloc((size_t)(2 * l->side) * sizeof *l->ghosts);
  int32_t count = 0, row = 0;
  l->row_ptr[0] = 0;
  for (int64_t i = l->first; i < l->last; i++)
    for (int64_t j = 0; j < l->side; j++) {
      for (int k = 0; k < 5; k++) {
        const int64_t line = i + across[k], point = j + along[k];
        if (line < 0 || line >= l->side || point < 0 || point >= l->side) continue;
        l->col_idx[count] = number_of(l, line, point);
        l->values[count++] = weights[k];
      }
      l->row_ptr[++row] = count;
    }
  for (int64_t j = 0; j < l->side && l->first > 0 && n > 0; j++)
    l->ghosts[l->ghost_count++] = (l->first - 1) * l->side + j;
  for (int64_t j = 0; j < l->side && l->last < l->side && n > 0; j++)
    l->ghosts[l->ghost_count++] = l->last * l->side + j;
}

static bisai_status multiply(void *ranks, int64_t n, const double *x, double *y) {
  (void)n;
  return bisai_ranks_multiply(ranks, x, y);
}

static bisai_status precondition(void *ranks, int64_t n, const double *v, double *z) {
  (void)n;
  return bisai_ranks_apply(ranks, v, z);
}

static bisai_status add(void *ranks, double *values, int count) {
  return bisai_ranks_sum(ranks, values, count);
}

/* FGMRES with the hierarchy of all ranks. */
static bisai_status solve(bisai_context *context, const bisai_bcsr *matrix, bisai_ranks *ranks,
                          const double *b, double *x, bisai_solver_report *report) {
  bisai_precond_options own = bisai_precond_options_default();
  bisai_solver_options options = bisai_solver_options_default();
  bisai_precond *precond = NULL;
  bisai_solver *solver = NULL;
  own.kind = BISAI_PRECOND_CALLBACK;
  own.callback.apply = precondition;
  own.callback.user = ranks;
  options.gmres.flexible = true;
  options.reduce = add;
  options.reduce_user = ranks;
  bisai_status status = bisai_precond_create(context, matrix, &own, &precond);
  if (!status)
    status = bisai_solver_create(context, bisai_bcsr_block_rows(matrix), &options, &solver);
  if (!status) status = bisai_solver_solve_operator(solver, multiply, ranks, precond, b, x, report);
  bisai_solver_destroy(&solver);
  bisai_precond_destroy(&precond);
  return status;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  mpi_ranks messages;
  const bisai_transport transport = mpi_transport(MPI_COMM_WORLD, &messages);
  lines l = {.side = argc > 1 ? atoi(argv[1]) : 200};
  l.first = l.side * transport.rank / transport.ranks;
  l.last = l.side * (transport.rank + 1) / transport.ranks;
  assemble(&l);
  const int64_t n = (l.last - l.first) * l.side;
  double *b = malloc((size_t)(n + 1) * sizeof *b), *x = malloc((size_t)(n + 1) * sizeof *x);
  for (int64_t i = 0; i < n; i++) b[i] = 1.0;

  bisai_context *context = NULL;
  bisai_bcsr *matrix = NULL;
  bisai_ranks *ranks = NULL;
  bisai_context_options how = bisai_context_options_default();
  how.backend = argc > 2 && !strcmp(argv[2], "cuda") ? BISAI_BACKEND_CUDA : BISAI_BACKEND_HOST;
  how.threads = 1;
  int gpus = 1;
  while (how.backend == BISAI_BACKEND_CUDA && !bisai_backend_missing(how.backend, gpus)) gpus++;
  how.device = transport.rank % gpus;
  bisai_status status = bisai_context_create(&how, &context);

  bisai_bcsr_desc d = bisai_bcsr_desc_default();
  d.block_rows = (int32_t)n;
  d.block_cols = (int32_t)n + l.ghost_count;
  d.block_size = 1;
  d.row_ptr = l.row_ptr, d.col_idx = l.col_idx, d.values = l.values;
  if (!status) status = bisai_bcsr_create(context, &d, &matrix);
  const bisai_ranks_rows rows = {matrix, l.ghosts, false};
  if (!status) status = bisai_ranks_create(context, &rows, &transport, NULL, &ranks);
  bisai_solver_report report = {.struct_size = sizeof report};
  if (!status) status = solve(context, matrix, ranks, b, x, &report);
  if (status)
    fprintf(stderr, "rank %d: %s: %s\n", transport.rank, bisai_status_string(status),
            context ? bisai_context_error(context) : "");
  else if (transport.rank == 0)
    printf("%d ranks: %d iterations, residual %.1e\n", transport.ranks, report.iterations,
           report.relative_residual);

  bisai_ranks_destroy(&ranks);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
  free(l.row_ptr), free(l.col_idx), free(l.values), free(l.ghosts), free(b), free(x);
  free(messages.requests);
  MPI_Finalize();
  return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
