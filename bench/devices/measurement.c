/* SPDX-License-Identifier: BSD-3-Clause */
#include "measurement.h"

void device_wait(const device_bench *b) {
  need(b->context, bisai_context_synchronize(b->context), "synchronize");
}

/* --- output --- */

void device_heading(device_bench *b) {
  printf("\n%s: %d block rows of size %d, %d blocks\n", b->system.name, b->system.rows,
         b->system.bs, b->system.blocks);
  printf("%-34s %9s %10s %10s %10s %7s\n", "", "MB", "min us", "median us", "floor us", "ratio");
}

void device_print(device_bench *b, const bench_operation *op) {
  const double minimum = bench_minimum(op), median = bench_median(op),
               floor = op->bytes / b->copy_rate;
  printf("%-34s ", op->name);
  if (op->bytes > 0)
    printf("%9.2f %10.2f %10.2f %10.2f %7.3f\n", op->bytes * 1e-6, 1e6 * minimum, 1e6 * median,
           1e6 * floor, minimum / floor);
  else
    printf("%9s %10.2f %10.2f\n", "", 1e6 * minimum, 1e6 * median);
  fflush(stdout);
  FILE *json = bench_json_record(&b->json);
  if (!json) return;
  fprintf(json,
          "{\"matrix\": \"%s\", \"block_size\": %d, \"blocks\": %d, \"name\": \"%s\", "
          "\"bytes\": %.0f, "
          "\"minimum\": %.9g, \"median\": %.9g, \"count\": %d}",
          b->system.name, b->system.bs, b->system.blocks, op->name, op->bytes, minimum, median,
          op->count);
}

void device_add(device_group *g, const char *name, double bytes, double (*run)(void *),
                void *argument) {
  g->operations[g->count++] =
      (bench_operation){.name = name, .bytes = bytes, .run = run, .argument = argument};
}

static double seconds_of_call(void *argument) {
  const device_call *c = argument;
  device_wait(c->bench);
  const double start = bench_now();
  for (int i = 0; i < c->count; i++) need(c->bench->context, c->call(c->bench), c->name);
  device_wait(c->bench);
  return (bench_now() - start) / c->count;
}

void device_add_call(device_group *g, const char *name, double bytes, device_bench *b,
                     bisai_status (*call)(device_bench *), int count) {
  g->calls[g->count] = (device_call){name, b, call, count};
  device_add(g, name, bytes, seconds_of_call, &g->calls[g->count]);
}

void device_measure(device_bench *b, device_group *g) {
  bench_run(g->operations, g->count, b->rounds, 0);
  for (int i = 0; i < g->count; i++) device_print(b, &g->operations[i]);
}

/* --- bytes --- */

double device_matrix_bytes(const device_bench *b, double blocks, double width) {
  return 4 * blocks + 4.0 * (b->system.rows + 1) + blocks * b->system.bs * b->system.bs * width;
}

double device_vector_bytes(const device_bench *b) { return 8.0 * b->system.rows * b->system.bs; }

bisai_precond *device_make_precond(device_bench *b, bisai_precond_kind kind) {
  bisai_precond_options o = bisai_precond_options_default();
  bisai_precond *precond;
  o.kind = kind;
  if (kind == BISAI_PRECOND_ISAI) o.isai.power = b->power;
  o.factor.factors = b->factors;
  need(b->context, bisai_precond_create(b->context, b->system.matrix, &o, &precond),
       "preconditioner");
  return precond;
}
