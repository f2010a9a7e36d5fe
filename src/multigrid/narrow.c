/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies in fp32 of the matrices that cycles read: A, P and R of large levels.
 *
 * Memory traffic bounds the steps of large levels, and more than half of it are values. A
 * preconditioner may have rounding errors of 6·10⁻⁸, because the solver computes residuals with A
 * itself. Arithmetic stays fp64. R and P have the same values if R = Pᵀ, so that symmetric cycles
 * stay symmetric. A level with values that fp32 cannot represent keeps fp64. */
#include "apply/apply_ops.h"
#include "multigrid/hierarchy.h"
#include "multigrid/multigrid_ops.h"

/* *copy ← a matrix in fp32 that borrows the structure of m. */
static bisai_status reserve_copy(bsi_hierarchy *h, const bsi_sparse *m, bisai_bcsr **copy) {
  return bsi_bcsr_reserve(h->context, m->rows, m->cols, m->width, m->blocks, BISAI_FP32, m->row_ptr,
                          m->col_idx, copy);
}

/* Appends what copies the values of m, unless there is no copy. */
static void append(const bsi_sparse *m, bisai_bcsr *copy, bsi_narrowing *arrays, int *count) {
  if (!copy) return;
  copy->row_ptr = m->row_ptr; /* an update may come with another matrix of the same pattern */
  copy->col_idx = m->col_idx;
  arrays[(*count)++] = (bsi_narrowing){
      .count = (int64_t)bsi_sparse_offset(m, m->blocks), .from = m->values, .to = copy->values};
}

/* Transfers of rectangular blocks, and those of identities, have no copy. */
static bool has_copy(const bsi_sparse *m) { return m->values && m->height == m->width; }

bisai_status bsi_narrow_create(bsi_hierarchy *h, bsi_level *level) {
  const bsi_sparse a = bsi_sparse_of(level->matrix);
  if (h->setup.options.precision != BISAI_FP32 ||
      bsi_bcsr_product_bytes(level->matrix) <= h->setup.least_narrow)
    return BISAI_OK;
  BSI_TRY(reserve_copy(h, &a, &level->narrow_matrix));
  return bsi_narrow_update(h, level, true, false, false);
}

bisai_status bsi_narrow_create_transfers(bsi_hierarchy *h, bsi_level *level) {
  const bsi_sparse *p = bsi_prolongation_of(level), *r = bsi_restriction_of(level);
  if (!level->narrow_matrix) return BISAI_OK;
  if (has_copy(p)) BSI_TRY(reserve_copy(h, p, &level->narrow_prolongation));
  if (has_copy(r)) BSI_TRY(reserve_copy(h, r, &level->narrow_restriction));
  return bsi_narrow_update(h, level, false, true, false);
}

bisai_status bsi_narrow_update(const bsi_hierarchy *h, bsi_level *level, bool matrix,
                               bool transfers, bool later) {
  const bsi_narrow_ops *ops = bsi_ops_of(h)->narrow;
  const bsi_sparse a = bsi_sparse_of(level->matrix);
  void *record = later && h->records ? bsi_record_of_copy(h, h->records, level, transfers) : NULL;
  bsi_narrowing arrays[3];
  int count = 0;
  bool fits = false;
  level->narrow = false;
  if (!level->narrow_matrix) return BISAI_OK;
  if (matrix) append(&a, level->narrow_matrix, arrays, &count);
  if (transfers) append(bsi_prolongation_of(level), level->narrow_prolongation, arrays, &count);
  if (transfers) append(bsi_restriction_of(level), level->narrow_restriction, arrays, &count);
  BSI_TRY(ops->copy(h->context, count, arrays, record, &fits));
  if (matrix) level->matrix_fits = fits;
  if (transfers) level->transfers_fit = fits;
  level->matrix_copied = matrix && record;
  level->transfers_copied = transfers && record;
  level->narrow = level->matrix_fits && level->transfers_fit;
  return BISAI_OK;
}

void bsi_narrow_complete(bsi_hierarchy *h) {
  const bsi_narrow_ops *ops = bsi_ops_of(h)->narrow;
  for (int l = 0; l < h->count; l++) {
    bsi_level *level = &h->levels[l];
    if (level->matrix_copied)
      level->matrix_fits = ops->fits(bsi_record_of_copy(h, h->record_copies, level, false));
    if (level->transfers_copied)
      level->transfers_fit = ops->fits(bsi_record_of_copy(h, h->record_copies, level, true));
    level->matrix_copied = level->transfers_copied = false;
    level->narrow = level->matrix_fits && level->transfers_fit;
  }
}

int64_t bsi_narrow_memory(const bsi_level *level) {
  return (level->narrow_matrix ? bsi_bcsr_memory(level->narrow_matrix) : 0) +
         (level->narrow_prolongation ? bsi_bcsr_memory(level->narrow_prolongation) : 0) +
         (level->narrow_restriction ? bsi_bcsr_memory(level->narrow_restriction) : 0);
}

void bsi_narrow_destroy(bsi_level *level) {
  bisai_bcsr_destroy(&level->narrow_matrix);
  bisai_bcsr_destroy(&level->narrow_prolongation);
  bisai_bcsr_destroy(&level->narrow_restriction);
}
