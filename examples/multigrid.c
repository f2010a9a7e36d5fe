/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves for the displacements of a plane lattice of springs by CG with multigrid. Each node has
 * springs to its eight neighbours, and the nodes at the left are held. The near-null-space vectors
 * are the motions of the free lattice: two translations and a rotation. */
#include <bisai/bisai.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 60, NODES = SIDE * SIDE, N = 2 * NODES, MODES = 3 };
static int32_t row_ptr[NODES + 1], col_idx[9 * NODES];
static double values[9 * NODES * 4], modes[N * MODES], b[N], x[N];

/* A spring along (dx, dy) pulls with the block (dx, dy)(dx, dy)ᵀ/(dx² + dy²). */
static void add(double *block, double sign, int dx, int dy) {
  const double direction[] = {dx, dy};
  for (int k = 0; k < 4; k++)
    block[k] += sign * direction[k % 2] * direction[k / 2] / (dx * dx + dy * dy);
}

static void assemble(void) {
  int32_t count = 0;
  for (int node = 0; node < NODES; node++) {
    const int column = node % SIDE, row = node / SIDE;
    double own[4] = {0};
    double *diagonal = NULL;
    for (int dy = -1; dy <= 1; dy++) {
      for (int dx = -1; dx <= 1; dx++) {
        if (column + dx < 0 || column + dx >= SIDE || row + dy < 0 || row + dy >= SIDE) continue;
        double *block = values + 4 * count;
        col_idx[count++] = node + dy * SIDE + dx;
        if (dx == 0 && dy == 0) {
          diagonal = block;
        } else {
          add(block, -1.0, dx, dy);
          add(own, 1.0, dx, dy);
        }
      }
    }
    row_ptr[node + 1] = count;
    for (int k = 0; k < 4; k++)
      diagonal[k] = own[k] + (column == 0 && k % 3 == 0 ? 1.0 : 0.0); /* held by the wall */
  }
}

/* Value i of mode m is modes[MODES·i + m]. */
static void make_modes(void) {
  for (int node = 0; node < NODES; node++) {
    double *along_x = modes + MODES * (2 * node), *along_y = along_x + MODES;
    along_x[0] = 1.0;
    along_y[1] = 1.0;
    along_x[2] = -(double)(node / SIDE);
    along_y[2] = node % SIDE;
  }
}

/* Returns the number of iterations, or -1 after a failure. */
static int iterations_with(bisai_context *context, const bisai_bcsr *matrix, bool informed) {
  bisai_precond *precond = NULL;
  bisai_solver *solver = NULL;
  bisai_precond_report setup = {.struct_size = sizeof setup};
  bisai_solver_report solve = {.struct_size = sizeof solve};
  bisai_precond_options how = bisai_precond_options_default();
  how.kind = BISAI_PRECOND_MULTIGRID;
  if (informed) {
    how.multigrid.null_vectors = modes; /* read by bisai_precond_create() only */
    how.multigrid.null_count = MODES;
  }
  bisai_status status = bisai_precond_create(context, matrix, &how, &precond);
  bisai_solver_options cg = bisai_solver_options_default();
  cg.method = BISAI_CG;
  if (!status) status = bisai_solver_create(context, N, &cg, &solver);
  for (int i = 0; i < N; i++) x[i] = 0.0;
  if (!status) status = bisai_solver_solve(solver, matrix, precond, b, x, &solve);
  if (!status) status = bisai_precond_get_report(precond, &setup);
  for (int l = 0; !status && l < setup.multigrid.levels; l++) {
    printf("level %d: %d block rows of size %d\n", l, (int)setup.multigrid.rows[l],
           (int)setup.multigrid.block_size[l]);
  }
  if (status) fprintf(stderr, "%s\n", bisai_context_error(context));
  bisai_solver_destroy(&solver);
  bisai_precond_destroy(&precond);
  return status ? -1 : solve.iterations;
}

int main(void) {
  assemble();
  make_modes();
  for (int node = SIDE - 1; node < NODES; node += SIDE) b[2 * node + 1] = 1.0; /* lifted */
  bisai_context *context = NULL;
  bisai_bcsr *matrix = NULL;
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = NODES, desc.block_size = 2;
  desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = values;
  bisai_status status = bisai_context_create(NULL, &context);
  if (!status) status = bisai_bcsr_create(context, &desc, &matrix);
  const int without = status ? -1 : iterations_with(context, matrix, false);
  const int with = status ? -1 : iterations_with(context, matrix, true);
  printf("%d iterations, %d with the rotation\n", without, with);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
  return without > 0 && with > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
