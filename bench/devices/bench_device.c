/* SPDX-License-Identifier: BSD-3-Clause */
/* Times the operations of a preconditioned solve on a GPU, and those of cuSPARSE in the same run.
 * For each operation it prints the least number of bytes, the time, the time of a copy of that many
 * bytes on the device (the lower bound), and the ratio of the two times. */

#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "iteration.h"
#include "products.h"
#include "solvers.h"
#include "system.h"

enum { COPY_BYTES = 1 << 30 };

static const char usage[] =
    "usage: bench_device [OPTION VALUE]…\n"
    "  --only LETTERS   of p(roducts), s(et-up), t(riangular solves), "
    "g(mres), i(ts iterations by\n"
    "                   kernel), k(rylov: CG, BiCGSTAB, IDR); default all\n"
    "  --case NAME      cavity or convdiff, default both\n"
    "  --rounds N       timings of each operation, default 7\n"
    "  --launches N     launches of a product between two waits, default 40\n"
    "  --json FILE      writes the same figures as JSON\n";

static void measure_system(device_bench *b, const char *name, bisai_status status, double *rhs,
                           double tolerance, const char *only) {
  need(b->context, status, name);
  b->system.name = name;
  b->system.rows = bisai_bcsr_block_rows(b->system.matrix),
  b->system.bs = bisai_bcsr_block_size(b->system.matrix),
  b->system.blocks = bisai_bcsr_blocks(b->system.matrix);
  const size_t n = (size_t)b->system.rows * (size_t)b->system.bs;
  double *b_device = bench_device_allocate(n * sizeof(double));
  b->x = b_device;
  b->y = bench_device_allocate(n * sizeof(double));
  bench_device_upload(b_device, rhs, n * sizeof(double));
  need(b->context, bisai_factors_create(b->context, b->system.matrix, NULL, &b->factors),
       "factorisation");
#ifdef BISAI_HAVE_CUSPARSE
  if (!strpbrk(only, "stg")) {
    b->ilu = NULL;
  } else if (bisai_cusparse_ilu_create(b->context, b->system.matrix, &b->ilu) ||
             bisai_cusparse_ilu_prepare(b->ilu)) {
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
  bisai_bcsr_destroy(&b->system.matrix);
  bench_device_release(b->x);
  bench_device_release(b->y);
  free(rhs);
}

static void measure_everything(device_bench *b, const char *only, const char *which) {
  if (strchr(only, 'p')) device_measure_products(b);
  if (!strpbrk(only, "stgik")) return;
  double *rhs;
  if (strcmp(which, "convdiff") != 0) {
    const bisai_status status = case_cavity(b->context, 300, 0, &b->system.matrix, &rhs);
    measure_system(b, "cavity, 300^2", status, rhs, 1e-5, only);
  }
  if (strcmp(which, "cavity") == 0) return;
  const bisai_status status = case_convdiff(b->context, 148, 148, 58, 4, &b->system.matrix, &rhs);
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
  b.copy_rate = bench_device_copy_rate(COPY_BYTES, bisai_context_stream(b.context));
  printf("bisai %s on %s, CUDA %s, driver for %s, copies %.3f TB/s (read and written)\n",
         bisai_version(), bisai_context_device(b.context), runtime, driver, 1e-12 * b.copy_rate);
  bench_json_open(&b.json, json);
  if (json)
    fprintf(b.json.file,
            "{\n  \"version\": \"%s\", \"device\": \"%s\", \"cuda\": \"%s\", \"copy_rate\": "
            "%.6g,\n  \"figures\": [",
            bisai_version(), bisai_context_device(b.context), runtime, b.copy_rate);
  measure_everything(&b, only, which);
  bench_json_close(&b.json);
  bisai_context_destroy(&b.context);
  return 0;
}
