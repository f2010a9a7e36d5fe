/* SPDX-License-Identifier: BSD-3-Clause */
/* Set-up and update of the levels. */
#include "multigrid/hierarchy.h"

#include "apply/error_growth.h"
#include "core/context/context_impl.h"
#include "core/matrix/matrix_ops.h"
#include "multigrid/aggregation/aggregation_ops.h"
#include "multigrid/aggregation/coarsening.h"
#include "multigrid/coarse/coarsest.h"
#include "multigrid/cycle.h"
#include "multigrid/cycle/coarse_graph.h"
#include "multigrid/cycle/cycle_ops.h"
#include "multigrid/cycle/fp32_copy.h"
#include "multigrid/diagonal/diagonal.h"
#include "multigrid/diagonal/diagonal_ops.h"
#include "multigrid/diagonal/lanczos.h"
#include "multigrid/diagonal/radius.h"
#include "multigrid/level/level_errors.h"
#include "multigrid/level/memory.h"
#include "multigrid/level/records.h"
#include "multigrid/level/work_vectors.h"
#include "multigrid/smoothers/smoothers.h"
#include "multigrid/spgemm/spgemm_ops.h"
#include "multigrid/transfers/galerkin.h"
#include "multigrid/transfers/null_vectors.h"
#include "multigrid/transfers/transfer_ops.h"
#include "multigrid/transfers/transfers.h"
#include "multigrid/unit/scalar_copy.h"
#include "multigrid/updates.h"

/* The growth of errors in a cycle beyond which the matrix is inverted instead, if it is small
 * enough. It is above 1, because a singular matrix keeps the errors of its null space. */
#define MOST_GROWTH 1.01

/* --- creation --- */

/* Takes the caller's matrix, or makes a scalar one of it, for level 0. */
static bisai_status take_matrix(bsi_hierarchy *h, const bisai_bcsr *matrix) {
  h->mirrored = h->setup.symmetric;
  h->levels[0].matrix = matrix;
  if (h->setup.options.nodes != BISAI_AGGREGATION_UNIT_SCALAR) return BISAI_OK;
  BSI_TRY(bsi_scalar_copy_create(h->context, matrix, &h->scalar_copy));
  h->levels[0].matrix = h->scalar_copy;
  if (!h->mirrored) return BISAI_OK;
  return bsi_bcsr_is_symmetric(h->context, h->scalar_copy, &h->mirrored, NULL);
}

/* Returns bsi_hierarchy::coarsest. Below the levels of several ranks one of them computes the
 * inverse while the others wait, and each does its part of the rest of set-up. */
static int32_t choose_coarsest(const bsi_hierarchy *h) {
  const bisai_bcsr *a = h->levels[0].matrix;
  const bsi_levels_above *above = &h->setup.above;
  const bool below = above->levels > 0;
  const double values = below ? above->values : (double)bsi_block_offset(a, a->blocks),
               blocks = below ? above->blocks : (double)a->blocks,
               units = (values + 8.0 * blocks) / (below ? above->ranks : 1);
  int32_t n = h->setup.options.coarsest;
  if (h->setup.inverse_work == 0) return n;
  while ((double)n * n * n > (double)h->setup.inverse_work * units) n--;
  return n;
}

/* Makes what the coarsest level has too. */
static bisai_status begin_level(bsi_hierarchy *h, bsi_level *level) {
  const bsi_fused_sweeps_ops *fused = bsi_ops_of(h)->fused_sweeps;
  level->diagonal.inverse = bsi_hierarchy_reserve_vector(h, bsi_level_diagonal_values(level));
  if (!level->diagonal.inverse) return BISAI_OUT_OF_MEMORY;
  if (fused->bandwidth) level->bandwidth = fused->bandwidth(h->context, level->matrix);
  return bsi_level_reserve_work(h, level);
}

/* Returns true if the newest level may be coarsened because its matrix is singular. Its smoother
 * must not have factors: components without a boundary may be rows of rounding errors there, whose
 * pivots are errors too. */
static bool may_coarsen_singular(const bsi_hierarchy *h) {
  return h->setup.most_singular > 0 && h->count + h->setup.above.levels > 1 &&
         h->count < h->setup.options.levels &&
         bsi_smoother_of(h->setup.options.smoother)->kind == BISAI_PRECOND_NONE;
}

/* h->coarse.inverse ← the inverse of the newest level, if its matrix is small enough. A singular
 * matrix may be too large for its pseudo-inverse: h->coarsest then becomes smaller, so that the
 * level is coarsened. */
static bisai_status invert_at_once(bsi_hierarchy *h, bsi_level *level) {
  if (!bsi_inverts_at_once(h, level)) return BISAI_OK;
  BSI_TRY(bsi_diagonal_find(h, level));
  if (!may_coarsen_singular(h)) return bsi_coarsest_create(h, INT64_MAX);
  BSI_TRY(bsi_coarsest_create(h, h->setup.most_singular));
  if (h->coarse.inverse) return BISAI_OK;
  h->coarsest = h->setup.most_singular;
  /* a matrix that is given has been completed */
  return level->own ? bsi_ops_of(h)->transfer->complete(h->context, level->own) : BISAI_OK;
}

/* Computes what depends on D⁻¹, and fetches what has been found on the level. */
static bisai_status examine(bsi_hierarchy *h, bsi_level *level, bsi_coarsening *c) {
  BSI_TRY(bsi_radius_begin(h, level));
  if (h->count < h->setup.options.levels) BSI_TRY(bsi_coarsening_begin(h, level, c));
  return bsi_records_fetch_level(h, level);
}

/* Inverts the diagonal blocks of a level, and aggregates its rows. The host waits once. *regular ←
 * as bsi_diagonal_end() does. */
static bisai_status prepare(bsi_hierarchy *h, bsi_level *level, bsi_coarsening *c, bool *regular) {
  BSI_TRY(bsi_diagonal_begin(h, level));
  BSI_TRY(bsi_fp32_copy_create(h, level));
  BSI_TRY(examine(h, level, c));
  BSI_TRY(bsi_diagonal_end(h, level, regular));
  if (!*regular) return BISAI_OK;
  if (level->diagonal.null_rows > 0) BSI_TRY(examine(h, level, c)); /* with another D⁻¹ */
  BSI_TRY(bsi_radius_end(h, level));
  if (h->count < h->setup.options.levels) bsi_coarsening_end(h, level, c);
  return BISAI_OK;
}

/* Inverts the diagonal blocks of a level and makes its transfers. *coarse ← the matrix of the next
 * level, without values. It stays NULL if this level is the coarsest, and h->ended_by has the
 * reason: each reason is set before the step that may end the levels. */
static bisai_status coarsen(bsi_hierarchy *h, bsi_level *level, bsi_coarsening *c,
                            bisai_bcsr **coarse) {
  bool regular = true;
  h->ended_by = BISAI_COARSENING_END_ROWS;
  BSI_TRY(invert_at_once(h, level));
  if (h->coarse.inverse) return BISAI_OK;
  BSI_TRY(prepare(h, level, c, &regular));
  if (!regular) return BISAI_OK;
  h->ended_by = BISAI_COARSENING_END_LEVELS;
  if (h->count == h->setup.options.levels) return BISAI_OK;
  bsi_coarsening_note_peak(h, level, c, 0);
  h->ended_by = BISAI_COARSENING_END_AGGREGATES;
  const double coarse_rows = (double)c->count * c->width;
  if (c->count == 0 || coarse_rows > BSI_SLOWEST_COARSENING * (double)bsi_level_rows(level))
    return BISAI_OK;
  h->ended_by = BISAI_COARSENING_END_COMPLEXITY;
  return bsi_galerkin_create(h, level, c, coarse);
}

/* Completes the coarsest level. It has no transfers, and is smoothed only if it is too large for an
 * inverse. */
static bisai_status end_levels(bsi_hierarchy *h, bsi_level *coarsest) {
  bsi_transfers_destroy(h->context, &coarsest->transfers);
  if (!bsi_may_invert(h, coarsest)) return bsi_smoother_create(h, coarsest);
  bsi_fp32_copy_destroy(h->context, coarsest);
  coarsest->diagonal.radius = 0.0;
  return h->coarse.inverse ? BISAI_OK : bsi_coarsest_create(h, INT64_MAX);
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
  BSI_TRY(bsi_galerkin_update(h, level));
  bsi_coarsening_note_peak(h, level, c, 0);
  bsi_updates_release_product(h, level);
  BSI_TRY(bsi_smoother_create(h, level));
  bsi_coarsening_note_peak(h, level, c, 0);
  return BISAI_OK;
}

/* Makes all levels from level 0, which has its matrix only. */
static bisai_status make_levels(bsi_hierarchy *h) {
  bsi_coarsening c = {0};
  bool more = true;
  bisai_status status = bsi_null_vectors_take(h, &c.vectors);
  while (more && !status) {
    status = append_level(h, &c, &more);
    bsi_coarsening_release(h->context, &c);
  }
  bsi_coarsening_release(h->context, &c);
  return status;
}

/* A symmetric matrix has a Lanczos process, whose coefficients are more than the norms of power
 * steps. */
static bisai_status reserve_records(bsi_hierarchy *h) {
  const bsi_multigrid_ops *ops = bsi_ops_of(h);
  const bsi_backend *backend = h->context->backend;
  const size_t copies = ops->fp32_copy->record_bytes, norms = backend->vectors->norms_bytes,
               coefficients = BSI_LANCZOS_COEFFICIENTS * sizeof(double);
  return bsi_records_reserve(
      h, (const size_t[BSI_RECORD_KINDS]){
             [BSI_RECORD_MISSING] = backend->matrix->structures->record_bytes,
             [BSI_RECORD_INVERSION] = ops->inversion->record_bytes,
             [BSI_RECORD_COPY_OF_MATRIX] = copies,
             [BSI_RECORD_COPIES_OF_TRANSFERS] = copies,
             [BSI_RECORD_RADIUS] = norms > 0 && h->setup.symmetric ? coefficients : norms,
             [BSI_RECORD_AGGREGATES] = ops->aggregation->record_bytes});
}

/* Makes a hierarchy of level 0, which has its matrix only. */
static bisai_status begin(bisai_context *context, const bisai_bcsr *matrix,
                          const bsi_multigrid_setup *setup, bsi_hierarchy *h) {
  *h = (bsi_hierarchy){
      .context = context, .setup = *setup, .count = 1, .stats = BSI_INVERT_STATS_NONE};
  BSI_TRY(take_matrix(h, matrix));
  h->coarsest = choose_coarsest(h);
  if (setup->symmetric) {
    h->lanczos.values = BSI_LANCZOS_WORK;
    h->lanczos.work = bsi_hierarchy_reserve_vector(h, h->lanczos.values);
    if (!h->lanczos.work) return BISAI_OUT_OF_MEMORY;
  }
  return reserve_records(h);
}

static bisai_status end(bsi_hierarchy *h) {
  h->setup.options.null_vectors = NULL; /* the caller's array may go */
  bsi_hierarchy_note_peak(h, 0);
  bsi_updates_release(h);
  return BISAI_OK;
}

static bisai_status create_levels(bisai_context *context, const bisai_bcsr *matrix,
                                  const bsi_multigrid_setup *setup, bsi_hierarchy *h) {
  BSI_TRY(begin(context, matrix, setup, h));
  BSI_TRY(make_levels(h));
  for (int l = 0; l < h->count; l++) BSI_TRY(bsi_fp32_copy_create_transfers(h, &h->levels[l]));
  BSI_TRY(bsi_records_fetch(h));
  bsi_fp32_copy_complete(h);
  BSI_TRY(
      bsi_coarse_graph_create(h, bsi_ops_of(h)->coarse_graph->most_rows, bsi_hierarchy_correct));
  return end(h);
}

/* Makes the only level of a matrix that is inverted. *finite ← false if the inverse overflows. */
static bisai_status create_inverse(bisai_context *context, const bisai_bcsr *matrix,
                                   const bsi_multigrid_setup *setup, bsi_hierarchy *h,
                                   bool *finite) {
  bsi_multigrid_setup unbounded = *setup;
  unbounded.inverse_work = 0;
  BSI_TRY(begin(context, matrix, &unbounded, h));
  h->ended_by = BISAI_COARSENING_END_ROWS;
  BSI_TRY(begin_level(h, &h->levels[0]));
  BSI_TRY(bsi_diagonal_find(h, &h->levels[0]));
  BSI_TRY(bsi_coarsest_try(h, finite));
  return end(h);
}

/* *grow ← true if cycles enlarge errors, and if the cost of an inverse has kept the matrix itself
 * from being inverted. */
static bisai_status errors_grow(bsi_hierarchy *h, const bisai_bcsr *matrix, bool *grow) {
  double factor = 0.0;
  *grow = false;
  if (h->setup.inverse_work == 0 || h->count == 1 || !bsi_may_invert(h, &h->levels[0]) ||
      h->setup.above.levels > 0)
    return BISAI_OK;
  BSI_TRY(bsi_error_growth(h->context, matrix, bsi_hierarchy_operator(h), &factor));
  *grow = factor > MOST_GROWTH;
  return BISAI_OK;
}

/* Exchanges the levels for the inverse of the matrix, unless this overflows for a finite matrix. */
static bisai_status choose_inverse(const bisai_bcsr *matrix, const bsi_multigrid_setup *setup,
                                   bsi_hierarchy *h) {
  bsi_hierarchy inverted, rest;
  bool finite = true;
  bisai_status status = create_inverse(h->context, matrix, setup, &inverted, &finite);
  const bool chosen = !status && finite;
  if (!status && !finite) status = bsi_bcsr_check_finite(h->context, matrix);
  if (chosen) { /* the levels were there while the inverse was made */
    const int64_t together = inverted.peak_bytes + bsi_hierarchy_memory(h);
    inverted.peak_bytes = together > h->peak_bytes ? together : h->peak_bytes;
  }
  rest = chosen ? *h : inverted;
  if (chosen) *h = inverted;
  bsi_hierarchy_destroy(h->context, &rest);
  return status;
}

bisai_status bsi_hierarchy_create(bisai_context *context, const bisai_bcsr *matrix,
                                  const bsi_multigrid_setup *setup, bsi_hierarchy *h) {
  bool grow = false;
  BSI_TRY(create_levels(context, matrix, setup, h));
  BSI_TRY(errors_grow(h, matrix, &grow));
  return grow ? choose_inverse(matrix, setup, h) : BISAI_OK;
}

/* --- updates --- */

bisai_status bsi_hierarchy_check_updates(const bsi_hierarchy *h) {
  if (h->setup.options.update != BISAI_MULTIGRID_UPDATE_NONE) return BISAI_OK;
  return bsi_fail(h->context, BISAI_UNSUPPORTED,
                  "multigrid was made with update=none: a new preconditioner takes the new values");
}

bisai_status bsi_hierarchy_check(const bisai_bcsr *matrix, const bsi_hierarchy *h) {
  BSI_TRY(bsi_hierarchy_check_updates(h));
  if (matrix->type != BISAI_FP64 || matrix->unit_diagonal)
    return bsi_fail(h->context, BISAI_UNSUPPORTED,
                    "multigrid needs a matrix stored in fp64, with its diagonal blocks");
  /* a scalar copy takes every pattern that has no other nonzero values */
  if (h->scalar_copy || matrix == h->levels[0].matrix) return BISAI_OK;
  return bsi_bcsr_check_pattern(h->context, matrix, h->levels[0].matrix);
}

/* Estimates ρ with new values of the matrix. */
static bisai_status update_radius(bsi_hierarchy *h, bsi_level *level) {
  BSI_TRY(bsi_fp32_copy_begin_update(h, level, BSI_COPY_OF_MATRIX));
  BSI_TRY(bsi_radius_begin(h, level));
  BSI_TRY(bsi_records_fetch_level(h, level));
  return bsi_radius_end(h, level);
}

static bisai_status update_level(bsi_hierarchy *h, bsi_level *level) {
  const bool keep = h->setup.options.keep_transfers, coarsest = level == bsi_coarsest_of(h);
  if (coarsest && h->coarse.inverse) return bsi_coarsest_update(h);
  BSI_TRY(bsi_diagonal_update(h, level));
  if (!keep) BSI_TRY(update_radius(h, level));
  BSI_TRY(bsi_smoother_update(h, level));
  if (coarsest) return BISAI_OK;
  if (!keep) BSI_TRY(bsi_transfers_update(h, level));
  return bsi_galerkin_update(h, level);
}

static bisai_status update_levels(bsi_hierarchy *h) {
  for (int l = 0; l < h->count; l++) BSI_TRY(update_level(h, &h->levels[l]));
  return BISAI_OK;
}

static bisai_status update_values(bsi_hierarchy *h) {
  for (int l = 0; l < h->count; l++)
    h->levels[l].diagonal.unjudged = h->levels[l].diagonal.deferred = false;
  /* with kept transfers nothing has needed the copy of A before */
  const bsi_copies copies =
      h->setup.options.keep_transfers ? BSI_COPY_OF_MATRIX : BSI_COPIES_OF_TRANSFERS;
  bisai_status status = update_levels(h);
  for (int l = 0; l < h->count && !status; l++)
    status = bsi_fp32_copy_begin_update(h, &h->levels[l], copies);
  BSI_TRY(bsi_records_fetch(h));
  BSI_TRY(bsi_diagonal_complete(h)); /* tells the cause of what failed on coarser levels */
  if (status) return status;
  bsi_fp32_copy_complete(h);
  return bsi_coarse_graph_update(h, bsi_hierarchy_correct);
}

bisai_status bsi_hierarchy_update(const bisai_bcsr *matrix, bsi_hierarchy *h) {
  const bisai_bcsr *before = h->levels[0].matrix;
  bisai_status status = BISAI_OK;
  if (h->scalar_copy)
    status = bsi_scalar_copy_update(h->context, matrix, h->scalar_copy);
  else
    h->levels[0].matrix = matrix;
  if (!status) status = bsi_updates_renew(h);
  if (!status) status = update_values(h);
  bsi_updates_release(h);
  if (status) h->levels[0].matrix = before; /* the caller may destroy a matrix that was refused */
  return status;
}

static void destroy_level(bisai_context *context, bsi_level *level) {
  const bsi_memory_ops *memory = context->backend->memory;
  bsi_level_release_work(context, &level->work);
  bsi_smoother_destroy(context, level);
  bsi_fp32_copy_destroy(context, level);
  bsi_transfers_destroy(context, &level->transfers);
  memory->release(context, level->diagonal.inverse);
  memory->release(context, level->diagonal.position);
  bsi_release(context, level->diagonal.null_marks);
  bisai_bcsr_destroy(&level->own);
}

void bsi_hierarchy_destroy(bisai_context *context, bsi_hierarchy *h) {
  if (h->count == 0) return;
  bsi_coarse_graph_destroy(context, &h->graph);
  for (int l = h->count - 1; l >= 0; l--) destroy_level(context, &h->levels[l]);
  bsi_coarsest_destroy(context, &h->coarse);
  context->backend->memory->release(context, h->lanczos.work);
  bsi_records_destroy(h);
  bisai_bcsr_destroy(&h->scalar_copy);
  h->count = 0;
}
