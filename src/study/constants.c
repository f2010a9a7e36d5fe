/* SPDX-License-Identifier: BSD-3-Clause */
/* Constants that A or its transpose maps to zero, and what they say about b. */
#include <math.h>

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
  study->null.left = study->null.right;
  if (study->symmetry.symmetric) return BISAI_OK;
  study->null.left = (bisai_study_constants){.ones = false};
  if (!any_may_vanish(a->block_size, probes)) return BISAI_OK;
  bsi_study_clear(&record);
  BSI_TRY(context->backend->matrix->study->columns(context, a, &record));
  study->null.left = bsi_study_constants_of(a->block_size, &record);
  return BISAI_OK;
}

/* *part ← |vᵀb|/(‖v‖‖b‖) for the rows first, first + step, … `largest` is that of |b|. */
static double part_of(int64_t first, int64_t step, int64_t rows, const double *b, double largest) {
  double sum = 0, count = 0, squares = 0;
  for (int64_t i = 0; i < rows; i++) squares += (b[i] / largest) * (b[i] / largest);
  for (int64_t i = first; i < rows; i += step) {
    sum += b[i] / largest;
    count++;
  }
  return count > 0 ? fabs(sum) / sqrt(count * squares) : 0;
}

static bisai_status measure(bisai_context *context, int bs, int64_t rows,
                            const bisai_study_constants *left, const double *b, double *part) {
  double largest = 0;
  *part = 0;
  for (int64_t i = 0; i < rows; i++) {
    if (!isfinite(b[i]))
      return bsi_fail(context, BISAI_NOT_FINITE, "b is not finite in row %lld", (long long)i);
    largest = fmax(largest, fabs(b[i]));
  }
  if (largest == 0) return BISAI_OK;
  if (left->ones) *part = part_of(0, 1, rows, b, largest);
  for (int c = 0; c < bs; c++)
    if (left->components >> c & 1u) *part = fmax(*part, part_of(c, bs, rows, b, largest));
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
  if (!left->components && !left->ones) return BISAI_OK;
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
