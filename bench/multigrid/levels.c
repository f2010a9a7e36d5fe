/* SPDX-License-Identifier: BSD-3-Clause */
/* A correction on level l takes that level and all coarser ones, and a cycle is a correction on
 * level 0. The time of a level in a cycle is that of its corrections less that of the corrections
 * on the next level. The small levels that the library does in one launch are not told apart. This
 * needs the library's internals. */
#include "levels.h"

#include <math.h>

#include "common/memory.h"

#include "core/context/context_impl.h"
#include "multigrid/cycle.h"
#include "multigrid/hierarchy.h"
#include "multigrid/level/memory.h"
#include "precond/precond_impl.h"

enum { ROUNDS = 30, TOGETHER = 2 };

/* A preconditioner, its levels, and a system in the backend's memory. */
typedef struct timed {
  bisai_context *context;
  bsi_hierarchy *h;
  double *b, *x;
} timed;

/* What a level does in a cycle. A range of levels counts as its first one. */
typedef struct level_sum {
  int64_t visits;
  double bytes, seconds;
} level_sum;

static void correct(const timed *t, int l) {
  need(t->context, l == 0 ? bsi_hierarchy_cycle(t->h, t->b, t->x) : bsi_hierarchy_correct(t->h, l),
       "a correction");
}

/* Returns the seconds of a correction on level l. An untimed cycle goes ahead: it makes the
 * right-hand sides of the levels, and a device then need not wait for launches. */
static double seconds_of(const timed *t, int l) {
  const bsi_clock_ops *clock = t->context->backend->clock;
  bsi_clock c = {0};
  double least = INFINITY, seconds;
  need(t->context, clock->open(t->context, &c), "clock");
  for (int round = 0; round < ROUNDS; round++) {
    correct(t, 0);
    need(t->context, clock->start(t->context, &c), "clock");
    for (int i = 0; i < TOGETHER; i++) correct(t, l);
    need(t->context, clock->stop(t->context, &c), "clock");
    need(t->context, clock->read(t->context, &c, &seconds), "clock");
    least = fmin(least, seconds / TOGETHER);
  }
  clock->close(t->context, &c);
  return least;
}

/* Returns the last level of the range that begins with level l. */
static int last_of(const bsi_hierarchy *h, int l) {
  return h->graph.level > 0 && l >= h->graph.level ? h->count - 1 : l;
}

/* Fills the sums of the ranges. Returns the seconds of a cycle. */
static double measure(const timed *t, level_sum *sums) {
  int64_t visits = 1;
  double whole = 0;
  for (int l = 0; l < t->h->count; l++) {
    const int first = t->h->graph.level > 0 && l > t->h->graph.level ? t->h->graph.level : l;
    const int64_t corrections = visits;
    sums[first].bytes += (double)bsi_level_cycle_bytes(t->h, l, &visits);
    if (first < l) continue;
    sums[l].visits = visits;
    sums[l].seconds = (double)corrections * seconds_of(t, l);
    if (l == 0)
      whole = sums[0].seconds;
    else
      sums[l - 1].seconds -= sums[l].seconds;
  }
  return whole;
}

static void print_level(multigrid_bench *b, const bsi_hierarchy *h, int l, const level_sum *sum,
                        double whole) {
  const int last = last_of(h, l);
  const bisai_bcsr *a = h->levels[l].matrix;
  const double to_copy = sum->seconds * b->copy_rate / sum->bytes;
  printf("    %2d–%-2d %9d %3d %10d %6lld %10.3f %10.1f %8.2f %7.1f %%\n", l, last, a->block_rows,
         a->block_size, a->blocks, (long long)sum->visits, 1e-6 * sum->bytes, 1e6 * sum->seconds,
         to_copy, 100 * sum->seconds / whole);
  if (!b->json.file) return;
  fprintf(b->json.file,
          "%s\n      {\"level\": %d, \"last\": %d, \"rows\": %d, \"block_size\": %d, "
          "\"blocks\": %d, \"visits\": %lld, \"bytes\": %.0f, \"seconds\": %.9g, "
          "\"to_copy\": %.4g}",
          l ? "," : "", l, last, a->block_rows, a->block_size, a->blocks, (long long)sum->visits,
          sum->bytes, sum->seconds, to_copy);
}

static void print(multigrid_bench *b, bsi_hierarchy *h, const bench_system *system,
                  const bench_method *method) {
  level_sum sums[BISAI_MULTIGRID_LEVELS] = {{0}};
  timed t = {b->context, h, NULL, NULL};
  t.b = vector_create(b->context, system->n, system->rhs);
  t.x = vector_create(b->context, system->n, NULL);
  const double whole = measure(&t, sums);
  printf("  %s, level by level: a cycle takes %.1f us\n"
         "    %5s %9s %3s %10s %6s %10s %10s %8s %9s\n",
         method->name, 1e6 * whole, "level", "rows", "bs", "blocks", "visits", "MB", "us",
         "to copy", "of cycle");
  FILE *json = record_begin(b, "levels", system, method);
  if (json) fprintf(json, ", \"cycle_seconds\": %.9g, \"by_level\": [", whole);
  for (int l = 0; l < h->count; l = last_of(h, l) + 1) print_level(b, h, l, &sums[l], whole);
  if (json) fprintf(json, "]}");
  fflush(stdout);
  vector_destroy(b->context, t.b);
  vector_destroy(b->context, t.x);
}

void measure_levels(multigrid_bench *b, const bench_system *system, const bench_method *method) {
  bisai_precond *precond;
  need(b->context, bisai_precond_create(b->context, system->matrix, &method->options, &precond),
       "set-up");
  print(b, bsi_multigrid_levels(precond), system, method);
  bisai_precond_destroy(&precond);
}
