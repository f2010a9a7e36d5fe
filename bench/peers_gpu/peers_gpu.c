/* SPDX-License-Identifier: BSD-3-Clause */
/* Multigrid of bisai and of other libraries on a GPU, on the same systems in one run.
 *
 * usage: peers_gpu [--systems LIST] [--methods LIST] [--library NAME] [--setting NAME] [--rounds N]
 *                  [--most SECONDS] [--json FILE]
 *        peers_gpu --names LIBRARY
 *
 * The options are those of bench_multigrid, which makes bisai's figures here too. All settings of
 * each library, or one of them, are run once, and those that converge are timed: set-up and solve
 * from the matrix on the device, as bisai's. Residuals are b − A x of the x that a library returns,
 * on the host. --names writes the settings of a library. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "all_in.h"
#include "common/device.h"
#include "common/memory.h"
#include "peer.h"
#include "systems.h"

static const char usage[] =
    "usage: peers_gpu [--systems LIST] [--methods LIST] [--library NAME] [--setting NAME]\n"
    "                 [--rounds N] [--most SECONDS] [--json FILE]\n"
    "       peers_gpu --names LIBRARY\n"
    "Systems, methods and rounds are as for bench_multigrid. A setting that is slower than\n"
    "SECONDS in its first run is not timed again.\n";

static const peer *const peers[] = {
#ifdef BENCH_HAVE_HYPRE
    &peer_hypre,
#endif
#ifdef BENCH_HAVE_GAMG
    &peer_gamg,
#endif
    NULL};

/* --- the scalar matrix --- */

/* Adds the entries of a scalar row that are not zero. Blocks are column by column. */
static int32_t add_row(const bench_system *s, const int32_t *row_ptr, const int32_t *col_idx,
                       const double *values, int32_t row, int32_t count, peer_system *to) {
  const int32_t bs = bisai_bcsr_block_size(s->matrix), block_row = row / bs, r = row % bs;
  for (int32_t p = row_ptr[block_row]; p < row_ptr[block_row + 1]; p++)
    for (int32_t c = 0; c < bs; c++) {
      const double value = values[(size_t)p * (size_t)(bs * bs) + (size_t)(c * bs + r)];
      if (value == 0) continue;
      to->col_idx[count] = col_idx[p] * bs + c;
      to->values[count++] = value;
    }
  return count;
}

static peer_system scalar_system(bisai_context *context, const bench_system *s) {
  const int32_t rows = bisai_bcsr_block_rows(s->matrix), bs = bisai_bcsr_block_size(s->matrix);
  const size_t blocks = (size_t)bisai_bcsr_blocks(s->matrix), square = (size_t)(bs * bs);
  int32_t *row_ptr = bench_allocate((size_t)rows + 1, sizeof *row_ptr),
          *col_idx = bench_allocate(blocks, sizeof *col_idx), count = 0;
  double *values = bench_allocate(blocks * square, sizeof *values);
  need(context, bisai_bcsr_fetch(s->matrix, row_ptr, col_idx, values), "fetch");
  if (blocks * square > INT32_MAX) bench_fail("%s: too many entries", s->name);
  peer_system to = {s,
                    rows * bs,
                    bs,
                    bench_allocate(s->n + 1, sizeof(int32_t)),
                    bench_allocate(blocks * square, sizeof(int32_t)),
                    bench_allocate(blocks * square, sizeof(double))};
  for (int32_t row = 0; row < to.n; row++) {
    to.row_ptr[row] = count;
    count = add_row(s, row_ptr, col_idx, values, row, count, &to);
  }
  to.row_ptr[to.n] = count;
  free(row_ptr);
  free(col_idx);
  free(values);
  return to;
}

static void scalar_destroy(peer_system *s) {
  free(s->row_ptr);
  free(s->col_idx);
  free(s->values);
}

/* Returns |b − A x| / |b|. */
static double residual_of(const peer_system *s, const double *x) {
  double rest = 0, norm = 0;
  for (int32_t i = 0; i < s->n; i++) {
    const double b = s->system->rhs[i];
    double r = b;
    for (int32_t p = s->row_ptr[i]; p < s->row_ptr[i + 1]; p++)
      r -= s->values[p] * x[s->col_idx[p]];
    rest += r * r;
    norm += b * b;
  }
  return sqrt(rest / norm);
}

/* --- a setting of a library --- */

typedef struct figures {
  peer_run run;
  double cold, residual;
  bench_operation setup, solve, sum;
} figures;

static void add_round(figures *f) {
  f->setup.seconds[f->setup.count++] = f->run.setup;
  f->solve.seconds[f->solve.count++] = f->run.solve;
  f->sum.seconds[f->sum.count++] = f->run.setup + f->run.solve;
}

static void time_setting(const multigrid_bench *b, const peer *p, void *loaded, int setting,
                         figures *f) {
  *f = (figures){.residual = INFINITY};
  p->run(loaded, setting, &f->run);
  f->cold = f->run.setup + f->run.solve;
  const bool slow = f->cold > b->most_seconds;
  if (slow || !f->run.converged) add_round(f);
  for (int round = 0; round < b->rounds && !slow && f->run.converged; round++) {
    p->run(loaded, setting, &f->run);
    add_round(f);
  }
}

static void write_figures(multigrid_bench *b, const peer *p, const peer_system *s, int setting,
                          const figures *f) {
  const peer_run *r = &f->run;
  printf("  %-6s %-33s %5d %9.3f %9.3f %9.3f %9.3f  %.1e  %.1f MB, peak %.1f MB%s%s\n", p->name,
         p->setting(setting), r->iterations, 1e3 * bench_minimum(&f->setup),
         1e3 * bench_minimum(&f->solve), 1e3 * bench_minimum(&f->sum), 1e3 * bench_median(&f->sum),
         f->residual, 1e-6 * (double)r->kept, 1e-6 * (double)r->peak,
         r->converged ? "" : " NOT CONVERGED ", r->refusal);
  FILE *json = bench_json_record(&b->json);
  if (!json) return;
  fprintf(json,
          "{\"what\": \"peer\", \"library\": \"%s\", \"setting\": \"%s\", \"system\": \"%s\", "
          "\"entries\": %d, \"converged\": %s, \"refusal\": \"%s\", \"iterations\": %d, "
          "\"relative_residual\": %.4g,\n     \"rounds\": %d, \"cold\": %.9g, \"setup_minimum\": "
          "%.9g, \"solve_minimum\": %.9g, \"sum_minimum\": %.9g, \"sum_median\": %.9g, "
          "\"kept_bytes\": %lld, \"peak_bytes\": %lld}",
          p->name, p->setting(setting), s->system->name, s->row_ptr[s->n],
          r->converged ? "true" : "false", r->refusal, r->iterations,
          isfinite(f->residual) ? f->residual : -1, f->sum.count, f->cold, bench_minimum(&f->setup),
          bench_minimum(&f->solve), bench_minimum(&f->sum), bench_median(&f->sum),
          (long long)r->kept, (long long)r->peak);
  bench_json_complete(&b->json);
}

/* What is asked of the libraries; NULL: all of them, or all settings. */
typedef struct choice {
  const char *library, *setting;
} choice;

static bool is_chosen(const char *wanted, const char *name) {
  return !wanted || strcmp(wanted, name) == 0;
}

static void measure_peer(multigrid_bench *b, const peer *p, const peer_system *s,
                         const char *wanted) {
  void *loaded = p->load(s);
  double *x = bench_allocate((size_t)s->n, sizeof *x);
  for (int setting = 0; setting < p->settings; setting++) {
    figures f;
    if (!p->applies(setting, s->system) || !is_chosen(wanted, p->setting(setting))) continue;
    time_setting(b, p, loaded, setting, &f);
    p->solution(loaded, x);
    f.residual = residual_of(s, x);
    write_figures(b, p, s, setting, &f);
    fflush(stdout);
  }
  free(x);
  p->unload(loaded);
}

static void measure_system(multigrid_bench *b, const char *name, const char *methods,
                           const choice *wanted) {
  bench_system s;
  char *list = strdup(methods), *rest = NULL;
  if (!list) bench_fail("no memory");
  system_create(b->context, name, &s);
  printf("\n%s: %zu unknowns in blocks of %d, tolerance %g\n", s.name, s.n,
         bisai_bcsr_block_size(s.matrix), s.tolerance);
  printf("  %-40s %5s %9s %9s %9s %9s  residual  memory\n", "milliseconds", "its", "set-up",
         "solve", "sum", "median");
  for (char *text = strtok_r(list, ",", &rest); text; text = strtok_r(NULL, ",", &rest)) {
    const bench_method m = method_of(text, &s);
    measure_all_in(b, &s, &m);
    bench_json_complete(&b->json);
  }
  peer_system scalar = scalar_system(b->context, &s);
  for (const peer *const *p = peers; *p; p++)
    if (is_chosen(wanted->library, (*p)->name)) measure_peer(b, *p, &scalar, wanted->setting);
  scalar_destroy(&scalar);
  system_destroy(&s);
  free(list);
}

static void begin_json(multigrid_bench *b, const char *path) {
  char version[64];
  bench_json_open(&b->json, path);
  if (!b->json.file) return;
  fprintf(b->json.file, "{\n  \"version\": \"%s\", \"device\": \"%s\"", bisai_version(),
          bisai_context_device(b->context));
  for (const peer *const *p = peers; *p; p++) {
    (*p)->version(version);
    fprintf(b->json.file, ", \"%s\": \"%s\"", (*p)->name, version);
  }
  fprintf(b->json.file, ",\n  \"figures\": [");
}

static const peer *peer_of(const char *name) {
  for (const peer *const *p = peers; *p; p++)
    if (strcmp((*p)->name, name) == 0) return *p;
  bench_fail("no library %s is compiled in\n", name);
}

static void check_choice(const choice *wanted) {
  if (wanted->library) (void)peer_of(wanted->library);
  if (!wanted->setting) return;
  if (!wanted->library) bench_fail("--setting needs --library\n");
  const peer *p = peer_of(wanted->library);
  for (int i = 0; i < p->settings; i++)
    if (strcmp(p->setting(i), wanted->setting) == 0) return;
  bench_fail("%s has no setting %s\n", p->name, wanted->setting);
}

static int print_names(const char *library) {
  const peer *p = peer_of(library);
  for (int i = 0; i < p->settings; i++) puts(p->setting(i));
  return 0;
}

int main(int argc, char **argv) {
  char usual[] = "poisson:200,poisson:300,elasticity:100,reaction:512,convdiff:148x148x58,"
                 "convdiff:250x250x250,cavity:300,cavity:1000";
  char *systems = usual, *rest = NULL;
  const char *methods = "mg", *json = NULL;
  choice wanted = {NULL, NULL};
  multigrid_bench b = {.rounds = 7, .most_seconds = 10};
  bisai_context_options options = bisai_context_options_default();
  for (int i = 1; i < argc; i += 2) {
    const char *name = argv[i];
    char *value = argv[i + 1];
    if (!value) bench_fail("%s", usage);
    if (strcmp(name, "--systems") == 0)
      systems = value;
    else if (strcmp(name, "--methods") == 0)
      methods = value;
    else if (strcmp(name, "--library") == 0)
      wanted.library = value;
    else if (strcmp(name, "--setting") == 0)
      wanted.setting = value;
    else if (strcmp(name, "--names") == 0)
      return print_names(value);
    else if (strcmp(name, "--json") == 0)
      json = value;
    else if (strcmp(name, "--rounds") == 0)
      b.rounds = atoi(value);
    else if (strcmp(name, "--most") == 0)
      b.most_seconds = atof(value);
    else
      bench_fail("%s", usage);
  }
  check_choice(&wanted);
  if (b.rounds < 1 || b.rounds > BENCH_ROUNDS) bench_fail("%s", usage);
  options.backend = BISAI_BACKEND_CUDA;
  const char *missing = bisai_backend_missing(options.backend, options.device);
  if (missing) bench_fail("%s", missing);
  if (bisai_context_create(&options, &b.context)) bench_fail("the context could not be made");
  b.copy_rate = copy_rate_of(b.context);
  begin_json(&b, json);
  for (char *name = strtok_r(systems, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
    measure_system(&b, name, methods, &wanted);
  bench_json_close(&b.json);
  for (const peer *const *p = peers; *p; p++) (*p)->end();
  bisai_context_destroy(&b.context);
  return 0;
}
