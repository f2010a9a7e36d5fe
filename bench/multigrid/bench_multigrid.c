/* SPDX-License-Identifier: BSD-3-Clause */
/* Times multigrid and CPR on a GPU or on the host: set-up and solve from nothing but the matrix,
 * updates, changed systems, levels of a cycle. */
#include <stdlib.h>
#include <string.h>

#include "all_in.h"
#include "common/memory.h"
#include "levels.h"
#include "robust.h"

static const char usage[] =
    "usage: bench_multigrid [OPTION]…\n"
    "  --systems LIST   of NAME:SIZE, where NAME is cavity, convdiff, elasticity, inclusion,\n"
    "                   poisson, reaction, reservoir (3: with gas, reservoir3), and SIZE is N or\n"
    "                   NxNxN; or of files FILE.mtx, with b in FILE_b.mtx;\n"
    "                   default cavity:300,convdiff:148x148x58,elasticity:30,poisson:100,"
    "reaction:256\n"
    "  --methods LIST   of METHOD[@SOLVER], as mg:cycle=k@fgmres or isai:k=1@bicgstab; SOLVER is\n"
    "                   gmres, fgmres, cg, fcg, bicgstab or idr; default mg\n"
    "  --one-level      measures the best method of one level too\n"
    "  --robust         solves permuted and scaled systems by the first method\n"
    "  --levels         times the levels of a cycle of the methods of kind mg\n"
    "  --no-all-in      leaves out set-up, solve and update\n"
    "  --backend WORD   cuda, host or auto; default auto\n"
    "  --threads N      of the host; default: all\n"
    "  --rounds N       timings of each method after the first one, default 7\n"
    "  --most SECONDS   no further round begins after that time, default 60\n"
    "  --json FILE      writes the same figures as JSON\n";

typedef struct wishes {
  char *systems, *methods;
  const char *json;
  bool one_level, robust, levels, all_in;
  bisai_context_options context;
} wishes;

static void measure_method(multigrid_bench *b, const bench_system *system, const char *text,
                           const wishes *w) {
  const bench_method m = method_of(text, system);
  if (w->all_in) measure_all_in(b, system, &m);
  if (w->levels && m.options.kind == BISAI_PRECOND_MULTIGRID) measure_levels(b, system, &m);
  bench_json_complete(&b->json);
}

static void measure_system(multigrid_bench *b, const char *name, const wishes *w) {
  bench_system s;
  char *methods = strdup(w->methods), *rest = NULL;
  if (!methods) bench_fail("no memory");
  const double begin = bench_now();
  system_create(b->context, name, &s);
  printf("\n%s: %d block rows of size %d, %d blocks, tolerance %g, made in %.1f s\n", s.name,
         bisai_bcsr_block_rows(s.matrix), bisai_bcsr_block_size(s.matrix),
         bisai_bcsr_blocks(s.matrix), s.tolerance, bench_now() - begin);
  printf("  %-40s %-8s %5s %9s %9s %9s %9s %10s\n", "milliseconds", "solver", "its", "set-up",
         "solve", "sum", "median", "cold");
  for (char *text = strtok_r(methods, ",", &rest); text; text = strtok_r(NULL, ",", &rest))
    measure_method(b, &s, text, w);
  if (w->one_level) measure_method(b, &s, s.one_level, w);
  if (w->robust) measure_robust(b, &s, methods);
  system_destroy(&s);
  free(methods);
  fflush(stdout);
}

/* Returns the number of arguments that an option takes, or -1. */
static int take(wishes *w, multigrid_bench *b, const char *name, char *value) {
  if (strcmp(name, "--one-level") == 0) return w->one_level = true, 0;
  if (strcmp(name, "--robust") == 0) return w->robust = true, 0;
  if (strcmp(name, "--levels") == 0) return w->levels = true, 0;
  if (strcmp(name, "--no-all-in") == 0) return w->all_in = false, 0;
  if (!value) return -1;
  if (strcmp(name, "--systems") == 0) return w->systems = value, 1;
  if (strcmp(name, "--methods") == 0) return w->methods = value, 1;
  if (strcmp(name, "--json") == 0) return w->json = value, 1;
  if (strcmp(name, "--threads") == 0) return w->context.threads = atoi(value), 1;
  if (strcmp(name, "--rounds") == 0) return b->rounds = atoi(value), 1;
  if (strcmp(name, "--most") == 0) return b->most_seconds = atof(value), 1;
  if (strcmp(name, "--backend") == 0)
    return bisai_backend_parse(value, &w->context.backend) ? 1 : -1;
  return -1;
}

static void begin_json(multigrid_bench *b, const char *path) {
  bench_json_open(&b->json, path);
  if (path)
    fprintf(b->json.file,
            "{\n  \"version\": \"%s\", \"backend\": \"%s\", \"device\": \"%s\", \"threads\": %d, "
            "\"copy_rate\": %.6g,\n  \"figures\": [",
            bisai_version(), bisai_backend_string(bisai_context_backend(b->context)),
            bisai_context_device(b->context), bisai_context_threads(b->context), b->copy_rate);
}

int main(int argc, char **argv) {
  char systems[] = "cavity:300,convdiff:148x148x58,elasticity:30,poisson:100,reaction:256",
       methods[] = "mg";
  wishes w = {.systems = systems,
              .methods = methods,
              .all_in = true,
              .context = bisai_context_options_default()};
  multigrid_bench b = {.rounds = 7, .most_seconds = 60};
  for (int i = 1; i < argc; i++) {
    const int taken = take(&w, &b, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
    if (taken < 0) bench_fail("%s", usage);
    i += taken;
  }
  if (b.rounds < 1 || b.rounds > BENCH_ROUNDS) bench_fail("%s", usage);
  if (bisai_context_create(&w.context, &b.context)) bench_fail("no such backend");
  b.copy_rate = copy_rate_of(b.context);
  printf("bisai %s on %s, %d threads, copies %.3f GB/s (read and written)\n", bisai_version(),
         bisai_context_device(b.context), bisai_context_threads(b.context), 1e-9 * b.copy_rate);
  begin_json(&b, w.json);
  char *rest = NULL;
  for (char *name = strtok_r(w.systems, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
    measure_system(&b, name, &w);
  bench_json_close(&b.json);
  bisai_context_destroy(&b.context);
  return 0;
}
