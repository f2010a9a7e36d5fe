/* SPDX-License-Identifier: BSD-3-Clause */
/* Strengths and aggregates on the host. Each pass over the rows writes only what belongs to its
 * row, or to a pair of blocks of which its row has the first, and reads nothing of other rows that
 * it writes. Threads therefore need not wait for each other inside a pass. */
#include "core/block/block_sizes.h"
#include "core/matrix/asymmetry.h"
#include "core/matrix/bcsr_impl.h"
#include "core/threads/parallel.h"
#include "multigrid/aggregation/aggregate.h"
#include "multigrid/aggregation/aggregation_ops.h"

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

/* weight[p] ← the weight of each block p of row i. strength[p] ← −1: not known yet. Blocks in the
 * columns of ghosts get 0. */
BSI_INLINE void weigh_blocks(const int bs, const weigh_job *job, int32_t i) {
  const bisai_bcsr *a = job->a;
  const double *values = a->values;
  const size_t size = (size_t)(bs * bs);
  for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
    const bool ghost = a->col_idx[p] >= a->block_rows;
    job->weight[p] = a->col_idx[p] == i || ghost ? 0.0f
                                                 : bsi_weight(bs, job->inverse + (size_t)i * size,
                                                              values + (size_t)p * size);
    job->strength[p] = ghost ? 0.0f : -1.0f;
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
    const int32_t j = a->col_idx[p];
    if (j >= a->block_rows) continue;
    const int32_t mirror = bsi_find_mirror(a->row_ptr, a->col_idx, i, p, j);
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

/* Returns the end of the blocks of row i in own columns: those of ghosts follow. */
static int32_t end_of_own(const bisai_bcsr *a, int32_t i) {
  int32_t end = a->row_ptr[i + 1];
  while (end > a->row_ptr[i] && a->col_idx[end - 1] >= a->block_rows) end--;
  return end;
}

/* Drops couplings of and to rows that stay out, and to rows that follow. largest[i] ← the largest
 * coupling before that to a row that does not follow. */
static void leave_out(const weigh_job *job, int32_t i) {
  const bisai_bcsr *a = job->a;
  float largest = 0.0f;
  for (int32_t p = a->row_ptr[i]; p < end_of_own(a, i); p++) {
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
  const int32_t end = end_of_own(a, i);
  for (int32_t p = a->row_ptr[i]; p < end; p++) {
    const float coupling = job->strength[p];
    const int32_t j = a->col_idx[p];
    if (!bsi_is_worth_following(coupling, job->largest[i], job->rule.threshold)) continue;
    if (best < 0 ||
        bsi_preference(coupling, j) > bsi_preference(job->strength[best], a->col_idx[best]))
      best = p;
    strong = strong || (may_be_strong && bsi_is_strong(coupling, job->largest[i], job->largest[j],
                                                       job->rule.threshold));
  }
  for (int32_t p = a->row_ptr[i]; p < end; p++) {
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

/* Rows are listed in segments of that many rows, of which each keeps its own list. */
enum { SEGMENT = 4096 };

/* Some of the rows, ascending in each segment. */
typedef struct row_list {
  /* block_rows: those of segment s begin at s·SEGMENT */
  int32_t *rows;
  /* for each segment the number of its rows in the list */
  int32_t *count;
} row_list;

typedef struct grouping {
  bisai_context *context;
  const bisai_bcsr *a;
  const float *strength;
  /* block_cols: bsi_candidate_value(), 0 of ghosts */
  uint32_t *value;
  /* block_cols: the largest value within one step. It stays once it is 0 or BSI_REACHED. At the end
   * the number of the aggregate of each root. */
  uint32_t *reach;
  /* the undecided rows, and the rows whose `reach` may still change */
  row_list undecided, open;
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
  g->value[i] = g->reach[i] = bsi_candidate_value(inside ? BSI_UNDECIDED : BSI_NOT_ROOT, i);
  return inside;
}

/* Returns the largest number of row i and of the rows to which it has edges. Nothing here branches
 * on the numbers, which no processor foresees. */
BSI_INLINE uint32_t largest_around(const grouping *g, const uint32_t *numbers, int32_t i) {
  const int32_t end = g->a->row_ptr[i + 1];
  uint32_t largest = numbers[i];
  for (int32_t p = g->a->row_ptr[i]; p < end; p++) {
    const uint32_t there = numbers[g->a->col_idx[p]], edge = g->strength[p] > 0.0f ? there : 0;
    largest = edge > largest ? edge : largest;
  }
  return largest;
}

/* The first half of a round of step 1: reach[i] ← the largest value within one step. Returns true
 * if it may change in the next rounds. */
BSI_INLINE bool look_around(const grouping *g, int32_t i) {
  g->reach[i] = largest_around(g, g->value, i);
  return g->reach[i] != 0 && g->reach[i] != BSI_REACHED;
}

/* The second half. Returns true if the row stays undecided. */
BSI_INLINE bool decide(const grouping *g, int32_t i) {
  const uint8_t state = bsi_candidate_decide(largest_around(g, g->reach, i), i);
  g->value[i] = bsi_candidate_value(state, i);
  return state == BSI_UNDECIDED;
}

/* Step 2: roots and the rows next to them become aggregates. */
BSI_INLINE void join_root(const grouping *g, int32_t i) {
  uint64_t best = 0;
  if (g->root[i] != BSI_NO_ROOT_YET) return;
  const bool is_root = g->value[i] == BSI_REACHED;
  if (is_root) g->root[i] = i;
  for (int32_t p = g->a->row_ptr[i]; p < g->a->row_ptr[i + 1] && !is_root; p++) {
    const int32_t j = g->a->col_idx[p];
    if (g->strength[p] <= 0.0f || g->value[j] != BSI_REACHED) continue;
    const uint64_t preference = bsi_preference(g->strength[p], j);
    if (preference <= best) continue;
    best = preference;
    g->root[i] = j;
  }
}

/* Steps 3 and 4: aggregate[i] ← the number of the aggregate of row i, or −1. */
BSI_INLINE void finish(const grouping *g, int32_t i) {
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
}

/* Passes over all rows. */
#define STAMP(pass)                                                                                \
  static void pass##_part(void *work, bsi_part part) {                                             \
    const grouping *g = work;                                                                      \
    const bsi_rows rows = bsi_rows_of(g->a->block_rows, g->a->row_ptr, part);                      \
    for (int32_t i = rows.begin; i < rows.end; i++) pass(g, i);                                    \
  }
STAMP(join_root)
STAMP(finish)
#undef STAMP

static int32_t segments_of(const grouping *g) {
  return g->a->block_rows / SEGMENT + (g->a->block_rows % SEGMENT > 0);
}

/* Lists the rows that are undecided before step 1. */
static void enter_part(void *work, bsi_part part) {
  const grouping *g = work;
  const bsi_range range = bsi_range_of(segments_of(g), part);
  for (int64_t s = range.begin; s < range.end; s++) {
    const int32_t begin = (int32_t)s * SEGMENT, left = g->a->block_rows - begin;
    int32_t count = 0;
    for (int32_t i = begin; i < begin + (left < SEGMENT ? left : SEGMENT); i++) {
      g->undecided.rows[begin + count] = g->open.rows[begin + count] = i;
      count += enter(g, i);
    }
    g->undecided.count[s] = g->open.count[s] = count;
  }
}

/* Passes over the rows of a list, which keeps those for which the pass returns true. */
#define STAMP(pass, list)                                                                          \
  static void pass##_part(void *work, bsi_part part) {                                             \
    const grouping *g = work;                                                                      \
    const bsi_range range = bsi_range_of(segments_of(g), part);                                    \
    for (int64_t s = range.begin; s < range.end; s++) {                                            \
      int32_t *rows = g->list.rows + s * SEGMENT, count = 0;                                       \
      for (int32_t k = 0; k < g->list.count[s]; k++) {                                             \
        const int32_t i = rows[k];                                                                 \
        rows[count] = i;                                                                           \
        count += pass(g, i);                                                                       \
      }                                                                                            \
      g->list.count[s] = count;                                                                    \
    }                                                                                              \
  }
STAMP(look_around, open)
STAMP(decide, undecided)
#undef STAMP

static int64_t length_of(const grouping *g, const row_list *list) {
  int64_t length = 0;
  for (int32_t s = 0; s < segments_of(g); s++) length += list->count[s];
  return length;
}

/* Runs a pass over `rows` rows. */
static void over_rows(grouping *g, int64_t rows, bsi_work *pass) {
  const double share = (double)rows / (double)g->a->block_rows;
  const int64_t work = rows + (int64_t)(share * (double)g->a->blocks);
  bsi_run(g->context, bsi_threads_for(g->context->threads, work, GRAIN), BSI_SOME_PARTS, pass, g);
}

/* Steps 1 and 2. */
static void make_aggregates(grouping *g) {
  over_rows(g, g->a->block_rows, enter_part);
  for (int64_t undecided; (undecided = length_of(g, &g->undecided)) > 0;) {
    over_rows(g, length_of(g, &g->open), look_around_part);
    over_rows(g, undecided, decide_part);
  }
  over_rows(g, g->a->block_rows, join_root_part);
}

/* Reserves the arrays of a grouping. `aggregate` has the undecided rows until it gets its own
 * values. */
static bool reserve_grouping(grouping *g) {
  const size_t rows = (size_t)g->a->block_rows, segments = (size_t)segments_of(g),
               columns = (size_t)g->a->block_cols;
  g->undecided.rows = g->aggregate;
  g->value = bsi_allocate(g->context, columns, sizeof *g->value);
  if (g->value) g->reach = bsi_allocate(g->context, columns, sizeof *g->reach);
  if (g->reach) g->root = bsi_allocate(g->context, rows, sizeof *g->root);
  if (g->root) g->open.rows = bsi_allocate(g->context, rows, sizeof *g->open.rows);
  if (g->open.rows) g->open.count = bsi_allocate(g->context, 2 * segments, sizeof *g->open.count);
  if (g->open.count) g->undecided.count = g->open.count + segments;
  return g->open.count != NULL;
}

static bisai_status aggregate(bisai_context *context, const bisai_bcsr *a, const float *strength,
                              int32_t *aggregate, void *record, int32_t *count, int32_t *members) {
  (void)record;
  grouping g = {.context = context, .a = a, .strength = strength, .aggregate = aggregate};
  *count = *members = 0;
  const bool complete = reserve_grouping(&g);
  /* largest_around() reads those of ghosts, to which there are no edges */
  for (int32_t j = a->block_rows; complete && j < a->block_cols; j++) g.value[j] = g.reach[j] = 0;
  if (complete && a->block_rows > 0) {
    make_aggregates(&g);
    for (int32_t i = 0; i < a->block_rows; i++)
      if (g.root[i] == i) g.reach[i] = (uint32_t)(*count)++;
    over_rows(&g, a->block_rows, finish_part);
    for (int32_t i = 0; i < a->block_rows; i++) *members += aggregate[i] >= 0;
  }
  bsi_release(context, g.value);
  bsi_release(context, g.reach);
  bsi_release(context, g.root);
  bsi_release(context, g.open.rows);
  bsi_release(context, g.open.count);
  return complete ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

const bsi_aggregation_ops bsi_aggregation_host = {.weigh = weigh,
                                                  .aggregate = aggregate,
                                                  .filter = bsi_filter_host,
                                                  .filter_again = bsi_filter_again_host};
