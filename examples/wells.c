/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves for a reservoir with wells. The cells have blocks of two unknowns, pressure p and water
 * saturation s. Each well adds one row and one column, for its pressure u:
 *
 *   [ A  B ] [ x ]   [ f ]      A: cells, in blocks
 *   [ C  D ] [ u ] = [ g ]      B, C: perforations, D: diagonal
 *
 * The operator is a function. So is the preconditioner, which eliminates the wells:
 *
 *   u = (D − C M⁻¹ B)⁻¹ (g − C M⁻¹ f),   x = M⁻¹ f − (M⁻¹ B) u,   M⁻¹ ≈ A⁻¹ by bisai
 *
 * M is CPR, and then ILU(0) to compare with. */
#include <bisai/bisai.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 48, NY = 48, CELLS = NX * NY, BS = 2, N = BS * CELLS, WELLS = 2, ALL = N + WELLS };

static int32_t row_ptr[CELLS + 1], col_idx[5 * CELLS];
static double values[5 * CELLS * BS * BS]; /* blocks, column by column */
/* a well in the first column of cells injects water, one in the last column produces both */
static const int well_column[WELLS] = {0, NX - 1};
static const double rate[WELLS] = {-1.0, 1.0}, water_part[WELLS] = {1.0, 0.3};
static const double index_of_well = 5.0, rock = 1e-4, storage = 1.0, drift = 0.5;

/* The permeability jumps by 10⁴ from cell to cell. */
static double permeability(int cell) {
  const uint32_t mixed = ((uint32_t)cell * 2654435761U >> 16) * 2246822519U;
  return pow(10.0, 4.0 * (mixed >> 8) / (1 << 24) - 2.0);
}

static double transmissibility(int a, int b) {
  return 2.0 / (1.0 / permeability(a) + 1.0 / permeability(b));
}

/* Adds the part `water` of a coefficient of the pressure to the equation of water, which is the
 * first, and the rest to that of oil. */
static void add_pressure(double *block, double water, double value) {
  block[0] += water * value;
  block[1] += (1.0 - water) * value;
}

static void add_saturation(double *block, double value) {
  block[2] += value;
  block[3] -= value;
}

/* Writes the blocks of a row in ascending order. */
static int32_t add_row(int i, int32_t q) {
  const int x = i % NX, y = i / NX;
  const int neighbours[5] = {y > 0 ? i - NX : -1, x > 0 ? i - 1 : -1, i, x < NX - 1 ? i + 1 : -1,
                             y < NY - 1 ? i + NX : -1};
  double own[BS * BS] = {0.5 * rock, 0.5 * rock, storage + drift, -storage - drift};
  for (int w = 0; w < WELLS; w++)
    if (x == well_column[w]) add_pressure(own, water_part[w], index_of_well);
  for (int k = 0; k < 5; k++)
    if (k != 2 && neighbours[k] >= 0) add_pressure(own, 0.3, transmissibility(i, neighbours[k]));
  for (int k = 0; k < 5; k++) {
    double *block = values + q * BS * BS;
    if (neighbours[k] < 0) continue;
    memset(block, 0, BS * BS * sizeof *block);
    if (k == 2) memcpy(block, own, sizeof own);
    if (k != 2) add_pressure(block, 0.3, -transmissibility(i, neighbours[k]));
    if (k == 1) add_saturation(block, -drift); /* the water comes from the injector */
    col_idx[q++] = neighbours[k];
  }
  return q;
}

static void make_cells(void) {
  for (int i = 0; i < CELLS; i++) row_ptr[i + 1] = add_row(i, row_ptr[i]);
}

/* y ← y + B u for one well */
static void add_inflow(int w, double u, double *y) {
  for (int j = 0; j < NY; j++) {
    double *cell = y + BS * (j * NX + well_column[w]);
    cell[0] -= water_part[w] * index_of_well * u;
    cell[1] -= (1.0 - water_part[w]) * index_of_well * u;
  }
}

/* Returns the row of C for one well times x. */
static double outflow(int w, const double *x) {
  double sum = 0.0;
  for (int j = 0; j < NY; j++) sum += index_of_well * x[BS * (j * NX + well_column[w])];
  return sum;
}

static double well_diagonal(void) { return -index_of_well * NY; }

/* y ← [A B; C D] x. `user` is the matrix of the cells. */
static bisai_status multiply(void *user, int64_t n, const double *x, double *y) {
  (void)n;
  const bisai_status status = bisai_bcsr_multiply(user, x, y);
  for (int w = 0; w < WELLS && !status; w++) {
    add_inflow(w, x[N + w], y);
    y[N + w] = outflow(w, x) + well_diagonal() * x[N + w];
  }
  return status;
}

/* M⁻¹ of the cells, and what eliminates the wells. */
typedef struct elimination {
  bisai_precond *cells;
  /* M⁻¹ B, one column after the other, and the inverse of D − C M⁻¹ B, row by row */
  double columns[WELLS][N], inverse[WELLS][WELLS];
} elimination;

/* Updates what depends on M; to be called after each update of M too. */
static bisai_status eliminate_wells(elimination *e) {
  static double inflow[WELLS][N];
  double s[WELLS][WELLS];
  memset(inflow, 0, sizeof inflow);
  for (int w = 0; w < WELLS; w++) add_inflow(w, 1.0, inflow[w]);
  const bisai_status status =
      bisai_precond_apply_many(e->cells, WELLS, inflow[0], N, e->columns[0], N);
  for (int w = 0; w < WELLS && !status; w++)
    for (int c = 0; c < WELLS; c++)
      s[w][c] = (w == c ? well_diagonal() : 0.0) - outflow(w, e->columns[c]);
  if (status) return status;
  const double determinant = s[0][0] * s[1][1] - s[0][1] * s[1][0]; /* two wells */
  for (int w = 0; w < WELLS; w++)
    for (int c = 0; c < WELLS; c++)
      e->inverse[w][c] = (w == c ? s[1 - w][1 - w] : -s[w][c]) / determinant;
  return BISAI_OK;
}

static bisai_status precondition(void *user, int64_t n, const double *v, double *z) {
  elimination *e = user;
  double rest[WELLS];
  (void)n;
  const bisai_status status = bisai_precond_apply(e->cells, v, z);
  if (status) return status;
  for (int w = 0; w < WELLS; w++) rest[w] = v[N + w] - outflow(w, z);
  for (int w = 0; w < WELLS; w++) {
    z[N + w] = 0.0;
    for (int c = 0; c < WELLS; c++) z[N + w] += e->inverse[w][c] * rest[c];
    for (int i = 0; i < N; i++) z[i] -= e->columns[w][i] * z[N + w];
  }
  return BISAI_OK;
}

/* Solves with one kind of M. `frame` has no blocks, and says how many unknowns there are. */
static bisai_status solve(bisai_context *context, bisai_bcsr *cells, const bisai_bcsr *frame,
                          const bisai_precond_options *how) {
  static elimination e;
  static double b[ALL], x[ALL];
  bisai_precond *precond = NULL;
  bisai_solver *solver = NULL;
  bisai_solver_report report = {.struct_size = sizeof report};
  for (int w = 0; w < WELLS; w++) b[N + w] = rate[w];
  bisai_status status = bisai_precond_create(context, cells, how, &e.cells);
  if (!status) status = eliminate_wells(&e);

  bisai_precond_options own = bisai_precond_options_default();
  own.kind = BISAI_PRECOND_CALLBACK;
  own.callback.apply = precondition;
  own.callback.user = &e;
  if (!status) status = bisai_precond_create(context, frame, &own, &precond);

  if (!status) status = bisai_solver_create(context, ALL, NULL, &solver);
  if (!status)
    status = bisai_solver_solve_operator(solver, multiply, cells, precond, b, x, &report);
  if (!status)
    printf("%s\n  %d iterations, residual %.1e, pressures of the wells %.3f and %.3f\n",
           bisai_precond_describe(e.cells), report.iterations, report.relative_residual, x[N],
           x[N + 1]);
  bisai_solver_destroy(&solver);
  bisai_precond_destroy(&precond);
  bisai_precond_destroy(&e.cells);
  return status;
}

int main(void) {
  static const int32_t no_blocks[ALL + 1];
  bisai_context *context = NULL;
  bisai_bcsr *cells = NULL, *frame = NULL;
  make_cells();
  bisai_status status = bisai_context_create(NULL, &context);
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = CELLS;
  desc.block_size = BS;
  desc.row_ptr = row_ptr;
  desc.col_idx = col_idx;
  desc.values = values;
  if (!status) status = bisai_bcsr_create(context, &desc, &cells);
  desc.block_rows = desc.block_cols = ALL;
  desc.block_size = 1;
  desc.row_ptr = no_blocks;
  if (!status) status = bisai_bcsr_create(context, &desc, &frame);

  bisai_precond_options how = bisai_precond_options_default();
  how.kind = BISAI_PRECOND_CPR;
  how.cpr.pressure = 0; /* by default it is found by a measurement */
  how.cpr.second = BISAI_CPR_SECOND_STAGE_ILU;
  if (!status) status = solve(context, cells, frame, &how);

  how = bisai_precond_options_default();
  how.kind = BISAI_PRECOND_ILU;
  if (!status) status = solve(context, cells, frame, &how);

  if (status)
    fprintf(stderr, "%s: %s\n", bisai_status_string(status),
            context ? bisai_context_error(context) : "");
  bisai_bcsr_destroy(&frame);
  bisai_bcsr_destroy(&cells);
  bisai_context_destroy(&context);
  return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
