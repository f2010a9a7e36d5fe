/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares updates of block ILU's factors: exact ones, sweeps from the factors at hand, and none.
 * The values of the diagonal grow by up to a part of them at random, as with another time step or
 * reaction. Each way of update is timed, and GMRES(30) solves the changed system with exact solves
 * and with ISAI(1) and a relaxation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "common/memory.h"

static const char usage[] =
    "usage: bench_updates [OPTION VALUE]… [FILE…]\n"
    "Updates the factors of two cases of the library and of the matrices of files.\n"
    "  --backend WORD   cuda, host or auto; default auto\n"
    "  --threads N      of the host; default: all\n"
    "  --rounds N       timings of an update, default 9\n"
    "  --scale N        divides the sizes of the cases, default 1\n"
    "  --json FILE      writes the same figures as JSON\n";

/* Sweeps of an update; EXACT and NONE are no sweeps. */
enum { EXACT = 0, NONE = -1 };
static const int ways[] = {EXACT, 1, 2, 3, 5, NONE};
enum { WAYS = sizeof ways / sizeof *ways };

static const double changes[] = {0.1, 1.0};
enum { CHANGES = sizeof changes / sizeof *changes, MOST_ITERATIONS = 2000 };

typedef struct updates_bench {
  bisai_context *host, *context;
  int rounds, scale;
  bench_json json;
} updates_bench;

/* What a way gives. */
typedef struct outcome {
  /* seconds of an update of ILU; 0: there is none */
  double seconds;
  /* of GMRES(30) with ILU and with ISAI(1); −1: not converged, or factors that are refused */
  int ilu, isai;
} outcome;

/* Returns a number in 0 … 1. */
static double next_random(uint64_t *state) {
  *state = *state * 6364136223846793005ull + 1442695040888963407ull;
  return (double)*state * 0x1p-64;
}

/* Returns the matrix of the host in the context, its diagonal raised by at most the part
 * `change`. */
static bisai_bcsr *changed(const updates_bench *b, const bisai_bcsr *a, double change) {
  const int32_t *row_ptr, *col_idx, bs = bisai_bcsr_block_size(a);
  const void *stored;
  bisai_bcsr *matrix = NULL;
  bisai_bcsr_arrays(a, &row_ptr, &col_idx, &stored);
  const size_t square = (size_t)(bs * bs), count = (size_t)bisai_bcsr_blocks(a) * square;
  double *values = bench_allocate(count, sizeof *values);
  uint64_t state = 1;
  memcpy(values, stored, count * sizeof *values);
  for (int32_t i = 0; i < bisai_bcsr_block_rows(a); i++)
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++)
      for (int32_t r = 0; r < bs && col_idx[p] == i; r++)
        values[(size_t)p * square + (size_t)(r * (bs + 1))] *= 1.0 + change * next_random(&state);
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = bisai_bcsr_block_rows(a);
  desc.block_size = bs;
  desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = values;
  need(b->context, bisai_bcsr_create(b->context, &desc, &matrix), "matrix");
  free(values);
  return matrix;
}

/* Creates a preconditioner of `first`, which updates by a way. Returns NULL if it is refused. */
static bisai_precond *make(const updates_bench *b, const bisai_bcsr *first, bisai_precond_kind kind,
                           int way) {
  bisai_precond_options options = bisai_precond_options_default();
  bisai_precond *precond = NULL;
  options.kind = kind;
  options.factor.update_sweeps = way > 0 ? way : 0;
  if (kind == BISAI_PRECOND_ISAI) options.isai.relax = 1;
  return bisai_precond_create(b->context, first, &options, &precond) ? NULL : precond;
}

/* Returns the iterations on the second system after an update from the first, or −1. */
static int iterations(const updates_bench *b, const bisai_bcsr *first, const bisai_bcsr *second,
                      bisai_precond_kind kind, int way) {
  const size_t n = (size_t)bisai_bcsr_block_rows(first) * (size_t)bisai_bcsr_block_size(first);
  bisai_solver_options options = bisai_solver_options_default();
  options.max_iterations = MOST_ITERATIONS;
  bisai_solver *solver = NULL;
  bisai_solver_report report = {.struct_size = sizeof report};
  bisai_precond *precond = make(b, first, kind, way);
  if (!precond) return -1;
  bisai_status status = way == NONE ? BISAI_OK : bisai_precond_update(precond, second);
  double *ones = bench_allocate(n, sizeof *ones);
  for (size_t i = 0; i < n; i++) ones[i] = 1.0;
  double *rhs = vector_create(b->context, n, ones), *x = vector_create(b->context, n, NULL);
  if (!status) {
    need(b->context, bisai_solver_create(b->context, (int64_t)n, &options, &solver), "solver");
    status = bisai_solver_solve(solver, second, precond, rhs, x, &report);
  }
  bisai_solver_destroy(&solver);
  bisai_precond_destroy(&precond);
  vector_destroy(b->context, rhs);
  vector_destroy(b->context, x);
  free(ones);
  return status ? -1 : report.iterations;
}

typedef struct timed {
  bisai_context *context;
  bisai_precond *precond;
  const bisai_bcsr *matrix[2];
  int turn;
} timed;

/* Updates to the values of one matrix and the other in turn. */
static double update(void *argument) {
  timed *t = argument;
  const double begin = bench_now();
  const bisai_status status = bisai_precond_update(t->precond, t->matrix[t->turn ^= 1]);
  if (status) return INFINITY;
  need(t->context, bisai_context_synchronize(t->context), "update");
  return bench_now() - begin;
}

static void report(updates_bench *b, const char *name, const bisai_bcsr *a, int32_t levels,
                   double change, const outcome *o) {
  printf("%-24s %4.0f %% levels %6d", name, 100 * change, levels);
  for (int w = 0; w < WAYS; w++)
    printf("  %d: %.3f ms %d %d", ways[w], 1e3 * o[w].seconds, o[w].ilu, o[w].isai);
  printf("\n");
  FILE *file = bench_json_record(&b->json);
  if (!file) return;
  fprintf(file,
          "{\"system\": \"%s\", \"block_rows\": %d, \"block_size\": %d, \"blocks\": %d, "
          "\"levels\": %d, \"change\": %g, \"ways\": [",
          name, bisai_bcsr_block_rows(a), bisai_bcsr_block_size(a), bisai_bcsr_blocks(a), levels,
          change);
  for (int w = 0; w < WAYS; w++)
    fprintf(file, "%s{\"sweeps\": %d, \"update\": %.6g, \"ilu\": %d, \"isai\": %d}", w ? ", " : "",
            ways[w], isfinite(o[w].seconds) ? o[w].seconds : 0.0, o[w].ilu, o[w].isai);
  fprintf(file, "]}");
  bench_json_complete(&b->json);
}

static void measure(updates_bench *b, const char *name, const bisai_bcsr *a) {
  bisai_bcsr *first = changed(b, a, 0.0);
  for (int c = 0; c < CHANGES; c++) {
    bisai_bcsr *second = changed(b, a, changes[c]);
    outcome found[WAYS];
    timed t[WAYS];
    bench_operation operations[WAYS];
    bisai_precond_report made = {.struct_size = sizeof made};
    int timings = 0;
    for (int w = 0; w < WAYS; w++) {
      t[w] = (timed){b->context, make(b, first, BISAI_PRECOND_ILU, ways[w]), {first, second}, 0};
      found[w] = (outcome){0.0, iterations(b, first, second, BISAI_PRECOND_ILU, ways[w]),
                           iterations(b, first, second, BISAI_PRECOND_ISAI, ways[w])};
      if (!t[w].precond || ways[w] == NONE) continue;
      need(b->context, bisai_precond_get_report(t[w].precond, &made), "report");
      operations[timings++] = (bench_operation){.run = update, .argument = &t[w]};
    }
    bench_run(operations, timings, b->rounds, 0.0);
    for (int w = 0; w < timings; w++) found[w].seconds = bench_median(&operations[w]);
    report(b, name, a, made.factor.lower_levels, changes[c], found);
    for (int w = 0; w < WAYS; w++) bisai_precond_destroy(&t[w].precond);
    bisai_bcsr_destroy(&second);
  }
  bisai_bcsr_destroy(&first);
}

/* Measures the matrix of a file. Its name is that of the file without folder and endings. */
static void measure_file(updates_bench *b, const char *path) {
  const bisai_read_options options = bisai_read_options_default();
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  char name[64];
  bisai_bcsr *matrix = NULL;
  snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
  need(b->host, bisai_read_matrix(b->host, path, &options, &matrix), name);
  measure(b, name, matrix);
  bisai_bcsr_destroy(&matrix);
}

static void measure_cases(updates_bench *b) {
  bisai_bcsr *matrix = NULL;
  double *rhs = NULL;
  need(b->host, case_cavity(b->host, 300 / b->scale, 0, &matrix, &rhs), "cavity");
  measure(b, "cavity", matrix);
  bisai_bcsr_destroy(&matrix);
  free(rhs);
  need(b->host,
       case_atmosphere(b->host, 148 / b->scale, 148 / b->scale, 58 / b->scale, 0, &matrix, &rhs),
       "atmosphere");
  measure(b, "atmosphere", matrix);
  bisai_bcsr_destroy(&matrix);
  free(rhs);
}

int main(int argc, char **argv) {
  bisai_context_options options = bisai_context_options_default(), host = options;
  updates_bench b = {.rounds = 9, .scale = 1};
  const char *file = NULL;
  int i = 1;
  for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
    const char *name = argv[i], *value = argv[i + 1];
    if (strcmp(name, "--rounds") == 0)
      b.rounds = (int)strtol(value, NULL, 10);
    else if (strcmp(name, "--scale") == 0)
      b.scale = (int)strtol(value, NULL, 10);
    else if (strcmp(name, "--threads") == 0)
      options.threads = (int)strtol(value, NULL, 10);
    else if (strcmp(name, "--json") == 0)
      file = value;
    else if (strcmp(name, "--backend") != 0 || !bisai_backend_parse(value, &options.backend))
      bench_fail("%s", usage);
  }
  if (b.rounds < 1 || b.rounds > BENCH_ROUNDS || b.scale < 1) bench_fail("%s", usage);
  host.backend = BISAI_BACKEND_HOST;
  if (bisai_context_create(&host, &b.host) || bisai_context_create(&options, &b.context))
    bench_fail("no such backend here");
  bench_json_open(&b.json, file);
  if (file)
    fprintf(b.json.file, "{\n  \"device\": \"%s\", \"threads\": %d,\n  \"figures\": [",
            bisai_context_device(b.context), bisai_context_threads(b.context));
  measure_cases(&b);
  for (; i < argc; i++) measure_file(&b, argv[i]);
  bench_json_close(&b.json);
  bisai_context_destroy(&b.context);
  bisai_context_destroy(&b.host);
  return 0;
}
