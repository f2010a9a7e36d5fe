/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows how a code with its own block arrays uses bisai in a time loop. The matrix borrows the
 * arrays. The set-up before the loop computes the patterns and allocates all memory. Each time step
 * provides new values.
 *
 * Two species diffuse and react on SIDE × SIDE points (Gray and Scott):
 *
 *     u' = Δu + F (1 − u) − u v²,   v' = Δv/2 − (F + K) v + u v².
 *
 * Each time step is one linearly implicit Euler step. */
#include <bisai/bisai.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 40, POINTS = SIDE * SIDE, BS = 2, N = POINTS * BS, STEPS = 8 };
static const double F = 0.04, K = 0.06, DT = 2.0;

static int32_t row_ptr[POINTS + 1], col_idx[5 * POINTS];
static double values[5 * POINTS * BS * BS], rhs[N], step[N], state[N];

/* the neighbours on the grid and the point itself, ascending */
static int neighbours(int32_t point, int32_t *out) {
  int count = 0;
  if (point >= SIDE) out[count++] = point - SIDE;
  if (point % SIDE > 0) out[count++] = point - 1;
  out[count++] = point;
  if (point % SIDE < SIDE - 1) out[count++] = point + 1;
  if (point < POINTS - SIDE) out[count++] = point + SIDE;
  return count;
}

/* Computes the blocks (column by column) and the right-hand side of (I/DT − J) step = f at the
 * current state. */
static void assemble(void) {
  for (int32_t point = 0; point < POINTS; point++) {
    const double u = state[BS * point], v = state[BS * point + 1];
    double f[BS] = {F * (1 - u) - u * v * v, u * v * v - (F + K) * v};
    double diagonal[BS * BS] = {1 / DT + F + v * v, -v * v, 2 * u * v, 1 / DT + F + K - 2 * u * v};
    double *own = NULL;
    for (int32_t p = row_ptr[point]; p < row_ptr[point + 1]; p++) {
      const int32_t other = col_idx[p];
      double *block = values + (size_t)p * BS * BS;
      if (other == point) {
        own = block;
        continue;
      }
      block[0] = -1.0, block[1] = block[2] = 0.0, block[3] = -0.5;
      diagonal[0] += 1.0, diagonal[3] += 0.5;
      f[0] += state[BS * other] - u, f[1] += 0.5 * (state[BS * other + 1] - v);
    }
    for (int i = 0; i < BS * BS; i++) own[i] = diagonal[i];
    rhs[BS * point] = f[0], rhs[BS * point + 1] = f[1];
  }
}

/* The memory of the code. Here it is that of the C library, with a count. */
static void *take(void *user, size_t bytes, size_t alignment) {
  *(size_t *)user += 1;
  return aligned_alloc(alignment, bytes);
}
static void give(void *user, void *pointer) {
  (void)user;
  free(pointer);
}

int main(void) {
  for (int32_t point = 0, p = 0; point < POINTS; point++) {
    p += neighbours(point, col_idx + p);
    row_ptr[point + 1] = p;
    const int32_t x = point % SIDE, y = point / SIDE;
    const int inside = x > SIDE / 3 && x < SIDE / 2 && y > SIDE / 3 && y < SIDE / 2;
    state[BS * point] = inside ? 0.5 : 1.0, state[BS * point + 1] = inside ? 0.25 : 0.0;
  }
  assemble();

  size_t allocations = 0;
  bisai_context *context = NULL;
  bisai_context_options where = bisai_context_options_default();
  where.threads = 2;
  where.allocator.allocate = take;
  where.allocator.release = give;
  where.allocator.user = &allocations;
  bisai_status status = bisai_context_create(&where, &context);

  bisai_bcsr *matrix = NULL;
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = POINTS;
  desc.block_size = BS;
  desc.row_ptr = row_ptr;
  desc.col_idx = col_idx;
  desc.values = values;
  desc.ownership = BISAI_BORROW; /* no copy: we keep the arrays and may change their values */
  if (!status) status = bisai_bcsr_create(context, &desc, &matrix);

  bisai_precond *precond = NULL;
  bisai_precond_options how = bisai_precond_options_default();
  how.kind = BISAI_PRECOND_ISAI;
  how.isai.relax = 1;
  if (!status) status = bisai_precond_create(context, matrix, &how, &precond);

  bisai_solver *solver = NULL;
  bisai_solver_options gmres = bisai_solver_options_default();
  gmres.tolerance = 1e-6;
  if (!status) status = bisai_solver_create(context, N, &gmres, &solver);

  const size_t after_setup = allocations;
  bisai_precond_report setup = {.struct_size = sizeof setup};
  bisai_solver_report solve = {.struct_size = sizeof solve};
  for (int i = 0; i < STEPS && !status; i++) {
    assemble(); /* writes to `values`, which the matrix borrows, and to `rhs` */
    status = bisai_precond_update(precond, matrix);
    if (!status) status = bisai_solver_solve(solver, matrix, precond, rhs, step, &solve);
    if (status) break;
    for (int j = 0; j < N; j++) state[j] += step[j];
    bisai_precond_get_report(precond, &setup);
    printf("step %d: %d iterations, residual %.1e, %s; update %.1f ms, solve %.1f ms\n", i,
           solve.iterations, solve.relative_residual, bisai_reason_string(solve.reason),
           1e3 * setup.setup_seconds, 1e3 * solve.solve_seconds);
  }
  if (status)
    fprintf(stderr, "%s: %s\n", bisai_status_string(status),
            context ? bisai_context_error(context) : "");
  printf("allocations: %zu before the loop, %zu in it\n", after_setup, allocations - after_setup);

  bisai_solver_destroy(&solver);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
  return status || allocations != after_setup ? EXIT_FAILURE : EXIT_SUCCESS;
}
