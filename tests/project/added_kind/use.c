/* SPDX-License-Identifier: BSD-3-Clause */
/* Uses the added kind from C: A = [3 -4; 0 2], so that z = (v_1 / ‖a_1‖, v_2 / 2). */
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
  const int32_t row_ptr[] = {0, 2, 3}, col_idx[] = {0, 1, 1};
  const double values[] = {3, -4, 2}, v[] = {1, 1};
  bisai_context_options host = bisai_context_options_default();
  host.backend = BISAI_BACKEND_HOST;
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = 2;
  desc.block_size = 1;
  desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = values;
  bisai_context *context = NULL;
  bisai_bcsr *matrix = NULL;
  bisai_precond *precond = NULL;
  bisai_precond_options o = bisai_precond_options_default();
  expect(!bisai_context_create(&host, &context), "no context");
  expect(!bisai_bcsr_create(context, &desc, &matrix), "no matrix");
  expect(o.rownorm.norm == 1, "the default of the option is missing");
  o.kind = BISAI_PRECOND_ROWNORM;
  for (o.rownorm.norm = 1; o.rownorm.norm <= 2; o.rownorm.norm++) {
    double z[2] = {NAN, NAN};
    expect(!bisai_precond_create(context, matrix, &o, &precond), bisai_context_error(context));
    expect(!bisai_precond_apply(precond, v, z), "not applied");
    expect(fabs(z[0] - (o.rownorm.norm == 1 ? 1.0 / 7 : 1.0 / 5)) < 1e-15 && z[1] == 0.5,
           "a wrong z");
    expect(!bisai_precond_update(precond, matrix), "not updated");
    bisai_precond_destroy(&precond);
  }
  expect(bisai_precond_create(context, matrix, &o, &precond) == BISAI_INVALID_ARGUMENT &&
             strcmp(bisai_context_error(context), "norm 3: 1 … 2 are possible") == 0,
         bisai_context_error(context));
  o.kind = BISAI_PRECOND_ISAI, o.rownorm.norm = 2;
  expect(bisai_precond_create(context, matrix, &o, &precond) == BISAI_INVALID_ARGUMENT &&
             strcmp(bisai_context_error(context),
                    "isai does not take the option norm, which is for rownorm") == 0,
         bisai_context_error(context));
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
  return failures;
}
