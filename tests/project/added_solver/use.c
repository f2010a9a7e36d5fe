/* SPDX-License-Identifier: BSD-3-Clause */
/* Uses the added solver from C: A = diag(1, 2), b = (1, 1). With ω = ½ the second unknown is
 * solved in the first iteration, and the residual of the first one is halved in each. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <bisai/bisai.h>

static int failures = 0;

static void expect(bool right, const char *what) {
  if (!right) printf("use.c: %s\n", what);
  failures += !right;
}

int main(void) {
  const int32_t row_ptr[] = {0, 1, 2}, col_idx[] = {0, 1};
  const double values[] = {1, 2}, b[] = {1, 1};
  double x[2];
  bisai_context_options host = bisai_context_options_default();
  host.backend = BISAI_BACKEND_HOST;
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = 2;
  desc.block_size = 1;
  desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = values;
  bisai_context *context = NULL;
  bisai_bcsr *matrix = NULL;
  bisai_solver *solver = NULL;
  bisai_solver_options o = bisai_solver_options_default();
  bisai_solver_report report = {.struct_size = sizeof report};
  expect(!bisai_context_create(&host, &context), "no context");
  expect(!bisai_bcsr_create(context, &desc, &matrix), "no matrix");
  expect(o.richardson.omega == 0, "the default of the option is missing");
  o.method = BISAI_RICHARDSON;
  expect(strcmp(bisai_method_string(o.method), "richardson") == 0, "no word");
  for (o.richardson.omega = 0; o.richardson.omega <= 0.5; o.richardson.omega += 0.5) {
    expect(!bisai_solver_create(context, 2, &o, &solver), bisai_context_error(context));
    expect(!bisai_solver_solve(solver, matrix, NULL, b, x, &report), bisai_context_error(context));
    expect(fabs(x[0] - 1) < 1e-7 && fabs(x[1] - 0.5) < 1e-7, "a wrong x");
    if (o.richardson.omega > 0)
      expect(fabs(report.history[3] - sqrt(0.5) / 8) < 1e-15, "a wrong residual");
    bisai_solver_destroy(&solver);
  }
  o.richardson.omega = 2.5;
  expect(bisai_solver_create(context, 2, &o, &solver) == BISAI_INVALID_ARGUMENT &&
             strcmp(bisai_context_error(context), "omega 2.5: 0 … 2 are possible") == 0,
         bisai_context_error(context));
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
  return failures;
}
