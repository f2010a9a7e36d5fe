/* SPDX-License-Identifier: BSD-3-Clause */
/* One iteration of GMRES(30) with approximate inverses, kernel by kernel as it runs in a solve. */
#include <math.h>
#include <string.h>

#include "iteration.h"
#include "trace.h"

enum { RESTART = 30 };

/* The role of a kernel: the products with NL, NU and A, the step, everything for a restart. */
typedef enum part { LOWER, UPPER, MATRIX, STEP, RESTARTING, PARTS } part;

static const char *const names[PARTS] = {"NL v", "NU (NL v)", "A z", "step of GMRES",
                                         "restart, share"};

typedef struct share {
  /* seconds since the end of the previous kernel, and of the kernel alone */
  double time, alone;
  int count;
} share;

/* Sorts the kernels of a solve between the first and the last step into parts. */
static int divide(const device_kernel *kernels, int count, share parts[PARTS]) {
  int steps = 0, first = 0, last = count - 1, products = 0;
  while (first < count && !strstr(kernels[first].name, "step")) first++;
  while (last > first && !strstr(kernels[last].name, "step")) last--;
  for (int i = first + 1; i <= last; i++) {
    const bool step = strstr(kernels[i].name, "step") != NULL;
    if (step) {
      /* The three products before a step belong to the iteration. Kernels between those and the
       * previous step belong to a restart. */
      for (int k = i - products; k <= i; k++) {
        const int place = k - (i - 3);
        const part p = k == i ? STEP : place >= 0 ? (part)place : RESTARTING;
        parts[p].time += kernels[k].end - kernels[k - 1].end;
        parts[p].alone += kernels[k].end - kernels[k].start;
        parts[p].count++;
      }
      steps++;
      products = 0;
    } else {
      products++;
    }
  }
  return steps;
}

static void print(device_bench *b, const char *name, double bytes, const share *s, int steps) {
  const double time = s->time / steps, floor = bytes / b->copy_rate;
  printf("%-34s %9.2f %10.2f %10.2f %10.2f %7.3f\n", name, 1e-6 * bytes, 1e6 * time,
         1e6 * s->alone / steps, 1e6 * floor, bytes > 0 ? time / floor : NAN);
  FILE *json = bench_json_record(&b->json);
  if (!json) return;
  fprintf(json,
          "{\"matrix\": \"%s\", \"power\": %d, \"kernel\": \"%s\", \"bytes\": %.0f, "
          "\"seconds\": %.4g, "
          "\"alone\": %.4g}",
          b->system.name, b->power, name, bytes, time, s->alone / steps);
}

typedef struct solving {
  bisai_solver *solver;
  bisai_precond *precond;
  const double *rhs;
  bisai_solver_report report;
} solving;

static double solve(device_bench *b, solving *s) {
  s->report.struct_size = sizeof s->report;
  device_wait(b);
  const double start = bench_now();
  need(b->context,
       bisai_solver_solve(s->solver, b->system.matrix, s->precond, s->rhs, b->y, &s->report),
       "GMRES");
  device_wait(b);
  return bench_now() - start;
}

static int32_t pattern_blocks(device_bench *b, bisai_triangle triangle) {
  const bisai_bcsr *factor =
      triangle == BISAI_LOWER ? bisai_factors_lower(b->factors) : bisai_factors_upper(b->factors);
  bisai_pattern *pattern;
  need(b->context, bisai_pattern_power(b->context, factor, triangle, b->power, &pattern),
       "pattern");
  const int32_t blocks = bisai_pattern_blocks(pattern);
  bisai_pattern_destroy(&pattern);
  return blocks;
}

static void measure(device_bench *b, const double *rhs, double tolerance) {
  const double vector = device_vector_bytes(b);
  const double bytes[PARTS] = {
      device_matrix_bytes(b, pattern_blocks(b, BISAI_LOWER), 8) + 2 * vector,
      device_matrix_bytes(b, pattern_blocks(b, BISAI_UPPER), 8) + 2 * vector,
      device_matrix_bytes(b, b->system.blocks, 8) + 2 * vector, (RESTART + 1 + 3) * vector, 0};
  solving s = {.rhs = rhs, .precond = device_make_precond(b, BISAI_PRECOND_ISAI)};
  bisai_solver_options o = bisai_solver_options_default();
  o.tolerance = tolerance;
  o.gmres.restart = RESTART;
  need(b->context,
       bisai_solver_create(b->context, (int64_t)b->system.rows * b->system.bs, &o, &s.solver),
       "solver");
  double best = INFINITY, all = 0;
  for (int round = 0; round < b->rounds; round++) best = fmin(best, solve(b, &s));
  for (int p = 0; p < PARTS; p++) all += bytes[p];
  const double iteration = best / s.report.iterations;
  printf("\n%s, ISAI(%d): %d iterations, %.3f ms, true residual %.2e\n", b->system.name, b->power,
         s.report.iterations, 1e3 * best, s.report.relative_residual);
  printf("%-34s %9s %10s %10s %10s %7s\n", "", "MB", "us", "alone us", "floor us", "ratio");
  const share whole = {iteration * s.report.iterations, iteration * s.report.iterations,
                       s.report.iterations};
  print(b, "an iteration", all, &whole, s.report.iterations);
  share parts[PARTS] = {{0}};
  const device_kernel *kernels;
  if (device_trace_start()) {
    const double traced = solve(b, &s);
    const int count = device_trace_stop(&kernels), steps = divide(kernels, count, parts);
    printf("the same while it is watched: %.2f us an iteration\n",
           1e6 * traced / s.report.iterations);
    for (int p = 0; p < PARTS; p++) print(b, names[p], bytes[p], &parts[p], steps);
    printf("kernels of a restart: %.1f\n", (double)parts[RESTARTING].count * RESTART / steps);
  } else {
    printf("kernels cannot be watched here\n");
  }
  bisai_solver_destroy(&s.solver);
  bisai_precond_destroy(&s.precond);
}

void device_measure_iterations(device_bench *b, const double *rhs, double tolerance) {
  for (b->power = 1; b->power <= 3; b->power++) measure(b, rhs, tolerance);
}
