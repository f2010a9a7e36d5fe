/* SPDX-License-Identifier: BSD-3-Clause */
/* Constants that A or its transpose maps to zero, and what they say about b. */
#include <math.h>
#include <string.h>

#include "core/matrix/matrix_ops.h"
#include "study/parts.h"

bisai_study_constants bsi_study_constants_of(int bs, const bsi_study_record *record) {
  const uint32_t all = bs == BISAI_MAX_BLOCK_SIZE ? UINT32_MAX : (1u << bs) - 1u;
  /* a component without entries has columns of zeros, which say so themselves */
  const uint32_t seen = (uint32_t)record->bits[BSI_STUDY_SEEN];
  const uint32_t components = all & seen & ~(uint32_t)record->bits[BSI_STUDY_NOT_NULL];
  return (bisai_study_constants){.components = components,
                                 .ones = seen && !components && !record->bits[BSI_STUDY_NOT_ONES]};
}

int32_t bsi_study_ranges(const bisai_study_constants *constants, int32_t bs, int64_t rows,
                         bsi_study_range ranges[BSI_STUDY_RANGES]) {
  int32_t count = 0;
  if (constants->ones) ranges[count++] = (bsi_study_range){0, rows, 1};
  for (int32_t c = 0; c < bs; c++)
    if (constants->components >> c & 1u) ranges[count++] = (bsi_study_range){c, rows, bs};
  if (constants->end_row > constants->first_row)
    ranges[count++] = (bsi_study_range){constants->first_row, constants->end_row, 1};
  return count;
}

int32_t bisai_study_constants_vectors(const bisai_study_constants *constants, int32_t block_size,
                                      int64_t rows, double *vectors) {
  bsi_study_range ranges[BSI_STUDY_RANGES];
  const int32_t count = bsi_study_ranges(constants, block_size, rows, ranges);
  for (int32_t k = 0; vectors && k < count; k++) {
    double *v = vectors + k * rows;
    memset(v, 0, (size_t)rows * sizeof *v);
    for (int64_t i = ranges[k].first; i < ranges[k].end; i += ranges[k].step) v[i] = 1;
  }
  return count;
}

/* Returns true if vᵀA w = 0 for a weight w and a constant v, which is so if Aᵀ v = 0. The limit is
 * larger than that of the sums of columns, so that this excludes nothing that they find. */
static bool may_vanish(double sum, double size) { return fabs(sum) <= 4 * BSI_STUDY_ZERO * size; }

static bool any_may_vanish(int bs, const double *probes) {
  double sum = 0, size = 0;
  for (int r = 0; r < bs; r++) {
    if (may_vanish(probes[2 * r], probes[2 * r + 1])) return true;
    sum += probes[2 * r];
    size += probes[2 * r + 1];
  }
  return may_vanish(sum, size);
}

bisai_status bsi_study_find_left(bisai_context *context, const bsi_study_view *a,
                                 const double *probes, bisai_matrix_study_report *study) {
  bsi_study_record record;
  bisai_study_constants *left = &study->null.left;
  *left = study->null.right;
  if (study->symmetry.symmetric) return BISAI_OK;
  left->ones = false;
  left->components = 0;
  if (!any_may_vanish(a->block_size, probes)) return BISAI_OK;
  bsi_study_clear(&record);
  BSI_TRY(context->backend->matrix->study->columns(context, a, &record));
  const bisai_study_constants found = bsi_study_constants_of(a->block_size, &record);
  left->ones = found.ones;
  left->components = found.components;
  return BISAI_OK;
}

bisai_status bsi_study_find_pressure(bisai_context *context, const bsi_study_view *a,
                                     bisai_matrix_study_report *study) {
  const bisai_study_saddle *saddle = &study->saddle;
  const bsi_study_range range = {saddle->first_row, saddle->last_row + 1, 1};
  bool right = false, left = false;
  if (!saddle->zero_block || a->block_size != 1 || saddle->rows != range.end - range.first)
    return BISAI_OK;
  BSI_TRY(context->backend->matrix->study->pressure(context, a, range, &right, &left));
  if (right) study->null.right.first_row = range.first, study->null.right.end_row = range.end;
  if (left) study->null.left.first_row = range.first, study->null.left.end_row = range.end;
  return BISAI_OK;
}

/* Returns |vᵀb|/(‖v‖‖b‖) for the v that is 1 in a range of rows. `largest` is that of |b|. */
static double part_of(bsi_study_range range, int64_t rows, const double *b, double largest) {
  double sum = 0, count = 0, squares = 0;
  for (int64_t i = 0; i < rows; i++) squares += (b[i] / largest) * (b[i] / largest);
  for (int64_t i = range.first; i < range.end; i += range.step) {
    sum += b[i] / largest;
    count++;
  }
  return count > 0 ? fabs(sum) / sqrt(count * squares) : 0;
}

static bisai_status measure(bisai_context *context, int bs, int64_t rows,
                            const bisai_study_constants *left, const double *b, double *part) {
  bsi_study_range ranges[BSI_STUDY_RANGES];
  const int32_t count = bsi_study_ranges(left, bs, rows, ranges);
  double largest = 0;
  *part = 0;
  for (int64_t i = 0; i < rows; i++) {
    if (!isfinite(b[i]))
      return bsi_fail(context, BISAI_NOT_FINITE, "b is not finite in row %lld", (long long)i);
    largest = fmax(largest, fabs(b[i]));
  }
  if (largest == 0) return BISAI_OK;
  for (int32_t k = 0; k < count; k++) *part = fmax(*part, part_of(ranges[k], rows, b, largest));
  return BISAI_OK;
}

bisai_status bsi_study_measure_rhs(bisai_context *context, int bs, int64_t rows,
                                   const bisai_study_constants *left, const double *rhs,
                                   double *inconsistency) {
  const bsi_memory_ops *memory = context->backend->memory;
  const double *b = rhs;
  double *copy = NULL;
  bisai_status status = BISAI_OK;
  *inconsistency = 0;
  if (bisai_study_constants_vectors(left, bs, rows, NULL) == 0) return BISAI_OK;
  if (!memory->is_host && memory->reaches(context, rhs)) {
    copy = bsi_allocate(context, (size_t)rows, sizeof *copy);
    status =
        copy ? memory->fetch(context, copy, rhs, (size_t)rows * sizeof *copy) : BISAI_OUT_OF_MEMORY;
    b = copy;
  }
  if (!status) status = measure(context, bs, rows, left, b, inconsistency);
  bsi_release(context, copy);
  return status;
}
