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

/* Transfers of rectangular blocks, and those of identities, have no copy. */
static bool has_copy(const bsi_sparse *m) { return m->values && m->height == m->width; }

bisai_status bsi_narrow_create(bsi_hierarchy *h, bsi_level *level) {
  const bsi_sparse a = bsi_sparse_of(level->matrix);
  if (h->setup.options.precision != BISAI_FP32 ||
      bsi_bcsr_product_bytes(level->matrix) <= h->setup.least_narrow)
    return BISAI_OK;
  BSI_TRY(reserve_copy(h, &a, &level->narrow_matrix));
  return bsi_narrow_update(h, level, BSI_COPY_OF_MATRIX);
}

bisai_status bsi_narrow_create_transfers(bsi_hierarchy *h, bsi_level *level) {
  const bsi_sparse *p = bsi_prolongation_of(level), *r = bsi_restriction_of(level);
  if (!level->narrow_matrix) return BISAI_OK;
  if (has_copy(p)) BSI_TRY(reserve_copy(h, p, &level->narrow_prolongation));
  if (has_copy(r)) BSI_TRY(reserve_copy(h, r, &level->narrow_restriction));
  return bsi_narrow_update(h, level, BSI_COPIES_OF_TRANSFERS);
}

/* Returns what copies the values of m, which is nothing if there is no copy. */
static bsi_narrowing narrowing_of(const bsi_sparse *m, bisai_bcsr *copy) {
  if (!copy) return (bsi_narrowing){0};
  copy->row_ptr = m->row_ptr; /* an update may come with another matrix of the same pattern */
  copy->col_idx = m->col_idx;
  return (bsi_narrowing){
      .count = (int64_t)bsi_sparse_offset(m, m->blocks), .from = m->values, .to = copy->values};
}

static void set_use(bsi_level *level) {
  level->narrow =
      level->copies_fit[BSI_COPY_OF_MATRIX] && level->copies_fit[BSI_COPIES_OF_TRANSFERS];
}

/* Copies the values. Without a record it is known at the return whether they fit. With one, they
 * count as values that do not fit until bsi_narrow_complete() has read it. */
static bisai_status update(const bsi_hierarchy *h, bsi_level *level, bsi_copies copies,
                           void *record) {
  const bsi_sparse a = bsi_sparse_of(level->matrix);
  bsi_narrowing arrays[2];
  int count = 0;
  bool fits = false;
  level->narrow = level->copies_recorded[copies] = false;
  if (!level->narrow_matrix) return BISAI_OK;
  if (copies == BSI_COPY_OF_MATRIX) {
    arrays[count++] = narrowing_of(&a, level->narrow_matrix);
  } else {
    arrays[count++] = narrowing_of(bsi_prolongation_of(level), level->narrow_prolongation);
    arrays[count++] = narrowing_of(bsi_restriction_of(level), level->narrow_restriction);
  }
  BSI_TRY(bsi_ops_of(h)->narrow->copy(h->context, count, arrays, record, &fits));
  level->copies_fit[copies] = fits;
  level->copies_recorded[copies] = record != NULL;
  set_use(level);
  return BISAI_OK;
}

bisai_status bsi_narrow_update(const bsi_hierarchy *h, bsi_level *level, bsi_copies copies) {
  return update(h, level, copies, NULL);
}

bisai_status bsi_narrow_begin_update(const bsi_hierarchy *h, bsi_level *level, bsi_copies copies) {
  return update(h, level, copies,
                h->records ? bsi_record_of_copies(h, h->records, level, copies) : NULL);
}

void bsi_narrow_complete(bsi_hierarchy *h) {
  for (int l = 0; l < h->count; l++) {
    bsi_level *level = &h->levels[l];
    for (int copies = 0; copies < BSI_COPIES; copies++) {
      if (!level->copies_recorded[copies]) continue;
      const void *record = bsi_record_of_copies(h, h->record_copies, level, (bsi_copies)copies);
      level->copies_fit[copies] = bsi_ops_of(h)->narrow->fits(record);
      level->copies_recorded[copies] = false;
    }
    set_use(level);
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
