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
  const bsi_sparse a = bsi_sparse_of(level->matrix), *p = bsi_prolongation_of(level),
                   *r = bsi_restriction_of(level);
  if (h->setup.options.precision != BISAI_FP32 ||
      bsi_bcsr_product_bytes(level->matrix) <= h->setup.least_narrow)
    return BISAI_OK;
  BSI_TRY(reserve_copy(h, &a, &level->narrow_matrix));
  if (has_copy(p)) BSI_TRY(reserve_copy(h, p, &level->narrow_prolongation));
  if (has_copy(r)) BSI_TRY(reserve_copy(h, r, &level->narrow_restriction));
  return bsi_narrow_update(h, level, true);
}

bisai_status bsi_narrow_update(const bsi_hierarchy *h, bsi_level *level, bool transfers) {
  const bsi_narrow_ops *ops = h->context->backend->multigrid->narrow;
  const bsi_sparse a = bsi_sparse_of(level->matrix);
  bsi_narrowing arrays[3];
  int count = 0;
  bool fits = false;
  level->narrow = false;
  if (!level->narrow_matrix) return BISAI_OK;
  append(&a, level->narrow_matrix, arrays, &count);
  if (transfers) append(bsi_prolongation_of(level), level->narrow_prolongation, arrays, &count);
  if (transfers) append(bsi_restriction_of(level), level->narrow_restriction, arrays, &count);
  BSI_TRY(ops->copy(h->context, count, arrays, &fits));
  if (transfers) level->narrow_transfers = fits;
  level->narrow = fits && level->narrow_transfers;
  return BISAI_OK;
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
