/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "all_in.h"
#include "common/memory.h"

/* Makes another matrix from the arrays of a matrix of the same backend. It has not measured any
 * property of them yet. */
static bisai_bcsr *matrix_copy(bisai_context *context, const bisai_bcsr *matrix,
                               bisai_ownership ownership) {
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  bisai_bcsr *copy;
  desc.block_rows = desc.block_cols = bisai_bcsr_block_rows(matrix);
  desc.block_size = bisai_bcsr_block_size(matrix);
  desc.ownership = ownership;
  if (bisai_context_backend(context) == BISAI_BACKEND_CUDA) desc.location = BISAI_DEVICE;
  bisai_bcsr_arrays(matrix, &desc.row_ptr, &desc.col_idx, &desc.values);
  need(context, bisai_bcsr_create(context, &desc, &copy), "copy of the matrix");
  return copy;
}

/* A method on a system, with vectors in the backend's memory. */
typedef struct run {
  multigrid_bench *bench;
  const bench_system *system;
  const bench_method *method;
  bisai_solver *solver;
  double *b, *x;
  bisai_solver_report solved;
  bisai_precond_report precond;
  /* a GPU: the bytes that the last set-up held at most, with all that it freed */
  int64_t device_peak;
} run;

static double now(const run *r) {
  need(r->bench->context, bisai_context_synchronize(r->bench->context), "synchronize");
  return bench_now();
}

static bisai_status solve(run *r, const bisai_bcsr *matrix, bisai_precond *precond) {
  r->solved = (bisai_solver_report){.struct_size = sizeof r->solved};
  return bisai_solver_solve(r->solver, matrix, precond, r->b, r->x, &r->solved);
}

static bisai_device_memory device_memory(const run *r) {
  bisai_device_memory memory = {.struct_size = sizeof memory};
  need(r->bench->context, bisai_context_device_memory(r->bench->context, true, &memory), "memory");
  return memory;
}

typedef struct timing {
  double setup, solve;
} timing;

/* Sets up and solves once. A solve that does not converge is no failure. */
static bisai_status once(run *r, timing *t) {
  bisai_context *context = r->bench->context;
  bisai_bcsr *matrix = matrix_copy(context, r->system->matrix, BISAI_COPY);
  bisai_precond *precond = NULL;
  const int64_t before = device_memory(r).used_bytes;
  const double begin = now(r);
  bisai_status status = bisai_precond_create(context, matrix, &r->method->options, &precond);
  const double setup = now(r) - begin;
  r->device_peak = device_memory(r).most_used_bytes - before;
  if (!status) {
    const double ready = now(r);
    status = solve(r, matrix, precond);
    *t = (timing){setup, now(r) - ready};
    if (r->solved.reason != BISAI_REASON_NONE) status = BISAI_OK;
    r->precond = (bisai_precond_report){.struct_size = sizeof r->precond};
    need(context, bisai_precond_get_report(precond, &r->precond), "report");
  }
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  return status;
}

/* --- updates --- */

/* Updates keep what takes long: the transfers of multigrid, or the whole first stage of CPR. */
static bisai_precond_options options_of_update(const run *r, bool keep) {
  bisai_precond_options o = r->method->options;
  if (o.kind == BISAI_PRECOND_CPR)
    o.cpr.keep_pressure = keep;
  else
    o.multigrid.keep_transfers = keep;
  return o;
}

/* Times updates. *iterations ← those of a solve after the last one. */
static void time_updates(run *r, bool keep, bench_operation *op, int *iterations) {
  bisai_context *context = r->bench->context;
  const bisai_precond_options o = options_of_update(r, keep);
  bisai_bcsr *matrix = matrix_copy(context, r->system->matrix, BISAI_COPY);
  bisai_precond *precond;
  const void *values;
  bisai_bcsr_arrays(r->system->matrix, NULL, NULL, &values);
  need(context, bisai_precond_create(context, matrix, &o, &precond), "set-up");
  op->count = 0;
  for (int round = -1; round < r->bench->rounds; round++) {
    /* new values: the matrix forgets what it knows about the old ones */
    need(context, bisai_bcsr_update(matrix, values, BISAI_COLUMN_MAJOR), "new values");
    const double begin = now(r);
    need(context, bisai_precond_update(precond, matrix), "update");
    const double seconds = now(r) - begin;
    if (round >= 0) op->seconds[op->count++] = seconds;
  }
  solve(r, matrix, precond);
  *iterations = r->solved.iterations;
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

/* Returns the allocations of an update, in a context of its own. The first update makes what the
 * set-up did not keep. Those of the set-up show that the hooks count. */
static allocations allocations_of_update(const run *r, bool keep) {
  allocations counts;
  bisai_context_options how = bisai_context_options_default();
  const bisai_precond_options o = options_of_update(r, keep);
  bisai_context *context;
  bisai_precond *precond;
  how.backend = bisai_context_backend(r->bench->context);
  how.threads = bisai_context_threads(r->bench->context);
  how.stream = bisai_context_stream(r->bench->context);
  count_allocations(&counts, &how);
  if (bisai_context_create(&how, &context)) bench_fail("no second context");
  bisai_bcsr *matrix = matrix_copy(context, r->system->matrix, BISAI_BORROW);
  need(context, bisai_precond_create(context, matrix, &o, &precond), "set-up");
  if (counts.host == 0) bench_fail("the allocator's hooks were not called");
  need(context, bisai_precond_update(precond, matrix), "first update");
  const allocations before = counts;
  need(context, bisai_precond_update(precond, matrix), "update");
  const allocations found = {counts.host - before.host, counts.device - before.device};
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
  return found;
}

static void measure_update(run *r, bool keep, double setup) {
  bench_operation op = {0};
  int iterations;
  time_updates(r, keep, &op, &iterations);
  const allocations found = allocations_of_update(r, keep);
  const double least = bench_minimum(&op), median = bench_median(&op);
  printf("    update%-16s %9.3f ms, median %.3f, %.2f of set-up, %ld allocations on the host and "
         "%ld on the device, then %d iterations\n",
         !keep                                          ? ""
         : r->method->options.kind == BISAI_PRECOND_CPR ? ", pressure kept"
                                                        : ", transfers kept",
         1e3 * least, 1e3 * median, least / setup, found.host, found.device, iterations);
  FILE *json = record_begin(r->bench, "update", r->system, r->method);
  if (!json) return;
  fprintf(json,
          ", \"keep_transfers\": %s, \"minimum\": %.9g, \"median\": %.9g, \"of_setup\": %.4g, "
          "\"host_allocations\": %ld, \"device_allocations\": %ld, \"iterations\": %d}",
          keep ? "true" : "false", least, median, least / setup, found.host, found.device,
          iterations);
}

/* --- the figures of a method --- */

typedef struct figures {
  timing cold;
  bench_operation setup, solve, sum;
} figures;

static bool has_levels(const run *r) {
  return r->precond.kind == BISAI_PRECOND_MULTIGRID || r->precond.kind == BISAI_PRECOND_CPR;
}

static void print_levels(const run *r) {
  const bisai_multigrid_report *g = &r->precond.multigrid;
  printf("    cycle %s, smoother %s, nodes %s, %s; rows (size of blocks)",
         bisai_cycle_string(g->cycle), bisai_smoother_string(g->smoother),
         bisai_aggregation_unit_string(g->nodes), g->symmetric ? "symmetric" : "nonsymmetric");
  for (int l = 0; l < g->levels; l++) printf(" %d (%d)", g->rows[l], g->block_size[l]);
  printf("\n    complexity %.3f, hierarchy %.1f MB, peak %.1f MB = %.2f of it\n",
         g->operator_complexity, 1e-6 * (double)g->hierarchy_bytes, 1e-6 * (double)g->peak_bytes,
         (double)g->peak_bytes / (double)g->hierarchy_bytes);
  if (r->device_peak > 0)
    printf("    with what single operations take, the set-up held %.1f MB at most\n",
           1e-6 * (double)r->device_peak);
}

static void record_levels(const run *r, FILE *json) {
  const bisai_multigrid_report *g = &r->precond.multigrid;
  fprintf(json,
          ",\n     \"cycle\": \"%s\", \"smoother\": \"%s\", \"nodes\": \"%s\", \"symmetric\": %s, "
          "\"operator_complexity\": %.6g, \"grid_complexity\": %.6g, \"hierarchy_bytes\": %lld, "
          "\"peak_bytes\": %lld, \"device_peak_bytes\": %lld, \"coarsest_inverted\": %s, "
          "\"levels\": [",
          bisai_cycle_string(g->cycle), bisai_smoother_string(g->smoother),
          bisai_aggregation_unit_string(g->nodes), g->symmetric ? "true" : "false",
          g->operator_complexity, g->grid_complexity, (long long)g->hierarchy_bytes,
          (long long)g->peak_bytes, (long long)r->device_peak,
          g->coarsest_inverted ? "true" : "false");
  for (int l = 0; l < g->levels; l++) {
    fprintf(json, "%s{\"rows\": %d, \"block_size\": %d, \"blocks\": %d, \"radius\": %.5g",
            l ? ", " : "", g->rows[l], g->block_size[l], g->blocks[l], g->radius[l]);
    for (int p = 0; p < BISAI_MULTIGRID_PARTS; p++)
      fprintf(json, "%s\"%s\": %lld", p ? ", " : ", \"bytes\": {",
              bisai_multigrid_part_string((bisai_multigrid_part)p),
              (long long)g->memory[l].bytes[p]);
    fprintf(json, "}}");
  }
  fprintf(json, "]");
}

static void print_figures(const run *r, const figures *f) {
  printf("  %-40s %-8s %5d %9.3f %9.3f %9.3f %9.3f %10.3f  %.1e%s\n", r->method->name,
         r->method->solver_name, r->solved.iterations, 1e3 * bench_minimum(&f->setup),
         1e3 * bench_minimum(&f->solve), 1e3 * bench_minimum(&f->sum), 1e3 * bench_median(&f->sum),
         1e3 * (f->cold.setup + f->cold.solve), r->solved.relative_residual,
         r->solved.reason == BISAI_REASON_CONVERGED ? "" : " NOT CONVERGED");
  const bool multigrid = has_levels(r);
  if (multigrid) print_levels(r);
  printf(
      "    an application moves %.1f MB or more, %.4f ms at the rate of copies; it takes %.4f ms\n",
      1e-6 * (double)r->precond.apply_bytes,
      1e3 * (double)r->precond.apply_bytes / r->bench->copy_rate,
      1e3 * r->solved.apply30_seconds / 30);
  FILE *json = record_begin(r->bench, "all in", r->system, r->method);
  if (!json) return;
  const bench_operation *const ops[] = {&f->setup, &f->solve, &f->sum};
  static const char *const names[] = {"setup", "solve", "sum"};
  fprintf(json,
          ", \"reason\": \"%s\", \"iterations\": %d, \"relative_residual\": %.4g, \"rounds\": %d,"
          "\n     \"cold_setup\": %.9g, \"cold_solve\": %.9g",
          bisai_reason_string(r->solved.reason), r->solved.iterations, r->solved.relative_residual,
          f->sum.count, f->cold.setup, f->cold.solve);
  for (int i = 0; i < 3; i++)
    fprintf(json, ", \"%s_minimum\": %.9g, \"%s_median\": %.9g", names[i], bench_minimum(ops[i]),
            names[i], bench_median(ops[i]));
  fprintf(json, ", \"solver_bytes\": %lld, \"memory_bytes\": %lld",
          (long long)r->solved.memory_bytes, (long long)r->precond.memory_bytes);
  if (multigrid) record_levels(r, json);
  fprintf(json, "}");
}

static void refuse(const run *r, bisai_status status) {
  printf("  %-40s %-8s %s: %s\n", r->method->name, r->method->solver_name,
         bisai_status_string(status), bisai_context_error(r->bench->context));
  FILE *json = record_begin(r->bench, "refused", r->system, r->method);
  if (json) fprintf(json, ", \"status\": \"%s\"}", bisai_status_string(status));
}

static void measure(run *r) {
  figures f = {.setup = {.count = 0}};
  bisai_status status = once(r, &f.cold);
  if (status) {
    refuse(r, status);
    return;
  }
  const double begin = bench_now();
  for (int round = 0; round < r->bench->rounds; round++) {
    timing t;
    if (round >= 2 && bench_now() - begin > r->bench->most_seconds) break;
    need(r->bench->context, once(r, &t), "a later round");
    f.setup.seconds[f.setup.count++] = t.setup;
    f.solve.seconds[f.solve.count++] = t.solve;
    f.sum.seconds[f.sum.count++] = t.setup + t.solve;
  }
  print_figures(r, &f);
  const bool updates = r->method->options.multigrid.update != BISAI_MULTIGRID_UPDATE_NONE;
  if (updates) measure_update(r, false, bench_minimum(&f.setup));
  if (updates && has_levels(r)) measure_update(r, true, bench_minimum(&f.setup));
  fflush(stdout);
}

void measure_all_in(multigrid_bench *b, const bench_system *system, const bench_method *method) {
  bench_method own = *method;
  run r = {.bench = b, .system = system, .method = &own};
  bisai_multigrid_options *levels = &own.options.multigrid;
  double *null_vectors = NULL;
  if (levels->null_vectors)
    levels->null_vectors = null_vectors =
        vector_create(b->context, system->n * (size_t)levels->null_count, levels->null_vectors);
  need(b->context, bisai_solver_create(b->context, (int64_t)system->n, &method->solver, &r.solver),
       "solver");
  r.b = vector_create(b->context, system->n, system->rhs);
  r.x = vector_create(b->context, system->n, NULL);
  measure(&r);
  vector_destroy(b->context, null_vectors);
  vector_destroy(b->context, r.b);
  vector_destroy(b->context, r.x);
  bisai_solver_destroy(&r.solver);
}
