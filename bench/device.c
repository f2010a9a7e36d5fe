/* SPDX-License-Identifier: BSD-3-Clause */
/* Times what a preconditioned solve is made of on a GPU, beside cuSPARSE in the same run: the least
 * bytes of each operation, its time, the time of that many bytes in a copy on the device (the
 * floor), and the ratio of the two. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "device_bench.h"

static const char usage[] = "usage: bench_device [OPTION VALUE]…\n"
                            "  --only LETTERS   of p(roducts), s(et-up), t(riangular solves), "
                            "g(mres), i(terations of it by\n"
                            "                   kernel), k(rylov: CG, BiCGSTAB, IDR); default all\n"
                            "  --case NAME      cavity or convdiff, default both\n"
                            "  --rounds N       timings of each operation, default 7\n"
                            "  --launches N     of a product between two waits, default 40\n"
                            "  --json FILE      the same figures for a script\n";

enum { COPY_BYTES = 1 << 30 };

void device_need(const device_bench *b, bisai_status status, const char *what) {
  if (status)
    bench_fail("%s: %s: %s", what, bisai_status_string(status), bisai_context_error(b->context));
}

void device_wait(const device_bench *b) {
  device_need(b, bisai_context_synchronize(b->context), "synchronize");
}

/* --- output --- */

void device_heading(device_bench *b) {
  printf("\n%s: %d block rows of size %d, %d blocks\n", b->name, b->rows, b->bs, b->blocks);
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
  if (!b->json) return;
  fprintf(b->json,
          "%s\n    {\"matrix\": \"%s\", \"block_size\": %d, \"blocks\": %d, \"name\": \"%s\", "
          "\"bytes\": %.0f, "
          "\"minimum\": %.9g, \"median\": %.9g, \"count\": %d}",
          b->comma ? "," : "", b->name, b->bs, b->blocks, op->name, op->bytes, minimum, median,
          op->count);
  b->comma = true;
}

void device_add(device_group *g, const char *name, double bytes, double (*run)(void *),
                void *argument) {
  g->operations[g->count++] =
      (bench_operation){.name = name, .bytes = bytes, .run = run, .argument = argument};
}

void device_measure(device_bench *b, device_group *g) {
  bench_run(g->operations, g->count, b->rounds, 0);
  for (int i = 0; i < g->count; i++) device_print(b, &g->operations[i]);
}

/* --- bytes --- */

double device_matrix_bytes(const device_bench *b, double blocks, double width) {
  return 4 * blocks + 4.0 * (b->rows + 1) + blocks * b->bs * b->bs * width;
}

double device_vector_bytes(const device_bench *b) { return 8.0 * b->rows * b->bs; }

/* --- the whole --- */

static void measure_system(device_bench *b, const char *name, bisai_status status, double *rhs,
                           double tolerance, const char *only) {
  device_need(b, status, name);
  b->name = name;
  b->rows = bisai_bcsr_block_rows(b->matrix), b->bs = bisai_bcsr_block_size(b->matrix),
  b->blocks = bisai_bcsr_blocks(b->matrix);
  const size_t n = (size_t)b->rows * (size_t)b->bs;
  double *b_device = bench_device_allocate(n * sizeof(double));
  b->x = b_device;
  b->y = bench_device_allocate(n * sizeof(double));
  bench_device_upload(b_device, rhs, n * sizeof(double));
  device_need(b, bisai_factors_create(b->context, b->matrix, NULL, &b->factors), "factorisation");
#ifdef BISAI_HAVE_CUSPARSE
  if (!strpbrk(only, "stg")) {
    b->ilu = NULL;
  } else if (bisai_cusparse_ilu_create(b->context, b->matrix, &b->ilu) != BISAI_OK ||
             bisai_cusparse_ilu_prepare(b->ilu) != BISAI_OK) {
    printf("cuSPARSE: %s\n", bisai_context_error(b->context));
    bisai_cusparse_ilu_destroy(&b->ilu);
  }
#endif
  device_heading(b);
  if (strchr(only, 's')) device_measure_setup(b);
  if (strchr(only, 't')) device_measure_solves(b);
  if (strchr(only, 'g')) device_measure_gmres(b, b_device, tolerance);
  if (strchr(only, 'i')) device_measure_iterations(b, b_device, tolerance);
  if (strchr(only, 'k')) device_measure_solvers(b, b_device);
#ifdef BISAI_HAVE_CUSPARSE
  bisai_cusparse_ilu_destroy(&b->ilu);
#endif
  bisai_factors_destroy(&b->factors);
  bisai_bcsr_destroy(&b->matrix);
  bench_device_release(b->x);
  bench_device_release(b->y);
  free(rhs);
}

static double copy_rate(const device_bench *b) {
  void *from = bench_device_allocate(COPY_BYTES), *to = bench_device_allocate(COPY_BYTES);
  double best = INFINITY;
  for (int round = 0; round < 5; round++)
    best =
        fmin(best, bench_device_copy(to, from, COPY_BYTES, 10, bisai_context_stream(b->context)));
  bench_device_release(from);
  bench_device_release(to);
  return 2.0 * COPY_BYTES / best;
}

static void measure_everything(device_bench *b, const char *only, const char *which) {
  if (strchr(only, 'p')) device_measure_products(b);
  if (!strpbrk(only, "stgik")) return;
  double *rhs;
  if (strcmp(which, "convdiff") != 0) {
    const bisai_status status = case_cavity(b->context, 300, 0, &b->matrix, &rhs);
    measure_system(b, "cavity, 300^2", status, rhs, 1e-5, only);
  }
  if (strcmp(which, "cavity") == 0) return;
  const bisai_status status = case_convdiff(b->context, 148, 148, 58, 4, &b->matrix, &rhs);
  measure_system(b, "convection-diffusion, 148 x 148 x 58", status, rhs, 1e-8, only);
}

int main(int argc, char **argv) {
  device_bench b = {.rounds = 7, .launches = 40};
  const char *only = "pstgik", *json = NULL, *which = "";
  for (int i = 1; i < argc; i += 2) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--only") == 0)
      only = value;
    else if (strcmp(argv[i], "--case") == 0)
      which = value;
    else if (strcmp(argv[i], "--json") == 0)
      json = value;
    else if (strcmp(argv[i], "--rounds") == 0)
      b.rounds = atoi(value);
    else if (strcmp(argv[i], "--launches") == 0)
      b.launches = atoi(value);
    else
      bench_fail("%s", usage);
  }
  if (b.rounds < 1 || b.rounds > BENCH_ROUNDS || b.launches < 1) bench_fail("%s", usage);
  bisai_context_options o = bisai_context_options_default();
  o.backend = BISAI_BACKEND_CUDA;
  if (bisai_context_create(&o, &b.context)) bench_fail("no CUDA device");
  char runtime[16], driver[16];
  bench_device_versions(runtime, driver);
  b.copy_rate = copy_rate(&b);
  printf("bisai %s on %s, CUDA %s, driver for %s, copies %.3f TB/s (read and written)\n",
         bisai_version(), bisai_context_device(b.context), runtime, driver, 1e-12 * b.copy_rate);
  if (json && !(b.json = fopen(json, "w"))) bench_fail("cannot write %s", json);
  if (b.json)
    fprintf(b.json,
            "{\n  \"version\": \"%s\", \"device\": \"%s\", \"cuda\": \"%s\", \"copy_rate\": "
            "%.6g,\n  \"figures\": [",
            bisai_version(), bisai_context_device(b.context), runtime, b.copy_rate);
  measure_everything(&b, only, which);
  if (b.json) fprintf(b.json, "\n  ]\n}\n");
  if (b.json && fclose(b.json)) bench_fail("cannot write %s", json);
  bisai_context_destroy(&b.context);
  return 0;
}
