/* SPDX-License-Identifier: BSD-3-Clause */
/* Times block-Jacobi in each format on a GPU or on the host: set-up and application to one vector,
 * for dense diagonal blocks of one size (Flegar et al. 2020, Figure 7). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

static const char usage[] =
    "usage: bench_formats [OPTION VALUE]…\n"
    "  --sizes LIST     rows of a block; default 4,8,16,32\n"
    "  --blocks N       blocks of a batch, default 50000\n"
    "  --backend WORD   cuda, host or auto; default auto\n"
    "  --threads N      of the host; default: all\n"
    "  --rounds N       timings of an application, and on a GPU of a set-up, default 9\n"
    "  --json FILE      writes the same figures as JSON\n";

/* The ways to store inverses. */
static const struct {
  const char *name;
  bisai_value_type storage;
  bisai_formats formats;
} ways[] = {{"fp64", BISAI_FP64, BISAI_FORMATS_ALL},
            {"fp32", BISAI_FP32, BISAI_FORMATS_ALL},
            {"fp16", BISAI_FP16, BISAI_FORMATS_ALL},
            {"bf16", BISAI_BF16, BISAI_FORMATS_ALL},
            {"fp11_4", BISAI_FP11_4, BISAI_FORMATS_ALL},
            {"fp11_20", BISAI_FP11_20, BISAI_FORMATS_ALL},
            {"adaptive", BISAI_ADAPTIVE, BISAI_FORMATS_ALL},
            {"adaptive ieee", BISAI_ADAPTIVE, BISAI_FORMATS_IEEE},
            {"adaptive truncated", BISAI_ADAPTIVE, BISAI_FORMATS_TRUNCATED}};
enum { WAYS = sizeof ways / sizeof *ways };

/* Calls of an application that are timed together: a device then need not wait for the host. */
enum { TOGETHER = 20 };

typedef struct timed {
  bisai_context *context;
  const bisai_bcsr *matrix;
  bisai_precond *precond;
  const double *x;
  double *y;
  int together;
} timed;

static double update(void *argument) {
  const timed *t = argument;
  const double begin = bench_now();
  need(t->context, bisai_precond_update(t->precond, t->matrix), "update");
  need(t->context, bisai_context_synchronize(t->context), "update");
  return bench_now() - begin;
}

static double apply(void *argument) {
  const timed *t = argument;
  const double begin = bench_now();
  for (int i = 0; i < t->together; i++)
    need(t->context, bisai_precond_apply(t->precond, t->x, t->y), "application");
  need(t->context, bisai_context_synchronize(t->context), "application");
  return (bench_now() - begin) / t->together;
}

/* Returns a number in −1 … 1. */
static double next_random(uint64_t *state) {
  *state = *state * 6364136223846793005ull + 1442695040888963407ull;
  return (double)(int64_t)*state * 0x1p-63;
}

/* Makes `blocks` dense diagonal blocks of m rows. Their condition is small, so that their inverses
 * fit every format. */
static bisai_bcsr *batch(bisai_context *context, int32_t m, int32_t blocks) {
  const size_t size = (size_t)m * (size_t)m;
  int32_t *pointer = bench_allocate((size_t)blocks + 1, sizeof *pointer),
          *column = bench_allocate((size_t)blocks, sizeof *column);
  double *values = bench_allocate((size_t)blocks * size, sizeof *values);
  uint64_t state = 1;
  for (int32_t b = 0; b <= blocks; b++) pointer[b] = b;
  for (int32_t b = 0; b < blocks; b++) column[b] = b;
  for (size_t i = 0; i < (size_t)blocks * size; i++)
    values[i] = next_random(&state) + (i % size % ((size_t)m + 1) == 0 ? 2.0 * m : 0.0);
  bisai_bcsr *matrix = NULL;
  need(context, bench_take_arrays(context, blocks, m, pointer, column, values, &matrix), "matrix");
  return matrix;
}

static void report(bench_json *json, int32_t m, int32_t blocks, int way,
                   const bench_operation *setup, const bench_operation *application) {
  printf("%2d rows, %-18s  set-up %9.3f ms  application %9.3f ms, %6.1f GB/s\n", m, ways[way].name,
         1e3 * bench_median(setup), 1e3 * bench_median(application),
         1e-9 * application->bytes / bench_median(application));
  FILE *file = bench_json_record(json);
  if (!file) return;
  fprintf(file,
          "{\"rows\": %d, \"blocks\": %d, \"way\": \"%s\", \"setup\": %.6g, "
          "\"setup_least\": %.6g, \"apply\": %.6g, \"apply_least\": %.6g, \"bytes\": %.9g}",
          m, blocks, ways[way].name, bench_median(setup), bench_minimum(setup),
          bench_median(application), bench_minimum(application), application->bytes);
}

static void measure(bisai_context *context, int32_t m, int32_t blocks, int rounds,
                    bench_json *json) {
  const size_t n = (size_t)m * (size_t)blocks;
  const bool on_device = bisai_context_backend(context) == BISAI_BACKEND_CUDA;
  bisai_bcsr *matrix = batch(context, m, blocks);
  double *ones = bench_allocate(n, sizeof *ones);
  for (size_t i = 0; i < n; i++) ones[i] = 1.0;
  double *x = vector_create(context, n, ones), *y = vector_create(context, n, NULL);
  timed t[WAYS];
  static bench_operation setups[WAYS], applications[WAYS];
  for (int w = 0; w < WAYS; w++) {
    bisai_precond_options options = bisai_precond_options_default();
    bisai_precond_report made = {.struct_size = sizeof made};
    options.kind = BISAI_PRECOND_BJACOBI;
    options.bjacobi.storage = ways[w].storage;
    options.bjacobi.formats = ways[w].formats;
    if (ways[w].storage == BISAI_ADAPTIVE) options.bjacobi.digits = 1;
    t[w] = (timed){context, matrix, NULL, x, y, on_device ? TOGETHER : 1};
    need(context, bisai_precond_create(context, matrix, &options, &t[w].precond), ways[w].name);
    need(context, bisai_precond_get_report(t[w].precond, &made), "report");
    setups[w] = (bench_operation){.name = ways[w].name, .run = update, .argument = &t[w]};
    applications[w] = (bench_operation){
        .name = ways[w].name, .bytes = (double)made.apply_bytes, .run = apply, .argument = &t[w]};
  }
  bench_run(setups, WAYS, on_device ? rounds : 2, 0.0);
  bench_run(applications, WAYS, rounds, 0.0);
  for (int w = 0; w < WAYS; w++) report(json, m, blocks, w, &setups[w], &applications[w]);
  for (int w = 0; w < WAYS; w++) bisai_precond_destroy(&t[w].precond);
  vector_destroy(context, x);
  vector_destroy(context, y);
  free(ones);
  bisai_bcsr_destroy(&matrix);
}

int main(int argc, char **argv) {
  bisai_context_options options = bisai_context_options_default();
  const char *sizes = "4,8,16,32", *file = NULL;
  int32_t blocks = 50000;
  int rounds = 9;
  for (int i = 1; i < argc; i += 2) {
    const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(name, "--sizes") == 0)
      sizes = value;
    else if (strcmp(name, "--blocks") == 0)
      blocks = (int32_t)strtol(value, NULL, 10);
    else if (strcmp(name, "--rounds") == 0)
      rounds = (int)strtol(value, NULL, 10);
    else if (strcmp(name, "--threads") == 0)
      options.threads = (int)strtol(value, NULL, 10);
    else if (strcmp(name, "--json") == 0)
      file = value;
    else if (strcmp(name, "--backend") != 0 || !bisai_backend_parse(value, &options.backend))
      bench_fail("%s", usage);
  }
  bisai_context *context = NULL;
  if (bisai_context_create(&options, &context)) bench_fail("no such backend here");
  const double rate = copy_rate_of(context);
  printf("%s, copy %.1f GB/s\n", bisai_context_device(context), 1e-9 * rate);
  bench_json json;
  bench_json_open(&json, file);
  if (file)
    fprintf(json.file,
            "{\n  \"device\": \"%s\", \"threads\": %d, \"copy_rate\": %.6g,\n  \"figures\": [",
            bisai_context_device(context), bisai_context_threads(context), rate);
  for (char *at = (char *)sizes; *at; at += *at == ',') {
    const long m = strtol(at, &at, 10);
    if (m < 1 || m > BISAI_MAX_BLOCK_SIZE) bench_fail("%s", usage);
    measure(context, (int32_t)m, blocks, rounds, &json);
  }
  bench_json_close(&json);
  bisai_context_destroy(&context);
  return 0;
}
