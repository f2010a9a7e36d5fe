/* SPDX-License-Identifier: BSD-3-Clause */
/* A cycle maps b to M⁻¹b, where
 *
 *   I − M⁻¹A = (I − S_post A) (I − P M_c⁻¹ R A) (I − S_pre A)
 *
 * and S are the smoothers, which are polynomials in D⁻¹A, times D⁻¹. Its transpose is therefore the
 * cycle with Aᵀ, Pᵀ for R, Rᵀ for P, D⁻ᵀ, the transpose of the coarsest inverse, and the smoothings
 * before and after the correction exchanged. Two corrections of a coarse level are the same cycle
 * twice. Where cycles read copies in fp32, these are transposed, in fp64. */
#include "multigrid/transposed.h"

#include "core/context/context_impl.h"
#include "multigrid/cycle.h"
#include "multigrid/cycle/coarse_graph.h"
#include "multigrid/cycle/cycle_ops.h"
#include "multigrid/level/work_vectors.h"
#include "multigrid/transfers/tentative.h"
#include "multigrid/transfers/transfer_ops.h"

static void release(const bsi_hierarchy *h, void *array) {
  h->context->backend->memory->release(h->context, array);
}

/* *values ← `count` values as cycles read them: those in fp32, if there are any, in an array *made
 * of their own. */
static bisai_status read_values(const bsi_hierarchy *h, int64_t count, double *wide,
                                const float *narrow, double **values, double **made) {
  *values = wide;
  *made = NULL;
  if (!narrow) return BISAI_OK;
  *values = *made = bsi_hierarchy_reserve_vector(h, count);
  if (!*made) return BISAI_OUT_OF_MEMORY;
  return bsi_ops_of(h)->fp32_copy->widen(h->context, count, narrow, *made);
}

/* transposed ← mᵀ. Its values are there already, or they are reserved: `own`. A structure without
 * values has none. */
static bisai_status transpose_values(bsi_hierarchy *h, const bsi_block_matrix *m,
                                     const int32_t *position, bool own,
                                     bsi_block_matrix *transposed) {
  transposed->multiples = m->multiples;
  if (!m->values) return BISAI_OK;
  if (own) BSI_TRY(bsi_block_matrix_reserve_values(h->context, transposed));
  return bsi_ops_of(h)->transfer->transpose_values(h->context, m, position, transposed);
}

/* transposed ← mᵀ with the values in fp32 `narrow`, or with those of m. */
static bisai_status transpose(bsi_hierarchy *h, bsi_block_matrix m, const float *narrow,
                              bsi_block_matrix *transposed) {
  int32_t *position = NULL;
  double *made = NULL;
  bisai_status status = read_values(h, (int64_t)bsi_block_matrix_offset(&m, m.blocks), m.values,
                                    narrow, &m.values, &made);
  if (!status) status = bsi_transpose_create(h, &m, transposed, &position);
  if (!status) status = transpose_values(h, &m, position, true, transposed);
  release(h, position);
  release(h, made);
  return status;
}

/* level->matrix ← Aᵀ */
static bisai_status transpose_matrix(bsi_hierarchy *h, const bsi_level *from, bsi_level *level) {
  const bisai_bcsr *copy = from->fp32.in_use ? from->fp32.matrix : NULL;
  bsi_block_matrix m = bsi_block_matrix_of(from->matrix), transposed = {0};
  int32_t *position = NULL;
  double *made = NULL;
  bisai_status status = bsi_transpose_create(h, &m, &transposed, &position);
  if (status)
    bsi_block_matrix_destroy(h->context, &transposed);
  else
    status = bsi_block_matrix_adopt(h->context, &transposed, &level->own);
  level->matrix = level->own;
  if (!status)
    status = read_values(h, (int64_t)bsi_block_matrix_offset(&m, m.blocks), m.values,
                         copy ? copy->values : NULL, &m.values, &made);
  if (!status) {
    transposed = bsi_block_matrix_of(level->own);
    status = transpose_values(h, &m, position, false, &transposed);
  }
  release(h, position);
  release(h, made);
  return status;
}

/* The values in fp32 of P or R, or NULL. */
static const float *narrow_of(const bsi_level *level, const bisai_bcsr *copy, const float *values) {
  if (!level->fp32.in_use) return NULL;
  return copy ? copy->values : values;
}

const float *bsi_narrow_prolongation(const bsi_level *level) {
  return narrow_of(level, level->fp32.prolongation, level->fp32.prolongation_values);
}

const float *bsi_narrow_restriction(const bsi_level *level) {
  return narrow_of(level, level->fp32.restriction, level->fp32.restriction_values);
}

static bisai_status transpose_transfers(bsi_hierarchy *h, const bsi_level *from, bsi_level *level) {
  bsi_level_transfers *t = &level->transfers;
  BSI_TRY(transpose(h, *bsi_restriction_of(from), bsi_narrow_restriction(from), &t->prolongation));
  return transpose(h, *bsi_prolongation_of(from), bsi_narrow_prolongation(from), &t->restriction);
}

/* *numbers ← f(0), f(1), … in backend memory, where f(i) = i/width + (i modulo width)·step */
static bisai_status make_numbers(const bsi_hierarchy *h, int64_t count, int64_t width, int64_t step,
                                 int32_t **numbers) {
  int32_t *here = bsi_allocate(h->context, (size_t)count, sizeof *here);
  *numbers = here ? bsi_hierarchy_reserve(h, count, sizeof **numbers) : NULL;
  if (*numbers)
    for (int64_t i = 0; i < count; i++) here[i] = (int32_t)(i / width + i % width * step);
  const bisai_status status =
      *numbers ? h->context->backend->memory->upload(h->context, *numbers, here,
                                                     (size_t)count * sizeof *here)
               : BISAI_OUT_OF_MEMORY;
  bsi_release(h->context, here);
  return status;
}

/* *transposed ← `count` blocks of height × height values, each transposed, in the order `position`
 * gives. */
static bisai_status transpose_blocks(bsi_hierarchy *h, int32_t count, int height, double *values,
                                     const int32_t *position, double **transposed) {
  bsi_block_matrix m = {.rows = count,
                        .cols = count,
                        .height = height,
                        .width = height,
                        .blocks = count,
                        .values = values};
  bsi_block_matrix result = m;
  BSI_TRY(bsi_block_matrix_reserve_values(h->context, &result));
  *transposed = result.values;
  return bsi_ops_of(h)->transfer->transpose_values(h->context, &m, position, &result);
}

bisai_status bsi_level_transpose_smoother(bsi_hierarchy *h, const bsi_level *from,
                                          bsi_level *level) {
  const bsi_level_smoother *s = &from->smoother;
  int32_t *position = NULL;
  double *values = NULL, *made = NULL;
  if (!s->ops) return BISAI_OK;
  level->smoother.ops = s->ops;
  bisai_status status = read_values(h, bsi_level_diagonal_values(from), (double *)s->inverse,
                                    bsi_cycle_inverse(from), &values, &made);
  if (!status) status = make_numbers(h, from->matrix->block_rows, 1, 0, &position);
  if (!status)
    status = transpose_blocks(h, from->matrix->block_rows, from->matrix->block_size, values,
                              position, &level->diagonal.inverse);
  level->smoother.inverse = level->diagonal.inverse;
  release(h, position);
  release(h, made);
  return status;
}

/* The coarsest inverse, as n² blocks of one value. */
static bisai_status transpose_inverse(const bsi_hierarchy *from, bsi_hierarchy *h) {
  const int64_t n = bsi_level_rows(bsi_coarsest_of(from));
  int32_t *position = NULL;
  if (!from->coarse.inverse) return BISAI_OK;
  bisai_status status = make_numbers(h, n * n, n, n, &position);
  if (!status)
    status = transpose_blocks(h, (int32_t)(n * n), 1, from->coarse.inverse, position,
                              &h->coarse.inverse);
  release(h, position);
  return status;
}

static bisai_status transpose_level(const bsi_hierarchy *from, int l, bsi_hierarchy *h) {
  const bsi_fused_sweeps_ops *fused = bsi_ops_of(h)->fused_sweeps;
  const bsi_level *source = &from->levels[l];
  bsi_level *level = &h->levels[h->count++];
  *level = bsi_transposed_level_of(source);
  BSI_TRY(transpose_matrix(h, source, level));
  if (fused->bandwidth) level->bandwidth = fused->bandwidth(h->context, level->matrix);
  BSI_TRY(bsi_level_reserve_work(h, level));
  BSI_TRY(bsi_level_transpose_smoother(h, source, level));
  return l < from->count - 1 ? transpose_transfers(h, source, level) : BISAI_OK;
}

bsi_hierarchy bsi_transposed_hierarchy_of(const bsi_hierarchy *from) {
  bsi_hierarchy h = {.context = from->context,
                     .setup = from->setup,
                     .coarsest = from->coarsest,
                     .mirrored = from->mirrored};
  h.setup.options.pre = from->setup.options.post;
  h.setup.options.post = from->setup.options.pre;
  h.setup.options.precision = BISAI_FP64;
  return h;
}

bsi_level bsi_transposed_level_of(const bsi_level *from) {
  return (bsi_level){.diagonal = {.radius = from->diagonal.radius,
                                  .growth = from->diagonal.growth,
                                  .largest = from->diagonal.largest}};
}

bisai_status bsi_hierarchy_transpose(const bsi_hierarchy *from, bsi_hierarchy *to) {
  *to = bsi_transposed_hierarchy_of(from);
  for (int l = 0; l < from->count; l++) BSI_TRY(transpose_level(from, l, to));
  BSI_TRY(transpose_inverse(from, to));
  return bsi_coarse_graph_create(to, bsi_ops_of(to)->coarse_graph->most_rows,
                                 bsi_hierarchy_correct);
}
