/* SPDX-License-Identifier: BSD-3-Clause */
/* Strengths and aggregates on the host. Each pass over the rows writes only what belongs to its
 * row, or to a pair of blocks of which its row has the first, and reads nothing of other rows that
 * it writes. Threads therefore need not wait for each other inside a pass. */
#include "core/bcsr_impl.h"
#include "core/block_sizes.h"
#include "core/parallel.h"
#include "multigrid/aggregate.h"
#include "multigrid/multigrid_ops.h"

/* The least rows and blocks for which a thread is woken. */
enum { GRAIN = 8192 };

static int threads_of(const bisai_context *context, const bisai_bcsr *a) {
  return bsi_threads_for(context->threads, (int64_t)a->block_rows + a->blocks, GRAIN);
}

/* --- strengths --- */

typedef struct weigh_job {
  const bisai_bcsr *a;
  const double *inverse;
  bsi_strength_rule rule;
  /* blocks: the weights */
  float *weight;
  /* blocks: the couplings, then the strengths */
  float *strength;
  /* block_rows: bsi_role */
  uint8_t *role;
  /* block_rows: the largest coupling of each row */
  float *largest;
} weigh_job;

/* weight[p] ← the weight of each block p of row i. strength[p] ← −1: not known yet. */
BSI_INLINE void weigh_blocks(const int bs, const weigh_job *job, int32_t i) {
  const bisai_bcsr *a = job->a;
  const double *values = a->values;
  const size_t size = (size_t)(bs * bs);
  for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
    job->weight[p] = a->col_idx[p] == i ? 0.0f
                                        : bsi_weight(bs, job->inverse + (size_t)i * size,
                                                     values + (size_t)p * size);
    job->strength[p] = -1.0f;
  }
}

typedef void weigh_function(const weigh_job *, int32_t);

static void weigh_any(const weigh_job *job, int32_t i) { weigh_blocks(job->a->block_size, job, i); }
#define STAMP(BS)                                                                                  \
  static void weigh_##BS(const weigh_job *job, int32_t i) { weigh_blocks(BS, job, i); }
BSI_BLOCK_SIZES(STAMP)
#undef STAMP
#define ENTRY(BS) [BS] = weigh_##BS,
static weigh_function *const weigh_functions[BSI_SPECIAL_SIZES + 1] = {weigh_any,
                                                                       BSI_BLOCK_SIZES(ENTRY)};
#undef ENTRY

static void weigh_row(const weigh_job *job, int32_t i) {
  const int bs = job->a->block_size;
  weigh_functions[bs <= BSI_SPECIAL_SIZES ? bs : 0](job, i);
}

/* strength[p] ← the coupling of each block p = (i, j) with j > i, and of the mirrored one. */
static void couple_row(const weigh_job *job, int32_t i) {
  const bisai_bcsr *a = job->a;
  const float least = job->rule.least_return;
  for (int32_t p = a->row_ptr[i + 1] - 1; p >= a->row_ptr[i] && a->col_idx[p] > i; p--) {
    const int32_t j = a->col_idx[p],
                  mirror = bsi_find_column(a->col_idx, a->row_ptr[j], a->row_ptr[j + 1], i);
    if (mirror >= 0)
      job->strength[p] = job->strength[mirror] =
          bsi_coupling(least, job->weight[p], job->weight[mirror]);
  }
}

/* Gives blocks without a mirrored one their couplings. And role[i]. */
static void join_row(const weigh_job *job, int32_t i) {
  const bisai_bcsr *a = job->a;
  int64_t weights = 0, couplings = 0;
  for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
    if (job->strength[p] < 0.0f)
      job->strength[p] = bsi_coupling(job->rule.least_return, job->weight[p], 0.0f);
    weights += bsi_coupling_units(job->weight[p]);
    couplings += bsi_coupling_units(job->strength[p]);
  }
  job->role[i] = bsi_role_of(a->block_size, weights, couplings);
}

/* Drops couplings of and to rows that stay out, and to rows that follow. largest[i] ← the largest
 * coupling before that to a row that does not follow. */
static void leave_out(const weigh_job *job, int32_t i) {
  const bisai_bcsr *a = job->a;
  float largest = 0.0f;
  for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
    if (job->role[a->col_idx[p]] != BSI_ROW_FOLLOWS && job->strength[p] > largest)
      largest = job->strength[p];
    if (job->role[i] == BSI_ROW_OUT || job->role[a->col_idx[p]] != BSI_ROW_IN)
      job->strength[p] = 0.0f;
  }
  job->largest[i] = largest;
}

/* strength[p] ← the strength of each block p of row i. */
static void drop_weak(const weigh_job *job, int32_t i) {
  const bisai_bcsr *a = job->a;
  const bool may_be_strong = job->role[i] == BSI_ROW_IN;
  bool strong = false;
  int32_t best = -1;
  for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
    const float coupling = job->strength[p];
    const int32_t j = a->col_idx[p];
    if (!bsi_is_worth_following(coupling, job->largest[i], job->rule.threshold)) continue;
    if (best < 0 ||
        bsi_preference(coupling, j) > bsi_preference(job->strength[best], a->col_idx[best]))
      best = p;
    strong = strong || (may_be_strong && bsi_is_strong(coupling, job->largest[i], job->largest[j],
                                                       job->rule.threshold));
  }
  for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
    const float coupling = job->strength[p];
    if (!may_be_strong ||
        !bsi_is_strong(coupling, job->largest[i], job->largest[a->col_idx[p]], job->rule.threshold))
      job->strength[p] = p == best && !strong ? -coupling : 0.0f;
  }
}

/* Each pass goes over the rows of a part. */
#define STAMP(pass)                                                                                \
  static void pass##_part(void *work, bsi_part part) {                                             \
    const weigh_job *job = work;                                                                   \
    const bsi_rows rows = bsi_rows_of(job->a->block_rows, job->a->row_ptr, part);                  \
    for (int32_t i = rows.begin; i < rows.end; i++) pass(job, i);                                  \
  }
STAMP(weigh_row)
STAMP(couple_row)
STAMP(join_row)
STAMP(leave_out)
STAMP(drop_weak)
#undef STAMP

static bisai_status weigh(bisai_context *context, const bisai_bcsr *a, const double *inverse,
                          const bsi_strength_rule *rule, float *strength) {
  const int threads = threads_of(context, a);
  weigh_job job = {.a = a, .inverse = inverse, .rule = *rule, .strength = strength};
  const size_t rows = (size_t)a->block_rows;
  job.weight = bsi_allocate(context, (size_t)a->blocks, sizeof *job.weight);
  if (job.weight) job.role = bsi_allocate(context, rows, sizeof *job.role);
  if (job.role) job.largest = bsi_allocate(context, rows, sizeof *job.largest);
  if (job.largest) {
    bsi_run(context, threads, BSI_SOME_PARTS, weigh_row_part, &job);
    bsi_run(context, threads, BSI_SOME_PARTS, couple_row_part, &job);
    bsi_run(context, threads, BSI_SOME_PARTS, join_row_part, &job);
    bsi_run(context, threads, BSI_SOME_PARTS, leave_out_part, &job);
    bsi_run(context, threads, BSI_SOME_PARTS, drop_weak_part, &job);
  }
  const bisai_status status = job.largest ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  bsi_release(context, job.weight);
  bsi_release(context, job.role);
  bsi_release(context, job.largest);
  return status;
}

/* --- aggregates --- */

typedef struct grouping {
  bisai_context *context;
  const bisai_bcsr *a;
  const float *strength;
  /* block_rows: bsi_candidate */
  uint8_t *state;
  /* block_rows: the largest value within one step. It stays once it is 0 or BSI_REACHED. At the end
   * the number of the aggregate of each root. */
  uint32_t *reach;
  /* block_rows: the root of the aggregate of each row, or what stands for it (aggregate.h) */
  int32_t *root;
  int32_t *aggregate;
} grouping;

/* Before step 1: a row is undecided if it has an edge, follows another row, or stays out. Returns
 * true if it is undecided. */
BSI_INLINE bool enter(const grouping *g, int32_t i) {
  bool inside = false;
  uint64_t best = 0;
  int32_t root = BSI_STAYS_OUT;
  for (int32_t p = g->a->row_ptr[i]; p < g->a->row_ptr[i + 1] && !inside; p++) {
    const float strength = g->strength[p];
    inside = strength > 0.0f;
    if (!(strength < 0.0f) || bsi_preference(-strength, g->a->col_idx[p]) <= best) continue;
    best = bsi_preference(-strength, g->a->col_idx[p]);
    root = BSI_FOLLOWS - g->a->col_idx[p];
  }
  g->root[i] = inside ? BSI_NO_ROOT_YET : root;
  g->state[i] = inside ? BSI_UNDECIDED : BSI_NOT_ROOT;
  g->reach[i] = inside ? bsi_aggregation_key(i) : 0;
  return inside;
}

/* The first half of a round of step 1: reach[i] ← the largest value within one step. */
BSI_INLINE bool look_around(const grouping *g, int32_t i) {
  if (g->reach[i] == 0 || g->reach[i] == BSI_REACHED) return false;
  uint32_t largest = bsi_candidate_value(g->state[i], i);
  for (int32_t p = g->a->row_ptr[i]; p < g->a->row_ptr[i + 1]; p++) {
    const int32_t j = g->a->col_idx[p];
    if (g->strength[p] <= 0.0f || g->state[j] == BSI_NOT_ROOT) continue;
    const uint32_t value = bsi_candidate_value(g->state[j], j);
    if (value > largest) largest = value;
  }
  g->reach[i] = largest;
  return false;
}

/* The second half. Returns true if the row stays undecided. */
BSI_INLINE bool decide(const grouping *g, int32_t i) {
  if (g->state[i] != BSI_UNDECIDED) return false;
  uint32_t largest = g->reach[i];
  for (int32_t p = g->a->row_ptr[i]; p < g->a->row_ptr[i + 1]; p++) {
    const uint32_t there = g->reach[g->a->col_idx[p]];
    if (g->strength[p] > 0.0f && there > largest) largest = there;
  }
  g->state[i] = bsi_candidate_decide(largest, i);
  return g->state[i] == BSI_UNDECIDED;
}

/* Step 2: roots and the rows next to them become aggregates. */
BSI_INLINE bool join_root(const grouping *g, int32_t i) {
  uint64_t best = 0;
  if (g->root[i] != BSI_NO_ROOT_YET) return false;
  if (g->state[i] == BSI_ROOT) g->root[i] = i;
  for (int32_t p = g->a->row_ptr[i]; p < g->a->row_ptr[i + 1] && g->state[i] != BSI_ROOT; p++) {
    const int32_t j = g->a->col_idx[p];
    if (g->strength[p] <= 0.0f || g->state[j] != BSI_ROOT) continue;
    const uint64_t preference = bsi_preference(g->strength[p], j);
    if (preference <= best) continue;
    best = preference;
    g->root[i] = j;
  }
  return false;
}

/* Steps 3 and 4: aggregate[i] ← the number of the aggregate of row i, or −1. */
BSI_INLINE bool finish(const grouping *g, int32_t i) {
  uint64_t best = 0;
  int32_t at = i;
  while (g->root[at] <= BSI_FOLLOWS) at = BSI_FOLLOWS - g->root[at];
  int32_t root = g->root[at];
  const int32_t end = root == BSI_NO_ROOT_YET ? g->a->row_ptr[at + 1] : 0;
  for (int32_t p = g->a->row_ptr[at]; p < end; p++) {
    const int32_t j = g->a->col_idx[p];
    if (g->strength[p] <= 0.0f || g->root[j] < 0) continue;
    const uint64_t preference = bsi_preference(g->strength[p], j);
    if (preference <= best) continue;
    best = preference;
    root = g->root[j];
  }
  g->aggregate[i] = root < 0 ? -1 : (int32_t)g->reach[root];
  return false;
}

/* Each pass goes over the rows of a part, and adds to the count of its thread. */
#define STAMP(pass)                                                                                \
  static void pass##_part(void *work, bsi_part part) {                                             \
    const grouping *g = work;                                                                      \
    const bsi_rows rows = bsi_rows_of(g->a->block_rows, g->a->row_ptr, part);                      \
    int32_t count = 0;                                                                             \
    for (int32_t i = rows.begin; i < rows.end; i++) count += pass(g, i);                           \
    *(int32_t *)bsi_partial(g->context, part.thread) += count;                                     \
  }
STAMP(enter)
STAMP(look_around)
STAMP(decide)
STAMP(join_root)
STAMP(finish)
#undef STAMP

/* Runs a pass and returns the number of rows for which it returns true. */
static int32_t over_rows(grouping *g, bsi_work *pass) {
  const int threads = threads_of(g->context, g->a);
  int32_t count = 0;
  for (int t = 0; t < threads; t++) *(int32_t *)bsi_partial(g->context, t) = 0;
  bsi_run(g->context, threads, BSI_SOME_PARTS, pass, g);
  for (int t = 0; t < threads; t++) count += *(int32_t *)bsi_partial(g->context, t);
  return count;
}

/* Steps 1 and 2. */
static void make_aggregates(grouping *g) {
  for (int32_t undecided = over_rows(g, enter_part); undecided > 0;) {
    over_rows(g, look_around_part);
    undecided = over_rows(g, decide_part);
  }
  over_rows(g, join_root_part);
}

static bisai_status aggregate(bisai_context *context, const bisai_bcsr *a, const float *strength,
                              int32_t *aggregate, int32_t *count) {
  grouping g = {.context = context, .a = a, .strength = strength, .aggregate = aggregate};
  const size_t rows = (size_t)a->block_rows;
  *count = 0;
  g.state = bsi_allocate(context, rows, sizeof *g.state);
  if (g.state) g.reach = bsi_allocate(context, rows, sizeof *g.reach);
  if (g.reach) g.root = bsi_allocate(context, rows, sizeof *g.root);
  if (g.root) {
    make_aggregates(&g);
    for (int32_t i = 0; i < a->block_rows; i++)
      if (g.root[i] == i) g.reach[i] = (uint32_t)(*count)++;
    over_rows(&g, finish_part);
  }
  const bisai_status status = g.root ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  bsi_release(context, g.state);
  bsi_release(context, g.reach);
  bsi_release(context, g.root);
  return status;
}

const bsi_aggregation_ops bsi_aggregation_host = {.weigh = weigh, .aggregate = aggregate};
