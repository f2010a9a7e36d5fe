/* SPDX-License-Identifier: BSD-3-Clause */
/* Set-up and update of the levels. */
#include "multigrid/hierarchy.h"

#include <math.h>
#include <string.h>

#include "apply/apply_ops.h"
#include "bjacobi/bjacobi_ops.h"
#include "factor/factor_ops.h"
#include "multigrid/balance.h"
#include "multigrid/multigrid_ops.h"
#include "multigrid/power.h"
#include "multigrid/strength.h"

/* Power steps of the estimate of ρ(D⁻¹A). For a nonsymmetric A, few steps tell whether ρ is far
 * above 2, and P does not use estimates below 2. Jacobi does not use those below 1.5 or 2. A
 * symmetric A needs more: 8 steps are too few for the stiffness matrix bcsstk16, where CG breaks
 * down because Chebyshev's interval ends too early. */
enum { POWER_STEPS = 10, FEW_POWER_STEPS = 5 };
/* Coarsening ends if a level has more than this part of the rows of the finer one. */
#define SLOWEST_COARSENING (1.0 / 1.3)
/* Coarsening ends if A P has more than that many times the blocks of A. Meshes have at most 1.5. */
enum { LARGEST_PRODUCT = 4 };
/* A near-null-space vector that depends on earlier ones up to this is dropped in an aggregate. */
#define RANK_TOLERANCE 1e-10

/* bsi_strength_rule */
#define LEAST_RETURN 0.01f

/* The estimate of ρ below which it is not used for nonsymmetric matrices: hierarchy.h. */
#define LEAST_RADIUS 2.0

static const bsi_multigrid_ops *ops_of(const bsi_hierarchy *h) {
  return h->context->backend->multigrid;
}

static void *reserve(bsi_hierarchy *h, int64_t count, size_t size) {
  return h->context->backend->memory->allocate(h->context, (size_t)count, size);
}

static double *reserve_vector(bsi_hierarchy *h, int64_t n) { return reserve(h, n, sizeof(double)); }

/* --- the diagonal blocks --- */

static bisai_status find_diagonal(bsi_hierarchy *h, bsi_level *level) {
  const bisai_bcsr *a = level->matrix;
  int32_t missing = -1;
  level->diagonal = reserve(h, a->block_rows, sizeof *level->diagonal);
  if (!level->diagonal) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(h->context->backend->bjacobi->diagonals->find(h->context, a, level->diagonal, &missing));
  if (missing < 0) return BISAI_OK;
  return bsi_fail(h->context, BISAI_MISSING_DIAGONAL, "block row %d has no diagonal block",
                  bsi_row_name(a, missing));
}

static bisai_status invert_diagonal(bsi_hierarchy *h, bsi_level *level, bool creating) {
  const bool first = level == h->levels;
  bsi_invert_stats stats = BSI_INVERT_STATS_NONE;
  BSI_TRY(ops_of(h)->inversion->invert(h->context, level->matrix, level->diagonal,
                                       first ? h->setup.shift_amount : BSI_COARSE_SHIFT,
                                       level->inverse, &stats, &level->inverse_norm));
  if (first) h->stats = stats;
  BSI_TRY(bsi_invert_stats_judge(
      h->context, first ? "" : "multigrid, a coarse level: ", level->matrix, &stats));
  return bsi_drop_rounding_errors(h, level, creating);
}

/* --- the spectral radius --- */

bisai_status bsi_scaled_product(const bsi_hierarchy *h, const bsi_level *level, const double *x,
                                double *y) {
  return ops_of(h)->cycle->relax(h->context, level->matrix, level->inverse, 0.0, 1.0, NULL, x, NULL,
                                 y);
}

typedef struct scaled_level {
  const bsi_hierarchy *h;
  const bsi_level *level;
} scaled_level;

static bisai_status power_step(void *user, const double *x, double *y) {
  const scaled_level *scaled = user;
  return bsi_scaled_product(scaled->h, scaled->level, x, y);
}

/* Estimates ρ(D⁻¹A) from below. */
static bisai_status estimate_radius(bsi_hierarchy *h, bsi_level *level) {
  double norms[2] = {0.0, 0.0};
  const bool few = !h->setup.symmetric &&
                   (level == h->levels || h->setup.options.smoother == BISAI_SMOOTHER_JACOBI);
  const int steps = few ? FEW_POWER_STEPS : POWER_STEPS;
  BSI_TRY(bsi_power_norms(h->context, bsi_level_rows(level), steps, power_step,
                          &(scaled_level){h, level}, level->x, level->residual, norms));
  const double growth = norms[1] / norms[0];
  level->radius = norms[0] > 0.0 && isfinite(growth) ? growth : LEAST_RADIUS;
  return BISAI_OK;
}

static double damping_of(const bsi_hierarchy *h, const bsi_level *level) {
  return 4.0 / (3.0 * (h->setup.symmetric ? level->radius : fmax(level->radius, LEAST_RADIUS)));
}

/* --- work vectors --- */

/* A second iterate, and A times corrections. */
static bool reserve_more(bsi_hierarchy *h, bsi_level *level, int64_t n) {
  const bisai_multigrid_options *o = &h->setup.options;
  const bool inner = bsi_corrects_twice(o->cycle, (int)(level - h->levels));
  const bool k = inner && o->cycle == BISAI_CYCLE_K;
  if (inner) level->second = reserve_vector(h, n);
  if (k) level->image = reserve_vector(h, n);
  if (k) level->second_image = reserve_vector(h, n);
  if (k) level->scalars = reserve_vector(h, BSI_K_WORK);
  return (level->second || !inner) &&
         ((level->image && level->second_image && level->scalars) || !k);
}

static bisai_status reserve_work(bsi_hierarchy *h, bsi_level *level) {
  const int64_t n = bsi_level_rows(level);
  const bool first = level == h->levels;
  level->x = reserve_vector(h, n);
  level->y = reserve_vector(h, n);
  level->residual = reserve_vector(h, n);
  if (!first) level->b = reserve_vector(h, n);
  if (!first) level->solution = reserve_vector(h, n);
  const bool complete =
      level->x && level->y && level->residual && (first || (level->b && level->solution));
  return complete && reserve_more(h, level, n) ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

/* --- transfers --- */

/* Reserves the arrays of mᵀ, and finds the places of its blocks in m. */
static bisai_status transpose(bsi_hierarchy *h, const bsi_sparse *m, bsi_sparse *transposed,
                              int32_t **position) {
  transposed->row_ptr = reserve(h, (int64_t)m->cols + 1, sizeof *transposed->row_ptr);
  transposed->col_idx = reserve(h, m->blocks, sizeof *transposed->col_idx);
  *position = reserve(h, m->blocks, sizeof **position);
  if (!transposed->row_ptr || !transposed->col_idx || !*position) return BISAI_OUT_OF_MEMORY;
  return ops_of(h)->transfer->transpose(h->context, m, transposed, *position);
}

/* R is Pᵀ. */
static bool is_transposed(const bsi_hierarchy *h) {
  return h->setup.symmetric || h->setup.options.unweighted;
}

/* The rows of level 0 of a nonsymmetric matrix have weights, unless the caller wants none. */
static bool is_balanced(const bsi_hierarchy *h, const bsi_level *level) {
  return level == h->levels && !is_transposed(h);
}

/* T of aggregates, and Tᵀ. */
static bisai_status make_tentative(bsi_hierarchy *h, bsi_level *level, const int32_t *aggregate,
                                   int32_t count, int width) {
  level->tentative = (bsi_sparse){.rows = level->matrix->block_rows,
                                  .cols = count,
                                  .height = level->matrix->block_size,
                                  .width = width};
  BSI_TRY(ops_of(h)->transfer->list(h->context, aggregate, &level->tentative));
  BSI_TRY(transpose(h, &level->tentative, &level->members, &level->member_position));
  return is_balanced(h, level) ? bsi_sparse_reserve_values(h->context, &level->members) : BISAI_OK;
}

/* What makes A T with T of identity blocks. */
static bisai_status make_aims(bsi_hierarchy *h, bsi_level *level, const int32_t *aggregate,
                              int32_t count) {
  const int bs = level->matrix->block_size;
  level->target = reserve(h, level->matrix->blocks, sizeof *level->target);
  level->identity = (bsi_sparse){.rows = count + 1,
                                 .cols = count,
                                 .height = bs,
                                 .width = bs,
                                 .blocks = count,
                                 .row_ptr = reserve(h, (int64_t)count + 2, sizeof(int32_t)),
                                 .col_idx = reserve(h, count, sizeof(int32_t))};
  if (!level->target || !level->identity.row_ptr || !level->identity.col_idx)
    return BISAI_OUT_OF_MEMORY;
  return ops_of(h)->aim->aim(h->context, level->matrix, level->inverse, h->setup.options.strength,
                             aggregate, count, level->target, &level->identity);
}

/* *coarse ← the near-null-space vectors of the next level. */
static bisai_status orthonormalise(bsi_hierarchy *h, bsi_level *level, const double *vectors,
                                   double **coarse) {
  bsi_sparse *t = &level->tentative;
  BSI_TRY(bsi_sparse_reserve_values(h->context, t));
  if (!level->members.values) BSI_TRY(bsi_sparse_reserve_values(h->context, &level->members));
  *coarse = reserve_vector(h, (int64_t)t->cols * t->width * t->width);
  if (!*coarse) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(ops_of(h)->transfer->orthonormalise(h->context, &level->members, vectors, RANK_TOLERANCE,
                                              t, *coarse));
  return ops_of(h)->transfer->transpose_values(h->context, t, level->member_position,
                                               &level->members);
}

/* The factors of A T. */
typedef struct prolonged {
  bsi_sparse left;
  const bsi_sparse *right;
} prolonged;

static prolonged prolonged_of(const bsi_level *level) {
  prolonged at = {bsi_sparse_of(level->matrix), &level->tentative};
  if (level->target) {
    at.left.cols = level->identity.rows;
    at.left.col_idx = level->target;
    at.right = &level->identity;
  }
  return at;
}

static bisai_status make_prolongation(bsi_hierarchy *h, bsi_level *level) {
  const prolonged at = prolonged_of(level);
  BSI_TRY(ops_of(h)->sparse->multiply_structure(h->context, &at.left, at.right, INT64_MAX,
                                                &level->prolongation));
  return bsi_sparse_reserve_values(h->context, &level->prolongation);
}

static bisai_status update_prolongation(bsi_hierarchy *h, bsi_level *level) {
  const prolonged at = prolonged_of(level);
  if (!level->prolongation.row_ptr) return BISAI_OK;
  BSI_TRY(ops_of(h)->sparse->multiply_values(h->context, &at.left, at.right, &level->prolongation));
  return ops_of(h)->transfer->smooth(h->context, &level->tentative, level->inverse,
                                     damping_of(h, level), &level->prolongation);
}

static bisai_status make_restriction(bsi_hierarchy *h, bsi_level *level) {
  const bsi_sparse a = bsi_sparse_of(level->matrix);
  if (is_transposed(h))
    BSI_TRY(transpose(h, &level->prolongation, &level->restriction, &level->position));
  else
    BSI_TRY(ops_of(h)->sparse->multiply_structure(h->context, &level->members, &a, INT64_MAX,
                                                  &level->restriction));
  return bsi_sparse_reserve_values(h->context, &level->restriction);
}

static bisai_status balance(bsi_hierarchy *h, bsi_level *level) {
  const bisai_bcsr *a = level->matrix;
  const bsi_balance weights = {.values = a->values,
                               .diagonal = level->diagonal,
                               .block_size = a->block_size,
                               .tentative = level->tentative.values,
                               .position = level->member_position};
  return ops_of(h)->balance->balance(h->context, &weights, &level->members);
}

static bisai_status update_restriction(bsi_hierarchy *h, bsi_level *level) {
  const bsi_sparse a = bsi_sparse_of(level->matrix);
  const bsi_multigrid_ops *ops = ops_of(h);
  if (is_balanced(h, level)) BSI_TRY(balance(h, level));
  if (!level->restriction.row_ptr) return BISAI_OK;
  if (is_transposed(h))
    return ops->transfer->transpose_values(h->context, &level->prolongation, level->position,
                                           &level->restriction);
  BSI_TRY(ops->sparse->multiply_values(h->context, &level->members, &a, &level->restriction));
  return ops->transfer->smooth_restriction(h->context, &level->members, level->inverse,
                                           damping_of(h, level), &level->restriction);
}

/* --- the coarse matrix --- */

/* The values of A P and R (A P). */
static bisai_status update_coarse_matrix(bsi_hierarchy *h, bsi_level *level, bisai_bcsr *coarse) {
  const bsi_sparse a = bsi_sparse_of(level->matrix);
  bsi_sparse view = bsi_sparse_of(coarse);
  view.longest = level->coarse_longest;
  const bsi_sparse_ops *ops = ops_of(h)->sparse;
  BSI_TRY(ops->multiply_values(h->context, &a, bsi_prolongation_of(level), &level->product));
  BSI_TRY(ops->multiply_values(h->context, bsi_restriction_of(level), &level->product, &view));
  /* zeros on the diagonal have no inverse. The pseudo-inverse of the coarsest matrix takes them */
  const int64_t rows = (int64_t)coarse->block_rows * coarse->block_size;
  if (!level->tentative.values && rows <= h->setup.options.coarsest) return BISAI_OK;
  return ops_of(h)->transfer->complete(h->context, coarse);
}

static double values_of(const bisai_bcsr *a) { return (double)bsi_block_offset(a, a->blocks); }

static double operator_values(const bsi_hierarchy *h) {
  double values = 0.0;
  for (int l = 0; l < h->count; l++) values += values_of(h->levels[l].matrix);
  return values;
}

static void note_peak(bsi_hierarchy *h, int64_t temporary) {
  const int64_t bytes = bsi_hierarchy_memory(h) + temporary;
  if (bytes > h->peak_bytes) h->peak_bytes = bytes;
}

/* Returns the bytes of strengths and aggregates. */
static int64_t coarsening_bytes(const bsi_level *level) {
  return 4 * ((int64_t)level->matrix->blocks + level->matrix->block_rows);
}

/* Makes a square matrix of a structure, whose arrays it takes over, also after a failure. */
static bisai_status adopt(bsi_hierarchy *h, bsi_sparse *s, bisai_bcsr **matrix) {
  const bisai_status status = bsi_bcsr_reserve(h->context, s->rows, s->cols, s->width, s->blocks,
                                               BISAI_FP64, s->row_ptr, s->col_idx, matrix);
  if (status)
    bsi_sparse_destroy(h->context, s);
  else
    (*matrix)->owns_structure = true;
  return status;
}

/* Returns the most values of another matrix. */
static double values_left(const bsi_hierarchy *h) {
  return h->setup.options.complexity * values_of(h->levels[0].matrix) - operator_values(h);
}

/* *coarse ← the structure of R A P, or NULL if it is too large for the limit of the complexity. */
static bisai_status try_coarse_matrix(bsi_hierarchy *h, bsi_level *level, bisai_bcsr **coarse) {
  const double width = level->product.width, left = values_left(h) / (width * width);
  const int64_t most = (int64_t)fmin(fmax(left, 0.0), INT32_MAX);
  bsi_sparse c = {0};
  const bisai_status status = ops_of(h)->sparse->multiply_structure(
      h->context, bsi_restriction_of(level), &level->product, most, &c);
  level->coarse_longest = c.longest;
  if (!status && c.row_ptr) return adopt(h, &c, coarse);
  bsi_sparse_destroy(h->context, &c);
  return status;
}

/* Makes the structures of A P, which is empty if it is too large, and of the smoothed
 * restriction. */
static bisai_status make_product(bsi_hierarchy *h, bsi_level *level) {
  const bsi_sparse a = bsi_sparse_of(level->matrix);
  BSI_TRY(ops_of(h)->sparse->multiply_structure(h->context, &a, bsi_prolongation_of(level),
                                                LARGEST_PRODUCT * (int64_t)a.blocks,
                                                &level->product));
  if (!level->product.row_ptr) return BISAI_OK;
  BSI_TRY(bsi_sparse_reserve_values(h->context, &level->product));
  return level->prolongation.row_ptr ? make_restriction(h, level) : BISAI_OK;
}

/* *coarse ← R A P with the smoothed restriction or, if it is too large, with Tᵀ. NULL: both are too
 * large, or A P is. */
static bisai_status make_smoothed_matrix(bsi_hierarchy *h, bsi_level *level, bisai_bcsr **coarse) {
  bisai_status status = make_product(h, level);
  if (status || !level->product.row_ptr) return status;
  status = try_coarse_matrix(h, level, coarse);
  if (status || *coarse || is_transposed(h)) return status;
  bsi_sparse_destroy(h->context, &level->restriction);
  return try_coarse_matrix(h, level, coarse);
}

/* Releases what smoothed transfers have beside T and Tᵀ. */
static void destroy_smoothed(bisai_context *context, bsi_level *level) {
  bsi_sparse_destroy(context, &level->prolongation);
  bsi_sparse_destroy(context, &level->restriction);
  bsi_sparse_destroy(context, &level->product);
  bsi_sparse_destroy(context, &level->identity);
  context->backend->memory->release(context, level->position);
  context->backend->memory->release(context, level->target);
  level->position = level->target = NULL;
}

/* *coarse ← R A P or, if it is too large, Tᵀ A T. NULL: that is too large too. */
static bisai_status make_coarse_matrix(bsi_hierarchy *h, bsi_level *level, bisai_bcsr **coarse) {
  const bisai_status status = make_smoothed_matrix(h, level, coarse);
  if (status || *coarse) return status;
  note_peak(h, coarsening_bytes(level));
  destroy_smoothed(h->context, level);
  BSI_TRY(make_product(h, level));
  return try_coarse_matrix(h, level, coarse);
}

/* --- levels --- */

static void destroy_transfers(bisai_context *context, bsi_level *level) {
  destroy_smoothed(context, level);
  bsi_sparse_destroy(context, &level->tentative);
  bsi_sparse_destroy(context, &level->members);
  context->backend->memory->release(context, level->member_position);
  level->member_position = NULL;
}

/* What the work on the way from one level to the next takes. */
typedef struct coarsening {
  float *strength;
  int32_t *aggregate;
  int32_t count;
  /* the near-null-space vectors of the level, and of the next one */
  double *vectors, *coarse_vectors;
} coarsening;

static bisai_status aggregate(bsi_hierarchy *h, bsi_level *level, coarsening *c) {
  const bsi_aggregation_ops *ops = ops_of(h)->aggregation;
  const bsi_strength_rule rule = {.threshold = (float)h->setup.options.strength,
                                  .least_return = h->setup.symmetric ? 0.0f : LEAST_RETURN};
  c->strength = reserve(h, level->matrix->blocks, sizeof *c->strength);
  c->aggregate = reserve(h, level->matrix->block_rows, sizeof *c->aggregate);
  if (!c->strength || !c->aggregate) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(ops->weigh(h->context, level->matrix, level->inverse, &rule, c->strength));
  return ops->aggregate(h->context, level->matrix, c->strength, c->aggregate, &c->count);
}

/* T, P and the structure of the next matrix, which is NULL if this level is the coarsest. */
static bisai_status coarsen(bsi_hierarchy *h, bsi_level *level, coarsening *c,
                            bisai_bcsr **coarse) {
  const int width = c->vectors ? h->setup.options.null_count : level->matrix->block_size;
  BSI_TRY(aggregate(h, level, c));
  const double scalar_rows = (double)c->count * width;
  if (c->count == 0 || scalar_rows > SLOWEST_COARSENING * (double)bsi_level_rows(level))
    return BISAI_OK;
  BSI_TRY(make_tentative(h, level, c->aggregate, c->count, width));
  if (c->vectors)
    BSI_TRY(orthonormalise(h, level, c->vectors, &c->coarse_vectors));
  else
    BSI_TRY(make_aims(h, level, c->aggregate, c->count));
  BSI_TRY(make_prolongation(h, level));
  BSI_TRY(make_coarse_matrix(h, level, coarse));
  note_peak(h, coarsening_bytes(level));
  return BISAI_OK;
}

/* The values of P, R and the next matrix. */
static bisai_status update_coarse_level(bsi_hierarchy *h, bsi_level *level, bisai_bcsr *coarse,
                                        bool transfers) {
  if (transfers) BSI_TRY(update_prolongation(h, level));
  if (transfers) BSI_TRY(update_restriction(h, level));
  return update_coarse_matrix(h, level, coarse);
}

static void release_coarsening(bisai_context *context, coarsening *c) {
  const bsi_memory_ops *memory = context->backend->memory;
  memory->release(context, c->strength);
  memory->release(context, c->aggregate);
  memory->release(context, c->vectors);
  *c = (coarsening){.vectors = c->coarse_vectors};
}

static bool small_enough(const bsi_hierarchy *h, const bsi_level *level) {
  return bsi_level_rows(level) <= h->setup.options.coarsest;
}

/* Makes the next level, unless this one is the coarsest. */
static bisai_status add_level(bsi_hierarchy *h, coarsening *c) {
  bsi_level *level = &h->levels[h->count - 1];
  bisai_bcsr *coarse = NULL;
  BSI_TRY(invert_diagonal(h, level, true));
  BSI_TRY(estimate_radius(h, level));
  if (h->count < h->setup.options.levels) BSI_TRY(coarsen(h, level, c, &coarse));
  if (!coarse) {
    destroy_transfers(h->context, level);
    return BISAI_OK;
  }
  h->levels[h->count] = (bsi_level){.matrix = coarse, .own = coarse};
  h->count++;
  return update_coarse_level(h, level, coarse, true);
}

/* What every level has. */
static bisai_status begin_level(bsi_hierarchy *h, bsi_level *level) {
  const bisai_bcsr *a = level->matrix;
  level->inverse = reserve_vector(h, (int64_t)bsi_block_offset(a, a->block_rows));
  level->relaxation = level->inverse;
  if (!level->inverse) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(find_diagonal(h, level));
  return reserve_work(h, level);
}

/* Completes the newest level and makes the next one. *more ← false if this is the coarsest. */
static bisai_status go_down(bsi_hierarchy *h, coarsening *c, bool *more) {
  const int count = h->count;
  bsi_level *level = &h->levels[count - 1];
  *more = false;
  BSI_TRY(begin_level(h, level));
  if (small_enough(h, level)) return BISAI_OK;
  BSI_TRY(add_level(h, c));
  *more = h->count > count;
  return bsi_smoother_create(h, level);
}

/* --- nodes --- */

/* h->split ← the rows of the scalar matrix. */
static bisai_status reserve_split(bsi_hierarchy *h, const bisai_bcsr *matrix) {
  bsi_sparse s = {0};
  const bisai_status status = ops_of(h)->sparse->split_rows(h->context, matrix, &s);
  if (!status) return adopt(h, &s, &h->split);
  bsi_sparse_destroy(h->context, &s);
  return status;
}

static bisai_status split_matrix(bsi_hierarchy *h, const bisai_bcsr *matrix) {
  BSI_TRY(reserve_split(h, matrix));
  bsi_sparse s = bsi_sparse_of(h->split);
  return ops_of(h)->sparse->split_fill(h->context, matrix, &s);
}

static bisai_status update_split(bsi_hierarchy *h, const bisai_bcsr *matrix) {
  bsi_sparse s = bsi_sparse_of(h->split);
  int32_t lost = -1;
  BSI_TRY(ops_of(h)->sparse->split_values(h->context, matrix, &s, &lost));
  if (lost < 0) return BISAI_OK;
  return bsi_fail(h->context, BISAI_INVALID_ARGUMENT,
                  "scalar row %d has a value that is not zero where the matrix of creation had a "
                  "zero: nodes=block takes it",
                  lost);
}

/* --- all of it --- */

static bisai_status upload_vectors(bsi_hierarchy *h, int64_t n, double **vectors) {
  const bisai_multigrid_options *o = &h->setup.options;
  if (!o->null_vectors) return BISAI_OK;
  *vectors = reserve_vector(h, n * o->null_count);
  if (!*vectors) return BISAI_OUT_OF_MEMORY;
  return h->context->backend->memory->upload(h->context, *vectors, o->null_vectors,
                                             (size_t)(n * o->null_count) * sizeof **vectors);
}

bisai_status bsi_hierarchy_create(bisai_context *context, const bisai_bcsr *matrix,
                                  const bsi_multigrid_setup *setup, bsi_hierarchy *h) {
  *h = (bsi_hierarchy){
      .context = context, .setup = *setup, .count = 1, .stats = BSI_INVERT_STATS_NONE};
  coarsening c = {0};
  bool more = true;
  bisai_status status = BISAI_OK;
  if (setup->options.nodes == BISAI_NODES_SCALAR && matrix->block_size > 1)
    status = split_matrix(h, matrix);
  h->mirrored = setup->symmetric;
  if (!status && h->split && h->mirrored)
    status = bsi_bcsr_is_symmetric(context, h->split, &h->mirrored);
  h->levels[0].matrix = h->split ? h->split : matrix;
  if (!status) status = upload_vectors(h, bsi_level_rows(&h->levels[0]), &c.vectors);
  while (!status && more) {
    status = go_down(h, &c, &more);
    release_coarsening(context, &c);
  }
  release_coarsening(context, &c);
  if (!status && small_enough(h, &h->levels[h->count - 1])) status = bsi_coarsest_create(h);
  for (int l = 0; l < h->count && !status; l++)
    if (l < h->count - 1 || !h->dense_inverse) status = bsi_narrow_create(h, &h->levels[l]);
  if (!status) status = bsi_tail_create(h, ops_of(h)->tail->most_rows);
  h->setup.options.null_vectors = NULL; /* the caller's array may go */
  note_peak(h, 0);
  return status;
}

bisai_status bsi_hierarchy_check(const bisai_bcsr *matrix, const bsi_hierarchy *h) {
  if (matrix->type != BISAI_FP64)
    return bsi_fail(h->context, BISAI_UNSUPPORTED, "multigrid needs a matrix stored in fp64");
  /* a split matrix takes every pattern that has no other nonzero values */
  if (h->split || matrix == h->levels[0].matrix) return BISAI_OK;
  const bsi_sparse now = bsi_sparse_of(matrix), before = bsi_sparse_of(h->levels[0].matrix);
  bool same = now.blocks == before.blocks;
  if (same) BSI_TRY(ops_of(h)->sparse->same_structure(h->context, &now, &before, &same));
  if (same) return BISAI_OK;
  return bsi_fail(h->context, BISAI_INVALID_ARGUMENT,
                  "the pattern changed: its blocks are not those of creation");
}

static bisai_status update_level(bsi_hierarchy *h, int l) {
  bsi_level *level = &h->levels[l];
  const bool coarsest = l == h->count - 1;
  if (coarsest && h->dense_inverse) return bsi_coarsest_update(h);
  const bool keep = h->setup.options.keep_transfers;
  BSI_TRY(invert_diagonal(h, level, false));
  if (!keep) BSI_TRY(estimate_radius(h, level));
  BSI_TRY(bsi_smoother_update(h, level));
  return coarsest ? BISAI_OK : update_coarse_level(h, level, h->levels[l + 1].own, !keep);
}

static bisai_status update_values(bsi_hierarchy *h) {
  for (int l = 0; l < h->count; l++) BSI_TRY(update_level(h, l));
  for (int l = 0; l < h->count; l++) BSI_TRY(bsi_narrow_update(h, &h->levels[l]));
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
  destroy_transfers(context, level);
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
  bsi_release(context, h->pseudo_room);
  bsi_release(context, h->marks);
  bisai_bcsr_destroy(&h->split);
  h->count = 0;
}
