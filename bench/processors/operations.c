/* SPDX-License-Identifier: BSD-3-Clause */
/* Times the operations of a preconditioned solve on one matrix, on one thread and on all threads,
 * and those of PETSc if it is available. For each operation it prints the least number of bytes,
 * the time, the time of a copy of that many bytes (the lower bound), and the ratio of the two
 * times. */
#include "common/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "stencil.h"
#ifdef BISAI_HAVE_PETSC
#include "operations_petsc.h"
#endif

static const char usage[] =
    "usage: bench_operations [OPTION VALUE]…\n"
    "  --case NAME         stencil (default), cavity or convdiff\n"
    "  --matrix FILE       a Matrix Market file instead of a case\n"
    "  --block-size BS     default 4; for a file: chosen by bisai\n"
    "  --size N            points along an edge of the grid; by default the "
    "matrix has about 320 MB\n"
    "  --threads N         number of threads (default: the library's choice); "
    "one thread is always measured in addition\n"
    "  --rounds N          timings of each operation except the solve, default 9\n"
    "  --solves N          timings of the solve, default 3; 0: none\n"
    "  --tolerance T       tolerance of the solve, default 1e-6\n"
    "  --copy-megabytes N  size of the timed copy, default 1024\n"
    "  --only LETTERS      of p(roducts), s(et-up), a(pplications), "
    "g(mres), h(igher powers); the floor needs p\n"
    "  --json FILE         writes the same figures as JSON\n";

typedef struct options {
  const char *name, *file, *only, *json;
  int block_size, size, threads, rounds, solves, copy_megabytes;
  double tolerance;
} options;

/* A solve, and the seconds of its products. */
typedef struct timed_solve {
  bisai_solver_report report;
  double multiply_seconds;
} timed_solve;

/* Everything that is measured with one number of threads. */
typedef struct bench {
  const options *o;
  int threads;
  bisai_context *context;
  bisai_bcsr *matrix;
  double *rhs, *x, *y;
  bisai_factors *factors;
  bisai_precond *exact, *isai;
  bisai_solver *solver;
  timed_solve last;
  /* bytes read and written in a second, the best value */
  double copy_rate;
  bench_json *json;
  int power;
} bench;

/* --- our side --- */

static bisai_status product(bench *b) { return bisai_bcsr_multiply(b->matrix, b->rhs, b->y); }

static bisai_status factor_update(bench *b) { return bisai_factors_update(b->factors, b->matrix); }

static double factor_create(void *argument) {
  bench *b = argument;
  bisai_factors *factors;
  const double start = bench_now();
  need(b->context, bisai_factors_create(b->context, b->matrix, NULL, &factors), "factorisation");
  const double seconds = bench_now() - start;
  bisai_factors_destroy(&factors);
  return seconds;
}

static bisai_status solve_serial(bench *b) {
  return bisai_factors_solve(b->factors, BISAI_SCHEDULE_SERIAL, b->rhs, b->y);
}

static bisai_status solve_levels(bench *b) {
  return bisai_factors_solve(b->factors, BISAI_SCHEDULE_LEVELS, b->rhs, b->y);
}

static bisai_precond *make_precond(bench *b, bisai_precond_kind kind, int power) {
  bisai_precond_options o = bisai_precond_options_default();
  bisai_precond *precond;
  o.kind = kind;
  if (kind == BISAI_PRECOND_ISAI) o.isai.power = power;
  o.factor.factors = b->factors;
  need(b->context, bisai_precond_create(b->context, b->matrix, &o, &precond), "preconditioner");
  return precond;
}

static bisai_status isai_apply(bench *b) { return bisai_precond_apply(b->isai, b->rhs, b->y); }

static double patterns(void *argument) {
  bench *b = argument;
  bisai_pattern *lower, *upper;
  const double start = bench_now();
  need(b->context,
       bisai_pattern_power(b->context, bisai_factors_lower(b->factors), BISAI_LOWER, b->power,
                           &lower),
       "pattern");
  need(b->context,
       bisai_pattern_power(b->context, bisai_factors_upper(b->factors), BISAI_UPPER, b->power,
                           &upper),
       "pattern");
  const double seconds = bench_now() - start;
  bisai_pattern_destroy(&lower);
  bisai_pattern_destroy(&upper);
  return seconds;
}

static double isai_setup(void *argument) {
  bench *b = argument;
  const double start = bench_now();
  bisai_precond *precond = make_precond(b, BISAI_PRECOND_ISAI, b->power);
  const double seconds = bench_now() - start;
  bisai_precond_destroy(&precond);
  return seconds;
}

static bisai_status isai_values(bench *b) { return bisai_precond_update(b->isai, b->matrix); }

static bisai_status timed_product(void *user, int64_t n, const double *v, double *z) {
  bench *b = user;
  (void)n;
  const double start = bench_now();
  const bisai_status status = bisai_bcsr_multiply(b->matrix, v, z);
  b->last.multiply_seconds += bench_now() - start;
  return status;
}

static double gmres(void *argument) {
  bench *b = argument;
  b->last.report.struct_size = sizeof b->last.report;
  b->last.multiply_seconds = 0;
  const double start = bench_now();
  need(b->context,
       bisai_solver_solve_operator(b->solver, timed_product, b, b->exact, b->rhs, b->x,
                                   &b->last.report),
       "GMRES");
  return bench_now() - start;
}

/* --- least number of bytes --- */

static double blocks_bytes(const bisai_bcsr *a) {
  const double bs = bisai_bcsr_block_size(a);
  return bisai_bcsr_blocks(a) * (8 * bs * bs + 4) + 4.0 * (bisai_bcsr_block_rows(a) + 1);
}

static double vector_bytes(const bench *b) {
  return 8.0 * bisai_bcsr_block_rows(b->matrix) * bisai_bcsr_block_size(b->matrix);
}

static double diagonal_bytes(const bench *b) {
  return vector_bytes(b) * bisai_bcsr_block_size(b->matrix);
}

static double product_bytes(const bench *b) {
  return blocks_bytes(b->matrix) + 2 * vector_bytes(b);
}

/* Reads A, and writes L, U and the inverses of the diagonal blocks. The factors share the indices
 * of A. */
static double factor_bytes(const bench *b) {
  return 2 * blocks_bytes(b->matrix) + diagonal_bytes(b);
}

/* Reads and writes b and x twice each. Reads the inverses of U's diagonal blocks. */
static double solve_bytes(const bench *b) {
  return blocks_bytes(bisai_factors_lower(b->factors)) +
         blocks_bytes(bisai_factors_upper(b->factors)) + 4 * vector_bytes(b);
}

static bisai_precond_report precond_report(const bench *b, const bisai_precond *precond) {
  bisai_precond_report report = {.struct_size = sizeof report};
  need(b->context, bisai_precond_get_report(precond, &report), "report");
  return report;
}

/* Reads columns. Writes the rows and columns of S(|T|^k), and the position of each block of a
 * column in its row. */
static double pattern_bytes(const bench *b, double inverse_blocks) {
  return 4.0 * bisai_bcsr_blocks(b->matrix) + 12 * inverse_blocks +
         24.0 * bisai_bcsr_block_rows(b->matrix);
}

/* Reads the factors and the columns of the pattern, and writes N. */
static double values_bytes(const bench *b, double inverse_blocks) {
  const double bs = bisai_bcsr_block_size(b->matrix);
  return blocks_bytes(b->matrix) + diagonal_bytes(b) + inverse_blocks * (8 * bs * bs + 8);
}

/* Step j of a cycle (from 0) reads j + 1 basis vectors twice and w three times, and writes w twice.
 * The end of a cycle of m steps reads the basis once more and adds it up in w. */
static double orthogonalization_bytes(const bench *b, int iterations) {
  double vectors = 0;
  for (int i = 0; i < iterations; i++)
    vectors += 2 * (i % 30 + 1) + 5 + (i % 30 == 29 || i + 1 == iterations ? i % 30 + 2 : 0);
  return vectors * vector_bytes(b);
}

/* --- output --- */

/* Prints one line. `theirs` is PETSc's time for the same operation, or NULL. */
static void print_seconds(bench *b, const char *name, double bytes, double minimum, double median,
                          int count, const double *theirs) {
  const double floor = b->copy_rate > 0 ? bytes / b->copy_rate : NAN;
  printf("%-34s %3d", name, b->threads);
  if (bytes > 0)
    printf(" %9.1f %10.3f %10.3f %10.3f %6.2f", bytes * 1e-6, 1e3 * minimum, 1e3 * median,
           1e3 * floor, minimum / floor);
  else
    printf(" %9s %10.3f %10.3f %10s %6s", "", 1e3 * minimum, 1e3 * median, "", "");
  if (theirs) printf(" %10.3f %6.2f", 1e3 * *theirs, *theirs / minimum);
  printf("\n");
  fflush(stdout);
  FILE *json = bench_json_record(b->json);
  if (!json) return;
  fprintf(json,
          "{\"name\": \"%s\", \"threads\": %d, \"bytes\": %.0f, \"minimum\": %.9g, "
          "\"median\": %.9g, "
          "\"count\": %d}",
          name, b->threads, bytes, minimum, median, count);
}

static void print_operation(bench *b, const bench_operation *op, const bench_operation *theirs) {
  const double other = theirs ? bench_minimum(theirs) : 0;
  print_seconds(b, op->name, op->bytes, bench_minimum(op), bench_median(op), op->count,
                theirs ? &other : NULL);
}

/* --- the groups, each timed in turns --- */

/* A call of the library that is timed. */
typedef struct call {
  const char *name;
  bisai_status (*run)(bench *);
  bench *bench;
} call;

typedef struct group {
  bench_operation operations[16];
  call calls[16];
  /* the index of the same operation of PETSc, or -1 */
  int pair[16];
  int count;
} group;

static int add(group *g, const char *name, double bytes, double (*run)(void *), void *argument) {
  g->operations[g->count] =
      (bench_operation){.name = name, .bytes = bytes, .run = run, .argument = argument};
  g->pair[g->count] = -1;
  return g->count++;
}

static double seconds_of_call(void *argument) {
  const call *c = argument;
  const double start = bench_now();
  need(c->bench->context, c->run(c->bench), c->name);
  return bench_now() - start;
}

/* Adds a call. The group stays where it is. */
static int add_call(group *g, const char *name, double bytes, bisai_status (*run)(bench *),
                    bench *b) {
  g->calls[g->count] = (call){name, run, b};
  return add(g, name, bytes, seconds_of_call, &g->calls[g->count]);
}

static void print_group(bench *b, const group *g) {
  for (int i = 0; i < g->count; i++)
    print_operation(b, &g->operations[i], g->pair[i] >= 0 ? &g->operations[g->pair[i]] : NULL);
}

static void measure_products(bench *b, void *petsc) {
  group g = {0};
  bench_copy copy;
  bench_copy_create(&copy, (size_t)b->o->copy_megabytes << 20, b->threads);
  const double bytes = 16.0 * (double)copy.count;
  add(&g, "copy by memcpy", bytes, bench_copy_memcpy, &copy);
  add(&g, "copy by a loop", bytes, bench_copy_loop, &copy);
  if (bench_copy_can_stream())
    add(&g, "copy by streaming stores", bytes, bench_copy_streaming, &copy);
  const int copies = g.count;
  const int ours = add_call(&g, "block product", product_bytes(b), product, b);
#ifdef BISAI_HAVE_PETSC
  g.pair[ours] = add(&g, "PETSc MatMult", product_bytes(b), bench_petsc_product, petsc);
#else
  (void)petsc;
  (void)ours;
#endif
  bench_run(g.operations, g.count, b->o->rounds, 0);
  b->copy_rate = 0;
  for (int i = 0; i < copies; i++)
    b->copy_rate = fmax(b->copy_rate, bytes / bench_minimum(&g.operations[i]));
  print_group(b, &g);
  bench_copy_destroy(&copy);
}

static void measure_setup(bench *b, void *petsc) {
  const bisai_precond_report report = precond_report(b, b->isai);
  const double inverse_blocks = (double)report.isai.blocks;
  group g = {0};
  b->power = 1;
  const int update = add_call(&g, "ILU(0), numeric", factor_bytes(b), factor_update, b);
  const int create = add(&g, "ILU(0), symbolic and numeric", factor_bytes(b), factor_create, b);
  add(&g, "patterns, k = 1", pattern_bytes(b, inverse_blocks), patterns, b);
  add_call(&g, "ISAI values, k = 1", values_bytes(b, inverse_blocks), isai_values, b);
  add(&g, "ISAI set-up, k = 1", pattern_bytes(b, inverse_blocks) + values_bytes(b, inverse_blocks),
      isai_setup, b);
#ifdef BISAI_HAVE_PETSC
  g.pair[update] =
      add(&g, "PETSc MatLUFactorNumeric", factor_bytes(b), bench_petsc_factor_numeric, petsc);
  g.pair[create] =
      add(&g, "PETSc symbolic and numeric", factor_bytes(b), bench_petsc_factor, petsc);
#else
  (void)petsc;
  (void)update;
  (void)create;
#endif
  bench_run(g.operations, g.count, b->o->rounds, 0);
  print_group(b, &g);
}

static void measure_higher_powers(bench *b) {
  static const char *const names[2][3] = {
      {"patterns, k = 2", "ISAI values, k = 2", "ISAI application, k = 2"},
      {"patterns, k = 3", "ISAI values, k = 3", "ISAI application, k = 3"}};
  bisai_precond *first = b->isai;
  for (int power = 2; power <= 3; power++) {
    b->power = power;
    b->isai = make_precond(b, BISAI_PRECOND_ISAI, power);
    const bisai_precond_report report = precond_report(b, b->isai);
    group g = {0};
    add(&g, names[power - 2][0], pattern_bytes(b, (double)report.isai.blocks), patterns, b);
    add_call(&g, names[power - 2][1], values_bytes(b, (double)report.isai.blocks), isai_values, b);
    add_call(&g, names[power - 2][2], (double)report.apply_bytes, isai_apply, b);
    bench_run(g.operations, g.count, 3, 0);
    print_group(b, &g);
    bisai_precond_destroy(&b->isai);
  }
  b->isai = first;
}

static void measure_applications(bench *b, void *petsc) {
  group g = {0};
  const int serial = add_call(&g, "triangular solves, in order", solve_bytes(b), solve_serial, b);
  const int levels = add_call(&g, "triangular solves, by levels", solve_bytes(b), solve_levels, b);
  add_call(&g, "ISAI application, k = 1", (double)precond_report(b, b->isai).apply_bytes,
           isai_apply, b);
#ifdef BISAI_HAVE_PETSC
  g.pair[serial] = g.pair[levels] =
      add(&g, "PETSc MatSolve", solve_bytes(b), bench_petsc_factor_solve, petsc);
#else
  (void)petsc;
  (void)serial;
  (void)levels;
#endif
  bench_run(g.operations, g.count, b->o->rounds, 0);
  print_group(b, &g);
}

static void measure_solve(bench *b, void *petsc) {
  group g = {0};
  const int ours = add(&g, "GMRES(30), exact solves", 0, gmres, b);
#ifdef BISAI_HAVE_PETSC
  g.pair[ours] = add(&g, "PETSc KSPSolve", 0, bench_petsc_ksp, petsc);
#else
  (void)petsc;
  (void)ours;
#endif
  bench_run(g.operations, g.count, b->o->solves, 0);
  const bisai_solver_report *r = &b->last.report;
  const int iterations = r->iterations;
  const double cycles = ceil(iterations / 30.0);
  const double products = (iterations + cycles) * product_bytes(b),
               applications = (iterations + cycles) * solve_bytes(b);
  const double rest = orthogonalization_bytes(b, iterations);
  g.operations[0].bytes = products + applications + rest;
  print_group(b, &g);
  const double parts[3] = {b->last.multiply_seconds, r->apply_seconds,
                           r->solve_seconds - b->last.multiply_seconds - r->apply_seconds};
  const double *theirs[3] = {NULL, NULL, NULL};
#ifdef BISAI_HAVE_PETSC
  const bench_petsc_parts p = bench_petsc_ksp_parts(petsc);
  const double petsc_parts[3] = {p.products, p.applications,
                                 bench_minimum(&g.operations[1]) - p.products - p.applications};
  for (int i = 0; i < 3; i++) theirs[i] = &petsc_parts[i];
#endif
  print_seconds(b, "  products", products, parts[0], parts[0], 1, theirs[0]);
  print_seconds(b, "  triangular solves", applications, parts[1], parts[1], 1, theirs[1]);
  print_seconds(b, "  vectors", rest, parts[2], parts[2], 1, theirs[2]);
  printf("  %d iterations, relative residual %.2e", iterations, r->relative_residual);
#ifdef BISAI_HAVE_PETSC
  const double difference = bench_petsc_difference(petsc, b->x);
  printf("; PETSc %d iterations (orthogonalisation alone %.1f ms), solutions differ by %.1e",
         p.iterations, 1e3 * p.orthogonalization, difference);
  FILE *json = bench_json_record(b->json);
  if (json)
    fprintf(json,
            "{\"name\": \"iterations\", \"threads\": %d, \"ours\": %d, \"petsc\": %d, "
            "\"difference\": %.3g}",
            b->threads, iterations, p.iterations, difference);
#endif
  printf("\n");
}

/* --- the whole --- */

static void make_matrix(bench *b) {
  const options *o = b->o;
  bisai_status status;
  const int bs = o->block_size ? o->block_size : 4;
  if (o->file) {
    bisai_read_options read = bisai_read_options_default();
    read.block_size = o->block_size;
    status = bisai_read_matrix(b->context, o->file, &read, &b->matrix);
    if (!status) {
      const size_t n =
          (size_t)bisai_bcsr_block_rows(b->matrix) * (size_t)bisai_bcsr_block_size(b->matrix);
      b->rhs = bench_allocate(n, sizeof(double));
      for (size_t i = 0; i < n; i++) b->rhs[i] = 1;
    }
  } else if (strcmp(o->name, "cavity") == 0) {
    status = case_cavity(b->context, o->size ? o->size : 700, o->block_size, &b->matrix, &b->rhs);
  } else if (strcmp(o->name, "convdiff") == 0) {
    const int n = o->size ? o->size : 140;
    status = case_convdiff(b->context, n, n, n, o->block_size, &b->matrix, &b->rhs);
  } else if (strcmp(o->name, "stencil") == 0) {
    const int n = o->size ? o->size : (int)cbrt(320e6 / (7 * (8.0 * bs * bs + 4)));
    status = bench_stencil(b->context, n, n, n, bs, &b->matrix, &b->rhs);
  } else {
    bench_fail("unknown case %s\n%s", o->name, usage);
  }
  need(b->context, status, "matrix");
}

static void prepare(bench *b) {
  bisai_context_options co = bisai_context_options_default();
  co.backend = BISAI_BACKEND_HOST;
  co.threads = b->threads;
  if (bisai_context_create(&co, &b->context)) bench_fail("no context");
  make_matrix(b);
  const size_t n =
      (size_t)bisai_bcsr_block_rows(b->matrix) * (size_t)bisai_bcsr_block_size(b->matrix);
  b->x = bench_allocate(n, sizeof(double));
  b->y = bench_allocate(n, sizeof(double));
  memset(b->y, 0, n * sizeof(double));
  need(b->context, bisai_factors_create(b->context, b->matrix, NULL, &b->factors), "factorisation");
  b->exact = make_precond(b, BISAI_PRECOND_ILU, 1);
  b->isai = make_precond(b, BISAI_PRECOND_ISAI, 1);
  bisai_solver_options so = bisai_solver_options_default();
  so.tolerance = b->o->tolerance;
  so.gmres.restart = 30;
  if (b->o->solves > 0)
    need(b->context, bisai_solver_create(b->context, (int64_t)n, &so, &b->solver), "solver");
}

static void release(bench *b) {
  bisai_solver_destroy(&b->solver);
  bisai_precond_destroy(&b->isai);
  bisai_precond_destroy(&b->exact);
  bisai_factors_destroy(&b->factors);
  bisai_bcsr_destroy(&b->matrix);
  bisai_context_destroy(&b->context);
  free(b->rhs);
  free(b->x);
  free(b->y);
}

static void measure(bench *b) {
  void *petsc = NULL;
  prepare(b);
#ifdef BISAI_HAVE_PETSC
  petsc = bench_petsc_create(b->matrix, b->rhs, b->o->tolerance);
#endif
  printf("\n%d block rows, block size %d, %d blocks, %.1f MB of values, %d thread%s\n",
         bisai_bcsr_block_rows(b->matrix), bisai_bcsr_block_size(b->matrix),
         bisai_bcsr_blocks(b->matrix),
         1e-6 * (blocks_bytes(b->matrix) - 4.0 * bisai_bcsr_blocks(b->matrix)), b->threads,
         b->threads > 1 ? "s" : "");
  FILE *json = bench_json_record(b->json);
  if (json)
    fprintf(json,
            "{\"name\": \"matrix\", \"threads\": %d, \"processor\": \"%s\", "
            "\"block_rows\": %d, \"block_size\": "
            "%d, \"blocks\": %d}",
            b->threads, bisai_context_device(b->context), bisai_bcsr_block_rows(b->matrix),
            bisai_bcsr_block_size(b->matrix), bisai_bcsr_blocks(b->matrix));
  printf("%-34s %3s %9s %10s %10s %10s %6s %10s %6s\n", "", "thr", "MB", "min ms", "median ms",
         "floor ms", "ratio", "PETSc ms", "times");
  if (strchr(b->o->only, 'p')) measure_products(b, petsc);
  if (strchr(b->o->only, 's')) measure_setup(b, petsc);
  if (strchr(b->o->only, 'a')) measure_applications(b, petsc);
  if (strchr(b->o->only, 'g') && b->o->solves > 0) measure_solve(b, petsc);
  if (strchr(b->o->only, 'h')) measure_higher_powers(b);
#ifdef BISAI_HAVE_PETSC
  bench_petsc_destroy(petsc);
#endif
  release(b);
}

static int number(const char *name, const char *text) {
  char *end;
  const long value = strtol(text, &end, 10);
  if (*end || end == text || value < 0 || value > 100000)
    bench_fail("%s %s\n%s", name, text, usage);
  return (int)value;
}

static int default_threads(void) {
  bisai_context *context;
  if (bisai_context_create(NULL, &context)) bench_fail("no context");
  const int threads = bisai_context_threads(context);
  bisai_context_destroy(&context);
  return threads;
}

static options parse(int argc, char **argv) {
  options o = {.name = "stencil",
               .only = "psagh",
               .rounds = 9,
               .solves = 3,
               .copy_megabytes = 1024,
               .tolerance = 1e-6,
               .threads = default_threads()};
  for (int i = 1; i < argc; i += 2) {
    const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(name, "--case") == 0)
      o.name = value;
    else if (strcmp(name, "--matrix") == 0)
      o.file = value;
    else if (strcmp(name, "--only") == 0)
      o.only = value;
    else if (strcmp(name, "--json") == 0)
      o.json = value;
    else if (strcmp(name, "--block-size") == 0)
      o.block_size = number(name, value);
    else if (strcmp(name, "--size") == 0)
      o.size = number(name, value);
    else if (strcmp(name, "--threads") == 0)
      o.threads = number(name, value);
    else if (strcmp(name, "--rounds") == 0)
      o.rounds = number(name, value);
    else if (strcmp(name, "--solves") == 0)
      o.solves = number(name, value);
    else if (strcmp(name, "--copy-megabytes") == 0)
      o.copy_megabytes = number(name, value);
    else if (strcmp(name, "--tolerance") == 0)
      o.tolerance = atof(value);
    else
      bench_fail("%s", usage);
  }
  if (o.rounds < 1 || o.rounds > BENCH_ROUNDS || o.solves > BENCH_ROUNDS || o.threads < 1 ||
      o.copy_megabytes < 1)
    bench_fail("%s", usage);
  return o;
}

int main(int argc, char **argv) {
  const options o = parse(argc, argv);
  bench_json json;
  bench_json_open(&json, o.json);
#ifdef BISAI_HAVE_PETSC
  printf("%s\n", bench_petsc_version());
  const char *petsc = bench_petsc_version();
#else
  const char *petsc = "";
#endif
  if (o.json) fprintf(json.file, "{\n  \"petsc\": \"%s\",\n  \"figures\": [", petsc);
  for (int pass = 0; pass < (o.threads > 1 ? 2 : 1); pass++) {
    bench b = {.o = &o, .threads = pass ? o.threads : 1, .json = &json};
    measure(&b);
  }
  bench_json_close(&json);
  return 0;
}
