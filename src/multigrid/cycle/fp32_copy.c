/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies in fp32 of the matrices that cycles read: A, D⁻¹, P and R of large levels.
 *
 * Memory traffic bounds the steps of large levels, and more than half of it are values. A
 * preconditioner may have rounding errors of 6·10⁻⁸, because the solver computes residuals with A
 * itself. Arithmetic stays fp64. R and P have the same values if R = Pᵀ, so that symmetric cycles
 * stay symmetric. A level with values that fp32 cannot represent keeps fp64.
 *
 * Values of P and R may be as small as they like. T has ones or columns of norm 1, and what cancels
 * beside them leaves some 10⁻³⁵: a hundred such values of a million kept whole levels in fp64. Rows
 * of R have the scale of D⁻¹, and a level whose D is out of range keeps fp64 by its A. */
#include "multigrid/cycle/fp32_copy.h"

#include "multigrid/cycle/cycle_ops.h"
#include "multigrid/level/records.h"
#include "multigrid/level/smoother.h"

/* *copy ← a matrix in fp32 that borrows the structure of m. */
static bisai_status reserve_copy(bsi_hierarchy *h, const bsi_block_matrix *m, bisai_bcsr **copy) {
  return bsi_bcsr_reserve(h->context,
                          &(bsi_bcsr_sizes){m->rows, m->cols, m->width, m->blocks, BISAI_FP32},
                          m->row_ptr, m->col_idx, copy);
}

/* Makes a copy of P or R, or of its values if the blocks are not square. Identities have none. */
static bisai_status reserve_transfer(bsi_hierarchy *h, const bsi_block_matrix *m, bisai_bcsr **copy,
                                     float **values) {
  if (!m->values) return BISAI_OK;
  if (m->height == m->width) return reserve_copy(h, m, copy);
  *values =
      bsi_hierarchy_reserve(h, (int64_t)bsi_block_matrix_offset(m, m->blocks), sizeof **values);
  return *values ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

/* Makes a copy of D⁻¹ if the smoother multiplies by it. */
static bisai_status reserve_inverse(bsi_hierarchy *h, bsi_level *level) {
  if (bsi_smoother_is_nested(level) || !level->diagonal.inverse ||
      level->smoother.inverse != level->diagonal.inverse)
    return BISAI_OK;
  level->fp32.inverse =
      bsi_hierarchy_reserve(h, bsi_level_diagonal_values(level), sizeof *level->fp32.inverse);
  return level->fp32.inverse ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

bisai_status bsi_fp32_copy_create(bsi_hierarchy *h, bsi_level *level) {
  const bsi_block_matrix a = bsi_block_matrix_of(level->matrix);
  if (h->setup.options.precision != BISAI_FP32 ||
      bsi_level_rows(level) <= h->setup.rows_without_copies ||
      bsi_bcsr_product_bytes(level->matrix) <= h->setup.least_copied)
    return BISAI_OK;
  BSI_TRY(reserve_copy(h, &a, &level->fp32.matrix));
  return bsi_fp32_copy_begin_update(h, level, BSI_COPY_OF_MATRIX);
}

/* Returns what copies the values of m, which is nothing if there is no copy. */
static bsi_fp32_rounding rounding_of(const bsi_block_matrix *m, bisai_bcsr *copy, float *values) {
  if (!copy && !values) return (bsi_fp32_rounding){0};
  if (copy) {
    copy->row_ptr = m->row_ptr; /* an update may come with another matrix of the same pattern */
    copy->col_idx = m->col_idx;
  }
  return (bsi_fp32_rounding){.count = (int64_t)bsi_block_matrix_offset(m, m->blocks),
                             .from = m->values,
                             .to = copy ? copy->values : values};
}

static void set_use(bsi_level *level) {
  level->fp32.in_use =
      level->fp32.fits[BSI_COPY_OF_MATRIX] && level->fp32.fits[BSI_COPIES_OF_TRANSFERS];
}

/* Copies the values. Without a record it is known at the return whether they fit. With one, they
 * count as values that do not fit until bsi_fp32_copy_complete() has read it. */
static bisai_status update(const bsi_hierarchy *h, bsi_level *level, bsi_copies copies,
                           bool with_inverse, void *record) {
  const bsi_block_matrix a = bsi_block_matrix_of(level->matrix);
  bsi_fp32_rounding arrays[3];
  const bsi_level_fp32 *c = &level->fp32;
  int count = 0;
  bool fits = false;
  level->fp32.in_use = level->fp32.recorded[copies] = false;
  if (!level->fp32.matrix) return BISAI_OK;
  if (copies == BSI_COPY_OF_MATRIX) {
    arrays[count++] = rounding_of(&a, c->matrix, NULL);
  } else {
    arrays[count++] =
        rounding_of(bsi_prolongation_of(level), c->prolongation, c->prolongation_values);
    arrays[count++] = rounding_of(bsi_restriction_of(level), c->restriction, c->restriction_values);
    arrays[0].small = arrays[1].small = true;
  }
  if (c->inverse && with_inverse)
    arrays[count++] = (bsi_fp32_rounding){.count = bsi_level_diagonal_values(level),
                                          .from = level->diagonal.inverse,
                                          .to = c->inverse,
                                          .small = true};
  BSI_TRY(bsi_ops_of(h)->fp32_copy->copy(h->context, count, arrays, record, &fits));
  level->fp32.fits[copies] = fits;
  level->fp32.recorded[copies] = record != NULL;
  set_use(level);
  return BISAI_OK;
}

static bsi_record_kind kind_of(bsi_copies copies) {
  return copies == BSI_COPY_OF_MATRIX ? BSI_RECORD_COPY_OF_MATRIX : BSI_RECORD_COPIES_OF_TRANSFERS;
}

static void *record_of(const bsi_hierarchy *h, const bsi_level *level, bsi_copies copies) {
  return bsi_record_there(h, level, kind_of(copies));
}

bisai_status bsi_fp32_copy_update(const bsi_hierarchy *h, bsi_level *level, bsi_copies copies) {
  return update(h, level, copies, copies == BSI_COPY_OF_MATRIX, NULL);
}

bisai_status bsi_fp32_copy_create_transfers(bsi_hierarchy *h, bsi_level *level) {
  const bsi_block_matrix *p = bsi_prolongation_of(level), *r = bsi_restriction_of(level);
  if (!level->fp32.matrix) return BISAI_OK;
  BSI_TRY(reserve_transfer(h, p, &level->fp32.prolongation, &level->fp32.prolongation_values));
  BSI_TRY(reserve_transfer(h, r, &level->fp32.restriction, &level->fp32.restriction_values));
  BSI_TRY(reserve_inverse(h, level));
  return update(h, level, BSI_COPIES_OF_TRANSFERS, true,
                record_of(h, level, BSI_COPIES_OF_TRANSFERS));
}

bisai_status bsi_fp32_copy_begin_update(const bsi_hierarchy *h, bsi_level *level,
                                        bsi_copies copies) {
  return update(h, level, copies, copies == BSI_COPY_OF_MATRIX, record_of(h, level, copies));
}

void bsi_fp32_copy_complete_level(const bsi_hierarchy *h, bsi_level *level) {
  for (int copies = 0; copies < BSI_COPIES; copies++) {
    if (!level->fp32.recorded[copies]) continue;
    const void *record = bsi_record_here(h, level, kind_of((bsi_copies)copies));
    level->fp32.fits[copies] = bsi_ops_of(h)->fp32_copy->fits(record);
    level->fp32.recorded[copies] = false;
  }
  set_use(level);
}

void bsi_fp32_copy_complete(bsi_hierarchy *h) {
  for (int l = 0; l < h->count; l++) bsi_fp32_copy_complete_level(h, &h->levels[l]);
}

void bsi_fp32_copy_destroy(bisai_context *context, bsi_level *level) {
  context->backend->memory->release(context, level->fp32.prolongation_values);
  context->backend->memory->release(context, level->fp32.restriction_values);
  context->backend->memory->release(context, level->fp32.inverse);
  level->fp32.prolongation_values = level->fp32.restriction_values = level->fp32.inverse = NULL;
  bisai_bcsr_destroy(&level->fp32.matrix);
  bisai_bcsr_destroy(&level->fp32.prolongation);
  bisai_bcsr_destroy(&level->fp32.restriction);
}
