/* SPDX-License-Identifier: BSD-3-Clause */
/* Set-up and update of the levels. */
#include "multigrid/hierarchy.h"

#include "multigrid/coarsening/strength.h"
#include "multigrid/diagonal/lanczos.h"
#include "multigrid/multigrid_ops.h"

/* Coarsening ends if a level has more than this part of the rows of the finer one. */
#define SLOWEST_COARSENING (1.0 / 1.3)
/* bsi_strength_rule */
#define LEAST_RETURN 0.01f

/* --- records --- */

static size_t bytes_of_record(const bsi_hierarchy *h) {
  return bsi_ops_of(h)->inversion->record_bytes + BSI_COPIES * bsi_ops_of(h)->narrow->record_bytes;
}

void *bsi_record_of_inversion(const bsi_hierarchy *h, void *records, const bsi_level *level) {
  return (char *)records + (size_t)bsi_level_number(h, level) * bytes_of_record(h);
}

void *bsi_record_of_copies(const bsi_hierarchy *h, void *records, const bsi_level *level,
                           bsi_copies copies) {
  return (char *)bsi_record_of_inversion(h, records, level) +
         bsi_ops_of(h)->inversion->record_bytes +
         (size_t)copies * bsi_ops_of(h)->narrow->record_bytes;
}

int64_t bsi_records_memory(const bsi_hierarchy *h) {
  return h->records ? 2 * BISAI_MULTIGRID_LEVELS * (int64_t)bytes_of_record(h) : 0;
}

static bisai_status reserve_records(bsi_hierarchy *h) {
  const size_t bytes = bytes_of_record(h);
  if (h->setup.symmetric) {
    h->lanczos_work = bsi_hierarchy_reserve_vector(h, BSI_LANCZOS_WORK);
    if (!h->lanczos_work) return BISAI_OUT_OF_MEMORY;
  }
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
                  "zero: a new preconditioner takes it, and so does nodes=block if all diagonal "
                  "blocks are stored",
                  lost);
}

/* --- creation --- */

/* Takes the caller's matrix, or makes a scalar one of it, for level 0. */
static bisai_status take_matrix(bsi_hierarchy *h, const bisai_bcsr *matrix) {
  h->mirrored = h->setup.symmetric;
  h->levels[0].matrix = matrix;
  if (h->setup.options.nodes != BISAI_AGGREGATION_UNIT_SCALAR) return BISAI_OK;
  BSI_TRY(split_matrix(h, matrix));
  h->levels[0].matrix = h->split;
  return h->mirrored ? bsi_bcsr_is_symmetric(h->context, h->split, &h->mirrored) : BISAI_OK;
}

/* Returns bsi_hierarchy::coarsest. */
static int32_t choose_coarsest(const bsi_hierarchy *h) {
  const bisai_bcsr *a = h->levels[0].matrix;
  const double units = (double)bsi_block_offset(a, a->blocks) + 8.0 * a->blocks;
  int32_t n = h->setup.options.coarsest;
  if (h->setup.inverse_work == 0) return n;
  while ((double)n * n * n > (double)h->setup.inverse_work * units) n--;
  return n;
}

/* Makes what the coarsest level has too. */
static bisai_status begin_level(bsi_hierarchy *h, bsi_level *level) {
  const bisai_bcsr *a = level->matrix;
  level->inverse = bsi_hierarchy_reserve_vector(h, (int64_t)bsi_block_offset(a, a->block_rows));
  level->relaxation = level->inverse;
  if (!level->inverse) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(bsi_level_fail(h, level, bsi_diagonal_find(h, level)));
  if (bsi_ops_of(h)->chain->reach) level->reach = bsi_ops_of(h)->chain->reach(h->context, a);
  return bsi_level_reserve_work(h, level);
}

static bisai_status aggregate(bsi_hierarchy *h, bsi_level *level, bsi_coarsening *c) {
  const bsi_aggregation_ops *ops = bsi_ops_of(h)->aggregation;
  const bsi_strength_rule rule = {.threshold = (float)h->setup.options.strength,
                                  .least_return = h->setup.symmetric ? 0.0f : LEAST_RETURN};
  c->strength = bsi_hierarchy_reserve(h, level->matrix->blocks, sizeof *c->strength);
  c->aggregate = bsi_hierarchy_reserve(h, level->matrix->block_rows, sizeof *c->aggregate);
  c->width = c->vectors ? h->setup.options.null_count : level->matrix->block_size;
  if (!c->strength || !c->aggregate) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(ops->weigh(h->context, level->matrix, level->inverse, &rule, c->strength));
  return ops->aggregate(h->context, level->matrix, c->strength, c->aggregate, &c->count);
}

/* Returns true if the newest level may be coarsened because its matrix is singular. Its smoother
 * must not have factors: components without a boundary may be rows of rounding errors there, whose
 * pivots are errors too. */
static bool may_coarsen_singular(const bsi_hierarchy *h) {
  return h->setup.most_singular > 0 && h->count > 1 && h->count < h->setup.options.levels &&
         !bsi_smoother_is_nested(h);
}

/* h->dense_inverse ← the inverse of the newest level, if its matrix is small enough. A singular
 * matrix may be too large for its pseudo-inverse: h->coarsest then becomes smaller, so that the
 * level is coarsened. */
static bisai_status invert_at_once(bsi_hierarchy *h, bsi_level *level) {
  if (!bsi_inverts_at_once(h, level)) return BISAI_OK;
  if (!may_coarsen_singular(h)) return bsi_coarsest_create(h, INT64_MAX);
  BSI_TRY(bsi_coarsest_create(h, h->setup.most_singular));
  if (h->dense_inverse) return BISAI_OK;
  h->coarsest = h->setup.most_singular;
  return bsi_ops_of(h)->transfer->complete(h->context, level->own);
}

/* Inverts the diagonal blocks of a level and makes its transfers. *coarse ← the matrix of the next
 * level, without values. It stays NULL if this level is the coarsest, and h->ended_by has the
 * reason: each reason is set before the step that may end the levels. */
static bisai_status coarsen(bsi_hierarchy *h, bsi_level *level, bsi_coarsening *c,
                            bisai_bcsr **coarse) {
  bool regular = true;
  h->ended_by = BISAI_COARSENING_END_ROWS;
  BSI_TRY(invert_at_once(h, level));
  if (h->dense_inverse) return BISAI_OK;
  BSI_TRY(bsi_diagonal_create(h, level, &regular));
  if (!regular) return BISAI_OK;
  BSI_TRY(bsi_narrow_create(h, level));
  BSI_TRY(bsi_radius_estimate(h, level));
  h->ended_by = BISAI_COARSENING_END_LEVELS;
  if (h->count == h->setup.options.levels) return BISAI_OK;
  BSI_TRY(aggregate(h, level, c));
  bsi_coarsening_note_peak(h, level, c);
  h->ended_by = BISAI_COARSENING_END_AGGREGATES;
  const double coarse_rows = (double)c->count * c->width;
  if (c->count == 0 || coarse_rows > SLOWEST_COARSENING * (double)bsi_level_rows(level))
    return BISAI_OK;
  h->ended_by = BISAI_COARSENING_END_COMPLEXITY;
  return bsi_transfers_create(h, level, c, coarse);
}

/* Completes the coarsest level. It has no transfers, and is smoothed only if it is too large for an
 * inverse. */
static bisai_status end_levels(bsi_hierarchy *h, bsi_level *coarsest) {
  bsi_transfers_destroy(h->context, coarsest);
  if (!bsi_may_invert(h, coarsest)) return bsi_smoother_create(h, coarsest);
  coarsest->radius = 0.0;
  return h->dense_inverse ? BISAI_OK : bsi_coarsest_create(h, INT64_MAX);
}

/* Completes the newest level, and appends the next one unless this one is the coarsest. *appended ←
 * true if it did. */
static bisai_status append_level(bsi_hierarchy *h, bsi_coarsening *c, bool *appended) {
  bsi_level *level = &h->levels[h->count - 1];
  bisai_bcsr *coarse = NULL;
  *appended = false;
  BSI_TRY(begin_level(h, level));
  BSI_TRY(coarsen(h, level, c, &coarse));
  if (!coarse) return end_levels(h, level);
  h->levels[h->count++] = (bsi_level){.matrix = coarse, .own = coarse};
  *appended = true;
  BSI_TRY(bsi_transfers_update(h, level));
  BSI_TRY(bsi_coarse_matrix_update(h, level));
  BSI_TRY(bsi_smoother_create(h, level));
  bsi_coarsening_note_peak(h, level, c);
  return BISAI_OK;
}

/* Releases what took a level to the next one, whose vectors become those to go on with. */
static void release_coarsening(bisai_context *context, bsi_coarsening *c) {
  const bsi_memory_ops *memory = context->backend->memory;
  memory->release(context, c->strength);
  memory->release(context, c->aggregate);
  memory->release(context, c->vectors);
  *c = (bsi_coarsening){.vectors = c->coarse_vectors};
}

/* Makes all levels from level 0, which has its matrix only. */
static bisai_status make_levels(bsi_hierarchy *h) {
  bsi_coarsening c = {0};
  bool more = true;
  bisai_status status = bsi_null_vectors_upload(h, &c.vectors);
  while (more && !status) {
    status = append_level(h, &c, &more);
    release_coarsening(h->context, &c);
  }
  release_coarsening(h->context, &c);
  return status;
}

bisai_status bsi_hierarchy_create(bisai_context *context, const bisai_bcsr *matrix,
                                  const bsi_multigrid_setup *setup, bsi_hierarchy *h) {
  *h = (bsi_hierarchy){
      .context = context, .setup = *setup, .count = 1, .stats = BSI_INVERT_STATS_NONE};
  BSI_TRY(take_matrix(h, matrix));
  h->coarsest = choose_coarsest(h);
  BSI_TRY(reserve_records(h));
  BSI_TRY(make_levels(h));
  for (int l = 0; l < h->count; l++) BSI_TRY(bsi_narrow_create_transfers(h, &h->levels[l]));
  BSI_TRY(bsi_tail_create(h, bsi_ops_of(h)->tail->most_rows));
  h->setup.options.null_vectors = NULL; /* the caller's array may go */
  bsi_hierarchy_note_peak(h, 0);
  return BISAI_OK;
}

/* --- updates --- */

bisai_status bsi_hierarchy_check(const bisai_bcsr *matrix, const bsi_hierarchy *h) {
  if (matrix->type != BISAI_FP64 || matrix->unit_diagonal)
    return bsi_fail(h->context, BISAI_UNSUPPORTED,
                    "multigrid needs a matrix stored in fp64, with its diagonal blocks");
  /* a split matrix takes every pattern that has no other nonzero values */
  if (h->split || matrix == h->levels[0].matrix) return BISAI_OK;
  return bsi_bcsr_check_pattern(h->context, matrix, h->levels[0].matrix);
}

static bisai_status update_level(bsi_hierarchy *h, bsi_level *level) {
  const bool keep = h->setup.options.keep_transfers, coarsest = level == bsi_coarsest_of(h);
  if (coarsest && h->dense_inverse) return bsi_coarsest_update(h);
  BSI_TRY(bsi_diagonal_update(h, level));
  if (!keep) BSI_TRY(bsi_narrow_update(h, level, BSI_COPY_OF_MATRIX)); /* for the estimate */
  if (!keep) BSI_TRY(bsi_radius_estimate(h, level));
  BSI_TRY(bsi_smoother_update(h, level));
  if (coarsest) return BISAI_OK;
  if (!keep) BSI_TRY(bsi_transfers_update(h, level));
  return bsi_coarse_matrix_update(h, level);
}

static bisai_status update_levels(bsi_hierarchy *h) {
  for (int l = 0; l < h->count; l++) BSI_TRY(update_level(h, &h->levels[l]));
  return BISAI_OK;
}

static bisai_status update_values(bsi_hierarchy *h) {
  for (int l = 0; l < h->count; l++) h->levels[l].unjudged = h->levels[l].deferred = false;
  /* with kept transfers nothing has needed the copy of A before */
  const bsi_copies copies =
      h->setup.options.keep_transfers ? BSI_COPY_OF_MATRIX : BSI_COPIES_OF_TRANSFERS;
  bisai_status status = update_levels(h);
  for (int l = 0; l < h->count && !status; l++)
    status = bsi_narrow_begin_update(h, &h->levels[l], copies);
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

void bsi_hierarchy_destroy(bisai_context *context, bsi_hierarchy *h) {
  bsi_tail_destroy(context, &h->tail);
  for (int l = h->count - 1; l >= 0; l--) bsi_level_destroy(context, &h->levels[l]);
  bsi_coarsest_destroy(context, h);
  context->backend->memory->release(context, h->lanczos_work);
  context->backend->memory->release(context, h->records);
  bsi_release(context, h->record_copies);
  bisai_bcsr_destroy(&h->split);
  h->count = 0;
}
