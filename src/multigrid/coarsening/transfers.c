/* SPDX-License-Identifier: BSD-3-Clause */
/* The transfers between a level and the next one, and the coarse matrix R A P. */
#include <math.h>

#include "multigrid/coarsening/row_scaling.h"
#include "multigrid/hierarchy.h"
#include "multigrid/multigrid_ops.h"

/* Coarsening ends if A P has more than that many times the blocks of A. Meshes have at most 1.5. */
enum { LARGEST_PRODUCT = 4 };
/* A near-null-space vector that depends on earlier ones up to this is dropped in an aggregate. */
#define RANK_TOLERANCE 1e-10

/* --- memory --- */

/* Notes a peak with the present arrays of a coarsening and `room` bytes more. */
static void note_room(bsi_hierarchy *h, const bsi_level *level, const bsi_coarsening *c,
                      int64_t room) {
  const int64_t vectors = 8 * (int64_t)h->setup.options.null_count;
  int64_t bytes = 4 * ((int64_t)level->matrix->blocks + level->matrix->block_rows);
  if (c->vectors) bytes += vectors * bsi_level_rows(level);
  if (c->coarse_vectors) bytes += vectors * c->count * c->width;
  bsi_hierarchy_note_peak(h, bytes + room);
}

void bsi_coarsening_note_peak(bsi_hierarchy *h, const bsi_level *level, const bsi_coarsening *c) {
  note_room(h, level, c, 0);
}

/* product ← the structure of a b, which is one of the level's. Notes the peak. */
static bisai_status multiply_structure(bsi_hierarchy *h, const bsi_level *level,
                                       const bsi_coarsening *c, const bsi_sparse *a,
                                       const bsi_sparse *b, int64_t most, bsi_sparse *product) {
  const bsi_sparse_ops *ops = bsi_ops_of(h)->sparse;
  BSI_TRY(ops->multiply_structure(h->context, a, b, most, product));
  note_room(h, level, c, ops->structure_room(h->context, a, b, most));
  return BISAI_OK;
}

/* --- P and R --- */

/* Reserves the arrays of mᵀ, and finds the places of its blocks in m. */
static bisai_status transpose(bsi_hierarchy *h, const bsi_sparse *m, bsi_sparse *transposed,
                              int32_t **position) {
  transposed->row_ptr = bsi_hierarchy_reserve(h, (int64_t)m->cols + 1, sizeof *transposed->row_ptr);
  transposed->col_idx = bsi_hierarchy_reserve(h, m->blocks, sizeof *transposed->col_idx);
  *position = bsi_hierarchy_reserve(h, m->blocks, sizeof **position);
  if (!transposed->row_ptr || !transposed->col_idx || !*position) return BISAI_OUT_OF_MEMORY;
  return bsi_ops_of(h)->transfer->transpose(h->context, m, transposed, *position);
}

/* Returns true if R is Pᵀ. */
static bool is_transposed(const bsi_hierarchy *h) {
  return h->setup.symmetric || h->setup.options.unweighted;
}

/* Returns true if the blocks of Tᵀ have weights (multigrid/coarsening/row_scaling.h). */
static bool is_balanced(const bsi_hierarchy *h, const bsi_level *level) {
  return level == h->levels && !is_transposed(h);
}

/* Makes T of aggregates, and Tᵀ, which has values if its blocks have weights. */
static bisai_status make_tentative(bsi_hierarchy *h, bsi_level *level, const int32_t *aggregate,
                                   int32_t count, int width) {
  level->tentative = (bsi_sparse){.rows = level->matrix->block_rows,
                                  .cols = count,
                                  .height = level->matrix->block_size,
                                  .width = width};
  BSI_TRY(bsi_ops_of(h)->transfer->list(h->context, aggregate, &level->tentative));
  BSI_TRY(transpose(h, &level->tentative, &level->members, &level->member_position));
  return is_balanced(h, level) ? bsi_sparse_reserve_values(h->context, &level->members) : BISAI_OK;
}

/* Makes what A T is computed from if T has identity blocks. */
static bisai_status make_aims(bsi_hierarchy *h, bsi_level *level, const int32_t *aggregate,
                              int32_t count) {
  const int bs = level->matrix->block_size;
  level->target = bsi_hierarchy_reserve(h, level->matrix->blocks, sizeof *level->target);
  level->identity =
      (bsi_sparse){.rows = count + 1,
                   .cols = count,
                   .height = bs,
                   .width = bs,
                   .blocks = count,
                   .row_ptr = bsi_hierarchy_reserve(h, (int64_t)count + 2, sizeof(int32_t)),
                   .col_idx = bsi_hierarchy_reserve(h, count, sizeof(int32_t))};
  if (!level->target || !level->identity.row_ptr || !level->identity.col_idx)
    return BISAI_OUT_OF_MEMORY;
  return bsi_ops_of(h)->aim->aim(h->context, level->matrix, level->inverse,
                                 h->setup.options.strength, aggregate, count, level->target,
                                 &level->identity);
}

/* Fills the blocks of T and Tᵀ with the vectors. *coarse ← the vectors of the next level. */
static bisai_status orthonormalise(bsi_hierarchy *h, bsi_level *level, const double *vectors,
                                   double **coarse) {
  bsi_sparse *t = &level->tentative;
  BSI_TRY(bsi_sparse_reserve_values(h->context, t));
  if (!level->members.values) BSI_TRY(bsi_sparse_reserve_values(h->context, &level->members));
  *coarse = bsi_hierarchy_reserve_vector(h, (int64_t)t->cols * t->width * t->width);
  if (!*coarse) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(bsi_ops_of(h)->transfer->orthonormalise(h->context, &level->members, vectors,
                                                  RANK_TOLERANCE, t, *coarse));
  return bsi_ops_of(h)->transfer->transpose_values(h->context, t, level->member_position,
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

static bisai_status make_prolongation(bsi_hierarchy *h, bsi_level *level, const bsi_coarsening *c) {
  const prolonged at = prolonged_of(level);
  BSI_TRY(multiply_structure(h, level, c, &at.left, at.right, INT64_MAX, &level->prolongation));
  return bsi_sparse_reserve_values(h->context, &level->prolongation);
}

static bisai_status update_prolongation(bsi_hierarchy *h, bsi_level *level) {
  const prolonged at = prolonged_of(level);
  if (!level->prolongation.row_ptr) return BISAI_OK;
  const bsi_smoothing smoothing = {&level->tentative, level->inverse,
                                   bsi_transfer_damping(h, level), false};
  return bsi_ops_of(h)->sparse->multiply_smoothed(h->context, &at.left, at.right, &smoothing,
                                                  &level->prolongation);
}

static bisai_status make_restriction(bsi_hierarchy *h, bsi_level *level, const bsi_coarsening *c) {
  const bsi_sparse a = bsi_sparse_of(level->matrix);
  if (is_transposed(h))
    BSI_TRY(transpose(h, &level->prolongation, &level->restriction, &level->position));
  else
    BSI_TRY(multiply_structure(h, level, c, &level->members, &a, INT64_MAX, &level->restriction));
  return bsi_sparse_reserve_values(h->context, &level->restriction);
}

static bisai_status balance(bsi_hierarchy *h, bsi_level *level) {
  const bisai_bcsr *a = level->matrix;
  const bsi_balance weights = {.values = a->values,
                               .diagonal = level->diagonal,
                               .block_size = a->block_size,
                               .tentative = level->tentative.values,
                               .position = level->member_position};
  level->members.multiples = !level->tentative.values;
  return bsi_ops_of(h)->balance->balance(h->context, &weights, &level->members);
}

static bisai_status update_restriction(bsi_hierarchy *h, bsi_level *level) {
  const bsi_sparse a = bsi_sparse_of(level->matrix);
  const bsi_multigrid_ops *ops = bsi_ops_of(h);
  if (is_balanced(h, level)) BSI_TRY(balance(h, level));
  if (!level->restriction.row_ptr) return BISAI_OK;
  if (is_transposed(h))
    return ops->transfer->transpose_values(h->context, &level->prolongation, level->position,
                                           &level->restriction);
  const bsi_smoothing smoothing = {&level->members, level->inverse, bsi_transfer_damping(h, level),
                                   true};
  return ops->sparse->multiply_smoothed(h->context, &level->members, &a, &smoothing,
                                        &level->restriction);
}

/* --- the coarse matrix --- */

/* Computes the values of A P, and of R (A P). */
bisai_status bsi_coarse_matrix_update(bsi_hierarchy *h, bsi_level *level) {
  bisai_bcsr *coarse = level[1].own;
  const bsi_sparse a = bsi_sparse_of(level->matrix);
  bsi_sparse view = level->coarse;
  view.values = coarse->values;
  const bsi_sparse_ops *ops = bsi_ops_of(h)->sparse;
  BSI_TRY(ops->multiply_values(h->context, &a, bsi_prolongation_of(level), &level->product));
  BSI_TRY(ops->multiply_values(h->context, bsi_restriction_of(level), &level->product, &view));
  /* a diagonal block of zeros has no inverse, but the pseudo-inverse of the coarsest matrix takes
   * it */
  if (!level->tentative.values && bsi_inverts_at_once(h, level + 1)) return BISAI_OK;
  return bsi_ops_of(h)->transfer->complete(h->context, coarse);
}

static double values_of(const bisai_bcsr *a) { return (double)bsi_block_offset(a, a->blocks); }

static double operator_values(const bsi_hierarchy *h) {
  double values = 0.0;
  for (int l = 0; l < h->count; l++) values += values_of(h->levels[l].matrix);
  return values;
}

bisai_status bsi_matrix_adopt(bsi_hierarchy *h, bsi_sparse *s, bisai_bcsr **matrix) {
  const bisai_status status = bsi_bcsr_reserve(h->context, s->rows, s->cols, s->width, s->blocks,
                                               BISAI_FP64, s->row_ptr, s->col_idx, matrix);
  if (status)
    bsi_sparse_destroy(h->context, s);
  else
    (*matrix)->owns_structure = true;
  return status;
}

/* Returns the most values that the limit of the complexity leaves for the matrix below a level. */
static double values_left(const bsi_hierarchy *h, const bsi_level *level) {
  const double rows = (double)bsi_level_rows(level);
  const double left =
      h->setup.options.complexity * values_of(h->levels[0].matrix) - operator_values(h);
  const bool saves_inverse = h->setup.spares_inverses && bsi_may_invert(h, level);
  return saves_inverse ? fmax(left, rows * rows) : left;
}

/* product ← the structure of R (A P). Notes the peak. */
static bisai_status multiply(bsi_hierarchy *h, const bsi_level *level, const bsi_coarsening *c,
                             int64_t most, bsi_sparse *product) {
  const bsi_sparse_ops *ops = bsi_ops_of(h)->sparse;
  const bsi_sparse *r = bsi_restriction_of(level), *ap = &level->product;
  BSI_TRY(ops->multiply_structure(h->context, r, ap, most, product));
  const int64_t room = ops->structure_room(h->context, r, ap, most);
  note_room(h, level, c, room + bsi_sparse_memory(product));
  return BISAI_OK;
}

/* *coarse ← R A P without its values. It stays NULL if it is too large for the limit of the
 * complexity. */
static bisai_status try_coarse_matrix(bsi_hierarchy *h, bsi_level *level, const bsi_coarsening *c,
                                      bisai_bcsr **coarse) {
  const double width = level->product.width, left = values_left(h, level) / (width * width);
  const int64_t most = (int64_t)fmin(fmax(left, 0.0), INT32_MAX);
  bsi_sparse product = {0};
  bisai_status status = multiply(h, level, c, most, &product);
  if (status || !product.row_ptr) {
    bsi_sparse_destroy(h->context, &product);
    return status;
  }
  status = bsi_matrix_adopt(h, &product, coarse);
  if (!status) level->coarse = product;
  return status;
}

/* Makes the structure of A P, and of R if P is smoothed. Leaves A P empty if it is too large. */
static bisai_status make_product(bsi_hierarchy *h, bsi_level *level, const bsi_coarsening *c) {
  const bsi_sparse a = bsi_sparse_of(level->matrix);
  BSI_TRY(multiply_structure(h, level, c, &a, bsi_prolongation_of(level),
                             LARGEST_PRODUCT * (int64_t)a.blocks, &level->product));
  if (!level->product.row_ptr) return BISAI_OK;
  BSI_TRY(bsi_sparse_reserve_values(h->context, &level->product));
  return level->prolongation.row_ptr ? make_restriction(h, level, c) : BISAI_OK;
}

/* *coarse ← R A P with the smoothed R or, if this is too large, with Tᵀ. It stays NULL if both are
 * too large, or if A P is. */
static bisai_status make_smoothed_matrix(bsi_hierarchy *h, bsi_level *level,
                                         const bsi_coarsening *c, bisai_bcsr **coarse) {
  bisai_status status = make_product(h, level, c);
  if (status || !level->product.row_ptr) return status;
  status = try_coarse_matrix(h, level, c, coarse);
  if (status || *coarse || is_transposed(h)) return status;
  bsi_coarsening_note_peak(h, level, c);
  bsi_sparse_destroy(h->context, &level->restriction);
  return try_coarse_matrix(h, level, c, coarse);
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

/* *coarse ← R A P or, if this is too large, Tᵀ A T. It stays NULL if that is too large too. */
static bisai_status make_coarse_matrix(bsi_hierarchy *h, bsi_level *level, const bsi_coarsening *c,
                                       bisai_bcsr **coarse) {
  const bisai_status status = make_smoothed_matrix(h, level, c, coarse);
  if (status || *coarse) return status;
  bsi_coarsening_note_peak(h, level, c);
  destroy_smoothed(h->context, level);
  BSI_TRY(make_product(h, level, c));
  return try_coarse_matrix(h, level, c, coarse);
}

/* --- both --- */

bisai_status bsi_transfers_create(bsi_hierarchy *h, bsi_level *level, bsi_coarsening *c,
                                  bisai_bcsr **coarse) {
  BSI_TRY(make_tentative(h, level, c->aggregate, c->count, c->width));
  if (c->vectors)
    BSI_TRY(orthonormalise(h, level, c->vectors, &c->coarse_vectors));
  else
    BSI_TRY(make_aims(h, level, c->aggregate, c->count));
  BSI_TRY(make_prolongation(h, level, c));
  BSI_TRY(make_coarse_matrix(h, level, c, coarse));
  bsi_coarsening_note_peak(h, level, c);
  return BISAI_OK;
}

bisai_status bsi_transfers_update(bsi_hierarchy *h, bsi_level *level) {
  BSI_TRY(update_prolongation(h, level));
  return update_restriction(h, level);
}

void bsi_transfers_destroy(bisai_context *context, bsi_level *level) {
  destroy_smoothed(context, level);
  bsi_sparse_destroy(context, &level->tentative);
  bsi_sparse_destroy(context, &level->members);
  bsi_places_destroy(context, &level->coarse.places);
  context->backend->memory->release(context, level->member_position);
  level->member_position = NULL;
}

int64_t bsi_transfers_memory(const bsi_level *level) {
  return bsi_sparse_memory(&level->tentative) + bsi_sparse_memory(&level->members) +
         bsi_sparse_memory(&level->prolongation) + bsi_sparse_memory(&level->restriction) +
         bsi_sparse_memory(&level->product) + bsi_sparse_memory(&level->identity) +
         bsi_places_memory(&level->coarse) +
         (level->member_position ? 4 * (int64_t)level->tentative.blocks : 0) +
         (level->position ? 4 * (int64_t)level->prolongation.blocks : 0) +
         (level->target ? 4 * (int64_t)level->matrix->blocks : 0);
}
