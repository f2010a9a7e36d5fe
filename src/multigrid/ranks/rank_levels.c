/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/ranks/rank_levels.h"

#include <string.h>

#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "multigrid/aggregation/aggregation_ops.h"
#include "multigrid/aggregation/border.h"
#include "multigrid/cycle.h"
#include "multigrid/cycle/fp32_copy.h"
#include "multigrid/cycle/operations.h"
#include "multigrid/diagonal/diagonal.h"
#include "multigrid/diagonal/diagonal_ops.h"
#include "multigrid/diagonal/null_rows.h"
#include "multigrid/diagonal/radius.h"
#include "multigrid/halo/agreement.h"
#include "multigrid/halo/told_rows.h"
#include "multigrid/hierarchy.h"
#include "multigrid/level/level_errors.h"
#include "multigrid/level/memory.h"
#include "multigrid/level/work_vectors.h"
#include "multigrid/ranks/coarse_matrix.h"
#include "multigrid/ranks/rank_splits.h"
#include "multigrid/ranks/rank_transposed.h"
#include "multigrid/ranks/rank_updates.h"
#include "multigrid/smoothers/smoothers.h"
#include "multigrid/transfers/null_vectors.h"
#include "multigrid/transfers/transfers.h"

/* A last matrix of at most that many scalar rows is gathered in any case: it is inverted there. */
enum { MOST_INVERTED = BSI_COARSEST_ROWS };

static bisai_status agree(const bsi_rank_hierarchy *r, bisai_status status) {
  return bsi_agree(r->h.context, &r->transport, status);
}

/* --- the beginning of a level --- */

/* Rows of other ranks that have blocks in own columns become ghosts too: R = Pᵀ has blocks in them.
 * In a symmetric pattern they are ghosts already. */
static bisai_status add_ghosts(bsi_rank_hierarchy *r, int l) {
  bsi_rank_level *rank = &r->levels[l];
  bisai_bcsr *matrix = l == 0 ? &r->first : r->h.levels[l].own;
  const int32_t before = rank->columns.ghosts, width = rank->halo.width;
  bsi_told_rows rows = {.rows = matrix->block_rows, .first = rank->halo.first};
  const bisai_status own = bsi_bcsr_structure(matrix, &rows.structure);
  double added;
  bisai_status status = bsi_told_rows_find(&rank->halo, own, &rows, &rank->columns);
  added = rank->columns.ghosts - before;
  if (!status) status = bsi_largest_of_ranks(r->h.context, &r->transport, 1, &added);
  if (status || added == 0.0) return status;
  matrix->block_cols = matrix->block_rows + rank->columns.ghosts;
  bsi_halo_destroy(&rank->halo);
  return bsi_halo_create(r->h.context, &r->transport, rank->begins, rank->columns.ghosts,
                         rank->columns.ghost, width, &rank->halo);
}

/* Counts the rows and blocks of all ranks, and makes the exchange with the owners of the ghosts,
 * which are those of rank->columns. `before` is the status of what this rank did alone before. */
static bisai_status connect(bsi_rank_hierarchy *r, int l, bisai_status before) {
  bsi_rank_level *rank = &r->levels[l];
  bsi_level *level = &r->h.levels[l];
  double sums[3] = {0.0, 0.0, 0.0};
  if (!before) sums[0] = level->matrix->block_rows, sums[1] = level->matrix->blocks;
  BSI_TRY(bsi_agree_and_reduce(r->h.context, &r->transport, before, BISAI_REDUCE_SUM, 2, sums));
  rank->all_rows = sums[0];
  rank->all_blocks = sums[1];
  level->halo = &rank->halo;
  /* the most values of a row that are exchanged are those of a block of D⁻¹ */
  const int32_t width = level->matrix->block_size * level->matrix->block_size;
  BSI_TRY(bsi_halo_create(r->h.context, &r->transport, rank->begins, rank->columns.ghosts,
                          rank->columns.ghost, width, &rank->halo));
  return r->h.setup.options.unweighted && !r->h.setup.symmetric ? add_ghosts(r, l) : BISAI_OK;
}

static bisai_status begin_level(bsi_rank_hierarchy *r, int l) {
  bsi_level *level = &r->h.levels[l];
  BSI_TRY(bsi_rank_reserve_inverse(r, level));
  BSI_TRY(bsi_diagonal_find(&r->h, level));
  return bsi_level_reserve_work(&r->h, level);
}

/* D⁻¹ of the own rows. */
static bisai_status invert_own(bsi_rank_hierarchy *r, int l) {
  bsi_level *level = &r->h.levels[l];
  bsi_invert_stats stats = BSI_INVERT_STATS_NONE;
  bsi_inversion_findings found = {.stats = &stats, .largest = &level->diagonal.largest};
  BSI_TRY(bsi_ops_of(&r->h)->inversion->invert(r->h.context, level->matrix,
                                               level->diagonal.position, bsi_shift_of(&r->h, level),
                                               level->diagonal.inverse, NULL, &found));
  if (l == 0) r->h.stats = stats;
  return bsi_level_judge(&r->h, level, "", &stats);
}

/* D⁻¹, and the largest magnitude of all ranks, after steps with the status `before`. */
static bisai_status invert(bsi_rank_hierarchy *r, int l, bisai_status before) {
  bsi_level *level = &r->h.levels[l];
  const bisai_status status = before ? before : invert_own(r, l);
  double largest[2] = {status ? 0.0 : level->diagonal.largest, 0.0};
  BSI_TRY(bsi_agree_and_reduce(r->h.context, &r->transport, status, BISAI_REDUCE_MAX, 1, largest));
  level->diagonal.largest = largest[0];
  return BISAI_OK;
}

/* --- aggregates --- */

/* Makes the aggregates of the own rows; c->aggregate has room for those of ghosts. */
static bisai_status aggregate(bsi_rank_hierarchy *r, const bsi_level *level, bsi_coarsening *c) {
  const bsi_aggregation_ops *ops = bsi_ops_of(&r->h)->aggregation;
  const bsi_memory_ops *memory = r->h.context->backend->memory;
  const bisai_bcsr *a = level->matrix;
  int32_t *alone = memory->allocate(r->h.context, (size_t)a->block_rows, sizeof *alone);
  bisai_status status = alone ? bsi_coarsening_weigh(&r->h, level, c) : BISAI_OUT_OF_MEMORY;
  if (!status)
    status = BSI_ON_BACKEND(r->h.context, bsi_border)(
        r->h.context, a, level->diagonal.inverse, r->h.setup.options.strength, c->strength, alone);
  if (!status)
    status =
        ops->aggregate(r->h.context, a, c->strength, c->aggregate, NULL, &c->count, &c->members);
  c->members = -1; /* rows at the border come to them */
  if (!status)
    status = BSI_ON_BACKEND(r->h.context, bsi_border_add)(r->h.context, a, c->strength, alone,
                                                          c->aggregate, &c->count);
  memory->release(r->h.context, alone);
  return status;
}

/* --- levels --- */

/* Makes the next level of level l. *more ← false if level l is the last one. `before` is the status
 * of what this rank did alone before. */
static bisai_status coarsen(bsi_rank_hierarchy *r, int l, bisai_status before, bsi_coarsening *c,
                            bool *more) {
  bsi_level *level = &r->h.levels[l];
  bsi_rank_level *next = &r->levels[l + 1];
  bsi_rank_coarse coarse;
  bisai_status own;
  *more = false;
  r->h.ended_by = BISAI_COARSENING_END_LEVELS;
  if (r->h.count == r->h.setup.options.levels) return agree(r, before);
  own = before ? before : aggregate(r, level, c);
  BSI_TRY(bsi_row_begins(r->h.context, &r->transport, own, c->count, r->counts, &next->begins));
  const double coarse_rows = (double)next->begins[r->transport.ranks];
  r->h.ended_by = BISAI_COARSENING_END_AGGREGATES;
  if (coarse_rows == 0.0 || coarse_rows * c->width > BSI_SLOWEST_COARSENING * bsi_all_rows(r, l))
    return BISAI_OK;
  r->h.ended_by = BISAI_COARSENING_END_COMPLEXITY;
  next->columns = bsi_numbering_of(r->h.context, next->begins[r->transport.rank], c->count);
  BSI_TRY(bsi_rank_coarse_create(r, l, c, &next->columns, &coarse, &own));
  if (!coarse.fits) return BISAI_OK;
  r->h.levels[r->h.count++] = (bsi_level){.matrix = coarse.matrix, .own = coarse.matrix};
  *more = true;
  BSI_TRY(bsi_rank_coarse_update(r, l, false, &own));
  bsi_rank_updates_release_product(r, l);
  return connect(r, l + 1, own ? own : bsi_smoother_create(&r->h, level));
}

/* Gathers the last level. */
static bisai_status gather(bsi_rank_hierarchy *r, const double *vectors) {
  const int l = r->h.count - 1;
  bsi_level *level = &r->h.levels[l];
  bsi_to_gather from = {.h = &r->h,
                        .level = level,
                        .begins = r->levels[l].begins,
                        .columns = &r->levels[l].columns,
                        .vectors = vectors,
                        .setup = r->h.setup};
  double all_values = 0.0;
  for (int k = 0; k < l; k++) all_values += bsi_all_values(r, k);
  from.setup.transport = NULL;
  from.setup.options.levels -= l;
  if (l > 0)
    from.setup.above = (bsi_levels_above){.levels = l,
                                          .ranks = r->transport.ranks,
                                          .blocks = r->levels[0].all_blocks,
                                          .values = bsi_all_values(r, 0),
                                          .all_values = all_values};
  const bisai_status own = level->work.x ? BISAI_OK : bsi_level_reserve_work(&r->h, level);
  BSI_TRY(bsi_gathered_create(r->h.context, &r->transport, own, &from, &r->gathered));
  r->h.coarse.gathered = bsi_gathered_operator(&r->gathered);
  return BISAI_OK;
}

static bool is_small(const bsi_rank_hierarchy *r) {
  return bsi_all_rows(r, r->h.count - 1) <= (double)r->gather;
}

/* Completes the last level, which is not small enough to be gathered at once. */
static bisai_status end_levels(bsi_rank_hierarchy *r, const double *vectors) {
  const int l = r->h.count - 1;
  bsi_rank_coarse_drop(r, l);
  if (bsi_all_rows(r, l) <= MOST_INVERTED) return gather(r, vectors);
  return agree(r, bsi_smoother_create(&r->h, &r->h.levels[l]));
}

/* Completes level l and makes the next one. *more ← false if there is none. */
static bisai_status make_level(bsi_rank_hierarchy *r, int l, bsi_coarsening *c, bool *more) {
  bsi_level *level = &r->h.levels[l];
  BSI_TRY(invert(r, l, begin_level(r, l)));
  BSI_TRY(bsi_null_rows_create(&r->h, level));
  BSI_TRY(agree(r, bsi_fp32_copy_create(&r->h, level)));
  return coarsen(r, l, bsi_radius_estimate(&r->h, level), c, more);
}

static bisai_status make_levels(bsi_rank_hierarchy *r, bsi_coarsening *c) {
  bisai_status status = BISAI_OK;
  bool more = true;
  while (!status && more && !is_small(r)) {
    status = make_level(r, r->h.count - 1, c, &more);
    if (!status && more) bsi_coarsening_release(r->h.context, c);
  }
  if (status) return status;
  return more ? gather(r, c->vectors) : end_levels(r, c->vectors);
}

/* Makes what the cycles of all levels need. The matrix that is gathered has no products. */
static bisai_status complete_levels(bsi_rank_hierarchy *r) {
  const int products = r->h.count - (r->h.coarse.gathered.ops != NULL);
  bisai_status status = BISAI_OK;
  for (int l = 0; l < r->h.count - 1 && !status; l++)
    status = bsi_fp32_copy_create_transfers(&r->h, &r->h.levels[l]);
  for (int l = 0; l < products && !status; l++)
    status = bsi_rank_splits_create(&r->h, l, &r->levels[l].splits);
  return agree(r, status);
}

/* Numbers the columns of level 0. */
static bisai_status take_ghosts(bsi_rank_hierarchy *r, const bisai_ranks_rows *rows) {
  const bisai_bcsr *a = rows->matrix;
  bsi_rank_level *rank = &r->levels[0];
  int32_t local = 0;
  rank->columns = bsi_numbering_of(r->h.context, rank->begins[r->transport.rank], a->block_rows);
  for (int32_t j = 0; j < a->block_cols - a->block_rows; j++) {
    BSI_TRY(bsi_numbering_find(&rank->columns, rows->ghosts[j], &local));
    if (local != a->block_rows + j)
      return bsi_fail(r->h.context, BISAI_INVALID_ARGUMENT,
                      "ghost %d, row %lld, is an own row or another ghost", j,
                      (long long)rows->ghosts[j]);
  }
  return BISAI_OK;
}

static bisai_status begin(bsi_rank_hierarchy *r, const bisai_ranks_rows *rows, double **vectors) {
  r->first = *rows->matrix;
  r->given_columns = r->first.block_cols;
  r->h.levels[0].matrix = &r->first;
  r->h.count = 1;
  r->counts = bsi_allocate(r->h.context, (size_t)r->transport.ranks + 1, sizeof *r->counts);
  bisai_status own = r->counts ? bsi_null_vectors_take(&r->h, vectors) : BISAI_OUT_OF_MEMORY;
  if (!own && r->h.setup.symmetric) {
    r->h.lanczos.values = BSI_LANCZOS_WORK;
    r->h.lanczos.work = bsi_hierarchy_reserve_vector(&r->h, r->h.lanczos.values);
    if (!r->h.lanczos.work) own = BISAI_OUT_OF_MEMORY;
  }
  BSI_TRY(agree(r, own));
  BSI_TRY(bsi_row_begins(r->h.context, &r->transport, BISAI_OK, r->first.block_rows, r->counts,
                         &r->levels[0].begins));
  return connect(r, 0, take_ghosts(r, rows));
}

static void initialise(bisai_context *context, const bisai_transport *transport,
                       const bsi_multigrid_setup *setup, bsi_rank_hierarchy *r) {
  *r = (bsi_rank_hierarchy){.transport = *transport};
  r->h = (bsi_hierarchy){.context = context, .setup = *setup, .stats = BSI_INVERT_STATS_NONE};
  r->h.setup.transport = &r->transport;
}

bisai_status bsi_rank_levels_create(bisai_context *context, const bisai_ranks_rows *rows,
                                    const bisai_transport *transport,
                                    const bsi_multigrid_setup *setup, int64_t gather_rows,
                                    bsi_rank_hierarchy *r) {
  bsi_coarsening c = {0};
  initialise(context, transport, setup, r);
  r->gather = gather_rows;
  bisai_status status = begin(r, rows, &c.vectors);
  if (!status) status = make_levels(r, &c);
  bsi_coarsening_release(context, &c);
  bsi_coarsening_release(context, &c); /* the vectors of the next level */
  if (!status) status = complete_levels(r);
  if (!status) bsi_rank_updates_release(r);
  r->h.setup.options.null_vectors = NULL; /* the caller's array may go */
  r->exchanges = bsi_rank_levels_exchanges(r);
  return status;
}

bisai_status bsi_rank_products_create(bisai_context *context, const bisai_ranks_rows *rows,
                                      const bisai_transport *transport,
                                      const bsi_multigrid_setup *setup, bsi_rank_hierarchy *r) {
  const bsi_multigrid_setup products = {.least_overlapped = setup->least_overlapped,
                                        .least_exchanged = setup->least_exchanged};
  double *vectors = NULL;
  initialise(context, transport, &products, r);
  r->products_only = true;
  BSI_TRY(begin(r, rows, &vectors));
  bsi_level *level = &r->h.levels[0];
  level->work.b = bsi_hierarchy_reserve_vector(&r->h, bsi_level_room(level));
  bisai_status status = level->work.b ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  if (!status) status = bsi_rank_splits_create(&r->h, 0, &r->levels[0].splits);
  return agree(r, status);
}

/* --- updates --- */

static bisai_status update_level(bsi_rank_hierarchy *r, int l) {
  const bool keep = r->h.setup.options.keep_transfers, last = l == r->h.count - 1;
  bsi_level *level = &r->h.levels[l];
  if (last && r->h.coarse.gathered.ops) return bsi_gathered_update(&r->h, level, &r->gathered);
  BSI_TRY(invert(r, l, BISAI_OK));
  BSI_TRY(bsi_null_rows_update(&r->h, level));
  bisai_status own = bsi_fp32_copy_update(&r->h, level, BSI_COPY_OF_MATRIX);
  if (!keep) {
    BSI_TRY(agree(r, own));
    own = bsi_radius_estimate(&r->h, level);
  }
  if (!own) own = bsi_smoother_update(&r->h, level);
  if (last) return agree(r, own);
  BSI_TRY(bsi_rank_coarse_update(r, l, keep, &own));
  return agree(r, own ? own : bsi_fp32_copy_update(&r->h, level, BSI_COPIES_OF_TRANSFERS));
}

/* Takes a matrix of the pattern of creation. */
static bisai_status take(bsi_rank_hierarchy *r, const bisai_bcsr *matrix) {
  if (!r->products_only) BSI_TRY(bsi_hierarchy_check_updates(&r->h));
  if (matrix->type != BISAI_FP64 || matrix->unit_diagonal)
    return bsi_fail(r->h.context, BISAI_UNSUPPORTED,
                    "the rows of a rank need values in fp64, with the diagonal blocks");
  if (matrix->values == r->first.values && matrix->row_ptr == r->first.row_ptr) return BISAI_OK;
  bisai_bcsr given = r->first;
  given.block_cols = r->given_columns;
  return bsi_bcsr_check_pattern(r->h.context, matrix, &given);
}

/* The next transposed application makes it again, with the values of then. */
static void drop_transposed(bsi_rank_hierarchy *r) {
  r->exchanges -= bsi_rank_transposed_exchanges(r->transposed);
  bsi_rank_transposed_destroy(&r->transposed);
  bsi_gathered_release_transposed(&r->gathered);
}

bisai_status bsi_rank_levels_update(bsi_rank_hierarchy *r, const bisai_bcsr *matrix) {
  const int32_t columns = r->first.block_cols;
  bisai_status status = take(r, matrix);
  drop_transposed(r);
  r->h.fused.count = 0;
  BSI_TRY(agree(r, status ? status : bsi_rank_updates_renew(r)));
  r->first = *matrix;
  r->first.block_cols = columns;
  for (int l = 0; l < r->h.count && !r->products_only && !status; l++) status = update_level(r, l);
  bsi_rank_updates_end(r);
  return status;
}

/* --- use --- */

/* to ← the caller's vector. */
static bisai_status take_vector(bisai_context *context, const double *from, size_t bytes,
                                double *to) {
  const bsi_memory_ops *memory = context->backend->memory;
  if (bytes == 0) return BISAI_OK;
  if (memory->reaches(context, from)) return memory->copy(context, to, from, bytes);
  BSI_TRY(memory->upload(context, to, from, bytes));
  return memory->synchronize(context); /* a copy from page-locked memory may be under way */
}

static bisai_status give_vector(bisai_context *context, const double *from, size_t bytes,
                                double *to) {
  const bsi_memory_ops *memory = context->backend->memory;
  if (bytes == 0) return BISAI_OK;
  return memory->reaches(context, to) ? memory->copy(context, to, from, bytes)
                                      : memory->fetch(context, to, from, bytes);
}

/* x ← one cycle of a hierarchy, whose vectors of level 0 have room for ghosts. Nothing is reserved:
 * a rank that failed alone would leave the others waiting. */
static bisai_status apply(bsi_hierarchy *h, const double *b, double *x) {
  const bsi_level *level = &h->levels[0];
  const size_t bytes = (size_t)bsi_level_rows(level) * sizeof *b;
  BSI_TRY(take_vector(h->context, b, bytes, level->work.b));
  BSI_TRY(bsi_hierarchy_cycle(h, level->work.b, level->work.solution));
  return give_vector(h->context, level->work.solution, bytes, x);
}

bisai_status bsi_rank_levels_apply(bsi_rank_hierarchy *r, const double *b, double *x) {
  return apply(&r->h, b, x);
}

bisai_status bsi_rank_levels_apply_transpose(bsi_rank_hierarchy *r, const double *b, double *x) {
  if (!r->transposed) BSI_TRY(bsi_rank_transposed_create(r, &r->transposed));
  return apply(&r->transposed->h, b, x);
}

bisai_status bsi_rank_levels_multiply(bsi_rank_hierarchy *r, const double *x, double *y) {
  const bsi_memory_ops *memory = r->h.context->backend->memory;
  bsi_level *level = &r->h.levels[0];
  const size_t bytes = (size_t)bsi_level_rows(level) * sizeof *x;
  if (bytes > 0) BSI_TRY(memory->copy(r->h.context, level->work.b, x, bytes));
  return bsi_operation_run(
      r->h.context, &(bsi_operation){.kind = BSI_OPERATION_MULTIPLY,
                                     .matrix = level->matrix,
                                     .ranks = {level->halo, &r->levels[0].splits.matrix, NULL},
                                     .alpha = 1.0,
                                     .x = bsi_wide(level->work.b),
                                     .y = bsi_wide(y)});
}

int64_t bsi_rank_levels_exchanges(const bsi_rank_hierarchy *r) {
  int64_t count =
      r->gathered.halo.exchanges + bsi_rank_transposed_exchanges(r->transposed) - r->exchanges;
  for (int l = 0; l < r->h.count; l++) count += r->levels[l].halo.exchanges;
  return count;
}

int64_t bsi_rank_levels_memory(const bsi_rank_hierarchy *r) {
  int64_t bytes = bsi_hierarchy_memory(&r->h) + bsi_gathered_memory(&r->gathered) +
                  bsi_rank_transposed_memory(r->transposed) + bsi_ghost_room_memory(&r->room) +
                  8 * ((int64_t)r->transport.ranks + 1);
  for (int l = 0; l < r->h.count; l++) {
    const bsi_rank_level *rank = &r->levels[l];
    bytes += bsi_rank_splits_memory(&rank->splits) + bsi_halo_memory(&rank->halo) +
             bsi_ghost_rows_memory(&rank->of_tentative) +
             bsi_ghost_rows_memory(&rank->of_prolongation) +
             bsi_ghost_rows_memory(&rank->of_product) +
             8 * ((int64_t)r->transport.ranks + 1 + rank->columns.capacity);
  }
  return bytes;
}

void bsi_rank_levels_destroy(bsi_rank_hierarchy *r) {
  bsi_rank_transposed_destroy(&r->transposed);
  bsi_gathered_destroy(&r->gathered);
  for (int l = BISAI_MULTIGRID_LEVELS - 1; l >= 0; l--) {
    bsi_rank_level *rank = &r->levels[l];
    bsi_ghost_rows_destroy(&rank->of_tentative);
    bsi_ghost_rows_destroy(&rank->of_prolongation);
    bsi_ghost_rows_destroy(&rank->of_product);
    bsi_rank_splits_destroy(r->h.context, &rank->splits);
    bsi_halo_destroy(&rank->halo);
    bsi_release(r->h.context, rank->begins);
    if (rank->columns.context) bsi_numbering_release(&rank->columns);
  }
  bsi_ghost_room_destroy(r->h.context, &r->transport, &r->room);
  bsi_release(r->h.context, r->counts);
  bsi_hierarchy_destroy(r->h.context, &r->h);
}
