/* SPDX-License-Identifier: BSD-3-Clause */
/* Set-up and update of the levels. */
#include "multigrid/hierarchy.h"

#include <math.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "multigrid/multigrid_ops.h"
#include "multigrid/strength.h"

/* Coarsening ends if a level has more than this part of the rows of the finer one. */
#define SLOWEST_COARSENING (1.0 / 1.3)
/* bsi_strength_rule */
#define LEAST_RETURN 0.01f
enum {
  /* near-null-space vectors with larger or smaller exponents are scaled */
  ORDINARY_EXPONENT = 900,
  /* the least number of values for which a thread is woken */
  VALUES_PER_THREAD = 1 << 15
};

/* --- work vectors --- */

/* A second iterate, and A times corrections. */
static bool reserve_more(bsi_hierarchy *h, bsi_level *level, int64_t n) {
  const bisai_multigrid_options *o = &h->setup.options;
  const bool inner = bsi_corrects_twice(o->cycle, (int)(level - h->levels));
  const bool k = inner && o->cycle == BISAI_CYCLE_K;
  if (inner) level->second = bsi_hierarchy_reserve_vector(h, n);
  if (k) level->image = bsi_hierarchy_reserve_vector(h, n);
  if (k) level->second_image = bsi_hierarchy_reserve_vector(h, n);
  if (k) level->scalars = bsi_hierarchy_reserve_vector(h, BSI_K_WORK);
  return (level->second || !inner) &&
         ((level->image && level->second_image && level->scalars) || !k);
}

static bisai_status reserve_work(bsi_hierarchy *h, bsi_level *level) {
  const int64_t n = bsi_level_rows(level);
  const bool first = level == h->levels;
  level->x = bsi_hierarchy_reserve_vector(h, n);
  level->y = bsi_hierarchy_reserve_vector(h, n);
  level->residual = bsi_hierarchy_reserve_vector(h, n);
  if (!first) level->b = bsi_hierarchy_reserve_vector(h, n);
  if (!first) level->solution = bsi_hierarchy_reserve_vector(h, n);
  const bool complete =
      level->x && level->y && level->residual && (first || (level->b && level->solution));
  return complete && reserve_more(h, level, n) ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

/* --- levels --- */

static bisai_status aggregate(bsi_hierarchy *h, bsi_level *level, bsi_coarsening *c) {
  const bsi_aggregation_ops *ops = bsi_ops_of(h)->aggregation;
  const bsi_strength_rule rule = {.threshold = (float)h->setup.options.strength,
                                  .least_return = h->setup.symmetric ? 0.0f : LEAST_RETURN};
  c->strength = bsi_hierarchy_reserve(h, level->matrix->blocks, sizeof *c->strength);
  c->aggregate = bsi_hierarchy_reserve(h, level->matrix->block_rows, sizeof *c->aggregate);
  if (!c->strength || !c->aggregate) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(ops->weigh(h->context, level->matrix, level->inverse, &rule, c->strength));
  return ops->aggregate(h->context, level->matrix, c->strength, c->aggregate, &c->count);
}

/* T, P and the structure of the next matrix, which is NULL if this level is the coarsest:
 * h->ended_by says why. */
static bisai_status coarsen(bsi_hierarchy *h, bsi_level *level, bsi_coarsening *c,
                            bisai_bcsr **coarse) {
  const int width = c->vectors ? h->setup.options.null_count : level->matrix->block_size;
  BSI_TRY(aggregate(h, level, c));
  const double scalar_rows = (double)c->count * width;
  h->ended_by = BISAI_COARSENING_AGGREGATES;
  if (c->count == 0 || scalar_rows > SLOWEST_COARSENING * (double)bsi_level_rows(level))
    return BISAI_OK;
  h->ended_by = BISAI_COARSENING_COMPLEXITY;
  return bsi_transfers_create(h, level, c, coarse);
}

static void release_coarsening(bisai_context *context, bsi_coarsening *c) {
  const bsi_memory_ops *memory = context->backend->memory;
  memory->release(context, c->strength);
  memory->release(context, c->aggregate);
  memory->release(context, c->vectors);
  *c = (bsi_coarsening){.vectors = c->coarse_vectors};
}

static bool may_invert(const bsi_hierarchy *h, const bsi_level *level) {
  return bsi_may_invert(h, bsi_level_rows(level));
}

/* The coarsest level has no transfers, and is smoothed only if it is too large for an inverse. */
static bisai_status end_levels(bsi_hierarchy *h, bsi_level *coarsest) {
  bsi_transfers_destroy(h->context, coarsest);
  if (!may_invert(h, coarsest)) return bsi_smoother_create(h, coarsest);
  coarsest->radius = 0.0;
  return BISAI_OK;
}

/* Makes what smoothing and coarsening need, and the structure of the next matrix, which is NULL if
 * this level is the coarsest. */
static bisai_status begin_coarsening(bsi_hierarchy *h, bsi_level *level, bsi_coarsening *c,
                                     bisai_bcsr **coarse) {
  bool regular = true;
  BSI_TRY(bsi_diagonal_create(h, level, &regular));
  if (!regular) return BISAI_OK;
  BSI_TRY(bsi_narrow_create(h, level));
  BSI_TRY(bsi_radius_estimate(h, level));
  h->ended_by = BISAI_COARSENING_LEVELS;
  return h->count < h->setup.options.levels ? coarsen(h, level, c, coarse) : BISAI_OK;
}

/* Makes the next level, unless this one is the coarsest. */
static bisai_status add_level(bsi_hierarchy *h, bsi_coarsening *c) {
  bsi_level *level = &h->levels[h->count - 1];
  bisai_bcsr *coarse = NULL;
  BSI_TRY(begin_coarsening(h, level, c, &coarse));
  if (!coarse) return end_levels(h, level);
  h->levels[h->count] = (bsi_level){.matrix = coarse, .own = coarse};
  h->count++;
  BSI_TRY(bsi_transfers_update(h, level, coarse, true));
  return bsi_smoother_create(h, level);
}

/* What every level has. */
static bisai_status begin_level(bsi_hierarchy *h, bsi_level *level) {
  const bisai_bcsr *a = level->matrix;
  level->inverse = bsi_hierarchy_reserve_vector(h, (int64_t)bsi_block_offset(a, a->block_rows));
  level->relaxation = level->inverse;
  if (!level->inverse) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(bsi_level_fail(h, level, bsi_diagonal_find(h, level)));
  if (bsi_ops_of(h)->chain->reach) level->reach = bsi_ops_of(h)->chain->reach(h->context, a);
  return reserve_work(h, level);
}

/* Completes the newest level and makes the next one. *more ← false if this is the coarsest. */
static bisai_status go_down(bsi_hierarchy *h, bsi_coarsening *c, bool *more) {
  const int count = h->count;
  bsi_level *level = &h->levels[count - 1];
  *more = false;
  BSI_TRY(begin_level(h, level));
  h->ended_by = BISAI_COARSENING_ROWS;
  if (bsi_inverts(h, count - 1, bsi_level_rows(level))) return BISAI_OK;
  BSI_TRY(add_level(h, c));
  *more = h->count > count;
  return BISAI_OK;
}

/* --- records --- */

static size_t bytes_of_record(const bsi_hierarchy *h) {
  return bsi_ops_of(h)->inversion->record_bytes + 2 * bsi_ops_of(h)->narrow->record_bytes;
}

void *bsi_record_of_level(const bsi_hierarchy *h, void *records, const bsi_level *level) {
  return (char *)records + (size_t)(level - h->levels) * bytes_of_record(h);
}

void *bsi_record_of_copy(const bsi_hierarchy *h, void *records, const bsi_level *level,
                         bool transfers) {
  return (char *)bsi_record_of_level(h, records, level) + bsi_ops_of(h)->inversion->record_bytes +
         (transfers ? bsi_ops_of(h)->narrow->record_bytes : 0);
}

int64_t bsi_records_memory(const bsi_hierarchy *h) {
  return h->records ? 2 * BISAI_MULTIGRID_LEVELS * (int64_t)bytes_of_record(h) : 0;
}

static bisai_status reserve_records(bsi_hierarchy *h) {
  const size_t bytes = bytes_of_record(h);
  if (bytes == 0) return BISAI_OK;
  h->records = bsi_hierarchy_reserve(h, BISAI_MULTIGRID_LEVELS, bytes);
  h->record_copies = bsi_allocate(h->context, BISAI_MULTIGRID_LEVELS, bytes);
  return h->records && h->record_copies ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

static bisai_status fetch_records(const bsi_hierarchy *h) {
  if (!h->records) return BISAI_OK;
  return h->context->backend->memory->fetch(h->context, h->record_copies, h->records,
                                            (size_t)h->count * bytes_of_record(h));
}

/* --- nodes --- */

/* h->split ← the rows of the scalar matrix. */
static bisai_status reserve_split(bsi_hierarchy *h, const bisai_bcsr *matrix) {
  bsi_sparse s = {0};
  const bisai_status status = bsi_ops_of(h)->sparse->split_rows(h->context, matrix, &s);
  if (!status) return bsi_matrix_adopt(h, &s, &h->split);
  bsi_sparse_destroy(h->context, &s);
  return status;
}

static bisai_status split_matrix(bsi_hierarchy *h, const bisai_bcsr *matrix) {
  BSI_TRY(reserve_split(h, matrix));
  bsi_sparse s = bsi_sparse_of(h->split);
  return bsi_ops_of(h)->sparse->split_fill(h->context, matrix, &s);
}

static bisai_status update_split(bsi_hierarchy *h, const bisai_bcsr *matrix) {
  bsi_sparse s = bsi_sparse_of(h->split);
  int32_t lost = -1;
  BSI_TRY(bsi_ops_of(h)->sparse->split_values(h->context, matrix, &s, &lost));
  if (lost < 0) return BISAI_OK;
  return bsi_fail(h->context, BISAI_INVALID_STRUCTURE,
                  "scalar row %d has a value that is not zero where the matrix of creation had a "
                  "zero: nodes=block takes it, and so does a new preconditioner",
                  lost);
}

/* --- all of it --- */

/* Returns bsi_hierarchy::coarsest. */
static int32_t choose_coarsest(const bsi_hierarchy *h) {
  const bisai_bcsr *a = h->levels[0].matrix;
  const double units = (double)bsi_block_offset(a, a->blocks) + 8.0 * a->blocks;
  int32_t n = h->setup.options.coarsest;
  if (h->setup.inverse_work == 0) return n;
  while ((double)n * n * n > (double)h->setup.inverse_work * units) n--;
  return n;
}

/* Values of near-null-space vectors. */
typedef struct vectors_job {
  bisai_context *context;
  int64_t count;
  const double *values;
} vectors_job;

static void find_large_part(void *job, bsi_part part) {
  const vectors_job *v = job;
  const bsi_range range = bsi_range_of(v->count, part);
  const double most = scalbn(1.0, ORDINARY_EXPONENT);
  int large = 0;
  for (int64_t k = range.begin; k < range.end; k++) large |= fabs(v->values[k]) > most;
  if (large) bsi_min_index(bsi_partial(v->context, part.thread), 0);
}

/* Returns true if a vector has a large value, or small ones alone. */
static bool vectors_are_extreme(const bsi_hierarchy *h, int64_t n) {
  const bisai_multigrid_options *o = &h->setup.options;
  const int64_t count = n * o->null_count;
  const double least = scalbn(1.0, -ORDINARY_EXPONENT);
  bool small = false;
  for (int c = 0; c < o->null_count && !small; c++) {
    int64_t k = c;
    while (k < count && fabs(o->null_vectors[k]) < least) k += o->null_count;
    small = k >= count;
  }
  return small ||
         bsi_find_first(h->context, bsi_threads_for(h->context->threads, count, VALUES_PER_THREAD),
                        find_large_part, &(vectors_job){h->context, count, o->null_vectors}) >= 0;
}

/* Sets exponents[c] to the binary exponent of vector c if it is extreme, otherwise to 0. */
static void find_exponents(const bisai_multigrid_options *o, int64_t n, int *exponents) {
  double largest[BISAI_MULTIGRID_VECTORS] = {0.0};
  for (int64_t i = 0; i < n; i++)
    for (int c = 0; c < o->null_count; c++)
      largest[c] = fmax(largest[c], fabs(o->null_vectors[i * o->null_count + c]));
  for (int c = 0; c < o->null_count; c++) {
    exponents[c] = largest[c] > 0.0 ? ilogb(largest[c]) : 0;
    if (abs(exponents[c]) <= ORDINARY_EXPONENT) exponents[c] = 0;
  }
}

/* *copy ← the vectors over powers of two, in host memory. */
static bisai_status scale_vectors(const bsi_hierarchy *h, int64_t n, double **copy) {
  const bisai_multigrid_options *o = &h->setup.options;
  const int64_t count = n * o->null_count;
  int exponents[BISAI_MULTIGRID_VECTORS] = {0};
  find_exponents(o, n, exponents);
  *copy = bsi_allocate(h->context, (size_t)count, sizeof **copy);
  if (!*copy) return BISAI_OUT_OF_MEMORY;
  for (int64_t k = 0; k < count; k++)
    (*copy)[k] = scalbn(o->null_vectors[k], -exponents[k % o->null_count]);
  return BISAI_OK;
}

/* The size of a vector has no effect, but that of extreme ones would overflow or lose digits on
 * coarse levels, whose vectors grow with the aggregates. */
static bisai_status upload_vectors(bsi_hierarchy *h, int64_t n, double **vectors) {
  const bisai_multigrid_options *o = &h->setup.options;
  const bsi_memory_ops *memory = h->context->backend->memory;
  const size_t bytes = (size_t)(n * o->null_count) * sizeof **vectors;
  double *copy = NULL;
  if (!o->null_vectors) return BISAI_OK;
  *vectors = bsi_hierarchy_reserve_vector(h, n * o->null_count);
  if (!*vectors) return BISAI_OUT_OF_MEMORY;
  bisai_status status = vectors_are_extreme(h, n) ? scale_vectors(h, n, &copy) : BISAI_OK;
  if (!status) status = memory->upload(h->context, *vectors, copy ? copy : o->null_vectors, bytes);
  if (!status && copy) status = memory->synchronize(h->context);
  bsi_release(h->context, copy);
  return status;
}

bisai_status bsi_hierarchy_create(bisai_context *context, const bisai_bcsr *matrix,
                                  const bsi_multigrid_setup *setup, bsi_hierarchy *h) {
  *h = (bsi_hierarchy){
      .context = context, .setup = *setup, .count = 1, .stats = BSI_INVERT_STATS_NONE};
  bsi_coarsening c = {0};
  bool more = true;
  bisai_status status = BISAI_OK;
  if (setup->options.nodes == BISAI_NODES_SCALAR && matrix->block_size > 1)
    status = split_matrix(h, matrix);
  h->mirrored = setup->symmetric;
  if (!status && h->split && h->mirrored)
    status = bsi_bcsr_is_symmetric(context, h->split, &h->mirrored);
  h->levels[0].matrix = h->split ? h->split : matrix;
  if (!status) h->coarsest = choose_coarsest(h);
  if (!status) status = upload_vectors(h, bsi_level_rows(&h->levels[0]), &c.vectors);
  if (!status) status = reserve_records(h);
  while (!status && more) {
    status = go_down(h, &c, &more);
    release_coarsening(context, &c);
  }
  release_coarsening(context, &c);
  if (!status && may_invert(h, &h->levels[h->count - 1])) status = bsi_coarsest_create(h);
  for (int l = 0; l < h->count && !status; l++)
    status = bsi_narrow_create_transfers(h, &h->levels[l]);
  if (!status) status = bsi_tail_create(h, bsi_ops_of(h)->tail->most_rows);
  h->setup.options.null_vectors = NULL; /* the caller's array may go */
  bsi_hierarchy_note_peak(h, 0);
  return status;
}

bisai_status bsi_hierarchy_check(const bisai_bcsr *matrix, const bsi_hierarchy *h) {
  if (matrix->type != BISAI_FP64)
    return bsi_fail(h->context, BISAI_UNSUPPORTED, "multigrid needs a matrix stored in fp64");
  /* a split matrix takes every pattern that has no other nonzero values */
  if (h->split || matrix == h->levels[0].matrix) return BISAI_OK;
  const bsi_sparse now = bsi_sparse_of(matrix), before = bsi_sparse_of(h->levels[0].matrix);
  bool same = now.blocks == before.blocks;
  if (same) BSI_TRY(bsi_ops_of(h)->sparse->same_structure(h->context, &now, &before, &same));
  if (same) return BISAI_OK;
  return bsi_fail(h->context, BISAI_INVALID_ARGUMENT,
                  "the pattern changed: its blocks are not those of creation");
}

static bisai_status update_level(bsi_hierarchy *h, int l) {
  bsi_level *level = &h->levels[l];
  const bool coarsest = l == h->count - 1;
  if (coarsest && h->dense_inverse) return bsi_coarsest_update(h);
  const bool keep = h->setup.options.keep_transfers;
  BSI_TRY(bsi_diagonal_update(h, level));
  if (!keep) BSI_TRY(bsi_narrow_update(h, level, true, false, false));
  if (!keep) BSI_TRY(bsi_radius_estimate(h, level));
  BSI_TRY(bsi_smoother_update(h, level));
  return coarsest ? BISAI_OK : bsi_transfers_update(h, level, h->levels[l + 1].own, !keep);
}

static bisai_status update_levels(bsi_hierarchy *h) {
  for (int l = 0; l < h->count; l++) BSI_TRY(update_level(h, l));
  return BISAI_OK;
}

static bisai_status update_values(bsi_hierarchy *h) {
  for (int l = 0; l < h->count; l++) h->levels[l].deferred = false;
  const bool keep = h->setup.options.keep_transfers;
  bisai_status status = update_levels(h);
  for (int l = 0; l < h->count && !status; l++)
    status = bsi_narrow_update(h, &h->levels[l], keep, !keep, true);
  BSI_TRY(fetch_records(h));
  BSI_TRY(bsi_diagonal_complete(h)); /* tells the cause of what failed on coarser levels */
  if (status) return status;
  bsi_narrow_complete(h);
  return bsi_tail_update(h);
}

bisai_status bsi_hierarchy_update(const bisai_bcsr *matrix, bsi_hierarchy *h) {
  const bisai_bcsr *before = h->levels[0].matrix;
  if (h->split)
    BSI_TRY(update_split(h, matrix));
  else
    h->levels[0].matrix = matrix;
  const bisai_status status = update_values(h);
  if (status) h->levels[0].matrix = before; /* the caller may destroy a matrix that was refused */
  return status;
}

static void destroy_level(bisai_context *context, bsi_level *level) {
  const bsi_memory_ops *memory = context->backend->memory;
  bisai_precond_destroy(&level->smoother);
  bsi_narrow_destroy(level);
  bsi_transfers_destroy(context, level);
  if (level->relaxation != level->inverse) memory->release(context, level->relaxation);
  memory->release(context, level->inverse);
  memory->release(context, level->diagonal);
  bsi_release(context, level->marks);
  memory->release(context, level->l1_blocks);
  memory->release(context, level->l1_position);
  double *const vectors[] = {level->x,      level->y,     level->residual,     level->b,
                             level->second, level->image, level->second_image, level->solution,
                             level->scalars};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
    memory->release(context, vectors[i]);
  bisai_bcsr_destroy(&level->own);
}

void bsi_hierarchy_destroy(bisai_context *context, bsi_hierarchy *h) {
  bsi_tail_destroy(context, &h->tail);
  for (int l = h->count - 1; l >= 0; l--) destroy_level(context, &h->levels[l]);
  context->backend->memory->release(context, h->dense_inverse);
  context->backend->memory->release(context, h->dense_work);
  context->backend->memory->release(context, h->records);
  bsi_release(context, h->record_copies);
  bsi_release(context, h->pseudo_room);
  bsi_release(context, h->marks);
  bisai_bcsr_destroy(&h->split);
  h->count = 0;
}
