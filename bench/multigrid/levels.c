/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes and times of the levels of a cycle of multigrid.
 *
 * The library records the steps of the small levels, the tail, to do them in one launch. Here it
 * records a whole cycle. Each step belongs to a level; the neighbours of the same level are a
 * segment, and so is each run of the tail. A cycle is then done segment by segment, with a clock
 * around each of them. This needs the library's internals. */
#include <math.h>
#include <stdlib.h>

#include "common/memory.h"
#include "levels.h"

#include "core/context/context_impl.h"
#include "multigrid/hierarchy.h"
#include "multigrid/multigrid_ops.h"
#include "precond/precond_impl.h"

enum { ROUNDS = 30, AHEAD = 2 };

typedef struct segment {
  int level, first, count;
  bsi_clock clock;
  double seconds;
} segment;

typedef struct recorded {
  bisai_context *context;
  bisai_precond *precond;
  /* the levels of the preconditioner */
  bsi_hierarchy *h;
  double *b, *x;
  /* of a whole cycle, and their levels */
  bsi_step *steps;
  int *level_of;
  int count, segment_count;
  segment *segments;
  double cycle_seconds;
} recorded;

/* What a level does in a cycle. */
typedef struct level_sum {
  int visits, steps, launches;
  double bytes, seconds;
} level_sum;

/* --- the levels --- */

/* Makes the preconditioner. Returns false for smoothers whose steps are not recorded, and without a
 * coarse level. */
static bool make_levels(recorded *r, const bench_system *s, const bench_method *m) {
  need(r->context, bisai_precond_create(r->context, s->matrix, &m->options, &r->precond), "set-up");
  r->h = bsi_multigrid_levels(r->precond);
  return !bsi_smoother_is_nested(r->h) && r->h->count > 1;
}

/* --- steps --- */

static void record_cycle(recorded *r) {
  const bsi_tail own = r->h->tail;
  r->h->tail = (bsi_tail){.recording = true};
  need(r->context, bsi_hierarchy_cycle(r->h, r->b, r->x), "a cycle");
  r->count = r->h->tail.count;
  r->steps = bench_allocate((size_t)r->count, sizeof *r->steps);
  r->h->tail = (bsi_tail){.recording = true, .steps = r->steps, .capacity = r->count};
  need(r->context, bsi_hierarchy_cycle(r->h, r->b, r->x), "a cycle");
  r->h->tail = own;
}

static bool is_transfer(const bsi_step *s) { return s->kind == BSI_STEP_MULTIPLY && !s->matrix; }

static bool is_restriction(const bsi_level *level, const bsi_step *s) {
  if (s->matrix) return s->matrix == level->narrow_restriction;
  return is_transfer(s) &&
         (s->m.row_ptr == level->restriction.row_ptr || s->m.row_ptr == level->members.row_ptr);
}

static bool belongs(const bsi_hierarchy *h, const bsi_level *level, const bsi_step *s) {
  if (s->kind == BSI_STEP_DENSE) return level == &h->levels[h->count - 1];
  if (s->matrix)
    return s->matrix == bsi_cycle_matrix(level) || s->matrix == level->narrow_prolongation ||
           s->matrix == level->narrow_restriction;
  if (is_transfer(s))
    return is_restriction(level, s) || s->m.row_ptr == bsi_prolongation_of(level)->row_ptr;
  return s->y == level->solution || s->y == level->b || s->y == level->x || s->y == level->second;
}

static int find_level(const recorded *r, const bsi_step *s) {
  for (int l = 0; l < r->h->count; l++)
    if (belongs(r->h, &r->h->levels[l], s)) return l;
  bench_fail("a step of kind %d belongs to no level", (int)s->kind);
}

/* The bytes that a step reads and writes at least. */
static double bytes_of(const bsi_step *s) {
  const double n = s->matrix ? (double)s->matrix->block_rows * s->matrix->block_size : (double)s->n;
  switch (s->kind) {
  case BSI_STEP_SET: return 8 * n;
  case BSI_STEP_RELAX: /* D⁻¹, b and y; A and x; the iterate before x */
    return 8 * n * s->matrix->block_size + 16 * n +
           (s->x ? (double)bsi_bcsr_product_bytes(s->matrix) - 8 * n : 0) +
           (s->alpha != 0 && s->previous ? 8 * n : 0);
  case BSI_STEP_MULTIPLY:
    if (s->matrix) return (double)bsi_bcsr_product_bytes(s->matrix) + (s->beta != 0 ? 8 * n : 0);
    return (double)bsi_sparse_memory(&s->m) + 8.0 * s->m.cols * s->m.width +
           (s->beta != 0 ? 16.0 : 8.0) * s->m.rows * s->m.height;
  case BSI_STEP_DENSE: return 8 * n * n + 16 * n;
  case BSI_STEP_FIRST: return 24 * n;
  case BSI_STEP_SECOND: return 48 * n;
  }
  return 0;
}

/* The launches of a step by itself on a device. */
static int launches_of(const bsi_step *s) {
  return s->kind == BSI_STEP_FIRST || s->kind == BSI_STEP_SECOND ? 2 : 1;
}

/* --- segments --- */

/* Levels of the tail count as its first level. */
static int segment_level(const recorded *r, int step) {
  const int tail = r->h->tail.level, level = r->level_of[step];
  return tail > 0 && level > tail ? tail : level;
}

static void cut(recorded *r) {
  r->level_of = bench_allocate((size_t)r->count, sizeof *r->level_of);
  r->segments = bench_allocate((size_t)r->count, sizeof *r->segments);
  for (int i = 0; i < r->count; i++) {
    r->level_of[i] = find_level(r, &r->steps[i]);
    const int level = segment_level(r, i);
    if (i == 0 || level != r->segments[r->segment_count - 1].level)
      r->segments[r->segment_count++] = (segment){.level = level, .first = i, .seconds = INFINITY};
    r->segments[r->segment_count - 1].count++;
  }
}

static bool is_tail(const recorded *r, const segment *s) {
  return r->h->tail.level > 0 && s->level == r->h->tail.level;
}

static void run_segment(recorded *r, const segment *s) {
  if (is_tail(r, s)) {
    need(r->context, bsi_tail_run(r->h), "the small levels");
    return;
  }
  for (int i = s->first; i < s->first + s->count; i++)
    need(r->context, bsi_step_run(r->context, &r->steps[i]), "a step");
}

/* Untimed cycles go ahead, so that the device does not wait for launches. */
static void time_segments(recorded *r) {
  const bsi_clock_ops *clock = r->context->backend->clock;
  for (int i = 0; i < r->segment_count; i++)
    need(r->context, clock->open(r->context, &r->segments[i].clock), "clock");
  for (int round = 0; round < ROUNDS; round++) {
    double seconds;
    for (int i = 0; i < AHEAD; i++)
      need(r->context, bsi_hierarchy_cycle(r->h, r->b, r->x), "a cycle");
    for (int i = 0; i < r->segment_count; i++) {
      segment *s = &r->segments[i];
      need(r->context, clock->start(r->context, &s->clock), "clock");
      run_segment(r, s);
      need(r->context, clock->stop(r->context, &s->clock), "clock");
    }
    for (int i = 0; i < r->segment_count; i++) {
      need(r->context, clock->read(r->context, &r->segments[i].clock, &seconds), "clock");
      r->segments[i].seconds = fmin(r->segments[i].seconds, seconds);
    }
  }
  for (int i = 0; i < r->segment_count; i++) clock->close(r->context, &r->segments[i].clock);
}

static void time_cycle(recorded *r) {
  const bsi_clock_ops *clock = r->context->backend->clock;
  bsi_clock c = {0};
  r->cycle_seconds = INFINITY;
  need(r->context, clock->open(r->context, &c), "clock");
  for (int round = 0; round < ROUNDS; round++) {
    double seconds;
    need(r->context, bsi_hierarchy_cycle(r->h, r->b, r->x), "a cycle");
    need(r->context, clock->start(r->context, &c), "clock");
    for (int i = 0; i < AHEAD; i++)
      need(r->context, bsi_hierarchy_cycle(r->h, r->b, r->x), "a cycle");
    need(r->context, clock->stop(r->context, &c), "clock");
    need(r->context, clock->read(r->context, &c, &seconds), "clock");
    r->cycle_seconds = fmin(r->cycle_seconds, seconds / AHEAD);
  }
  clock->close(r->context, &c);
}

/* --- output --- */

static void sum_up(const recorded *r, level_sum *sums) {
  sums[0].visits = 1;
  for (int i = 0; i < r->count; i++) {
    const int l = r->level_of[i];
    sums[l].steps++;
    sums[l].bytes += bytes_of(&r->steps[i]);
    if (is_restriction(&r->h->levels[l], &r->steps[i])) sums[l + 1].visits++;
  }
  for (int i = 0; i < r->segment_count; i++) {
    const segment *s = &r->segments[i];
    sums[s->level].seconds += s->seconds;
    if (is_tail(r, s)) sums[s->level].launches++;
    for (int k = s->first; k < s->first + s->count && !is_tail(r, s); k++)
      sums[s->level].launches += launches_of(&r->steps[k]);
  }
}

/* Returns the last level that is shown together with level l. */
static int last_of(const recorded *r, int l) {
  return r->h->tail.level > 0 && l == r->h->tail.level ? r->h->count - 1 : l;
}

/* Bytes and times of a level, or of the whole tail. */
static void print_level(multigrid_bench *b, const recorded *r, const level_sum *sums, int l,
                        double whole) {
  const int last = last_of(r, l);
  const bisai_bcsr *a = r->h->levels[l].matrix;
  level_sum sum = sums[l];
  for (int k = l + 1; k <= last; k++) {
    sum.steps += sums[k].steps;
    sum.bytes += sums[k].bytes;
  }
  const double floor = sum.bytes / b->copy_rate;
  printf("    %2d–%-2d %9d %3d %10d %6d %6d %8d %10.3f %10.1f %8.2f %7.1f %%\n", l, last,
         a->block_rows, a->block_size, a->blocks, sum.visits, sum.steps, sum.launches,
         1e-6 * sum.bytes, 1e6 * sum.seconds, sum.seconds / floor, 100 * sum.seconds / whole);
  if (!b->json.file) return;
  fprintf(b->json.file,
          "%s\n      {\"level\": %d, \"last\": %d, \"rows\": %d, \"block_size\": %d, "
          "\"blocks\": %d, \"visits\": %d, \"steps\": %d, \"launches\": %d, \"bytes\": %.0f, "
          "\"seconds\": %.9g, \"to_copy\": %.4g}",
          l ? "," : "", l, last, a->block_rows, a->block_size, a->blocks, sum.visits, sum.steps,
          sum.launches, sum.bytes, sum.seconds, sum.seconds / floor);
}

static void print(multigrid_bench *b, const recorded *r, const bench_system *system,
                  const bench_method *method) {
  level_sum sums[BISAI_MULTIGRID_LEVELS] = {{0}};
  const int shown = r->h->tail.level > 0 ? r->h->tail.level + 1 : r->h->count;
  double whole = 0, coarse = 0;
  int launches = 0;
  sum_up(r, sums);
  for (int l = 0; l < shown; l++) {
    whole += sums[l].seconds;
    if (last_of(r, l) < 2) continue; /* a tail of levels 1 and coarser counts */
    coarse += sums[l].seconds;
    launches += sums[l].launches;
  }
  printf("  %s, level by level: a cycle takes %.1f us, and %.1f us with a clock at each level\n"
         "    %5s %9s %3s %10s %6s %6s %8s %10s %10s %8s %9s\n",
         method->name, 1e6 * r->cycle_seconds, 1e6 * whole, "level", "rows", "bs", "blocks",
         "visits", "steps", "launches", "MB", "us", "to copy", "of cycle");
  FILE *json = record_begin(b, "levels", system, method);
  if (json)
    fprintf(json,
            ", \"cycle_seconds\": %.9g, \"sum_seconds\": %.9g, \"coarse_part\": %.4g, "
            "\"coarse_launches\": %d, \"by_level\": [",
            r->cycle_seconds, whole, coarse / whole, launches);
  for (int l = 0; l < shown; l++) print_level(b, r, sums, l, whole);
  if (json) fprintf(json, "]}");
  printf("    levels 2 and coarser: %.1f %% of a cycle, %d launches\n", 100 * coarse / whole,
         launches);
  fflush(stdout);
}

void measure_levels(multigrid_bench *b, const bench_system *system, const bench_method *method) {
  recorded r = {.context = b->context};
  if (!make_levels(&r, system, method)) {
    printf("  %s, level by level: one level, or a smoother whose steps are not recorded\n",
           method->name);
    bisai_precond_destroy(&r.precond);
    return;
  }
  r.b = vector_create(b->context, system->n, system->rhs);
  r.x = vector_create(b->context, system->n, NULL);
  record_cycle(&r);
  cut(&r);
  time_segments(&r);
  time_cycle(&r);
  print(b, &r, system, method);
  vector_destroy(b->context, r.b);
  vector_destroy(b->context, r.x);
  free(r.steps);
  free(r.level_of);
  free(r.segments);
  bisai_precond_destroy(&r.precond);
}
