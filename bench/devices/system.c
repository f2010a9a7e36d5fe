/* SPDX-License-Identifier: BSD-3-Clause */
/* Set-up, triangular solves and GMRES on a GPU, and those of cuSPARSE in the same run. */
#include <math.h>
#include <stdio.h>

#include "system.h"

/* --- set-up --- */

static bisai_status factor_update(device_bench *b) {
  return bisai_factors_update(b->factors, b->system.matrix);
}

static double factor_create(void *argument) {
  device_bench *b = argument;
  bisai_factors *factors;
  device_wait(b);
  const double start = bench_now();
  need(b->context, bisai_factors_create(b->context, b->system.matrix, NULL, &factors),
       "factorisation");
  device_wait(b);
  const double seconds = bench_now() - start;
  bisai_factors_destroy(&factors);
  return seconds;
}

static double patterns(void *argument) {
  device_bench *b = argument;
  bisai_pattern *lower, *upper;
  device_wait(b);
  const double start = bench_now();
  need(b->context,
       bisai_pattern_power(b->context, bisai_factors_lower(b->factors), BISAI_LOWER, b->power,
                           &lower),
       "pattern");
  need(b->context,
       bisai_pattern_power(b->context, bisai_factors_upper(b->factors), BISAI_UPPER, b->power,
                           &upper),
       "pattern");
  device_wait(b);
  const double seconds = bench_now() - start;
  bisai_pattern_destroy(&lower);
  bisai_pattern_destroy(&upper);
  return seconds;
}

static double isai_setup(void *argument) {
  device_bench *b = argument;
  device_wait(b);
  const double start = bench_now();
  bisai_precond *precond = device_make_precond(b, BISAI_PRECOND_ISAI);
  device_wait(b);
  const double seconds = bench_now() - start;
  bisai_precond_destroy(&precond);
  return seconds;
}

static bisai_status isai_values(device_bench *b) {
  return bisai_precond_update(b->precond, b->system.matrix);
}

static bisai_status apply(device_bench *b) { return bisai_precond_apply(b->precond, b->x, b->y); }

#ifdef BISAI_HAVE_CUSPARSE
static double factor_cusparse(void *argument) {
  device_bench *b = argument;
  bisai_cusparse_ilu_report report = {.struct_size = sizeof report};
  need(b->context, bisai_cusparse_ilu_update(b->ilu, b->system.matrix), "bsrilu02");
  need(b->context, bisai_cusparse_ilu_get_report(b->ilu, &report), "bsrilu02");
  return report.factor_seconds;
}

static double analysis_cusparse(void *argument) {
  device_bench *b = argument;
  bisai_cusparse_ilu *ilu;
  bisai_cusparse_ilu_report report = {.struct_size = sizeof report};
  need(b->context, bisai_cusparse_ilu_create(b->context, b->system.matrix, &ilu), "bsrilu02");
  need(b->context, bisai_cusparse_ilu_get_report(ilu, &report), "bsrilu02");
  bisai_cusparse_ilu_destroy(&ilu);
  return report.analysis_seconds;
}

static double patterns_cusparse(void *argument) {
  device_bench *b = argument;
  double seconds[2];
  for (int t = BISAI_LOWER; t <= BISAI_UPPER; t++) {
    const bisai_bcsr *factor =
        t == BISAI_LOWER ? bisai_factors_lower(b->factors) : bisai_factors_upper(b->factors);
    bisai_pattern *pattern;
    need(b->context,
         bisai_cusparse_pattern(b->context, factor, (bisai_triangle)t, b->power, &pattern,
                                &seconds[t]),
         "SpGEMM");
    bisai_pattern_destroy(&pattern);
  }
  return seconds[0] + seconds[1];
}
#endif

void device_measure_setup(device_bench *b) {
  static const char *const names[3][5] = {
      {"patterns, k = 1", "ISAI values, k = 1", "ISAI set-up, k = 1", "ISAI application, k = 1",
       "patterns by SpGEMM, k = 1"},
      {"patterns, k = 2", "ISAI values, k = 2", "ISAI set-up, k = 2", "ISAI application, k = 2",
       "patterns by SpGEMM, k = 2"},
      {"patterns, k = 3", "ISAI values, k = 3", "ISAI set-up, k = 3", "ISAI application, k = 3",
       "patterns by SpGEMM, k = 3"}};
  const double diagonal = device_vector_bytes(b) * b->system.bs,
               blocks = device_matrix_bytes(b, b->system.blocks, 8);
  device_group g = {0};
  device_add_call(&g, "ILU(0), numeric", 2 * blocks + diagonal, b, factor_update, 1);
  device_add(&g, "ILU(0), symbolic and numeric", 2 * blocks + diagonal, factor_create, b);
#ifdef BISAI_HAVE_CUSPARSE
  if (b->ilu) device_add(&g, "cuSPARSE bsrilu02", 2 * blocks + diagonal, factor_cusparse, b);
  if (b->ilu) device_add(&g, "cuSPARSE bsrilu02, analysis", 0, analysis_cusparse, b);
#endif
  device_measure(b, &g);
  for (b->power = 1; b->power <= 3; b->power++) {
    const char *const *name = names[b->power - 1];
    b->precond = device_make_precond(b, BISAI_PRECOND_ISAI);
    bisai_precond_report r = {.struct_size = sizeof r};
    need(b->context, bisai_precond_get_report(b->precond, &r), "report");
    const double inverse = (double)r.isai.blocks;
    const double of_pattern = 4.0 * b->system.blocks + 12 * inverse + 24.0 * b->system.rows;
    const double of_values = blocks + diagonal + inverse * (8.0 * b->system.bs * b->system.bs + 8);
    device_group all = {0};
    device_add(&all, name[0], of_pattern, patterns, b);
#ifdef BISAI_HAVE_CUSPARSE
    device_add(&all, name[4], of_pattern, patterns_cusparse, b);
#endif
    device_add_call(&all, name[1], of_values, b, isai_values, 1);
    device_add(&all, name[2], of_pattern + of_values, isai_setup, b);
    device_add_call(&all, name[3], (double)r.apply_bytes, b, apply, b->launches);
    device_measure(b, &all);
    bisai_precond_destroy(&b->precond);
  }
}

/* --- triangular solves --- */

#ifdef BISAI_HAVE_CUSPARSE
static bisai_status solves_cusparse(device_bench *b) {
  return bisai_cusparse_ilu_apply(b->ilu, (int64_t)b->system.rows * b->system.bs, b->x, b->y);
}
#endif

void device_measure_solves(device_bench *b) {
  const double bytes = device_matrix_bytes(b, b->system.blocks, 8) + 4.0 * (b->system.rows + 1) +
                       4 * device_vector_bytes(b);
  device_group g = {0};
  b->power = 1;
  b->precond = device_make_precond(b, BISAI_PRECOND_ILU);
  device_add_call(&g, "triangular solves, L and U", bytes, b, apply, 5);
#ifdef BISAI_HAVE_CUSPARSE
  if (b->ilu) device_add_call(&g, "cuSPARSE bsrsv2, L and U", bytes, b, solves_cusparse, 5);
#endif
  device_measure(b, &g);
  bisai_precond_destroy(&b->precond);
}

/* --- GMRES --- */

typedef struct solving {
  device_bench *b;
  bisai_solver *solver;
  bisai_precond *precond;
  const double *rhs;
  double *x;
  bisai_solver_report report;
} solving;

static double gmres(void *argument) {
  solving *s = argument;
  s->report.struct_size = sizeof s->report;
  device_wait(s->b);
  const double start = bench_now();
  need(s->b->context,
       bisai_solver_solve(s->solver, s->b->system.matrix, s->precond, s->rhs, s->x, &s->report),
       "GMRES");
  device_wait(s->b);
  return bench_now() - start;
}

/* `matrices`: bytes of the preconditioner's matrices. The figures are those of one iteration, and
 * the line below has those of the solve. */
static void measure_gmres(device_bench *b, const char *name, bisai_precond *precond,
                          double matrices, const double *rhs, double tolerance, int rounds) {
  solving s = {.b = b, .precond = precond, .rhs = rhs, .x = b->y};
  bisai_solver_options o = bisai_solver_options_default();
  o.tolerance = tolerance;
  o.gmres.restart = 30;
  need(b->context,
       bisai_solver_create(b->context, (int64_t)b->system.rows * b->system.bs, &o, &s.solver),
       "solver");
  device_group g = {0};
  device_add(&g, name, 0, gmres, &s);
  bench_run(g.operations, 1, rounds, 0);
  bench_operation *op = &g.operations[0];
  const double whole = bench_minimum(op);
  for (int i = 0; i < op->count; i++) op->seconds[i] /= s.report.iterations;
  op->bytes = device_matrix_bytes(b, b->system.blocks, 8) + matrices + 40 * device_vector_bytes(b);
  device_print(b, op);
  printf("  %d iterations, %.3f ms, true residual %.2e\n", s.report.iterations, 1e3 * whole,
         s.report.relative_residual);
  FILE *json = bench_json_record(&b->json);
  if (json)
    fprintf(json,
            "{\"matrix\": \"%s\", \"name\": \"%s, solve\", \"minimum\": %.9g, "
            "\"iterations\": %d, "
            "\"relative_residual\": %.3g}",
            b->system.name, name, whole, s.report.iterations, s.report.relative_residual);
  bisai_solver_destroy(&s.solver);
}

void device_measure_gmres(device_bench *b, const double *rhs, double tolerance) {
  static const char *const names[] = {"an iteration, ISAI(1)", "an iteration, ISAI(2)",
                                      "an iteration, ISAI(3)"};
  for (b->power = 1; b->power <= 3; b->power++) {
    bisai_precond *precond = device_make_precond(b, BISAI_PRECOND_ISAI);
    bisai_precond_report r = {.struct_size = sizeof r};
    need(b->context, bisai_precond_get_report(precond, &r), "report");
    const double matrices =
        device_matrix_bytes(b, (double)r.isai.blocks, 8) + 4.0 * (b->system.rows + 1);
    measure_gmres(b, names[b->power - 1], precond, matrices, rhs, tolerance, b->rounds);
    bisai_precond_destroy(&precond);
  }
  const double factors = device_matrix_bytes(b, b->system.blocks, 8) + 4.0 * (b->system.rows + 1);
  b->power = 1;
  bisai_precond *exact = device_make_precond(b, BISAI_PRECOND_ILU);
  measure_gmres(b, "an iteration, exact solves", exact, factors, rhs, tolerance, 2);
  bisai_precond_destroy(&exact);
#ifdef BISAI_HAVE_CUSPARSE
  if (!b->ilu) return;
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_CALLBACK;
  o.callback.apply = bisai_cusparse_ilu_apply;
  o.callback.user = b->ilu;
  need(b->context, bisai_precond_create(b->context, b->system.matrix, &o, &exact),
       "preconditioner");
  measure_gmres(b, "an iteration, bsrsv2", exact, factors, rhs, tolerance, 2);
  bisai_precond_destroy(&exact);
#endif
}
